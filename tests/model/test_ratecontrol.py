from __future__ import annotations

import heapq
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.model.ratecontrol import THROTTLING, RateControl

happenings = st.lists(
    st.tuples(
        st.floats(0, 20),  # seconds since the one before
        st.sampled_from(["replied", "rate_limit", "overloaded", "server", "stream_cut"]),
        st.none() | st.floats(0, 500),
    )
)


@given(happenings=happenings, most=st.integers(1, 64), start=st.none() | st.integers(1, 64))
def test_every_history_keeps_the_rules(happenings, most, start) -> None:
    control, at, failed = RateControl(most=most, start=start), 0.0, False
    for pause, what, retry_after in happenings:
        at += pause
        allowed, hold = control.allowed, control.hold_until
        if what == "replied":
            control.replied(at=at)
            assert control.allowed >= allowed
            assert at >= hold or control.allowed == allowed
            assert control.hold_until == hold
        else:
            control.failed(what, at=at, retry_after_s=retry_after)
            failed = failed or what in THROTTLING
            assert control.allowed <= allowed
            assert hold <= control.hold_until <= max(hold, at + 120)
            if what not in THROTTLING:
                assert (control.allowed, control.hold_until) == (allowed, hold)
            elif retry_after:
                assert control.hold_until >= at + min(retry_after, 120)
        assert 1 <= control.allowed <= most
    for change, following in zip(control.history, control.history[1:], strict=False):
        assert change.at <= following.at
        assert (change.allowed, change.hold_until) != (following.allowed, following.hold_until)
    if control.history:
        last = control.history[-1]
        assert (last.allowed, last.hold_until) == (control.allowed, control.hold_until)
    if start is None and not failed:
        assert control.allowed == most


@given(most=st.integers(1, 64), start=st.integers(1, 64))
def test_success_leads_back_to_what_was_asked_for(most: int, start: int) -> None:
    control = RateControl(most=most, start=start)
    for at in range(most * most + most):
        control.replied(at=float(at))
    assert control.allowed == most


def test_one_burst_of_failures_halves_once() -> None:
    control = RateControl(most=16)
    for moment in range(10):
        control.failed("overloaded", at=moment * 0.1)
    assert control.allowed == 8
    control.failed("overloaded", at=6.0)
    assert control.allowed == 4
    assert [(change.allowed, change.reason) for change in control.history] == [
        (8, "overloaded"),
        (4, "overloaded"),
    ]


def test_nothing_is_begun_during_a_hold_or_above_the_limit() -> None:
    control = RateControl(most=4)
    assert control.may_begin(at=0, in_flight=3)
    assert not control.may_begin(at=0, in_flight=4)
    control.failed("rate_limit", at=10, retry_after_s=30)
    assert not control.may_begin(at=39.9, in_flight=0)
    assert control.may_begin(at=40, in_flight=1)
    assert not control.may_begin(at=40, in_flight=2)


def test_an_hour_is_not_held() -> None:
    control = RateControl(most=4)
    control.failed("rate_limit", at=0, retry_after_s=3600)
    assert control.hold_until == 120


@pytest.mark.parametrize("capacity", [3, 10, 40])
def test_it_finds_what_a_service_bears(capacity: int) -> None:
    """A service that refuses what goes beyond its capacity; each request takes about 10 s."""
    chance, control = Random(capacity), RateControl(most=64)
    now, running, seen = 0.0, [], []
    for _ in range(4_000):
        while control.may_begin(at=now, in_flight=len(running)):
            refused = len(running) >= capacity
            heapq.heappush(running, (now + (0.2 if refused else chance.uniform(5, 15)), refused))
        now, refused = heapq.heappop(running)
        if refused:
            control.failed("overloaded", at=now)
        else:
            control.replied(at=now)
        seen.append(control.allowed)
    late = seen[1_000:]
    assert 0.5 * capacity <= sum(late) / len(late) <= capacity + 1


@pytest.mark.parametrize("wrong", [{"most": 0}, {"most": 4, "decrease": 1.0}])
def test_senseless_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        RateControl(**wrong)
