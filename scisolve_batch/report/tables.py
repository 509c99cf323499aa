"""Rows to Parquet: typed columns, each with its meaning and unit in the file's metadata.

The same rows give the same bytes. pyarrow is loaded inside the functions.
"""

# ruff: noqa: PLC0415 - heavy imports stand inside the functions that need them

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from scisolve_batch.report.rows import Rows
from scisolve_batch.report.schema import SCHEMA_VERSION, TABLES, Column, Table

if TYPE_CHECKING:
    import pyarrow as pa

_PANDAS = {  # pandas types that hold missing values, for columns that may miss some
    "int": ("int64", "int64", "Int64"),
    "bool": ("bool", "bool", "boolean"),
    "float": ("float64", "float64", "float64"),
}


def arrow_schema(table: Table) -> pa.Schema:
    """The Arrow schema of a table, with descriptions, units and pandas' own types."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
        "strings": pa.list_(pa.field("element", pa.string(), nullable=False)),
    }
    fields = [
        pa.field(
            column.name,
            kinds[column.kind],
            nullable=not column.required,
            metadata={"description": column.about, "unit": column.unit},
        )
        for column in table.columns
    ]
    return pa.schema(
        fields,
        metadata={
            "scisolve_batch.table": table.name,
            "scisolve_batch.schema_version": str(SCHEMA_VERSION),
            "description": table.about,
            "pandas": json.dumps(_pandas_metadata(table)),
        },
    )


def _pandas_metadata(table: Table) -> dict[str, Any]:
    """What pandas reads its column types from, so that gaps keep integers and truth values."""
    return {
        "index_columns": [],
        "column_indexes": [],
        "columns": [_pandas_column(column) for column in table.columns],
        "creator": {"library": "pyarrow", "version": "15"},
        "pandas_version": "2.1.0",
    }


def _pandas_column(column: Column) -> dict[str, Any]:
    known = _PANDAS.get(column.kind)
    if known is None:
        kinds = {"string": "unicode", "time": "datetimetz", "strings": "list[unicode]"}
        zone = {"timezone": "UTC"} if column.kind == "time" else None
        numpy = "datetime64[us]" if column.kind == "time" else "object"
        return _entry(column.name, kinds[column.kind], numpy, zone)
    pandas_type, plain, gapped = known
    return _entry(column.name, pandas_type, plain if column.required else gapped, None)


def _entry(
    name: str, pandas_type: str, numpy_type: str, metadata: dict[str, str] | None
) -> dict[str, Any]:
    return {
        "name": name,
        "field_name": name,
        "pandas_type": pandas_type,
        "numpy_type": numpy_type,
        "metadata": metadata,
    }


def arrow_table(name: str, rows: Rows) -> pa.Table:
    """A table's rows as Arrow, in the order of the rows."""
    import pyarrow as pa

    schema = arrow_schema(TABLES[name])
    arrays = [pa.array(rows[field.name], type=field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


class TableWriter:
    """Writes one table part by part, so that no more than a part is held at a time.

    The file appears under its name when all parts are written; a context manager.
    """

    def __init__(self, path: Path, name: str) -> None:
        import pyarrow.parquet as pq

        self.path, self.name = path, name
        self._beside = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._writer = pq.ParquetWriter(
            self._beside, arrow_schema(TABLES[name]), compression="zstd", compression_level=3
        )

    def write(self, rows: Rows) -> None:
        """Add a part of the table."""
        if len(rows):
            self._writer.write_table(arrow_table(self.name, rows))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._writer.close()
            if kind is None:
                self._beside.replace(self.path)
        finally:
            self._beside.unlink(missing_ok=True)
