"""`scisolve-batch solve`: one problem, each step shown as it happens."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from scisolve_batch.agent import events
from scisolve_batch.agent.single import problem_from_text
from scisolve_batch.batch.single import solve_one
from scisolve_batch.cli.options import settings_options
from scisolve_batch.cli.preflight import prepare
from scisolve_batch.cli.run_command import run_folder
from scisolve_batch.errors import UsageError
from scisolve_batch.records import Solution
from scisolve_batch.settings import merge_settings


@click.command("solve", short_help="Solve one problem, showing each step.")
@click.argument("problem", metavar="PROBLEM")
@settings_options
@click.option("--out", type=click.Path(path_type=Path), help="Run directory.  [default: runs/...]")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON, nothing else.")
@click.option("--quiet", is_flag=True, help="Only the result, no steps.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    problem: str,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **flags: Any,
) -> None:
    """Solve PROBLEM, a statement in words, or - to read it from standard input.

    Needs --model: a live model, or scripted:FILE with a file of scripted turns. Exits 0 when
    the problem is solved and grounded, 1 when it is unfinished or ungrounded, 2 when it could
    not be run.
    """
    statement = sys.stdin.read() if problem == "-" else problem
    if not statement.strip():
        raise UsageError("the problem is empty; write it in quotes, or - to read standard input")
    settings = merge_settings(flags, environ=os.environ)
    if settings.scripted and ":" not in settings.model:
        raise UsageError(
            "solve asks a model and none was named: --model anthropic:NAME asks a live one (it "
            "needs ANTHROPIC_API_KEY and costs money), --model scripted:FILE plays a file"
        )
    prepare(settings, announce=False)
    silent = quiet or as_json
    with run_folder(out, "single") as folder:
        solution = solve_one(
            problem_from_text(statement),
            settings=settings,
            out=folder,
            observe=events.ignore if silent else show_step,
        )
    if as_json:
        click.echo((next(folder.glob("problems/*/solution.json"))).read_text("utf-8"), nl=False)
    else:
        show_end(solution, folder)
    ctx.exit(0 if solution.grounded else 1)


def show_step(event: events.Event) -> None:
    """Print a step: the code, then what came of it."""
    match event:
        case events.TurnFinished(_, text) if text.strip():
            click.echo(textwrap.indent(text.strip(), "  "))
        case events.CellStarted(index, code):
            click.echo(f"[{index}] run_python")
            click.echo(textwrap.indent(code.rstrip(), "    "))
        case events.CellFinished(cell):
            for mark, text in (
                ("out", cell.stdout),
                ("err", cell.stderr),
                ("err", cell.traceback),
                ("note", cell.note),
                ("fig", "\n".join(cell.figures)),
            ):
                if text.strip():
                    click.echo(textwrap.indent(text.rstrip(), f"  {mark} "))
        case events.AnswerRefused(complaint):
            click.echo(textwrap.indent(complaint, "  refused "))
    sys.stdout.flush()


def show_end(solution: Solution, out: Path) -> None:
    """Print answer, check, doubts and run directory."""
    if solution.answer is None:
        click.echo(
            f"no answer: {solution.stop_reason.value} after {len(solution.turns)} turns"
            + (f" ({solution.failure.message})" if solution.failure else "")
        )
    elif solution.finished:
        click.echo(f"answer: {solution.answer}")
    else:
        click.echo(f"unfinished ({solution.stop_reason.value}), last refused: {solution.answer}")
    for value in solution.values:
        unit = f" {value.unit}" if value.unit else ""
        click.echo(f"  {value.name} = {value.value}{unit}")
    if check := solution.verification:
        state = "" if check.valid else f" [not valid: {check.reason}]"
        click.echo(
            f"checked: {check.kind}: {check.description} (evidence: cell {check.evidence_cell})"
            + state
        )
    if solution.grounding and solution.answer is not None and not solution.grounding.grounded:
        names = ", ".join(solution.ungrounded) or solution.grounding.verdict.value
        click.echo(f"WARNING: not grounded: {names}", err=True)
        click.echo("WARNING: nothing that this session printed supports these numbers", err=True)
    click.echo(f"run: {out}")
