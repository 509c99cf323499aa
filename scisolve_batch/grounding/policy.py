"""The words that policies and their caller share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from scisolve_batch.records import Cell, Literal


class Rerun(Protocol):
    """Runs cells again in a fresh session that starts as the recorded one did."""

    def __call__(self, codes: Sequence[str], /) -> list[str] | None:
        """The stdout of each cell, or None when one of them does not succeed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a policy has to judge, and what it may believe.

    Attributes:
        texts: pairs of where a text stands (`answer`, `values[NAME]`) and the text.
        cells: every cell of the session, failed ones included, in order.
        problem: the problem statement.
        rerun: runs cells again, or None when nothing can be run.
        strict_names: a number quoted under a wrong name fails.
    """

    texts: tuple[tuple[str, str], ...]
    cells: tuple[Cell, ...]
    problem: str
    rerun: Rerun | None = None
    strict_names: bool = False


Policy = Callable[[Question], list[Literal]]
"""Judges each number of the question's texts, in order."""
