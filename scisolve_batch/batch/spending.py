"""What a run may still spend, dealt out so that its cap cannot be passed.

Each problem gets a share of what is left when it is started, and its worker asks for no reply
that could pass that share. Nothing is started when the shares have become too small to be useful.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.model.budget import Cap, Ledger, Spend
from scisolve_batch.records import Settings


@dataclass(slots=True)
class Purse:
    """The money of a run.

    Attributes:
        settings: the caps.
        spent_before: what earlier parts of the run spent.
        ended: attempts of this part that are over.
        ended_usd: what they cost together.
    """

    settings: Settings
    spent_before: Spend = Spend()
    ended: int = 0
    ended_usd: float = 0.0
    _ledger: Ledger = field(init=False)
    _open: dict[Attempt, Spend] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._ledger = Ledger(Cap(usd=self.settings.max_usd), self.spent_before)

    @property
    def spent(self) -> Spend:
        """Everything that was spent, earlier parts of the run included."""
        return self._ledger.spent

    def left(self) -> float | None:
        """US dollars that are neither spent nor set aside; None without a cap."""
        if self.settings.max_usd is None:
            return None
        return max(0.0, self.settings.max_usd - self.spent.usd - self._ledger.reserved.usd)

    def share(self) -> Cap:
        """The most that a problem may spend which is started now."""
        most, left = self.settings.max_problem_usd, self.left()
        if left is None:
            return Cap(usd=most)
        free = max(1, self.settings.jobs - len(self._open))
        return Cap(usd=left / free if most is None else min(most, left / free))

    def is_empty(self) -> bool:
        """What a problem would get now is less than problems cost so far, on average."""
        if self.settings.max_usd is None:
            return False
        usd = self.share().usd or 0.0
        return usd <= 0.0 or (self.ended > 0 and usd < self.ended_usd / self.ended)

    def begin(self, attempt: Attempt) -> Cap:
        """Set a share aside for an attempt."""
        cap = self.share()
        if self.settings.max_usd is not None:
            self._ledger.reserve(_key(attempt), Spend(nano=cap.nano or 0))
        self._open[attempt] = Spend()
        return cap

    def spend(self, attempt: Attempt, amount: Spend) -> None:
        """A reply of an attempt was paid for."""
        self._ledger.record(_key(attempt), amount)
        if attempt in self._open:
            self._open[attempt] += amount

    def end(self, attempt: Attempt) -> Spend:
        """An attempt is over; what it did not spend is free again. Returns what it spent."""
        self._ledger.release(_key(attempt))
        spent = self._open.pop(attempt, Spend())
        self.ended += 1
        self.ended_usd += spent.usd
        return spent


def _key(attempt: Attempt) -> str:
    return f"{attempt.problem_id}.{attempt.sample}.{attempt.attempt}"
