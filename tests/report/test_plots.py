"""Figures show the numbers of the tables, whatever a record holds, and are the same every time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from everything import every_outcome
from handmade import problem, solved, stopped

from scisolve_batch.records import Problem, StopReason
from scisolve_batch.report import load_report
from scisolve_batch.report.plots import (
    draw_digits,
    draw_rates,
    draw_reliability,
    draw_use,
    write_plots,
)

MakeRun = Callable[..., Path]
NAMES = ("rates", "correct_digits", "time_and_cost", "reliability")


DRAW = dict(zip(NAMES, (draw_rates, draw_digits, draw_use, draw_reliability), strict=True))


def draw(run: Path, *, rendered: bool = False) -> dict[str, str]:
    """Every text of each figure; names and numbers that cannot be drawn raise when rendered."""
    from matplotlib.text import Text

    report, shown = load_report(run), {}
    for name, draw_one in DRAW.items():
        figure = draw_one(report)
        if rendered:
            figure.draw_without_rendering()
        shown[name] = " ".join(text.get_text() for text in figure.findobj(Text))
    return shown


def test_a_run_with_every_outcome_is_drawn_with_its_counts(make_run: MakeRun) -> None:
    known = every_outcome()
    shown = draw(make_run(known.solutions, problems=known.problems))
    for word in (
        "rate, with its 95 % interval",
        "all",
        "linear_algebra",
        "14/27",
        "16/27",
        "verified",
    ):
        assert word in shown["rates"]
    assert "2 of 17 values have no number to compare" in shown["correct_digits"]
    assert "time of a sample, s" in shown["time_and_cost"]
    assert "cost of a sample, US$" in shown["time_and_cost"]
    for word in ("grounded (13)", "1 number unsupported (1)", "2 numbers unsupported (1)", "10/13"):
        assert word in shown["reliability"]


def test_no_name_and_no_number_breaks_a_figure(make_run: MakeRun) -> None:
    domains = ["$x^{$", "a\nb", "\u202eevil", "<b>", "", "x" * 500]
    problems = [problem(f"p{n}", domain=domain) for n, domain in enumerate(domains)]
    problems.append(problem("lost", domain="<b>"))
    records = [solved(each.id) for each in problems[:-1]]
    run = make_run([*records, stopped("lost", StopReason.MODEL_ERROR)], problems=problems)
    file = run / "problems/p0/solution.json"
    record = json.loads(file.read_text())
    record |= {"duration_s": "Infinity", "cost_usd": "NaN"}
    record["grade"]["values"][0]["correct_digits"] = "Infinity"
    file.write_text(json.dumps(record))
    shown = draw(run, rendered=True)
    assert "$x^{$" in shown["rates"] and "<b>" in shown["rates"] and "a b" in shown["rates"]
    for name in ("time_and_cost", "correct_digits"):
        assert "$x^{$ (0)" in shown[name] and "<b> (1)" in shown[name]
    assert "tokens of a sample" in shown["time_and_cost"]


@pytest.mark.parametrize("problems", [[], [problem("p1")]])
def test_a_run_without_results_says_so(make_run: MakeRun, problems: list[Problem]) -> None:
    shown = draw(make_run([], problems=problems))
    assert "rate, with its 95 % interval" in shown["rates"]
    assert "no value was graded" in shown["correct_digits"]
    assert "no sample was worked on" in shown["time_and_cost"]
    assert "no finished answer was graded" in shown["reliability"]


def test_figures_are_written_with_letters_that_stay_letters(
    make_run: MakeRun, tmp_path: Path
) -> None:
    paths = write_plots(make_run([solved("p1")]), tmp_path / "out", formats=["svg"])
    assert [path.name for path in paths] == [f"{name}.svg" for name in NAMES]
    for path in paths:
        texts = [node for node in ET.parse(path).iter() if node.tag.endswith("}text")]
        assert "".join("".join(node.itertext()) for node in texts).count("ode") == (
            "reli" not in path.name
        )


@pytest.mark.slow
def test_the_same_report_is_drawn_the_same(make_run: MakeRun, tmp_path: Path) -> None:
    known = every_outcome()
    run = make_run(known.solutions, problems=known.problems)
    for name in ("one", "two"):
        write_plots(run, tmp_path / name, formats=["png", "svg", "pdf"])
    starts = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes().startswith(starts[path.suffix])
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
