"""`scisolve-batch status`: what a run is doing, asked from another terminal."""

from __future__ import annotations

from pathlib import Path
from time import time

import click

from scisolve_batch.records import JournalEvent
from scisolve_batch.rundir import RunDir


@click.command("status", short_help="Say what a run is doing right now.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
@click.pass_context
def command(ctx: click.Context, /, *, run: Path, as_json: bool) -> None:
    """Say what the run directory RUN is doing: each running problem, and what it waits for.

    Exits 0 while a process works on it or when it is complete, 1 when it was left unfinished.
    """
    found = RunDir.read(run)
    live = found.is_live()
    status = found.read_status()
    planned = len(found.manifest.planned)
    settled = {
        (line.problem_id, line.sample)
        for line in found.journal()
        if line.event is JournalEvent.SETTLED
    }
    if as_json:
        click.echo(status.model_dump_json(indent=1) if status else "{}")
        ctx.exit(0 if live or len(settled) == planned else 1)
    state = "running" if live else ("complete" if len(settled) == planned else "left unfinished")
    click.echo(f"{run}: {state}, {len(settled)} of {planned} settled")
    if live and status is not None:
        now = time()
        for item in sorted(status.running, key=lambda item: item.since):
            name = item.problem_id + (f" (sample {item.sample})" if item.sample > 1 else "")
            click.echo(
                f"  {name:<40} waiting for: {item.doing} {now - item.since:.0f} s"
                f"  (worker {item.worker}, in all {now - item.started:.0f} s)"
            )
    if not live and len(settled) < planned:
        click.echo(f"go on with: scisolve-batch run --resume {run}")
        ctx.exit(1)
