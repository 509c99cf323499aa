"""How much a problem and a whole run may still spend.

Pure accounting. Work is begun only when its reservation fits under the cap, and a request is made
only when its worst case fits into its problem's allowance, so a cap is never passed as long as a
token has at least one byte. Money that failed replies may have cost is counted at its most.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist, fmean, stdev

from scisolve_batch.errors import UsageError
from scisolve_batch.model.base import Reply, Request
from scisolve_batch.model.prices import NANO, Price, find_price
from scisolve_batch.model.retry import PAID_KINDS
from scisolve_batch.records import Usage


@dataclass(frozen=True, slots=True)
class Spend:
    """Tokens, and nanodollars (1e-9 US dollars)."""

    tokens: int = 0
    nano: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.tokens + other.tokens, self.nano + other.nano)

    def without(self, other: Spend) -> Spend:
        """What is left of this after the other, never below nothing."""
        return Spend(max(0, self.tokens - other.tokens), max(0, self.nano - other.nano))

    @property
    def usd(self) -> float:
        """US dollars."""
        return self.nano / NANO


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """The most that may be spent; None means no limit.

    Attributes:
        tokens: read and written, cached ones included.
        usd: US dollars.
    """

    tokens: int | None = None
    usd: float | None = None

    @property
    def nano(self) -> int | None:
        """The dollars as whole nanodollars, rounded down."""
        return None if self.usd is None else math.floor(self.usd * NANO)

    def allows(self, spend: Spend) -> bool:
        """The spend is not above the cap."""
        return (self.tokens is None or spend.tokens <= self.tokens) and (
            self.nano is None or spend.nano <= self.nano
        )


@dataclass(slots=True)
class Ledger:
    """What a run has spent, and what its unfinished problems may still spend.

    `spent + reserved` is never above the cap, unless somebody spends more than was reserved;
    then nothing more can be reserved.
    """

    cap: Cap
    spent: Spend = Spend()
    _reserved: dict[str, Spend] = field(default_factory=dict)

    @property
    def reserved(self) -> Spend:
        """What the unfinished problems may still spend."""
        return sum(self._reserved.values(), Spend())

    def reserve(self, key: str, amount: Spend) -> bool:
        """Set an amount aside for a problem. False, and nothing happens, when it does not fit.

        Raises:
            ValueError: the problem holds a reservation already.
        """
        if key in self._reserved:
            raise ValueError(f"{key} holds a reservation")
        if not self.cap.allows(self.spent + self.reserved + amount):
            return False
        self._reserved[key] = amount
        return True

    def record(self, key: str, amount: Spend) -> None:
        """A problem has spent an amount out of its reservation."""
        self.spent += amount
        if key in self._reserved:
            self._reserved[key] = self._reserved[key].without(amount)

    def release(self, key: str) -> None:
        """A problem has ended; what it did not spend is free again."""
        self._reserved.pop(key, None)


@dataclass(slots=True)
class Allowance:
    """What one problem may spend, request by request.

    Args:
        cap: the most it may spend.
        model: the model that is asked.
        attempts: requests that one reply may be charged for; with the retries of a policy its
            `paid_attempts` make the cap strict, 1 takes the risk of a broken reply.
        divisor: what the table's prices are divided by; 2 for requests in batches.

    Raises:
        UsageError: a cap in dollars for a model whose price is unknown.
    """

    cap: Cap
    model: str
    attempts: int = 1
    divisor: int = 1
    spent: Spend = Spend()
    _price: Price | None = field(init=False)
    _asked: int = field(init=False, default=0)  # prompt of the request that is out, at most
    _sent: int = field(init=False, default=0)  # its bytes
    _known: tuple[int, int] | None = field(init=False, default=None)
    # Tokens of the last counted prompt with its reply, and the bytes of that prompt.

    def __post_init__(self) -> None:
        self._price = find_price(self.model)
        if self.cap.usd is not None and self._price is None:
            raise UsageError(
                f"no price is known for {self.model}, so a cap in dollars cannot be kept; "
                "give one in tokens"
            )

    def output_tokens(self, request: Request) -> int:
        """The most output tokens, up to the request's own limit, that the request can afford.

        0 means that it must not be made. The prompt is bounded by what the service counted last
        time plus one token for each byte since.
        """
        size = _size(request)
        tokens, counted = self._known or (0, 0)
        self._asked, self._sent = tokens + max(0, size - counted) + _OVERHEAD, size
        low, high = 0, request.max_tokens
        while low < high:
            middle = (low + high + 1) // 2
            if self.cap.allows(self.spent + self._worst(self._asked, middle)):
                low = middle
            else:
                high = middle - 1
        return low

    def charge(self, reply: Reply, *, max_tokens: int) -> Spend:
        """Count a reply, and the failed attempts before it that may have been charged.

        Args:
            reply: the reply to the request last asked about.
            max_tokens: the limit it was made with.
        """
        usage = reply.usage
        nano = self._price.nano(usage) if self._price is not None else 0
        if usage.input_tokens is None or usage.output_tokens is None or nano is None:
            one = self._once(self._asked, max_tokens)  # not reported: assume the worst
        else:
            one = Spend(usage.total, self._divided(nano))
            self._known = (usage.total, self._sent)
        amount = one + self._lost(reply.errors, max_tokens)
        self.spent += amount
        return amount

    def charge_failure(self, errors: Sequence[str], *, max_tokens: int) -> Spend:
        """Count the attempts of a request that had no reply, by the kinds of their failures."""
        amount = self._lost(errors, max_tokens)
        self.spent += amount
        return amount

    def _lost(self, errors: Sequence[str], max_tokens: int) -> Spend:
        lost = sum(kind in PAID_KINDS for kind in errors)
        once = self._once(self._asked, max_tokens)
        return Spend(once.tokens * lost, once.nano * lost)

    def _once(self, prompt: int, output: int) -> Spend:
        price = self._price
        nano = price.nano_at_most(prompt_tokens=prompt, output_tokens=output) if price else 0
        return Spend(prompt + output, self._divided(nano))

    def _divided(self, nano: int) -> int:
        return -(-nano // self.divisor)  # rounded up

    def _worst(self, prompt: int, output: int) -> Spend:
        once = self._once(prompt, output)
        return Spend(once.tokens * self.attempts, once.nano * self.attempts)


def usage_spend(usage: Usage, model: str | None) -> Spend | None:
    """One reply's tokens and money; None when the money is unknown."""
    price = find_price(model)
    nano = price.nano(usage) if price is not None else None
    return None if nano is None else Spend(usage.total, nano)


