"""What tokens cost, by a dated table.

Amounts are whole nanodollars (1e-9 US dollars), so sums are exact. A model that is not in the
table costs None, never 0. Taxes, regional surcharges and discounts other than that of batches are
not known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from scisolve_batch.records import Usage

NANO = 1_000_000_000
"""Nanodollars in a dollar."""

_DATED = re.compile(r"-\d{8}$")  # claude-haiku-4-5-20251001


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Prices for requests up to a size, in nanodollars per token.

    Attributes:
        up_to_prompt_tokens: largest prompt that is charged like this; None means any.
    """

    up_to_prompt_tokens: int | None
    input: int
    output: int
    cache_write: int
    cache_read: int

    @property
    def dearest_input(self) -> int:
        """The most that one token of the prompt can cost."""
        return max(self.input, self.cache_write, self.cache_read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Prices of one model, the tier for the smallest prompts first."""

    model: str
    since: str
    tiers: tuple[Tier, ...]

    def tier(self, prompt_tokens: int) -> Tier:
        """The tier of a request, chosen by its whole prompt: fresh, written and cached tokens."""
        for tier in self.tiers:
            if tier.up_to_prompt_tokens is None or prompt_tokens <= tier.up_to_prompt_tokens:
                return tier
        return self.tiers[-1]

    def nano(self, usage: Usage) -> int | None:
        """Nanodollars of one request; None when its input or output was not reported."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        written, read = usage.cache_write_tokens or 0, usage.cache_read_tokens or 0
        tier = self.tier(usage.input_tokens + written + read)
        return (
            tier.input * usage.input_tokens
            + tier.output * usage.output_tokens
            + tier.cache_write * written
            + tier.cache_read * read
        )

    def nano_at_most(self, *, prompt_tokens: int, output_tokens: int) -> int:
        """The most nanodollars that a request of this size can cost, whatever is cached."""
        tier = self.tier(prompt_tokens)
        return tier.dearest_input * prompt_tokens + tier.output * output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """The table that comes with this package.

    Attributes:
        as_of: the day it was compiled, ISO 8601.
        source: where the prices come from.
        models: prices by the model's id.
    """

    as_of: str
    source: str
    models: dict[str, Price]


@cache
def price_table() -> PriceTable:
    """Read the table, once."""
    text = files("scisolve_batch.model").joinpath("prices.json").read_text(encoding="utf-8")
    data = json.loads(text)
    models = {
        name: Price(model=name, since=entry["since"], tiers=tuple(map(_tier, entry["tiers"])))
        for name, entry in data["models"].items()
    }
    return PriceTable(as_of=data["as_of"], source=data["source"], models=models)


def _tier(entry: dict[str, Any]) -> Tier:
    def nano(name: str) -> int:
        value = Decimal(entry[name]) * 1000  # dollars a million tokens to nanodollars a token
        if value != int(value):
            raise ValueError(f"{name} of {entry[name]} is no whole number of nanodollars a token")
        return int(value)

    return Tier(
        up_to_prompt_tokens=entry.get("up_to_prompt_tokens"),
        input=nano("input"),
        output=nano("output"),
        cache_write=nano("cache_write"),
        cache_read=nano("cache_read"),
    )


def find_price(model: str | None) -> Price | None:
    """The prices of a model, or None. A date behind the id and a `scheme:` before it are dropped."""
    name = (model or "").rpartition(":")[2]
    table = price_table().models
    return table.get(name) or table.get(_DATED.sub("", name))


BATCH_DIVISOR = 2
"""Requests in a batch cost half."""


def cost(usage: Usage, model: str | None, *, batch: bool = False) -> float | None:
    """US dollars of one request; half of it for a request in a batch.

        cost = p_in * input + p_out * output + p_write * cache_write + p_read * cache_read

    with the prices of the tier that input + cache_write + cache_read falls into; the tier counts
    for the whole request, so the cost of a sum of usages is not the sum of their costs: price
    each reply by itself. None when the model is unknown or its tokens were not reported.
    """
    price = find_price(model)
    nano = price.nano(usage) if price is not None else None
    return None if nano is None else nano / NANO / (BATCH_DIVISOR if batch else 1)


def total_cost(usages: Iterable[Usage], model: str | None) -> float | None:
    """US dollars of several requests; None when one of them cannot be priced."""
    price = find_price(model)
    total = 0
    for usage in usages:
        nano = price.nano(usage) if price is not None else None
        if nano is None:
            return None
        total += nano
    return total / NANO
