"""The tables of a report in plain Python, kept by column.

Anything a run directory may hold is read without raising: a record that is absent, torn or of
an unknown form becomes a row that says so. It loads no numpy, pandas or pyarrow.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scisolve_batch.records import Manifest
from scisolve_batch.report.columns import columns_of, read_time
from scisolve_batch.report.results import SCRIPTED, Batch, read_batches
from scisolve_batch.report.schema import SCHEMA_VERSION, TABLES
from scisolve_batch.rundir import RunDir

KEY = ("run_id", "problem_id", "sample")
"""What names a sample in every table."""

PART_SAMPLES = 4_000
"""Samples whose rows are held together: what a file's group of rows is made of."""
PART_BYTES = 64_000_000
"""Bytes of records and texts after which a part is closed early."""


class Rows:
    """The rows of one table, kept by column."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in names}

    def extend(self, columns: Mapping[str, list[Any]]) -> None:
        """Add rows; every column is given."""
        for name, column in self.columns.items():
            column.extend(columns[name])

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.pick(*self.columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def pick(self, *names: str) -> Iterator[dict[str, Any]]:
        """The rows with some of their columns."""
        for values in zip(*(self.columns[name] for name in names), strict=True):
            yield dict(zip(names, values, strict=True))

    def row(self, number: int) -> dict[str, Any]:
        """One row by its number, from 0."""
        return {name: column[number] for name, column in self.columns.items()}


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for reference cycles while many rows, which hold none, are made.

    Searching the growing heap again and again takes a quarter of the time of a large report.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


Tables = dict[str, Rows]
"""Every table of a report by name."""


def collect(run: RunDir, *, texts: bool = True, names: Iterable[str] = TABLES) -> Tables:
    """Read a run directory into the rows of its tables.

    Args:
        run: the run.
        texts: also read the code and the output of the cells; otherwise they are missing.
        names: the tables that are made.
    """
    names = tuple(names)
    tables = {name: Rows(TABLES[name].names) for name in names}
    for part in collect_parts(run, texts=texts, names=names):
        for name, rows in part.items():
            tables[name].extend(rows.columns)
    return tables


def collect_parts(
    run: RunDir, *, texts: bool = True, names: Iterable[str] = TABLES
) -> Iterator[Tables]:
    """The tables of a run in parts of bounded size, to be joined in this order; at least one."""
    names = tuple(names)
    tables, samples, size = None, 0, 0
    for batch in read_batches(run, texts=texts):
        part = tables_of(run.manifest, batch, names=names, first=tables is None)
        if tables is None or samples >= PART_SAMPLES or size >= PART_BYTES:
            if tables is not None:
                yield tables
            tables, samples, size = part, 0, 0
        else:
            for name, rows in part.items():
                tables[name].extend(rows.columns)
        samples += len(batch.planned)
        size += batch.size
    if tables is not None:
        yield tables


def tables_of(
    manifest: Manifest, batch: Batch, *, names: Iterable[str] = TABLES, first: bool = True
) -> Tables:
    """The tables of samples that were read together.

    Args:
        manifest: the run's manifest.
        batch: the samples.
        names: the tables that are made.
        first: this part has the row of the run.
    """
    tables = {name: Rows(TABLES[name].names) for name in names}
    for name, rows in tables.items():
        if name != "runs":
            made = columns_of(name, manifest, batch)
            rows.columns = {column: made[column] for column in rows.columns}
        elif first:
            rows.extend({column: [value] for column, value in run_row(manifest).items()})
    return tables


def run_row(manifest: Manifest) -> dict[str, Any]:
    """The row of a run."""
    suite, limits = manifest.suite, manifest.limits
    return {
        "run_id": manifest.run_id,
        "created_at": read_time(manifest.created_at),
        "suite_id": suite.id,
        "suite_version": suite.version,
        "suite_title": suite.title,
        "suite_digest": suite.digest,
        "suite_pin": suite.pin,
        "model": manifest.model,
        "scripted": manifest.model == SCRIPTED,
        "grounding": manifest.grounding,
        "seed": manifest.seed,
        "jobs": manifest.jobs,
        "problems": len({planned.problem_id for planned in manifest.planned}),
        "planned": len(manifest.planned),
        "max_turns": limits.max_turns,
        "max_output_tokens": limits.max_output_tokens,
        "max_tokens": limits.max_tokens,
        "problem_limit_s": limits.problem_s,
        "cell_limit_s": limits.cell_s,
        "memory_mb": limits.memory_mb,
        "output_kb": limits.output_kb,
        "platform": manifest.platform,
        "versions": json.dumps(manifest.versions, sort_keys=True),
        "isolation": json.dumps(manifest.isolation, sort_keys=True, default=str),
        "run_format": manifest.format,
        "schema_version": SCHEMA_VERSION,
    }