_OVERHEAD = 2_000
"""Tokens that the service adds to a prompt for its own instructions about tools, at most.
Its documentation gives 300 to 700 for recent models."""


def _size(request: Request) -> int:
    """UTF-8 bytes of everything that is sent to be read. A token has at least one."""
    parts = [request.system, list(request.tools), list(request.messages)]
    return len(json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass"))


# ---- before a run --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run is expected to cost, in the unit of the recorded costs.

    Attributes:
        expected: the mean.
        low: lower end of the prediction interval.
        high: upper end.
        recorded: number of problems that it rests on.
        confidence: probability with which the interval is meant to hold the true total.
    """

    expected: float
    low: float
    high: float
    recorded: int
    confidence: float


def estimate(recorded: Sequence[float], *, count: int, confidence: float = 0.95) -> Estimate | None:
    """Predict the total cost of `count` problems from the recorded costs of others.

    For independent costs with mean m and standard deviation s of n recorded ones, the total of
    `count` new ones is predicted by count*m +- t * s * sqrt(count * (1 + count/n)), the prediction
    interval of a sum; t is Student's quantile with n - 1 degrees of freedom. The lower end is never
    below 0. None with fewer than two records, since nothing is known about the spread.

    Raises:
        ValueError: a recorded cost is negative or not finite.
    """
    if any(not math.isfinite(value) or value < 0 for value in recorded):
        raise ValueError("a recorded cost is negative or not finite")
    n = len(recorded)
    if n < 2:
        return None
    expected = count * fmean(recorded)
    half = student_quantile((1 + confidence) / 2, degrees=n - 1)
    half *= stdev(recorded) * math.sqrt(count * (1 + count / n))
    return Estimate(
        expected=expected,
        low=max(0.0, expected - half),
        high=expected + half,
        recorded=n,
        confidence=confidence,
    )


def student_quantile(probability: float, *, degrees: int) -> float:
    """Quantile of Student's t distribution for a probability above 1/2.

    Exact for 1 and 2 degrees of freedom; above, the expansion of Abramowitz and Stegun, Handbook
    of Mathematical Functions, 26.7.5, whose error at 0.975 is below 0.5 % from 3 degrees on.
    """
    if degrees == 1:
        return math.tan(math.pi * (probability - 0.5))
    if degrees == 2:
        a = 2 * probability - 1
        return a * math.sqrt(2 / (1 - a * a))
    z = NormalDist().inv_cdf(probability)
    z2 = z * z
    return z * (
        1
        + (z2 + 1) / (4 * degrees)
        + ((5 * z2 + 16) * z2 + 3) / (96 * degrees**2)
        + (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * degrees**3)
        + ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / (92160 * degrees**4)
    )
