"""`scisolve-batch compare`: two runs on the problems they share."""

from __future__ import annotations

from pathlib import Path

import click

from scisolve_batch.report import compare, render_comparison


@click.command("compare", short_help="Compare two runs on the problems they share.")
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(*, first: Path, second: Path, as_json: bool) -> None:
    """Say whether run B is better than run A, worse, or not to be told apart.

    A and B are run directories or reports. Problems are paired by their digest, so a changed
    problem is listed and never compared.
    """
    found = compare(first, second)
    click.echo(found.model_dump_json(indent=1) if as_json else render_comparison(found))
