"""`scisolve-batch verify`: whether a run directory is as it was written."""

from __future__ import annotations

from pathlib import Path

import click

from scisolve_batch.integrity import check_integrity
from scisolve_batch.rundir import RunDir


@click.command("verify", short_help="Check that a run directory is as it was written.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.pass_context
def command(ctx: click.Context, /, *, run: Path) -> None:
    """Check RUN against the chain of digests in its journal.

    Prints the chain's head, which can be quoted beside a result. Exits 1 when anything was
    changed, removed or added.
    """
    found = check_integrity(RunDir.read(run))
    for fault in found.faults:
        click.echo(f"! {fault}")
    state = "changed" if found.faults else "as it was written"
    click.echo(f"{run}: {state}; {found.settled} settled, chain {found.head[:16]}")
    ctx.exit(1 if found.faults else 0)
