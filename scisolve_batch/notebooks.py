"""Numbers in prose against outputs, for Jupyter notebooks and plain text.

Each Markdown cell is checked against the outputs of the code cells above it, by the same rule as
an answer. Files that are odd are read as far as they go; nothing is executed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding import DEFAULT_POLICY, check_grounding
from scisolve_batch.records import FAILING, Cell, CellStatus, Literal

MAX_OUTPUT = 200_000
"""Characters of a cell's output that are read; nobody quotes from further down."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A number that no output above it supports.

    Attributes:
        cell: the notebook's cell, from 1, or 0 for a plain text.
        line: the line in that cell or text, from 1.
        literal: the number with its verdict.
    """

    cell: int
    line: int
    literal: Literal


def check_notebook(path: Path, *, policy: str = DEFAULT_POLICY) -> list[Unsupported]:
    """Every number in the Markdown of a notebook that no output above it supports.

    Raises:
        UsageError: the file is no notebook.
    """
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path}: is no notebook: {error}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}: is no notebook: it holds no object")
    found: list[Unsupported] = []
    outputs: list[Cell] = []
    for number, cell in enumerate(_cells(data), 1):
        kind = cell.get("cell_type")
        if kind == "code":
            outputs.append(_read_code(cell, number))
        elif kind == "markdown":
            found += _check(_text(cell.get("source")), outputs, cell=number, policy=policy)
    return found


def check_text(text: str, outputs: str, *, policy: str = DEFAULT_POLICY) -> list[Unsupported]:
    """Every number of a text that an output does not support."""
    return _check(text, [Cell(index=1, stdout=outputs)], cell=0, policy=policy)


def _check(text: str, outputs: list[Cell], *, cell: int, policy: str) -> list[Unsupported]:
    literals = check_grounding(text, outputs, policy=policy).literals
    return [
        Unsupported(cell, text.count("\n", 0, item.start) + 1, item)
        for item in literals
        if item.verdict in FAILING
    ]


def _cells(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a notebook; format 3 keeps them in worksheets."""
    cells = data.get("cells")
    if not isinstance(cells, list):
        sheets = data.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        cells = [
            cell
            for sheet in sheets
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
            for cell in sheet["cells"]
        ]
    return [cell for cell in cells if isinstance(cell, dict)]


def _read_code(cell: dict[str, Any], number: int) -> Cell:
    outputs = cell.get("outputs")
    texts, failed = [], False
    for output in outputs if isinstance(outputs, list) else []:
        if not isinstance(output, dict):
            continue
        kind = output.get("output_type")
        failed |= kind in ("error", "pyerr")
        if kind == "stream" and output.get("name", output.get("stream", "stdout")) != "stderr":
            texts.append(_text(output.get("text")))
        elif kind in ("execute_result", "display_data", "pyout"):
            data = output.get("data")
            plain = data.get("text/plain") if isinstance(data, dict) else output.get("text")
            texts.append(_text(plain))
    return Cell(
        index=number,
        code=_text(cell.get("source", cell.get("input"))),
        stdout="\n".join(texts)[:MAX_OUTPUT],
        status=CellStatus.ERROR if failed else CellStatus.OK,
    )


def _text(raw: Any) -> str:
    if isinstance(raw, list):
        return "".join(part for part in raw if isinstance(part, str))
    return raw if isinstance(raw, str) else ""
