"""The pages about reports are true: their code runs, and their columns are the columns."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from handmade import solved

from scisolve_batch.report import build_report
from scisolve_batch.report.schema import TABLES, markdown

MakeRun = Callable[..., Path]
ROOT = Path(__file__).parents[2]
README = ROOT / "reports/README.md"
DOCS = ROOT / "docs/reports.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def workspace(make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs and their reports, as the pages suppose."""
    for name in ("first", "second"):
        run = make_run(
            [solved("p1"), solved("p2", grounded=name == "second")], name=name, grounding="flat"
        )
        build_report(run, tmp_path / "reports" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_columns_of_the_page_are_those_of_the_tables() -> None:
    text = README.read_text("utf-8")
    assert text.endswith(markdown()), "write reports/README.md again from schema.markdown()"
    for table in TABLES.values():
        for column in table.columns:
            assert f"| `{column.name}` |" in text


@pytest.mark.parametrize("number", range(len(BLOCK.findall(README.read_text("utf-8")))))
def test_the_code_of_the_readme_runs(workspace: Path, number: int) -> None:
    code = BLOCK.findall(README.read_text("utf-8"))[number]
    for name in ("duckdb", "polars"):
        if f"import {name}" in code and importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    exec(compile(code, f"README block {number}", "exec"), {})


def test_the_code_of_the_documentation_runs(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"run_directory": workspace / "runs/first", "other_run": workspace / "runs/second"}
    code = "\n".join(BLOCK.findall(DOCS.read_text("utf-8")))
    exec(compile(code, "docs/reports.md", "exec"), names)
    shown = capsys.readouterr().out
    assert "grounded: 50.0 % -> 100.0 %, not distinguishable" in shown
    assert "2.718" in shown
    assert (workspace / "reports/index.html").is_file()
    assert (workspace / "junit.xml").is_file()


def test_many_reports_are_one_data_set(workspace: Path) -> None:
    import pandas as pd

    files = sorted(str(path) for path in workspace.glob("reports/*/solutions.parquet"))
    frame = pd.read_parquet(files)
    assert list(frame.run_id) == ["first", "first", "second", "second"]
    assert str(frame.correct.dtype) == "boolean"
    assert frame.groupby("run_id").grounded.mean().to_dict() == {"first": 0.5, "second": 1.0}
