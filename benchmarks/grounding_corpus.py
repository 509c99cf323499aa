"""The grounding check in the form that a corpus scorer wants: plain data in, plain data out.

`check(answer, cells, problem)` and `check_strict_names(...)` call public API only. A cell is a
mapping with `stdout`, `ok` and, where known, `code` and `stderr`; cells count from 0 in the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scisolve_batch import Cell, check_grounding
from scisolve_batch.records import CellStatus


def check(
    answer: str, cells: Sequence[Mapping[str, Any]], problem: str, *, strict_names: bool = False
) -> list[dict[str, Any]]:
    """Start, end, verdict and supporting cell of every number of an answer."""
    ran = [
        Cell(
            index=index,
            code=cell.get("code", ""),
            stdout=cell["stdout"],
            stderr=cell.get("stderr") or "",
            status=CellStatus.OK if cell["ok"] else CellStatus.ERROR,
        )
        for index, cell in enumerate(cells)
    ]
    found = check_grounding(answer, ran, problem, policy="decimal", strict_names=strict_names)
    return [
        {
            "start": item.start,
            "end": item.end,
            "verdict": item.verdict.value,
            "cell": item.cell,
            "relation": item.relation,
            "reason": item.reason,
        }
        for item in found.literals
    ]


def check_strict_names(
    answer: str, cells: Sequence[Mapping[str, Any]], problem: str
) -> list[dict[str, Any]]:
    """The same, with numbers under a wrong name failing too."""
    return check(answer, cells, problem, strict_names=True)
