from __future__ import annotations

import re
from pathlib import Path
from random import Random

from scisolve_batch.errors import MODEL_ERROR_KINDS
from scisolve_batch.model.factory import SCHEMES
from scisolve_batch.model.prices import price_table

PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def test_the_pages_snippets_run(server, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    for script in re.findall(r"```yaml\n(# (\S+)\n.*?)```", text, re.DOTALL):
        (tmp_path / script[1]).write_text(script[0])
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-the-page")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setattr(Random, "uniform", lambda self, low, high: low)  # no waits
    snippets = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(snippets) >= 8
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), names)
    assert server.requests
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"key-for-the-page" not in file.read_bytes()


def test_the_page_names_every_kind_and_every_scheme() -> None:
    text = PAGE.read_text()
    for kind in MODEL_ERROR_KINDS:
        assert f"`{kind}`" in text, kind
    for scheme in SCHEMES:
        assert re.search(rf"`{scheme}[:`]", text), scheme


def test_the_page_has_the_date_of_the_prices() -> None:
    assert price_table().as_of in PAGE.read_text()
