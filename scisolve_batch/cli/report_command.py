"""`scisolve-batch report`: tables, page and summary again, from the run directory alone."""

from __future__ import annotations

from pathlib import Path

import click

from scisolve_batch.report import (
    build_report,
    citation,
    github_summary,
    latex_table,
    load_report,
    merge_runs,
    render_summary,
)
from scisolve_batch.rundir import RunDir


@click.command("report", short_help="Build the report of a run directory again.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Report directory.  [default: reports/<run>]"
)
@click.option(
    "--as",
    "form",
    type=click.Choice(["text", "json", "markdown", "latex", "citation"]),
    default="text",
    help="What is printed.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --as json.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The same as --as markdown.")
@click.option("--csv", is_flag=True, help="Also write every table as CSV.")
@click.option("--figures", is_flag=True, help="Also draw figures for papers, as PNG and SVG.")
def command(
    *,
    runs: tuple[Path, ...],
    out: Path | None,
    form: str,
    as_json: bool,
    as_markdown: bool,
    csv: bool,
    figures: bool,
) -> None:
    """Build the report of the run directory RUN again, from its files alone.

    Several run directories are parts of one, like the shards of a suite: they are put together by the
    digests of their problems.
    """
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown cannot both be printed")
    target = out or Path("reports") / _name(runs)
    run = runs[0] if len(runs) == 1 else merge_runs(runs, target / MERGED)
    found = RunDir.read(run)
    paths = build_report(run, target)
    report = load_report(target)
    summary = report.summary
    if csv:
        for name in paths.tables:
            getattr(report, name).to_csv(target / f"{name}.csv", index=False)
    if figures:
        from scisolve_batch.report.plots import write_plots  # noqa: PLC0415 - only when asked for

        write_plots(target, target / "figures")
    match "json" if as_json else "markdown" if as_markdown else form:
        case "json":
            click.echo(summary.model_dump_json(indent=1))
        case "markdown":
            click.echo(github_summary(summary))
        case "latex":
            click.echo(latex_table(summary))
        case "citation":
            click.echo(citation(summary, found.manifest))
        case _:
            click.echo(render_summary(summary))
    click.echo(f"report: {target}/report.html", err=True)


MERGED = "runs"
"""Folder within the report of several runs that leads to each problem's own."""


def _name(runs: tuple[Path, ...]) -> str:
    first = runs[0].resolve().name
    return first if len(runs) == 1 else f"{first}-and-{len(runs) - 1}-more"
