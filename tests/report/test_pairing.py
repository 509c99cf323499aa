"""Two runs are compared on the problems they share, and everything else is listed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from handmade import problem, solved, stopped

from scisolve_batch.errors import RunDirError
from scisolve_batch.records import StopReason, SuiteRef, Usage
from scisolve_batch.report import build_report, compare, render_comparison
from scisolve_batch.report.statistics import mcnemar_exact, paired_interval

MakeRun = Callable[..., Path]


def runs(make_run: MakeRun, first: str, second: str) -> tuple[Path, Path]:
    """Two runs of as many problems as there are letters: `+` grounded, `-` not, `.` lost."""
    paths = []
    for name, marks in (("a", first), ("b", second)):
        solutions = [
            stopped(f"p{n}", StopReason.MODEL_ERROR)
            if mark == "."
            else solved(f"p{n}", grounded=mark == "+")
            for n, mark in enumerate(marks)
        ]
        paths.append(make_run(solutions, name=name))
    return paths[0], paths[1]


def test_single_results_are_compared_by_mcnemar(make_run: MakeRun) -> None:
    result = compare(*runs(make_run, "++++-----+", "++--++++++"))
    grounded = result.overall[0]
    assert grounded.table == (3, 2, 5, 0)
    assert (grounded.first, grounded.second) == (0.5, 0.8)
    assert grounded.difference == pytest.approx(0.3)
    assert grounded.p == mcnemar_exact(2, 5)
    assert (grounded.low, grounded.high) == paired_interval(3, 2, 5, 0)
    assert grounded.verdict == "not distinguishable"
    # s^2 = (7 - 10 * 0.09) / 9, (1.96 + 0.84)^2 s^2 / 0.09
    assert grounded.words == "not distinguishable (would need about 60 problems)"


def test_a_clear_difference_is_a_verdict_in_both_directions(make_run: MakeRun) -> None:
    low, high = runs(make_run, "-" * 12, "+" * 12)
    assert compare(low, high).overall[0].verdict == "better"
    assert compare(high, low).overall[0].verdict == "worse"
    assert compare(low, low).overall[0].words == "not distinguishable"


def test_results_lost_on_one_side_are_left_out_and_named(make_run: MakeRun) -> None:
    result = compare(*runs(make_run, "++-.", "+-.+"))
    assert result.lost == ("p2", "p3")
    assert result.overall[0].problems == 2
    assert result.overall[0].table == (1, 1, 0, 0)


def test_repeats_are_compared_by_problem(make_run: MakeRun) -> None:
    paths = []
    for name, counts in (("a", (0, 1, 3, 0, 1, 0)), ("b", (3, 3, 3, 2, 3, 3))):
        solutions = [
            solved(f"p{n}", sample=sample, grounded=sample <= count)
            for n, count in enumerate(counts)
            for sample in (1, 2, 3)
        ]
        paths.append(make_run(solutions, name=name, samples=3))
    grounded = compare(*paths).overall[0]
    assert grounded.table is None
    assert grounded.difference == pytest.approx((17 - 5) / 18)
    assert grounded.p == pytest.approx(2 / 32)
    assert "bootstrap over problems" in grounded.method
    assert grounded.low is not None
    assert grounded.low > 0


def test_changed_added_and_dropped_problems_are_listed(make_run: MakeRun) -> None:
    first = make_run([solved("p1"), solved("p2"), solved("p3")], name="a")
    second = make_run(
        [solved("p1"), solved("p2"), solved("p4")],
        problems=[problem("p1"), problem("p2", digest="other"), problem("p4")],
        name="b",
        suite=SuiteRef(id="core", version="1.1", digest="def", pin="pinned"),
    )
    result = compare(first, second)
    assert (result.paired, result.changed) == (1, ("p2",))
    assert (result.added, result.dropped) == (("p4",), ("p3",))
    assert "the suite changed between the runs: only unchanged problems count" in result.notes
    text = render_comparison(result)
    assert "1 problems are the same in both runs" in text
    assert "changed 1: p2" in text


def test_groups_are_adjusted_for_their_number(make_run: MakeRun) -> None:
    paths = []
    for name, good in (("a", False), ("b", True)):
        problems = [problem(f"p{n}", domain="ode" if n < 6 else "optics") for n in range(12)]
        solutions = [solved(f"p{n}", grounded=good or n >= 6) for n in range(12)]
        paths.append(make_run(solutions, problems=problems, name=name))
    result = compare(*paths)
    groups = {(g.by, g.key): g for g in result.groups if g.measure == "grounded"}
    ode = groups["domain", "ode"]
    assert ode.p == mcnemar_exact(0, 6) == 0.03125
    assert ode.adjusted_p == pytest.approx(3 * 0.03125)  # equal to the smallest of three
    assert ode.verdict == "not distinguishable"
    assert groups["difficulty", "2"].adjusted_p == pytest.approx(3 * 0.03125)
    assert groups["domain", "optics"].difference == 0


def test_tokens_turns_and_time_are_paired_ratios(make_run: MakeRun) -> None:
    first = make_run([solved(f"p{n}") for n in range(8)], name="a")
    doubled = Usage(input_tokens=460, output_tokens=100)
    second = make_run([solved(f"p{n}", usage=doubled, duration_s=1.0) for n in range(8)], name="b")
    used = {item.quantity: item for item in compare(first, second).used}
    assert (used["tokens"].first, used["tokens"].second, used["tokens"].ratio) == (280, 560, 2.0)
    assert (used["tokens"].low, used["tokens"].high) == (2.0, 2.0)
    assert used["time"].ratio == 0.5
    assert used["turns"].ratio == 1.0


def test_flipped_problems_and_literals_are_listed(make_run: MakeRun) -> None:
    result = compare(*runs(make_run, "+-", "-+"))
    grounded = [item for item in result.flips if item.measure == "grounded"]
    assert [(f.problem_id, f.first, f.second) for f in grounded] == [("p0", 1, 0), ("p1", 0, 1)]
    assert [(f.problem_id, f.text, f.first, f.second) for f in result.literals] == [
        ("p1", "2.718", "ungrounded", None),
        ("p0", "2.718", None, "ungrounded"),
    ]


def test_other_rules_and_scripted_runs_are_said(make_run: MakeRun) -> None:
    first = make_run([solved("p1")], name="a", grounding="flat")
    second = make_run([solved("p1")], name="b", model="m")
    notes = compare(first, second).notes
    assert notes[0].startswith("first run: scripted solutions")
    assert any("checked by different rules (`flat`, `decimal`)" in note for note in notes)


def test_reports_compare_like_the_runs_they_came_from(make_run: MakeRun, tmp_path: Path) -> None:
    first, second = runs(make_run, "++-.+", "+-++-")
    for run in (first, second):
        build_report(run, tmp_path / "reports" / run.name)
    reports = tmp_path / "reports"
    assert compare(reports / "a", reports / "b") == compare(first, second)
    with pytest.raises(RunDirError, match="holds 2 runs; name one of them"):
        compare(reports, first)


def test_the_text_fits_and_gives_the_verdict(make_run: MakeRun) -> None:
    text = render_comparison(compare(*runs(make_run, "-" * 30 + ".", "+" * 31)))
    assert "grounded: 0.0 % -> 100.0 %, better" in text
    assert "correct: 100.0 % -> 100.0 %, not distinguishable" in text
    assert "and 10 more" in text
    assert max(map(len, text.splitlines())) <= 100
    empty = make_run([], problems=[], name="none")
    assert "grounded: no results to compare" in render_comparison(compare(empty, empty))
