"""Every snippet of the documentation runs, every link leads somewhere, every table is current."""

import contextlib
import importlib.util
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from scisolve_batch.cli import COMMANDS, cli, main
from scisolve_batch.records import JournalLine, Manifest, Replay, RunStatus, Solution

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "examples/*.md", "reports/*.md", "suites/*.md", ".github/*.md")
    for path in ROOT.glob(pattern)
)  # fmt: skip
WITH_OWN_TESTS = {  # these run every Python block of the page, in a place that they prepare
    "docs/models.md": "tests/model/test_models_page.py",
    "docs/reports.md": "tests/report/test_report_docs.py",
    "reports/README.md": "tests/report/test_report_docs.py",
}
FENCE = re.compile(
    r"(?:^[ ]*<!-- (?P<mark>[^\n]*?) -->\n)?"
    r"^(?P<indent>[ ]*)(?P<fence>`{3,}|~{3,})[ ]*(?P<kind>[^\n`]*)\n(?P<code>.*?)^[ ]*(?P=fence)[ ]*$",
    re.M | re.S,
)
READ = {"json": json.loads, "yaml": yaml.safe_load, "toml": tomllib.loads}
SHOWN = ("", "text")


@dataclass(frozen=True)
class Block:
    kind: str
    code: str
    mark: str

    @property
    def runs(self):
        return self.kind in ("python", "console") and not self.left_out

    @property
    def left_out(self):
        return re.match(r"not run: \S|command: \w", self.mark) is not None


def blocks(page):
    """The fenced blocks of a page; one that nobody would run or read is a fault."""
    found = []
    for one in FENCE.finditer(page):
        kind, mark = one["kind"].strip(), one["mark"] or ""
        if kind not in ("python", "console", *READ, *SHOWN):
            raise AssertionError(f"a block of kind `{kind}` is never run: use python or console")
        if mark.startswith(("not run", "command")) and not Block(kind, "", mark).left_out:
            raise AssertionError(f"`{mark}`: say why it is not run")
        code = re.sub(rf"^{one['indent']}", "", one["code"], flags=re.M)
        found.append(Block(kind, code, mark))
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a finished run and its report, named `example`."""
    folder = tmp_path_factory.mktemp("docs")
    call(
        "run core --id black-scholes-call --id lotka-volterra-t20 --out runs/example --quiet",
        folder,
    )
    return folder  # fmt: skip


def call(line, folder):
    """Run a command of ours: a run on its own, everything else in this process."""
    arguments = shlex.split(line)
    if arguments[0] == "run":
        ended = subprocess.run(
            [sys.executable, "-m", "scisolve_batch", *arguments],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        code, told = ended.returncode, ended.stdout + ended.stderr
    else:
        out = io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            pytest.raises(SystemExit) as left,
        ):
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["scisolve-batch", *arguments])
            main()
        code, told = left.value.code or 0, out.getvalue()
    return code, told


def play(code, folder):
    """Run a console block: lines after `$`, or all of them; the others are what they print."""
    lines = code.replace("\\\n", " ").splitlines()
    prompts = any(line.startswith("$ ") for line in lines)
    told, ended = "", 0
    for line in lines:
        if prompts and not line.startswith("$ "):
            for part in line.split("..."):
                assert part.strip() in told, f"{line!r} is not in what is printed:\n{told}"
            continue
        command, _, comment = line.removeprefix("$ ").partition("  # ")
        if not command.strip():
            continue
        if not command.startswith("scisolve-batch "):
            raise AssertionError(f"`{command}` is never run: mark the block as `not run: REASON`")
        ended, told = call(command.removeprefix("scisolve-batch "), folder)
        expected = int(comment.removeprefix("exit ")) if comment.startswith("exit ") else 0
        assert ended == expected, f"`{command}` ends with {ended}:\n{told}"


def execute(page, folder):
    """Write a page's files, then run its blocks in their order."""
    names = {"__name__": "__main__"}
    for block in blocks(page):
        if block.mark.startswith("file: "):
            (folder / block.mark.removeprefix("file: ")).write_text(block.code)
        elif block.kind in READ:
            fragment = block.code if not block.code.startswith('"') else f"{{{block.code}}}"
            READ[block.kind](fragment)
        elif block.kind == "console" and block.runs:
            play(block.code, folder)
        elif block.kind == "python" and block.runs:
            with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.code, "<page>", "exec"), names)


RUNNING = [
    path
    for path in PAGES
    if any(block.kind not in SHOWN for block in blocks(path.read_text("utf-8")))
    and str(path.relative_to(ROOT)) not in WITH_OWN_TESTS
]


