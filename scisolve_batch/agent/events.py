"""What happens while a problem is being solved, for whoever listens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scisolve_batch.model.base import Message
from scisolve_batch.model.budget import Spend
from scisolve_batch.records import Cell, Grounding, Turn


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """The conversation grew by one message, which will not change any more."""

    message: Message


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The model is being asked."""

    index: int


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The model replied."""

    turn: Turn
    text: str
    spend: Spend = Spend()


@dataclass(frozen=True, slots=True)
class CellStarted:
    """A cell is about to run."""

    index: int
    code: str


@dataclass(frozen=True, slots=True)
class CellFinished:
    """A cell ended."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class AnswerRefused:
    """An answer went back to the model."""

    complaint: str
    grounding: Grounding


Event = MessageAdded | TurnStarted | TurnFinished | CellStarted | CellFinished | AnswerRefused
Observer = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Hear nothing."""
