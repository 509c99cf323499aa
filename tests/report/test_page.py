"""The page says what the tables say, and nothing that a model wrote can act in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from everything import every_outcome
from handmade import literal, problem, solved, stopped

from scisolve_batch.errors import RunDirError
from scisolve_batch.records import (
    Cell,
    Failure,
    Grade,
    Grounding,
    GroundingVerdict,
    StopReason,
    Usage,
    ValueGrade,
    ValueVerdict,
    Verdict,
    Verification,
)
from scisolve_batch.report import build_report, load_report, page, write_index

MakeRun = Callable[..., Path]

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "'\" onmouseover=alert(1) x='",
    "<!-- <script>",
    "]]>&lt;b&gt;",
    "{{ 7*7 }}{% raw %}",
    "\u202e321\u202c",
    "nul\x00byte",
    "=cmd|' /C calc'!A0",
    "javascript:alert(1)",
    "\u2028\u2029",
]


class Reader(HTMLParser):
    """Elements, their attributes, the visible text and the raw text of scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._raw = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._raw = tag if tag in {"script", "style"} else ""
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""

    def handle_data(self, data: str) -> None:
        if self._raw == "script":
            self.scripts[-1] += data
        elif not self._raw:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    @property
    def islands(self) -> list[Any]:
        kinds = [attrs.get("type") for tag, attrs in self.tags if tag == "script"]
        return [
            json.loads(text)
            for kind, text in zip(kinds, self.scripts, strict=True)
            if kind == "application/json"
        ]


def read(file: Path) -> Reader:
    reader = Reader()
    reader.feed(file.read_text("utf-8"))
    reader.close()
    return reader


def mixed(make_run: MakeRun) -> Path:
    return make_run(
        [
            solved("p1"),
            solved("p2", grounded=False),
            solved("p3", correct=False, duration_s=550.0),
            stopped("p4", StopReason.MODEL_ERROR, failure=Failure(kind="server", message="500")),
            stopped("p5", StopReason.STUCK),
        ],
        problems=[problem(f"p{n}", domain="ode" if n < 4 else "optics") for n in range(1, 7)],
    )


def test_every_number_of_the_page_is_that_of_the_summary(make_run: MakeRun, tmp_path: Path) -> None:
    paths = build_report(mixed(make_run), tmp_path / "out")
    summary = load_report(tmp_path / "out").summary
    words = read(paths.page).words
    assert "planned 6 = finished 3 + unfinished 3 (model_error 1, not_run 1, stuck 1)" in words
    assert "finished 3 = grounded 2 + ungrounded 1 + nothing computed 0" in words
    for name in ("grounded", "correct", "verified"):
        rate = getattr(summary, f"{name}_rate")
        shown = f"{name} {100 * rate.rate:.1f} % {name}: {100 * rate.rate:.1f} %"
        assert shown in words
        assert (
            f"{rate.successes} of {rate.trials}; 95 % interval {100 * rate.low:.1f} to "
            f"{100 * rate.high:.1f} %" in words
        )
    assert "grounded 1 1 50.0 %" in words  # of the two grounded ones one is correct
    assert "scripted solutions: says how the suite and the tool behave" in words


def test_the_table_has_a_row_for_every_planned_sample(make_run: MakeRun, tmp_path: Path) -> None:
    paths = build_report(mixed(make_run), tmp_path / "out")
    frame = load_report(tmp_path / "out").solutions
    rows = [attrs for tag, attrs in read(paths.page).tags if tag == "tr" and "data-i" in attrs]
    assert [row["data-outcome"] for row in rows] == list(frame.outcome)
    assert [row["data-cause"] for row in rows] == list(frame.cause)
    assert [row["data-domain"] for row in rows] == list(frame.domain)
    assert [row["data-correct"] for row in rows] == ["yes", "yes", "no", "none", "no", "none"]
    assert [row.get("data-flag") for row in rows] == [None, None, "1", None, None, None]


