from __future__ import annotations

import pickle
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.errors import ModelError
from scisolve_batch.model import NoReply, Reply, RetryPolicy
from scisolve_batch.model.faults import RETRYABLE, failure
from scisolve_batch.model.retry import PAID_KINDS, ask

REPLY = Reply(content=[], stop_reason="end_turn")
KINDS = ["rate_limit", "overloaded", "connection", "stream_cut", "bad_reply", "auth", "invalid"]
faults = st.lists(st.tuples(st.sampled_from(KINDS), st.none() | st.floats(0, 4000)), max_size=8)


def player(steps):
    """An attempt that fails as the steps say, and then replies; and the list of its calls."""
    calls = []

    def attempt() -> Reply:
        calls.append(len(calls))
        if len(calls) <= len(steps):
            kind, asked = steps[len(calls) - 1]
            raise failure(kind, retry_after_s=asked)
        return REPLY

    return attempt, calls


@given(steps=faults, seed=st.integers(0, 99), allowed=st.none() | st.floats(0, 500))
def test_every_history_of_failures_keeps_the_policy(time_maker, steps, seed, allowed) -> None:
    time = time_maker()
    policy, began = RetryPolicy(), time.now()
    deadline = None if allowed is None else began + allowed
    attempt, calls = player(steps)
    try:
        reply = ask(attempt, policy=policy, deadline=deadline, clock=time.clock)
        result, errors, count = "reply", reply.errors, reply.attempts
        waited = reply.wait_s
    except NoReply as error:
        result, errors, count, waited = error.kind, error.errors, error.attempts, error.wait_s
    assert count == len(calls) <= policy.attempts
    assert errors == tuple(kind for kind, _ in steps[: len(errors)])
    assert sum(kind in PAID_KINDS for kind in errors) <= policy.paid_attempts
    assert waited == pytest.approx(sum(time.slept))
    assert all(pause <= policy.retry_after_cap_s + policy.first_s for pause in time.slept)
    for (_, asked), pause in zip(steps, time.slept, strict=False):
        assert pause >= min(asked or 0.0, policy.retry_after_cap_s)
    if deadline is not None:
        assert time.now() <= deadline
    if result == "reply":
        assert all(kind in RETRYABLE for kind in errors)
    else:
        assert result == errors[-1]


@given(failures=st.integers(1, 20), seed=st.integers())
def test_waits_are_spread_below_a_doubling_ceiling(failures: int, seed: int) -> None:
    wait = RetryPolicy().wait_s(failures, error=failure("server"), random=Random(seed))
    assert 0 <= wait <= min(16, 2 ** (failures - 1))


def test_the_ceilings_are_one_two_four_eight_sixteen() -> None:
    class Most(Random):
        def uniform(self, a: float, b: float) -> float:
            return b

    waits = [RetryPolicy().wait_s(n, error=failure("server"), random=Most()) for n in range(1, 7)]
    assert waits == [1, 2, 4, 8, 16, 16]


def test_a_failure_that_is_none_of_the_services_ends_at_once(time) -> None:
    def attempt() -> Reply:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(attempt, policy=RetryPolicy(), deadline=None, clock=time.clock)
    assert time.slept == []


def test_a_hold_that_grows_is_kept_before_the_next_attempt(time) -> None:
    holds = iter([0.0, time.now() + 20.0, time.now() + 50.0, time.now() + 50.0])
    attempt, _ = player([("overloaded", None)])
    reply = ask(
        attempt, policy=RetryPolicy(), deadline=None, clock=time.clock, hold_until=lambda: next(holds)
    )  # fmt: skip
    assert time.now() == 1050.0
    assert reply.wait_s == pytest.approx(50.0)


def test_the_last_failure_tells_of_all_attempts_and_can_be_pickled(time) -> None:
    attempt, _ = player([("overloaded", None), ("server", None), ("invalid", None)])
    with pytest.raises(NoReply, match=r"\[3 attempts: overloaded, server, invalid\]") as caught:
        ask(attempt, policy=RetryPolicy(), deadline=None, clock=time.clock)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, ModelError)
    assert str(again) == str(caught.value)
    assert vars(again) == vars(caught.value)
