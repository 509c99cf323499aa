"""Build a report from a run directory, which is all it reads.

Files are written beside and then renamed, so that a reader sees each whole or not at all; building again
replaces them.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from scisolve_batch.errors import RunDirError
from scisolve_batch.files import encode_json, write_whole
from scisolve_batch.report.page import PAGE, Page
from scisolve_batch.report.rows import collect_parts, collector_paused
from scisolve_batch.report.schema import TABLES
from scisolve_batch.report.tables import TableWriter
from scisolve_batch.report.tally import Tally
from scisolve_batch.rundir import RunDir

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
        return write_report(folder, opened)


def write_report(folder: Path, run: RunDir) -> ReportPaths:
    """Write the files of a report; the summary last, so that it stands for all."""
    paths = ReportPaths(
        folder=folder,
        tables={name: folder / f"{name}.parquet" for name in TABLES},
        summary=folder / SUMMARY,
        page=folder / PAGE,
    )
    tally, page = Tally(), Page(run, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            writers = {
                name: stack.enter_context(TableWriter(path, name))
                for name, path in paths.tables.items()
            }
            for part in collect_parts(run):
                for name, writer in writers.items():
                    writer.write(part[name])
                tally.add(part)
                page.add(part)
    except OSError as error:
        raise RunDirError(f"{folder}: the report cannot be written: {error}") from error
    summary = tally.summary(run.manifest, history=run.rate_history())
    write_whole(paths.page, page.render(summary).encode("utf-8", "backslashreplace"))
    data = summary.model_dump(mode="json")
    write_whole(paths.summary, encode_json(data, indent=1) + b"\n")
    return paths
