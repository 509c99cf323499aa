"""`scisolve-batch report`: tables and summary again, from the run directory alone."""

from __future__ import annotations

from pathlib import Path

import click

from scisolve_batch.report import build_report, render_summary, summarize
from scisolve_batch.rundir import RunDir


@click.command("report", short_help="Build the report of a run directory again.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Report directory.  [default: reports/<run>]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(*, run: Path, out: Path | None, as_json: bool) -> None:
    """Build the report of the run directory RUN again, from its files alone."""
    summary = summarize(RunDir.read(run))
    target = out or Path("reports") / run.resolve().name
    build_report(run, target)
    click.echo(summary.model_dump_json(indent=1) if as_json else render_summary(summary))
    click.echo(f"report: {target}/report.html", err=True)
