"""Build a report from a run directory, which is all it reads.

Files are written beside and then renamed, so that a reader sees each whole or not at all; building again
replaces them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from scisolve_batch.errors import RunDirError
from scisolve_batch.report.page import PAGE, render_page
from scisolve_batch.report.rows import Tables, collect, collector_paused
from scisolve_batch.report.schema import TABLES
from scisolve_batch.report.summary import Summary
from scisolve_batch.report.tables import arrow_table, write_parquet
from scisolve_batch.report.tally import summarize_rows
from scisolve_batch.rundir import RunDir, encode_json, write_whole

SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class ReportPaths:
    """Where the files of a report are."""

    folder: Path
    """Its folder."""
    tables: dict[str, Path]
    """The Parquet files by table."""
    summary: Path
    """The summary."""
    page: Path
    """The page, `report.html`."""


def build_report(run: Path | str, out: Path | str | None = None) -> ReportPaths:
    """Write the report of a run.

    Args:
        run: the run directory.
        out: folder of the report; none means `reports/<name of the run>`.

    Raises:
        RunDirError: it is not a run directory, or the folder cannot be written.
    """
    opened = RunDir.read(run)
    folder = Path(out) if out is not None else Path("reports") / Path(run).resolve().name
    with collector_paused():
        tables = collect(opened)
        summary = summarize_rows(opened.manifest, tables)
        return write_report(folder, opened, tables, summary)


def write_report(folder: Path, run: RunDir, tables: Tables, summary: Summary) -> ReportPaths:
    """Write the files of a report; the summary last, so that it stands for all."""
    paths = ReportPaths(
        folder=folder,
        tables={name: folder / f"{name}.parquet" for name in TABLES},
        summary=folder / SUMMARY,
        page=folder / PAGE,
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in paths.tables.items():
            beside = path.with_name(f".{path.name}.{os.getpid()}.part")
            try:
                write_parquet(beside, arrow_table(name, tables[name]))
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise RunDirError(f"{folder}: the report cannot be written: {error}") from error
    page = render_page(run, tables, summary, folder=folder)
    write_whole(paths.page, page.encode("utf-8", "backslashreplace"))
    data = summary.model_dump(mode="json")
    write_whole(paths.summary, encode_json(data, indent=1) + b"\n")
    return paths
