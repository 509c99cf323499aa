"""Where numbers may come from: the stdout of successful cells, and the problem statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scisolve_batch.records import Cell


@dataclass(frozen=True, slots=True)
class Source:
    """A text whose numbers count as printed.

    Attributes:
        kind: `cell` or `problem`.
        cell: number of the cell; None for the problem.
        text: the text.
    """

    kind: str
    cell: int | None
    text: str

    def line(self, position: int) -> int:
        """Number of the line, from 1, on which a character stands."""
        return self.text.count("\n", 0, position) + 1


def collect_sources(cells: Sequence[Cell], problem: str) -> list[Source]:
    """Every source, cells in order and the problem last."""
    found = [Source("cell", cell.index, cell.stdout) for cell in cells if cell.ok]
    return [*found, Source("problem", None, problem)] if problem else found