def test_the_details_are_those_of_the_tables(make_run: MakeRun, tmp_path: Path) -> None:
    paths = build_report(mixed(make_run), tmp_path / "out")
    report = load_report(tmp_path / "out")
    details = read(paths.page).islands
    assert len(details) == len(report.solutions)
    assert [item["answer"] and item["answer"]["text"] for item in details[:3]] == list(
        report.solutions.answer[:3]
    )
    literals = [item for detail in details for item in detail["literals"]]
    assert [item["text"] for item in literals] == list(report.literals.text)
    assert [item["verdict"] for item in literals] == list(report.literals.verdict)
    cells = [item for detail in details for item in detail["cells"]]
    assert [item["stdout"]["text"] for item in cells] == list(report.cells.stdout)
    values = [item for detail in details for item in detail["values"]]
    assert [item["correct_digits"] for item in values] == list(report.values.correct_digits)


@pytest.mark.parametrize("bad", HOSTILE)
def test_hostile_text_stays_text_everywhere(make_run: MakeRun, tmp_path: Path, bad: str) -> None:
    grounding = Grounding(
        policy=bad,
        verdict=GroundingVerdict.UNGROUNDED,
        literals=(
            literal(bad, Verdict.UNGROUNDED, start=0, end=len(bad), reason=bad, nearest=bad,
                    label=bad, printed=bad, warnings=(bad,)),
        ),
    )  # fmt: skip
    cell = Cell(index=1, code=bad, stdout=bad, stderr=bad, note=bad, traceback=bad, figures=(bad,))
    solution = solved(
        "p1",
        answer=bad,
        grounding=grounding,
        cells=(cell,),
        verification=Verification(kind=bad, description=bad, reason=bad),
        failure=Failure(kind=bad, message=bad),
    )
    run = make_run(
        [solution],
        problems=[problem("p1", title=bad, domain=bad, tags=(bad,), statement=bad)],
        model=bad,
        platform=bad,
        versions={bad: bad},
        isolation={bad: bad},
    )
    paths = build_report(run, tmp_path / "out")
    clean_run = make_run([solved("p1")], name="clean", versions={"a": "b"}, isolation={"a": "b"})
    clean = build_report(clean_run, tmp_path / "clean")
    hostile, plain = read(paths.page), read(clean.page)
    kinds = {tag for tag, _ in plain.tags}
    assert {tag for tag, _ in hostile.tags} <= kinds
    scripts = [attrs for tag, attrs in hostile.tags if tag == "script"]
    assert [item.get("type") for item in scripts] == ["application/json", None]
    assert not [name for _, attrs in hostile.tags for name in attrs if name.startswith("on")]
    assert not [attrs for _, attrs in hostile.tags if (attrs.get("href") or "#")[0] != "#"]
    (detail,) = hostile.islands
    assert detail["answer"]["text"] == bad
    assert detail["cells"][0]["stdout"]["text"] == bad
    assert detail["cells"][0]["figures"] == [{"name": bad}]
    assert not {"\u202e", "\x00"} & set(hostile.words)
    index = read(write_index(tmp_path))
    assert {tag for tag, _ in index.tags} <= kinds | {"a"}


def test_the_page_reaches_for_nothing_outside(make_run: MakeRun, tmp_path: Path) -> None:
    reader = read(build_report(mixed(make_run), tmp_path / "out").page)
    for tag, attrs in reader.tags:
        assert tag not in {"link", "iframe", "object", "embed", "base"}
        assert not (attrs.get("src") or "").startswith(("http", "//"))
    policy = next(
        attrs["content"] for tag, attrs in reader.tags if tag == "meta" and "http-equiv" in attrs
    )
    script = reader.scripts[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_the_script_reads_no_text_as_markup() -> None:
    script = (page.TEMPLATES / "page.js").read_text("utf-8")
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
    ):
        assert word not in script


def test_long_answers_are_cut_in_the_page_and_whole_in_the_table(
    make_run: MakeRun, tmp_path: Path
) -> None:
    answer = "x" * 1_000_000
    paths = build_report(make_run([solved("p1", answer=answer)]), tmp_path / "out")
    (detail,) = read(paths.page).islands
    assert detail["answer"] == {
        "text": "x" * page.TEXT_LIMIT, "left": 1_000_000 - page.TEXT_LIMIT,
    }  # fmt: skip
    assert load_report(tmp_path / "out").solutions.answer[0] == answer
    assert paths.page.stat().st_size < 200_000


