"""When to ask again, and how long to wait before.

Pure decisions; clock, sleep and randomness are given. Nothing is asked again after the request's
deadline, and no wait that a service demands is longer than a cap.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from scisolve_batch.errors import ModelError
from scisolve_batch.model.base import NoReply, Reply

PAID_KINDS = frozenset({"stream_cut", "bad_reply", "timeout"})
"""Failures that came after the service had begun to work, so tokens may have been charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how slowly a request is repeated.

    Attributes:
        attempts: requests for one reply, the first included.
        paid_attempts: failures that may have cost tokens, after which no other is risked.
        first_s: upper end of the first wait, in seconds; it doubles with each failure.
        longest_s: upper end of any wait that the service did not ask for, in seconds.
        retry_after_cap_s: longest wait that the service can ask for, in seconds.
    """

    attempts: int = 5
    paid_attempts: int = 3
    first_s: float = 1.0
    longest_s: float = 16.0
    retry_after_cap_s: float = 120.0

    def wait_s(self, failures: int, *, error: ModelError, random: Random) -> float:
        """Seconds to wait after the given number of failures (1 or more), the last one being `error`.

        Full jitter: uniform between 0 and min(longest, first * 2**(failures - 1)); see
        M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. A wait that the
        service asked for is kept, with up to `first_s` on top so that not all come back at once.
        """
        ceiling = min(self.longest_s, self.first_s * 2.0 ** (failures - 1))
        if error.retry_after_s is None:
            return random.uniform(0.0, ceiling)
        asked = min(error.retry_after_s, self.retry_after_cap_s)
        return asked + random.uniform(0.0, self.first_s)

    def goes_on(self, errors: tuple[str, ...], *, error: ModelError) -> bool:
        """Whether another request is made after these failures, the last one being `error`."""
        paid = sum(kind in PAID_KINDS for kind in errors)
        return error.retryable and len(errors) < self.attempts and paid < self.paid_attempts


NO_RETRY = RetryPolicy(attempts=1)
"""Ask once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Where time and chance come from.

    Attributes:
        now: monotonic seconds, the scale of `Request.deadline`.
        sleep: waits that many seconds.
        random: source of the jitter.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    random: Random = field(default_factory=Random)


def ask(
    attempt: Callable[[], Reply],
    *,
    policy: RetryPolicy,
    deadline: float | None,
    clock: Clock,
    hold_until: Callable[[], float] | None = None,
    on_failure: Callable[[ModelError], object] | None = None,
) -> Reply:
    """Call `attempt` until it replies, and add to the reply what that took.

    Args:
        attempt: makes one request; raises `ModelError` when there is no whole reply.
        policy: how often and how slowly.
        deadline: monotonic time after which no attempt is started, in seconds.
        clock: time and chance.
        hold_until: monotonic time before which nobody shall ask, looked up before each attempt.
        on_failure: hears of each failed attempt.

    Raises:
        NoReply: the last failure, with the number of attempts.
    """
    errors: tuple[str, ...] = ()
    pauses = _Pauses(clock, deadline, hold_until)
    if not pauses.held():
        raise NoReply(_too_late(), attempts=0, errors=(), wait_s=pauses.waited)
    while True:
        try:
            reply = attempt()
        except ModelError as error:
            errors += (error.kind,)
            if on_failure is not None:
                on_failure(error)
            pause = policy.wait_s(len(errors), error=error, random=clock.random)
            goes_on = policy.goes_on(errors, error=error) and pauses.wait(pause) and pauses.held()
            if not goes_on:
                raise NoReply(
                    error, attempts=len(errors), errors=errors, wait_s=pauses.waited
                ) from None
        else:
            return replace(reply, attempts=len(errors) + 1, errors=errors, wait_s=pauses.waited)


@dataclass(slots=True)
class _Pauses:
    """The waits of one request, none of which passes its deadline."""

    clock: Clock
    deadline: float | None
    hold_until: Callable[[], float] | None
    waited: float = 0.0

    def wait(self, seconds: float) -> bool:
        """Wait, unless the deadline would pass meanwhile."""
        until = self.clock.now() + max(0.0, seconds)
        if self.deadline is not None and until > self.deadline:
            return False
        if seconds > 0:
            self.clock.sleep(seconds)
            self.waited += seconds
        return True

    def held(self) -> bool:
        """Wait as long as nobody shall ask, also when that grows meanwhile."""
        while self.hold_until is not None and (pause := self.hold_until() - self.clock.now()) > 0:
            if not self.wait(pause):
                return False
        return True


def _too_late() -> ModelError:
    what = "the service asks to wait longer than the problem's time allows"
    return ModelError(what, kind="rate_limit", retryable=True)
