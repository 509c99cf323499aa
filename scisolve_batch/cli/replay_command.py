"""`scisolve-batch replay`: whether the recorded cells print the same again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click

from scisolve_batch.executor import Template
from scisolve_batch.replay import replay_problem
from scisolve_batch.rundir import RunDir


@click.command("replay", short_help="Run recorded cells again and compare their output.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only these problems.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON per problem.")
@click.pass_context
def command(ctx: click.Context, /, *, run: Path, ids: tuple[str, ...], as_json: bool) -> None:
    """Run the recorded cells of RUN again in fresh sessions and compare what they print.

    No model is asked. Exits 1 when some cell does not reproduce.
    """
    found = RunDir.read(run)
    problems = {problem.id: problem for problem in found.manifest.problems}
    counts: Counter[str] = Counter()
    with Template.start() as template, template.connect() as source:
        for planned, solution in found.solutions():
            if solution is None or (ids and planned.problem_id not in ids):
                continue
            results = replay_problem(
                found.problem(planned.problem_id, planned.sample),
                problems[planned.problem_id],
                source=source,
                limits=found.manifest.limits,
                seed=solution.seed,
            )
            counts.update(result.verdict for result in results)
            if as_json:
                cells = [
                    {"cell": r.index, "verdict": r.verdict, "detail": r.detail} for r in results
                ]
                line = {"problem_id": planned.problem_id, "sample": planned.sample, "cells": cells}
                click.echo(json.dumps(line))
                continue
            for result in results:
                if result.verdict != "reproduced":
                    click.echo(
                        f"{planned.problem_id} cell {result.index}: {result.verdict} "
                        f"({result.detail})"
                    )
    total = sum(counts.values())
    if not as_json:
        click.echo(
            f"{counts['reproduced']} of {total} cells reproduce, {counts['differs']} differ, "
            f"{counts['not_run']} were not run"
        )
    ctx.exit(0 if counts["reproduced"] == total else 1)
