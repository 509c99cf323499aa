"""Every snippet of the documentation runs, every link leads somewhere, every table is current."""

import contextlib
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("README.md", "docs/*.md", "examples/README.md", "reports/README.md")
    for path in ROOT.glob(pattern)
)
OWN_TESTS = {  # executed by tests of their own
    "docs/models.md",
    "docs/writing-suites.md",
    "docs/grounding.md",
    "docs/reports.md",
    "reports/README.md",
}
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<kind>\w+)\n(?P<code>.*?)^```", re.M | re.S
)
SKIPS = ("not run:", "command:")


def blocks(page, kind):
    return [
        found["code"]
        for found in BLOCK.finditer(page)
        if found["kind"] == kind and not (found["mark"] or "").startswith(SKIPS)
    ]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a finished run and its report, named `example`."""
    folder = tmp_path_factory.mktemp("docs")
    run(
        "run", "core", "--id", "black-scholes-call", "--id", "lotka-volterra-t20",
        "--out", "runs/example", "--quiet", cwd=folder,
        env={"SCISOLVE_BATCH_PRELOAD": "numpy,scipy.stats,scipy.integrate"},
    )  # fmt: skip
    return folder


def run(*arguments, cwd, env=None):
    ended = subprocess.run(
        [sys.executable, "-m", "scisolve_batch", *arguments],
        cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})},
    )  # fmt: skip
    if ended.returncode != 0:
        raise AssertionError(f"{shlex.join(arguments)}: {ended.stdout}{ended.stderr}")
    return ended.stdout


def execute(page, place):
    """Run a page's console and Python blocks, in order of kind; what they print."""
    told = io.StringIO()
    for code in blocks(page, "console"):
        for line in code.replace("\\\n", " ").splitlines():
            command = line.removeprefix("$ ")
            if command.startswith("scisolve-batch "):
                told.write(run(*shlex.split(command)[1:], cwd=place))
    names = {"__name__": "__main__"}
    with contextlib.chdir(place), contextlib.redirect_stdout(told):
        for code in blocks(page, "python"):
            exec(compile(code, "<page>", "exec"), names)
    return told.getvalue()


@pytest.mark.parametrize(
    "path",
    [p for p in PAGES if str(p.relative_to(ROOT)) not in OWN_TESTS],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_the_snippets_of_a_page_run(path, place):
    execute(path.read_text(encoding="utf-8"), place)


def test_the_notebook_runs_on_a_report(place):
    notebook = json.loads((ROOT / "examples" / "reading_reports.ipynb").read_text())
    names = {"__name__": "__main__"}
    with contextlib.chdir(place):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    assert len(names["report"].solutions) == 2


def anchors(path):
    """The anchors of a page's headings, as they are made from their words."""
    words = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", word.lower()).strip().replace(" ", "-") for word in words}


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        to = (path.parent / file).resolve() if file else path
        assert to.exists(), f"{path.name}: {target}"
        if anchor:
            assert anchor in anchors(to), f"{path.name}: {target}"


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "README.md" or f"({path.name})" in index, path.name


def test_the_generated_tables_are_current():
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "field_tables.py")
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    for page in tables.PAGES:
        text = page.read_text(encoding="utf-8")
        assert tables.render(text) == text, f"run python docs/field_tables.py ({page.name})"


@pytest.mark.parametrize(
    "page",
    [
        "```python\nraise ValueError(1)\n```\n",
        "```console\n$ scisolve-batch show no-such-run x\n```\n",
    ],
)
def test_a_broken_snippet_fails(page, place):
    with pytest.raises((ValueError, AssertionError)):
        execute(page, place)


def test_a_snippet_that_is_marked_is_left_out():
    assert blocks("<!-- not run: costs money -->\n```python\n1 / 0\n```\n", "python") == []
    assert blocks("text\n\n```python\n1 / 0\n```\n", "python") == ["1 / 0\n"]
