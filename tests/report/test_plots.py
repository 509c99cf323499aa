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


def words(file: Path) -> str:
    """Every text of an SVG, which keeps its letters."""
    assert file.stat().st_size > 1000
    return " ".join(
        "".join(node.itertext()) for node in ET.parse(file).iter() if node.tag.endswith("}text")
    )


def draw(run: Path, out: Path) -> dict[str, str]:
    write_plots(run, out, formats=["svg"])
    return {name: words(out / f"{name}.svg") for name in NAMES}


def test_a_run_with_every_outcome_is_drawn_with_its_counts(
    make_run: MakeRun, tmp_path: Path
) -> None:
    known = every_outcome()
    run, out = make_run(known.solutions, problems=known.problems), tmp_path / "out"
    paths = write_plots(run, out)
    assert [path.name for path in paths] == [f"{n}.{end}" for n in NAMES for end in ("png", "svg")]
    assert all((out / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in NAMES)
    shown = {name: words(out / f"{name}.svg") for name in NAMES}
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


def test_no_name_and_no_number_breaks_a_figure(make_run: MakeRun, tmp_path: Path) -> None:
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
    shown = draw(run, tmp_path / "out")
    assert "$x^{$" in shown["rates"] and "<b>" in shown["rates"] and "a b" in shown["rates"]
    for name in ("time_and_cost", "correct_digits"):
        assert "$x^{$ (0)" in shown[name] and "<b> (1)" in shown[name]
    assert "tokens of a sample" in shown["time_and_cost"]


@pytest.mark.parametrize("problems", [[], [problem("p1")]])
def test_a_run_without_results_says_so(make_run: MakeRun, problems: list[Problem]) -> None:
    from matplotlib.text import Text

    report = load_report(make_run([], problems=problems))
    shown = {}
    for draw_one in (draw_rates, draw_digits, draw_use, draw_reliability):
        texts = draw_one(report).findobj(Text)
        shown[draw_one] = " ".join(text.get_text() for text in texts)
    assert "rate, with its 95 % interval" in shown[draw_rates]
    assert "no value was graded" in shown[draw_digits]
    assert "no sample was worked on" in shown[draw_use]
    assert "no finished answer was graded" in shown[draw_reliability]


@pytest.mark.slow
def test_the_same_report_is_drawn_the_same(make_run: MakeRun, tmp_path: Path) -> None:
    known = every_outcome()
    run = make_run(known.solutions, problems=known.problems)
    for name in ("one", "two"):
        write_plots(run, tmp_path / name, formats=["png", "svg", "pdf"])
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
