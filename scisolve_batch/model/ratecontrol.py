"""How many problems may ask the service at a time, learned from its answers.

Pure: events with their times go in, a number comes out. Additive increase, multiplicative
decrease, as in TCP (Chiu and Jain, Computer Networks and ISDN Systems 17, 1989). It starts and
stops nothing; what it says holds for problems that are not yet begun.
"""

from __future__ import annotations

from dataclasses import dataclass, field

THROTTLING = frozenset({"rate_limit", "overloaded"})
"""Kinds of failures that mean: too many at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of what is allowed.

    Attributes:
        at: monotonic time, in seconds.
        allowed: problems in flight from then on.
        hold_until: monotonic time before which nothing new is begun.
        reason: `success`, or the kind of failure.
    """

    at: float
    allowed: int
    hold_until: float
    reason: str


@dataclass(slots=True)
class RateControl:
    """Allows between 1 and `most` problems in flight.

    Args:
        most: what the user asked for.
        start: what is allowed at first; None means `most`.
        decrease: factor after a failure that means too many.
        settle_s: seconds after a decrease in which further failures are taken for the echo of
            the same cause, and only prolong the hold.
        hold_cap_s: longest hold that the service can ask for, in seconds.
    """

    most: int
    start: int | None = None
    decrease: float = 0.5
    settle_s: float = 5.0
    hold_cap_s: float = 120.0
    hold_until: float = field(init=False, default=float("-inf"))
    history: list[Change] = field(init=False, default_factory=list)
    _limit: float = field(init=False)
    _decreased: float = field(init=False, default=float("-inf"))

    def __post_init__(self) -> None:
        if self.most < 1 or not 0 < self.decrease < 1:
            raise ValueError("most is at least 1, and decrease lies between 0 and 1")
        self._limit = float(min(self.most, max(1, self.start or self.most)))

    @property
    def allowed(self) -> int:
        """Problems that may be in flight."""
        return int(self._limit)

    def may_begin(self, *, at: float, in_flight: int) -> bool:
        """Whether one more problem may be begun now."""
        return at >= self.hold_until and in_flight < self.allowed

    def replied(self, *, at: float) -> None:
        """The service gave a whole reply. A full round of replies allows one problem more."""
        before = self.allowed
        if at >= self.hold_until:
            self._limit = min(float(self.most), self._limit + 1.0 / self._limit)
        if self.allowed != before:
            self._note(at, "success")

    def failed(self, kind: str, *, at: float, retry_after_s: float | None = None) -> None:
        """A request failed. Failures that do not mean too many change nothing."""
        if kind not in THROTTLING:
            return
        before = (self.allowed, self.hold_until)
        if retry_after_s is not None and retry_after_s > 0:
            self.hold_until = max(self.hold_until, at + min(retry_after_s, self.hold_cap_s))
        if at >= self._decreased + self.settle_s:
            self._limit = max(1.0, self._limit * self.decrease)
            self._decreased = at
        if (self.allowed, self.hold_until) != before:
            self._note(at, kind)

    def _note(self, at: float, reason: str) -> None:
        self.history.append(
            Change(at=at, allowed=self.allowed, hold_until=self.hold_until, reason=reason)
        )