@pytest.mark.parametrize("path", RUNNING, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_snippets_of_a_page_run(path, place):
    execute(path.read_text("utf-8"), place)


@pytest.mark.parametrize(("page", "test"), WITH_OWN_TESTS.items())
def test_a_page_left_to_other_tests_is_run_by_them(page, test):
    """They take all Python blocks; nothing else on these pages may need to be run."""
    source = (ROOT / test).read_text("utf-8")
    assert Path(page).name in source and "```python\\n(.*?)" in source and "exec(compile(" in source
    others = [block for block in blocks((ROOT / page).read_text("utf-8")) if not block.left_out]
    assert "console" not in {block.kind for block in others}


def test_the_notebook_runs_on_a_report(place):
    notebook = json.loads((ROOT / "examples" / "reading_reports.ipynb").read_text())
    names = {"__name__": "__main__"}
    with contextlib.chdir(place):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    assert len(names["report"].solutions) == 2
    code, told = call(f"ground {ROOT / 'examples' / 'reading_reports.ipynb'}", place)
    assert code == 0, told


# -- links ---------------------------------------------------------------------------------


def without_code(page):
    return re.sub(r"`[^`\n]*`", lambda one: re.sub(r"[\[\]()<>]", "", one[0]), FENCE.sub("", page))


def anchors(page):
    """The anchors of a page's headings, as they are made from their words, and its own ones."""
    found, count = set(re.findall(r'<a (?:id|name)="([^"]+)"', page)), {}
    for words in re.findall(r"^#{1,6} (.*?)[ #]*$", FENCE.sub("", page), re.M):
        slug = re.sub(r"\]\([^)]*\)|[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
        count[slug] = count.get(slug, -1) + 1
        found.add(f"{slug}-{count[slug]}" if count[slug] else slug)
    return found


def links(page):
    text = without_code(page)
    yield from re.findall(r"\]\(\s*<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\s*\)", text)
    yield from re.findall(r"^\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)", text, re.M)
    yield from re.findall(r"<(?:a|img)\b[^>]*?(?:href|src)=\"([^\"]+)\"", text)


def broken_links(path):
    page = path.read_text("utf-8")
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        to = (path.parent / file).resolve() if file else path
        if not to.exists() or file.startswith("/"):
            yield f"{path.name}: there is no {target}"
        elif anchor and anchor not in anchors(to.read_text("utf-8")):
            yield f"{path.name}: there is no heading for {target}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    assert list(broken_links(path)) == []


def test_every_page_is_two_clicks_from_the_readme():
    def clicks(paths):
        return {
            (path.parent / target.partition("#")[0]).resolve()
            for path in paths
            for target in links(path.read_text("utf-8"))
            if "://" not in target and target.partition("#")[0].endswith(".md")
        }

    first = clicks([ROOT / "README.md"])
    near = first | clicks(path for path in first if path.exists())
    missing = {path for path in PAGES if path.parent.name == "docs"} - near
    assert missing == set()


@pytest.mark.parametrize(
    "question",
    ["add my own problems", "number refused", "Is it safe", "compare two models"],
)
def test_the_index_answers_what_newcomers_ask(question):
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    (row,) = [line for line in index.splitlines() if question in line]
    assert list(links(row))


def options(command):
    found = {one for param in command.params for one in (*param.opts, *param.secondary_opts)}
    for one in getattr(command, "commands", {}).values():
        found |= options(one)
    return found


def test_every_option_on_the_pages_is_one_of_ours():
    """What other tools call theirs stands in the left column of coming-from.md."""
    ours = {"--help", "--version"}
    for name in COMMANDS:
        ours |= options(cli.get_command(None, name))
    others = {"--memory", "--pids-limit", "--array", "--cpus-per-task", "--wrap"}
    others |= {"--nodes", "--nthreads", "--no-nanny", "--ntasks-per-node", "--scheduler-file"}
    others |= {"--files", "--no-deps"}
    for path in PAGES:
        page = path.read_text("utf-8")
        if path.name == "coming-from.md":
            page = re.sub(r"^\| .*? \|", "", page, flags=re.M)
        code = re.findall(r"`([^`\n]+)`", FENCE.sub("", page))
        code += [one.code for one in blocks(page) if one.kind == "console"]
        code = [piece for piece in code if not piece.startswith(("python ", "PYTHONPATH"))]
        used = {one for piece in code for one in re.findall(r"(?<![\w-])--[a-z][a-z-]+", piece)}
        assert used - ours - others == set(), path.name


@pytest.mark.parametrize(
    "name",
    [
        *("--model", "--max-turns", "--timeout", "--out", "--json", "--quiet", "--version"),
        *("max_turns=", "api_key=", "executor=", "transport=", "system_prompt="),
        *("answer", "verification", "finished", "grounded", "ungrounded", "turns", "stop_reason"),
        *("transcript", "figures", "problem", "evidence_turn", "unmatched", "overprecise", "matched"),
        *("rtol=", "check_grounding", "Executor", "ExecResult", "run_cell", "RecordingExecutor"),
        *("write_run", "solution_dict", "record_cassette.py", "record_demo.sh", "api_error"),
        *("solution.json", "transcript.json", "cells/cell_000.py", "figures/fig_001.png"),
        *("run_python", "finish_solution", "ANTHROPIC_API_KEY", "namespace", "main"),
    ],
)  # fmt: skip
def test_everything_that_scisolve_had_has_its_line(name):
    page = (ROOT / "docs" / "coming-from.md").read_text("utf-8").partition("## Inspect")[0]
    there = " ".join(re.findall(r"^\| (.*?) \|", page, re.M))
    assert name in there


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "field_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_tables_are_current(tables):
    for page in tables.PAGES:
        text = page.read_text(encoding="utf-8")
        assert tables.render(text) == text, f"run python docs/field_tables.py ({page.name})"


def test_every_type_of_a_run_directory_has_its_table_and_every_field_its_meaning(tables):
    page = (ROOT / "docs" / "run-directory.md").read_text("utf-8")
    shown = re.findall(r"^### (\w+)\n\n.+?\n\n<!-- fields: (\w+) -->", page, re.M)
    kinds = [
        kind.__name__ for kind in tables.reached(Manifest, JournalLine, Solution, RunStatus, Replay)
    ]
    assert len(kinds) > 20
    assert sorted(shown) == sorted((name, name) for name in kinds)
    assert re.findall(r"^\| `\w+` \| .* \| *\|$", page, re.M) == []


def test_every_file_of_a_run_is_on_the_page(place):
    page = (ROOT / "docs" / "run-directory.md").read_text("utf-8")
    files = [path for path in (place / "runs" / "example").rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        name = re.sub(r"\d+", "01", path.name)
        assert f" {name} " in page or f"cells/{name} " in page, path


def test_the_layers_of_the_page_are_those_that_are_kept():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (kept,) = [one["layers"] for one in contracts["contracts"] if one["type"] == "layers"]
    rows = re.findall(r"^\| [^|`]+ \| ([^|]+) \|$", page.partition("## Layers")[2], re.M)
    told = [sorted(re.findall(r"`(\w+)`", row)) for row in rows if "`" in row]
    assert told == [sorted(re.findall(r"scisolve_batch\.(\w+)", layer)) for layer in kept]


# -- the collector itself --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ("```python\nraise KeyError('x')\n```\n", "x"),
        ("1. item\n   ```python\n   1 / 0\n   ```\n", "division"),
        ("~~~python\n1 / 0\n~~~\n", "division"),
        ("```python\nimport scisolve_batch.nothing\n```\n", "nothing"),
        ("```console\n$ scisolve-batch show no-such-run x\n```\n", "ends with 2"),
        ("```console\n$ scisolve-batch status runs/example  # exit 1\n```\n", "ends with 0"),
        ("```console\n$ scisolve-batch status runs/example\nall is lost\n```\n", "is not in what"),
        ("```console\npip install x\n```\n", "never run"),
        ("```bash\nls\n```\n", "of kind `bash` is never run"),
        ("```py\n1 / 0\n```\n", "of kind `py` is never run"),
        ("<!-- not run -->\n```python\n1 / 0\n```\n", "say why"),
        ("<!-- not run: -->\n```python\n1 / 0\n```\n", "say why"),
        ("text\n<!-- not run: why -->\n\n```python\n1 / 0\n```\n", "division"),
        ("```json\n{'a': 1}\n```\n", "property name"),
        ("```yaml\na: [1\n```\n", "expected"),
    ],
)  # fmt: skip
def test_a_broken_snippet_fails(page, fault, place):
    with pytest.raises(Exception, match=re.escape(fault)):
        execute(page, place)


def test_a_snippet_that_is_marked_is_left_out(place):
    execute("<!-- not run: costs money -->\n```python\n1 / 0\n```\n", place)
    execute("```text\n1 / 0\n```\n", place)
    (block,) = blocks("text\n\n```python\n1 / 0\n```\n")
    assert block.runs


def test_what_a_command_prints_is_compared(place):
    execute(
        "```console\n$ scisolve-batch status runs/example\n...complete, 2 of 2...\n```\n", place
    )


def test_files_of_a_page_are_there_for_its_snippets(place):
    code = "assert __import__('pathlib').Path('a.yaml').read_text() == 'x: 1\\n'"
    page = f"<!-- file: a.yaml -->\n```yaml\nx: 1\n```\n```python\n{code}\n```\n"
    execute(page, place)
    with pytest.raises(AssertionError):
        execute(page.replace("\nx: 1", "\nx: 2"), place)


@pytest.mark.parametrize(
    "page",
    ["[a](gone.md)", "![a](gone.png)", "[a](#gone)", "[a](here.md#gone)", "[a]: gone.md", '<img src="gone.png">', "[a](/etc/passwd)",
     "# A\n```text\n# B\n```\n[b](#b)", "# A\n[a](#a-1)"],
)  # fmt: skip
def test_a_broken_link_is_found(tmp_path, page):
    path = tmp_path / "here.md"
    path.write_text(page)
    assert list(broken_links(path))


def test_good_links_are_good(tmp_path):
    path = tmp_path / "here.md"
    path.write_text(
        "# The `a` way, it's\n# A\n# A\n[x](#the-a-way-its) [y](here.md#a-1) `[z](gone.md)` [w](https://x.y)"
    )
    assert list(broken_links(path)) == []  # fmt: skip
