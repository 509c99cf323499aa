from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.model.prices import cost, find_price, price_table, total_cost
from scisolve_batch.records import Usage


def usage(read: int, wrote: int, *, cached: int = 0, caching: int = 0) -> Usage:
    return Usage(
        input_tokens=read,
        output_tokens=wrote,
        cache_read_tokens=cached,
        cache_write_tokens=caching,
    )


def test_the_table_is_dated_and_names_its_source() -> None:
    table = price_table()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", table.as_of)
    assert "documentation" in table.source
    assert all(price.since for price in table.models.values())


def test_tiers_rise_with_the_prompt_and_the_last_has_no_end() -> None:
    for price in price_table().models.values():
        *bounded, last = price.tiers
        assert last.up_to_prompt_tokens is None
        ends = [tier.up_to_prompt_tokens for tier in bounded]
        assert ends == sorted(ends)
        for one, two in zip(price.tiers, price.tiers[1:], strict=False):
            assert one.input <= two.input
            assert one.output <= two.output


def test_a_million_tokens_cost_what_the_table_says() -> None:
    assert cost(usage(1_000_000, 0), "claude-opus-5-5") == 4.0
    assert cost(usage(0, 1_000_000), "claude-opus-5-5") == 20.0
    assert cost(usage(0, 0, cached=1_000_000), "claude-sonnet-5-5") == 0.1
    assert cost(usage(0, 0, caching=1_000_000), "claude-sonnet-5-5") == 2.5


def test_the_whole_prompt_chooses_the_tier_of_the_whole_request() -> None:
    model = "claude-haiku-5-5"
    assert cost(usage(100_000, 1_000), model) == pytest.approx(0.0105)
    assert cost(usage(100_001, 1_000), model) == pytest.approx(0.0525005)
    assert cost(usage(1, 1_000, cached=60_000, caching=40_000), model) == pytest.approx(
        (1 * 0.5 + 60_000 * 0.05 + 40_000 * 0.625 + 1_000 * 2.5) / 1e6
    )


def test_the_cost_of_a_sum_is_not_the_sum_of_the_costs() -> None:
    one = usage(60_000, 10)
    assert total_cost([one, one], "claude-haiku-5-5") == pytest.approx(0.01201)
    assert cost(one + one, "claude-haiku-5-5") == pytest.approx(0.06005)


def test_the_guide_of_a_twelve_turn_problem() -> None:
    turns = [usage(5_000, 500)] * 12
    assert total_cost(turns, "claude-haiku-5-5") == pytest.approx(0.009)
    assert total_cost(turns, "claude-opus-5-5") == pytest.approx(0.36)


@pytest.mark.parametrize("model", ["scripted", "local-model", "", None, "claude-haiku-5-5-large"])
def test_an_unknown_model_costs_none_never_nothing(model: str | None) -> None:
    assert cost(usage(10, 10), model) is None
    assert total_cost([usage(10, 10)], model) is None


def test_unreported_tokens_have_no_cost() -> None:
    assert cost(Usage(), "claude-haiku-5-5") is None
    assert cost(Usage(input_tokens=3), "claude-haiku-5-5") is None
    assert cost(Usage(input_tokens=10, output_tokens=0), "claude-haiku-5-5") == 1e-6
    assert total_cost([usage(1, 1), Usage()], "claude-haiku-5-5") is None


def test_schemes_and_dates_do_not_hide_a_model() -> None:
    plain = find_price("claude-haiku-4-5")
    assert plain is not None
    for name in ("claude-haiku-4-5-20251001", "anthropic:claude-haiku-4-5", "replay:claude-haiku-4-5"):  # fmt: skip
        assert find_price(name) is plain


@given(
    model=st.sampled_from(sorted(price_table().models)),
    parts=st.tuples(*[st.integers(0, 120_000)] * 4),
    more=st.integers(0, 120_000),
)
def test_no_request_up_to_a_size_costs_more_than_its_most(model, parts, more) -> None:
    read, wrote, cached, caching = parts
    price = find_price(model)
    most = price.nano_at_most(prompt_tokens=read + cached + caching + more, output_tokens=wrote)
    assert price.nano(usage(read, wrote, cached=cached, caching=caching)) <= most
