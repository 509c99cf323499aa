"""Load reports as pandas frames: one report, or many as one.

A run directory is read directly, without writing anything. pandas is loaded on the first frame.
"""

# ruff: noqa: PLC0415 - heavy imports stand inside the functions that need them

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from scisolve_batch.errors import RunDirError, UsageError
from scisolve_batch.report.build import SUMMARY
from scisolve_batch.report.rows import collect, collector_paused
from scisolve_batch.report.schema import SCHEMA_VERSION, TABLES
from scisolve_batch.report.summary import Summary
from scisolve_batch.report.tables import arrow_schema, arrow_table
from scisolve_batch.report.tally import summarize_rows
from scisolve_batch.rundir import MANIFEST, RunDir

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True)
class Report:
    """The tables of one or more runs as pandas frames, each read when it is first asked for.

    Truth values and integers that may be missing have pandas' types for that (`boolean`,
    `Int64`), so that a mean leaves missing results out and nothing turns into a float.
    """

    summaries: tuple[Summary, ...]
    """One summary a run, in the order of the paths."""
    _read: Callable[[str], pa.Table] = field(repr=False)

    @property
    def summary(self) -> Summary:
        """The summary of the only run.

        Raises:
            UsageError: there are several.
        """
        if len(self.summaries) != 1:
            raise UsageError(f"{len(self.summaries)} reports are loaded; take one of `.summaries`")
        return self.summaries[0]

    def frame(self, name: str) -> pd.DataFrame:
        """A table by name.

        Raises:
            UsageError: there is no such table.
        """
        if name not in TABLES:
            raise UsageError(f"no table `{name}`; there are {', '.join(TABLES)}")
        frame: pd.DataFrame = self._read(name).to_pandas()
        return frame

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row a run."""
        return self.frame("runs")

    @cached_property
    def solutions(self) -> pd.DataFrame:
        """One row a planned sample."""
        return self.frame("solutions")

    @cached_property
    def literals(self) -> pd.DataFrame:
        """One row a number of an answer."""
        return self.frame("literals")

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row a cell."""
        return self.frame("cells")

    @cached_property
    def values(self) -> pd.DataFrame:
        """One row a certified value of a sample."""
        return self.frame("values")

    @cached_property
    def turns(self) -> pd.DataFrame:
        """One row a reply of the model."""
        return self.frame("turns")


def open_rows(path: Path | str) -> tuple[Summary, Mapping[str, Iterable[dict[str, Any]]]]:
    """The summary of one run and its rows by table, without code and output of cells.

    Raises:
        RunDirError: the path is no run and no report, or holds several.
    """
    path = Path(path)
    if (path / MANIFEST).is_file():
        run = RunDir.read(path)
        tables = collect(run, texts=False)
        history = run.rate_history()
        return summarize_rows(run.manifest, tables, history=history), tables
    sources = _open(path)
    if len(sources) != 1:
        raise RunDirError(f"{path}: holds {len(sources)} runs; name one of them")
    source = sources[0]
    return source.summary, _Lazy(source)


class _Lazy(dict[str, list[dict[str, Any]]]):
    """Rows of a report, each table read when it is first asked for."""

    def __init__(self, source: _Source) -> None:
        super().__init__()
        self._source = source

    def __missing__(self, name: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._source.read(name).to_pylist()
        self[name] = rows
        return rows


@dataclass(frozen=True, slots=True)
class _Source:
    summary: Summary
    read: Callable[[str], pa.Table]


def load_report(paths: Path | str | Iterable[Path | str]) -> Report:
    """Load reports.

    Args:
        paths: a report's folder, a run directory, a folder that holds such folders, or several
            of these.

    Raises:
        RunDirError: a path is none of these, or of a newer version.
    """
    several = [paths] if isinstance(paths, str | Path) else list(paths)
    sources = [source for path in several for source in _open(Path(path))]

    def read(name: str) -> pa.Table:
        import pyarrow as pa

        if not sources:
            return arrow_schema(TABLES[name]).empty_table()
        return pa.concat_tables([source.read(name) for source in sources])

    return Report(tuple(source.summary for source in sources), read)


def _open(path: Path) -> Sequence[_Source]:
    if (path / MANIFEST).is_file():
        return [_open_run(path)]
    if (path / SUMMARY).is_file():
        return [_open_report(path)]
    inside = sorted(
        child
        for child in (path.iterdir() if path.is_dir() else ())
        if (child / SUMMARY).is_file() or (child / MANIFEST).is_file()
    )
    if not inside:
        raise RunDirError(
            f"{path}: neither a report nor a run directory (no {SUMMARY}, no {MANIFEST}), and "
            "no folder of such"
        )
    return [source for child in inside for source in _open(child)]


def _open_run(path: Path) -> _Source:
    run = RunDir.read(path)
    with collector_paused():
        tables = collect(run)
    return _Source(
        summarize_rows(run.manifest, tables), lambda name: arrow_table(name, tables[name])
    )


def read_summary(file: Path) -> Summary:
    """The summary of a report.

    Raises:
        RunDirError: it cannot be read, or is of another version.
    """
    try:
        return Summary.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise RunDirError(
            f"{file}: not a summary of this version ({error.error_count()} faults); build the "
            "report again from its run directory"
        ) from None
    except OSError as error:
        raise RunDirError(f"{file}: cannot be read: {error.strerror or error}") from error


def _open_report(path: Path) -> _Source:
    summary = read_summary(path / SUMMARY)
    return _Source(summary, lambda name: _read_table(path / f"{name}.parquet", name))


def _read_table(file: Path, name: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file).read()
    except FileNotFoundError:
        raise RunDirError(f"{file}: is not there; build the report again") from None
    except (OSError, pa.ArrowInvalid) as error:
        raise RunDirError(f"{file}: not a table: {error}; build the report again") from None
    version = int((table.schema.metadata or {}).get(b"scisolve_batch.schema_version", b"0"))
    if version > SCHEMA_VERSION:
        raise RunDirError(
            f"{file}: has version {version}, and this version reads up to {SCHEMA_VERSION}; "
            "update scisolve-batch"
        )
    return _conform(table, name, file)


def _conform(table: pa.Table, name: str, file: Path) -> pa.Table:
    """The table in today's columns: those it does not know are missing throughout."""
    import pyarrow as pa

    columns = []
    schema = arrow_schema(TABLES[name])
    for wanted in schema:
        if wanted.name not in table.column_names:
            columns.append(pa.nulls(len(table), wanted.type))
            continue
        try:
            columns.append(table[wanted.name].cast(wanted.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise RunDirError(
                f"{file}: column `{wanted.name}` cannot be read as {wanted.type}; build the report again"
            ) from None
    return pa.Table.from_arrays(columns, schema=schema)
