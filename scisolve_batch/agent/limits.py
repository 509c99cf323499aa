"""How much of its limits a problem has used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scisolve_batch.records import Limits, StopReason, Usage


@dataclass(slots=True)
class Meter:
    """Counts turns, tokens and seconds of one problem.

    Attributes:
        limits: what the problem may use.
        now: a clock that never goes back, in seconds.
        wait_s: seconds spent waiting for the service; they do not count.
    """

    limits: Limits
    now: Callable[[], float]
    turns: int = 0
    usage: Usage = Usage()
    wait_s: float = 0.0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.now()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start, waits included."""
        return self.now() - self.started

    @property
    def deadline(self) -> float:
        """The clock's reading at which the problem's seconds are used up."""
        return self.started + self.wait_s + self.limits.problem_s

    def exceeded(self) -> StopReason | None:
        """The limit that is used up, if one is."""
        if self.now() >= self.deadline:
            return StopReason.TIME_LIMIT
        if self.limits.max_tokens is not None and self.usage.total >= self.limits.max_tokens:
            return StopReason.BUDGET
        if self.turns >= self.limits.max_turns:
            return StopReason.MAX_TURNS
        return None
