"""`scisolve-batch show`: the story of one problem, from its folder.

What a model wrote is shown, never obeyed: characters that steer a terminal appear as their numbers.
"""

from __future__ import annotations

import difflib
import textwrap
from pathlib import Path

import click

from scisolve_batch.errors import UsageError
from scisolve_batch.records import FAILING, Cell, Literal, Solution, Verdict
from scisolve_batch.report.page import visible
from scisolve_batch.rundir import RunDir

_MARKS = {
    Verdict.GROUNDED: "ok",
    Verdict.STRUCTURAL: "-",
    Verdict.NOT_A_NUMBER: "-",
    Verdict.UNKNOWN: "?",
}


@click.command("show", short_help="Tell the story of one problem of a run.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("problem", metavar="PROBLEM")
@click.option("--sample", type=int, default=1, metavar="K", help="Its sample.  [default: 1]")
def command(*, run: Path, problem: str, sample: int) -> None:
    """Tell what happened with PROBLEM in RUN: code, output, refusals, the answer number by number."""
    found = RunDir.read(run)
    ids = sorted({item.problem_id for item in found.manifest.planned})
    if problem not in ids:
        near = difflib.get_close_matches(problem, ids, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"{run} has no problem {problem!r}{hint}")
    if sample not in {item.sample for item in found.manifest.planned if item.problem_id == problem}:
        raise UsageError(f"{run} has no sample {sample} of {problem}")
    statements = [each.statement for each in found.manifest.problems if each.id == problem]
    folder = found.problem(problem, sample)
    _say(textwrap.fill("".join(statements), 100) or "(its statement is not recorded)")
    try:
        cells = folder.read_cells()
    except (ValueError, OSError) as error:  # a torn record of a cell
        _say(f"\nthe cells cannot be read: {error}")
        cells = ()
    for cell in cells:
        _show_cell(cell)
    solution = folder.read_solution()
    if solution is None:
        _say("\nno record yet")
        return
    for refusal in solution.refusals:
        _say("\nrefused:\n" + textwrap.indent(refusal, "  "))
    _show_solution(solution)


def _say(text: str) -> None:
    """Print text of others: an escape sequence in it could rewrite what stands above."""
    click.echo(visible(text.replace("\r\n", "\n")).replace("\r", "⟨U+000D⟩"))


def _show_cell(cell: Cell) -> None:
    _say(f"\n[{cell.index}] {cell.status.value}, {cell.wall_s:.2f} s")
    _say(textwrap.indent(cell.code.rstrip(), "    "))
    for mark, text in (
        ("out", cell.stdout),
        ("err", cell.stderr),
        ("err", cell.traceback),
        ("note", cell.note),
        ("fig", "\n".join(cell.figures)),
    ):
        if text.strip():
            _say(textwrap.indent(text.rstrip(), f"  {mark} "))


def _show_solution(solution: Solution) -> None:
    _say(f"\n{solution.stop_reason.value}" + (
        f": {solution.failure.message}" if solution.failure else ""
    ))  # fmt: skip
    if solution.answer is not None:
        _say(f"answer: {solution.answer}")
    if solution.verification:
        state = "valid" if solution.verification.valid else solution.verification.reason
        _say(f"check: {solution.verification.kind}, {state}")
    if solution.grounding:
        _say(f"grounding ({solution.grounding.policy}): {solution.grounding.verdict.value}")
        for literal in solution.grounding.literals:
            _say("  " + _describe(literal))
    for grade in solution.grade.values:
        digits = "" if grade.correct_digits is None else f", {grade.correct_digits:.1f} digits"
        trap = f"; the trap: {grade.trap}" if grade.trap else ""
        _say(
            f"  {grade.name}: {grade.verdict.value} (reported {grade.reported}, certified "
            f"{grade.certified}{digits}){trap}"
        )


def _describe(literal: Literal) -> str:
    mark = "NO" if literal.verdict in FAILING else _MARKS.get(literal.verdict, "-")
    if literal.verdict in FAILING:
        why = f"{literal.verdict.value} ({literal.reason})"
        why += f", nearest {literal.nearest}" if literal.nearest else ""
    elif literal.source == "cell":
        why = f"cell {literal.cell}, line {literal.line}: {literal.printed} ({literal.relation})"
    elif literal.source == "problem":
        why = f"the problem: {literal.printed}"
    else:
        why = literal.verdict.value
    doubts = "".join(f"; {warning}" for warning in literal.warnings)
    return f"{mark:<3} {literal.text:<24} {why}{doubts}"