def test_figures_are_embedded_up_to_the_budget_and_linked_beyond(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("fig_001.png", "fig 002.png", "../../manifest.json", "fig_004.svg", "gone.png")
    run = make_run([solved("p1", cells=(Cell(index=1, figures=names),))])
    folder = run / "problems/p1/figures"
    (folder / names[0]).write_bytes(b"\x89PNG1")
    (folder / names[1]).write_bytes(b"\x89PNG2")
    monkeypatch.setattr(page, "FIGURE_BUDGET", 7)
    paths = build_report(run, tmp_path / "out")
    (detail,) = read(paths.page).islands
    shown = detail["cells"][0]["figures"]
    assert shown[0]["src"] == "data:image/png;base64," + base64.b64encode(b"\x89PNG1").decode()
    assert shown[1]["href"] == "../runs/run-1/problems/p1/figures/fig%20002.png"
    assert (paths.page.parent / shown[1]["href"].replace("%20", " ")).read_bytes() == b"\x89PNG2"
    assert shown[2:] == [{"name": name} for name in names[2:]]


def test_infinite_errors_are_words(make_run: MakeRun, tmp_path: Path) -> None:
    from scisolve_batch.records import Grade, ValueGrade, ValueVerdict

    grade = ValueGrade(name="x", certified="0", verdict=ValueVerdict.WRONG, relative_error=1e308)
    run = make_run([solved("p1", grade=Grade(correct=False, values=(grade,)))])
    file = run / "problems/p1/solution.json"
    file.write_text(file.read_text().replace("1e+308", "1e+999"))
    (detail,) = read(build_report(run, tmp_path / "out").page).islands
    assert detail["values"][0]["relative_error"] == "inf"


def test_an_empty_run_has_a_page(make_run: MakeRun, tmp_path: Path) -> None:
    words = read(build_report(make_run([], problems=[]), tmp_path / "out").page).words
    assert "planned 0 = finished 0" in words
    assert "No problem was planned." in words


def test_repeats_have_their_section(make_run: MakeRun, tmp_path: Path) -> None:
    solutions = [solved("p1", sample=s, grounded=s == 1) for s in (1, 2)] + [
        solved("p2", sample=s) for s in (1, 2)
    ]
    paths = build_report(make_run(solutions, samples=2), tmp_path / "out")
    words = read(paths.page).words
    assert "pass@k, one of k 75.0 % 100.0 %" in words
    assert "pass^k, all of k 75.0 % 50.0 %" in words
    assert "sometimes, not always: p1" in words
    repeats = load_report(tmp_path / "out").summary.repeats[0]
    assert (repeats.measure, repeats.any_of, repeats.all_of) == (
        "grounded", {1: 0.75, 2: 1.0}, {1: 0.75, 2: 0.5},
    )  # fmt: skip


def test_every_control_has_a_name(make_run: MakeRun, tmp_path: Path) -> None:
    text = build_report(mixed(make_run), tmp_path / "out").page.read_text("utf-8")
    for svg in re.findall(r"<svg[^>]*>", text):
        assert 'role="img"' in svg
        assert re.search(r'aria-label="[^"]+"', svg)
    assert len(re.findall(r"<label", text)) == len(re.findall(r"<(?:input|select)\b", text))
    assert '<html lang="en">' in text


def test_the_index_lists_reports_newest_first_and_names_broken_ones(
    make_run: MakeRun, tmp_path: Path
) -> None:
    for name, day in (("old", "01"), ("new", "02")):
        run = make_run([solved("p1")], name=name, created_at=f"2026-09-{day}T00:00:00Z")
        build_report(run, tmp_path / "reports" / f"{name} #1")
    (tmp_path / "reports/bad").mkdir()
    (tmp_path / "reports/bad/summary.json").write_text("{}")
    reader = read(write_index(tmp_path / "reports"))
    links = [attrs["href"] for tag, attrs in reader.tags if tag == "a"]
    assert links == ["./new%20%231/report.html", "./old%20%231/report.html"]
    assert "2 reports" in reader.words
    assert "not a summary of this version" in reader.words
    with pytest.raises(RunDirError, match="no such folder"):
        write_index(tmp_path / "nowhere")


def test_isolation_stands_at_the_top_and_in_full_below(make_run: MakeRun, tmp_path: Path) -> None:
    isolation = {
        "mode": "auto",
        "closed": {"network": True, "files": False},
        "layers": {"seccomp": {"state": "in_force"}, "landlock": {"state": "not_supported"}},
        "tested": {"connect_tcp": {"closed": True, "how": "refused"}, "write": {"closed": False}},
    }
    words = read(build_report(make_run([solved("p1")], isolation=isolation), tmp_path).page).words
    assert "network closed to the code, not files" in words
    assert "isolation: mode auto" in words
    assert "✓ seccomp" in words and "landlock: not supported" in words
    assert "connect tcp ✓ refused refused" in words and "write ✗ possible" in words


@pytest.mark.parametrize(
    "isolation",
    [{}, {"closed": 3}, {"layers": ["a"], "tested": None}, {"layers": {"a": None}}, {"tested": {"a": 1}},
     {"closed": {"files": "perhaps"}}],
)  # fmt: skip
def test_isolation_of_any_form_is_shown_or_left_out(
    make_run: MakeRun, tmp_path: Path, isolation: dict[str, Any]
) -> None:
    words = read(build_report(make_run([solved("p1")], isolation=isolation), tmp_path).page).words
    assert ("isolation not recorded" in words) is (not isolation)
    assert ("not files" in words) is ("files" in str(isolation))


def test_the_slowest_cells_and_the_loose_numbers_lead_to_their_problems(
    make_run: MakeRun, tmp_path: Path
) -> None:
    cells = tuple(Cell(index=n, code="f()", wall_s=float(n), cpu_s=0.5) for n in range(1, 13))
    odd = Cell(index=13, code="f()", wall_s=float("inf"))
    run = make_run([solved("p1"), solved("p2", grounded=False, cells=(*cells, odd))])
    page_ = read(build_report(run, tmp_path).page)
    assert "p2 2.718 absent 2.5" in page_.words
    assert "p2 12 ok 12.00 0.50 p2 11 ok 11.00 0.50" in page_.words
    assert "p2 3 ok 3.00 0.50" in page_.words and "p2 2 ok 2.00" not in page_.words
    links = [
        attrs["href"] for tag, attrs in page_.tags if tag == "a" and attrs["href"] != "#problems"
    ]
    assert set(links) == {"#open=1"}


def test_exact_numbers_share_the_last_bar_of_the_digits(make_run: MakeRun, tmp_path: Path) -> None:
    many = {"x": 27.0, "y": 16.0, "z": 7.5}
    values = tuple(
        ValueGrade(name=name, certified="1", verdict=ValueVerdict.CORRECT, correct_digits=digits)
        for name, digits in many.items()
    )
    run = make_run([solved("p1", grade=Grade(correct=True, fraction=1.0, values=values))])
    assert (
        "values by whole correct digits: 7: 1, 16+: 2"
        in read(build_report(run, tmp_path).page).words
    )


def test_tokens_that_nobody_counted_are_no_zero(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run([solved("p1"), solved("p2", usage=Usage())])
    text = build_report(run, tmp_path).page.read_text("utf-8")
    assert text.count('<td class="n">280</td>') == 1 and text.count('<td class="n">0</td>') == 0


def test_weak_checks_and_undecided_numbers_are_counted_on_the_page(
    make_run: MakeRun, tmp_path: Path
) -> None:
    known = every_outcome()
    run = make_run(known.solutions, problems=known.problems, name="everything")
    build_report(run, tmp_path / "report")
    text = (tmp_path / "report/report.html").read_text("utf-8")
    summary = load_report(tmp_path / "report").summary
    assert summary.weak_checks > 0 and summary.undecided_literals > 0
    assert f"weak among them: <b>{summary.weak_checks}</b>" in text
    assert f"a re-run left undecided: <b>{summary.undecided_literals}</b>" in text
