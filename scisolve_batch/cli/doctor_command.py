"""`scisolve-batch doctor`: whether this machine keeps what is promised."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from scisolve_batch.executor.doctor import examine


@click.command("doctor", short_help="Try every limit and isolation promise on this machine.")
@click.option("--isolation", type=click.Choice(["auto", "off"]), default="auto")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON per promise.")
@click.pass_context
def command(ctx: click.Context, /, *, isolation: str, as_json: bool) -> None:
    """Break every promise on purpose, in real sessions, and say what was held.

    Takes about twenty seconds. Exits 1 when a promise that runs depend on is not kept here.
    """
    failed = 0
    for finding in examine(isolation=isolation):
        failed += finding.required and not finding.held
        if as_json:
            click.echo(json.dumps(asdict(finding)))
            continue
        state = "held" if finding.held else ("FAILED" if finding.required else "not here")
        click.echo(f"{state:<9} {finding.promise:<52} {finding.measured}")
    if not as_json:
        click.echo(
            "every required promise was kept" if not failed else f"{failed} promises were broken"
        )
    ctx.exit(1 if failed else 0)
