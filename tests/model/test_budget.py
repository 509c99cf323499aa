from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.errors import UsageError
from scisolve_batch.model import Reply, Request
from scisolve_batch.model.budget import (
    Allowance,
    Cap,
    Ledger,
    Spend,
    estimate,
    student_quantile,
    usage_spend,
)
from scisolve_batch.model.prices import find_price
from scisolve_batch.model.retry import PAID_KINDS
from scisolve_batch.records import Usage

MODEL = "claude-haiku-5-5"


def used(read: int, wrote: int) -> Usage:
    return Usage(input_tokens=read, output_tokens=wrote)


def reply(usage: Usage, *errors: str) -> Reply:
    return Reply(content=[], stop_reason="end_turn", usage=usage, errors=errors)


amounts = st.builds(Spend, st.integers(0, 50), st.integers(0, 50))
steps = st.lists(
    st.tuples(st.sampled_from(["reserve", "record", "release"]), st.sampled_from("abcd"), amounts)
)


@given(steps=steps, tokens=st.none() | st.integers(0, 120), nano=st.none() | st.integers(0, 120))
def test_what_is_spent_and_reserved_never_passes_the_cap(steps, tokens, nano) -> None:
    cap = Cap(tokens=tokens, usd=None if nano is None else (nano + 0.5) / 1e9)
    ledger, left = Ledger(cap), {}
    for action, key, amount in steps:
        if action == "reserve" and key not in left:
            before = ledger.spent + ledger.reserved
            granted = ledger.reserve(key, amount)
            assert granted == cap.allows(before + amount)
            if granted:
                left[key] = amount
        elif action == "record" and key in left:
            within = Spend(min(amount.tokens, left[key].tokens), min(amount.nano, left[key].nano))
            ledger.record(key, within)
            left[key] = left[key].without(within)
        elif action == "release":
            ledger.release(key)
            left.pop(key, None)
        assert cap.allows(ledger.spent + ledger.reserved)
        assert ledger.reserved == sum(left.values(), Spend())


def test_what_a_problem_did_not_spend_is_free_again() -> None:
    ledger = Ledger(Cap(tokens=100))
    assert ledger.reserve("a", Spend(tokens=60))
    assert not ledger.reserve("b", Spend(tokens=60))
    ledger.record("a", Spend(tokens=10))
    assert ledger.reserved == Spend(tokens=50)
    ledger.release("a")
    assert ledger.reserve("b", Spend(tokens=90))
    assert not ledger.reserve("c", Spend(tokens=1))


def test_after_an_overdraft_nothing_more_is_reserved() -> None:
    ledger = Ledger(Cap(tokens=100))
    ledger.reserve("a", Spend(tokens=50))
    ledger.record("a", Spend(tokens=120))
    assert not ledger.reserve("b", Spend(tokens=0))


def test_one_problem_holds_one_reservation() -> None:
    ledger = Ledger(Cap())
    assert ledger.reserve("a", Spend(1, 1))
    with pytest.raises(ValueError, match="a holds a reservation"):
        ledger.reserve("a", Spend(1, 1))


def test_without_a_cap_the_request_keeps_its_own_limit(question: Request) -> None:
    assert Allowance(Cap(), "scripted").output_tokens(question) == question.max_tokens


def test_a_cap_in_dollars_needs_a_price() -> None:
    with pytest.raises(UsageError, match="no price is known for scripted"):
        Allowance(Cap(usd=1.0), "scripted")


def test_the_reply_is_shortened_to_what_can_be_afforded(question: Request) -> None:
    long = replace(question, max_tokens=16_000)
    allowance = Allowance(Cap(tokens=10_000), MODEL)
    granted = allowance.output_tokens(long)
    assert 7_000 < granted < 8_000  # the prompt's bytes and the service's own are set aside
    allowance.charge(reply(used(300, 7_000)), max_tokens=granted)
    assert allowance.output_tokens(long) == 0


def test_a_broken_attempt_is_charged_at_its_most(question: Request) -> None:
    allowance = Allowance(Cap(), MODEL)
    allowance.output_tokens(question)
    plain = allowance.charge(reply(used(100, 10)), max_tokens=100)
    assert plain == usage_spend(used(100, 10), MODEL)
    allowance.output_tokens(question)
    costly = allowance.charge(reply(used(100, 10), "overloaded", "stream_cut"), max_tokens=100)
    assert costly.tokens > plain.tokens + 100
    allowance.output_tokens(question)
    assert allowance.charge_failure(("overloaded", "server"), max_tokens=100) == Spend()
    assert allowance.charge_failure(("bad_reply",), max_tokens=100).tokens > 100


def test_an_unreported_usage_is_charged_at_its_most(question: Request) -> None:
    allowance = Allowance(Cap(), MODEL)
    allowance.output_tokens(question)
    assert allowance.charge(reply(Usage()), max_tokens=100).tokens > 2_100


@given(
    seed=st.integers(0, 2**32),
    tokens=st.none() | st.integers(0, 60_000),
    usd=st.none() | st.floats(0, 0.01),
)
def test_no_conversation_passes_its_cap(question, seed, tokens, usd) -> None:
    """A service that gives each byte at most a token, hides counts, and breaks off at random."""
    chance, price = Random(seed), find_price(MODEL)
    cap, attempts = Cap(tokens=tokens, usd=usd), 3
    allowance = Allowance(cap, MODEL, attempts=attempts)
    request, truth = replace(question, max_tokens=4_000), Spend()
    prompt = chance.randint(1, len(repr((request.system, request.tools, request.messages))))
    for _ in range(12):
        granted = allowance.output_tokens(request)
        if granted == 0:
            break
        broken = chance.randrange(attempts)
        kinds = [chance.choice(sorted(PAID_KINDS)) for _ in range(broken)]
        known = Usage()
        for _ in range(broken + 1):
            wrote = chance.randint(0, granted)
            known = Usage(cache_write_tokens=prompt, input_tokens=0, output_tokens=wrote)
            truth += Spend(prompt + wrote, price.nano(known))
        if chance.random() < 0.2:
            allowance.charge_failure([*kinds, "timeout"], max_tokens=granted)
        else:
            allowance.charge(reply(chance.choice([known, Usage()]), *kinds), max_tokens=granted)
        assert truth.tokens <= allowance.spent.tokens
        assert truth.nano <= allowance.spent.nano
        assert cap.allows(allowance.spent)
        said = {"role": "assistant", "content": "y" * wrote}
        told = {"role": "user", "content": "é" * chance.randint(0, 3_000)}
        request = replace(request, messages=[*request.messages, said, told])
        prompt += wrote + chance.randint(0, len(told["content"].encode()))


def test_a_long_conversation_is_bounded_by_what_was_counted(question: Request) -> None:
    """Bytes are four times the tokens; without the counts half the budget would lie idle."""
    cap = Cap(tokens=40_000)
    allowance, request, turns = Allowance(cap, MODEL), question, 0
    while (granted := allowance.output_tokens(request)) == 100 and turns < 100:
        prompt = sum(len(str(m["content"])) for m in request.messages) // 4 + 100
        allowance.charge(reply(used(prompt, 50)), max_tokens=granted)
        more = {"role": "user", "content": "x" * 1_000}
        request = replace(request, messages=[*request.messages, more])
        turns += 1
    assert allowance.spent.tokens > 0.8 * 40_000


@pytest.mark.parametrize(
    ("degrees", "exact"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (5, 2.57058), (9, 2.26216), (30, 2.04227)],
)  # fmt: skip
def test_students_quantile_is_that_of_the_tables(degrees: int, exact: float) -> None:
    assert student_quantile(0.975, degrees=degrees) == pytest.approx(exact, rel=5e-3)


def test_the_interval_holds_as_often_as_it_says() -> None:
    chance, held, runs = Random(7), 0, 2_000
    for _ in range(runs):
        found = estimate([chance.gauss(10, 2) for _ in range(8)], count=20)
        held += found.low <= sum(chance.gauss(10, 2) for _ in range(20)) <= found.high
    assert held / runs == pytest.approx(0.95, abs=0.015)  # three standard errors


def test_little_is_not_taken_for_certainty() -> None:
    assert estimate([], count=3) is None
    assert estimate([1.0], count=3) is None
    two = estimate([1.0, 3.0], count=10)
    assert (two.expected, two.low, two.recorded) == (20.0, 0.0, 2)
    assert two.high > 100
    same = estimate([2.0, 2.0, 2.0], count=4)
    assert (same.low, same.high) == (8.0, 8.0)
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="negative or not finite"):
            estimate([1.0, wrong], count=1)
