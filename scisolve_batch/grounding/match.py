"""Whether a printed number supports a literal, in exact decimals by last-digit units.

A literal is supported when the printed number, shown to the literal's own last digit, is that
literal. Every other relation (percent, prefix, bound, order, ...) must be asked for by the text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from scisolve_batch.grounding.items import CONTEXT, Bound, Item
from scisolve_batch.grounding.sources import Number, Pool
from scisolve_batch.grounding.units import read_unit

_HALF = Decimal("0.5")
_SLACK = 1e-12
"""Floats only find candidates; this widens the search, Decimals decide."""
FOUR_DECIMALS = -4
_P_VALUES = frozenset(Decimal(text) for text in ("0.1", "0.05", "0.01", "0.001", "0.0001"))
HALF_DECADE = math.sqrt(10)


@dataclass(frozen=True, slots=True)
class Reading:
    """One value that a literal may claim."""

    value: Decimal
    place: int
    relation: str = ""
    problem_only: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A printed number that supports a literal."""

    number: Number
    relation: str


@dataclass(frozen=True, slots=True)
class Miss:
    """Why no printed number supports a literal."""

    reason: str
    number: Number | None = None


def readings(item: Item) -> list[Reading]:
    """The values an item may claim, the plainest first."""
    found = [
        Reading(item.value.scaleb(shift, CONTEXT), item.place + shift, "percent" if shift else "")
        for shift in item.shifts
    ]
    either = item.magnitude or item.imaginary  # `a ± bi` is two numbers
    if either and not item.signed:
        found += [Reading(-one.value, one.place, "magnitude") for one in found]
    elif item.value:
        found += [Reading(-one.value, one.place, one.relation, problem_only=True) for one in found]
    return found


def find_matches(item: Item, pool: Pool) -> list[Match]:
    """Every printed number that supports an item."""
    found: list[Match] = []
    for reading in readings(item):
        for match in _supports(item, reading, pool):
            if reading.problem_only and pool.texts[match.number.source].cell is not None:
                continue
            found.append(match)
    if item.unit:
        found += _prefixed(item, pool)
    if not found or item.bound is not Bound.NONE or item.order:
        found += _triggered(item, pool)
    return found


def _supports(item: Item, reading: Reading, pool: Pool) -> Iterator[Match]:
    value, place = reading.value, reading.place
    if item.exact:
        yield from _exact(reading, pool)
        return
    half = _HALF.scaleb(place, CONTEXT)
    for number in _window(pool, value, half):
        if reading.relation == "percent" and number.percent:
            continue
        other = number.value
        distance = abs(CONTEXT.subtract(value, other))
        if distance > half or not _same_unit(item, number, pool):
            continue
        if place >= number.place:
            relation = reading.relation or ("exact" if distance == 0 else "rounded")
        elif distance == 0 and (number.integer or place + item.zeros >= number.place):
            relation = reading.relation or "exact"
        else:
            continue
        yield Match(number, relation)
    yield from _coarser(item, reading, pool)


def _coarser(item: Item, reading: Reading, pool: Pool) -> Iterator[Match]:
    """`about 6000` may be off in its zeros, and `3.14…` in its last digit."""
    value, place = reading.value, reading.place
    if item.loose and item.zeros:
        unit = _HALF.scaleb(place + item.zeros, CONTEXT)
        for number in _window(pool, value, unit):
            near = abs(CONTEXT.subtract(value, number.value)) <= unit
            if near and _same_unit(item, number, pool):
                yield Match(number, "loose")
    if item.cut:
        unit = Decimal(1).scaleb(place, CONTEXT)
        for number in _window(pool, value, unit):
            if number.place <= place and _truncates(value, number.value, unit):
                yield Match(number, "truncated")


def supports(item: Item, number: Number) -> bool:
    """Whether one printed number, shown to an item's last digit, is that item."""
    for reading in readings(item):
        if reading.problem_only:
            continue
        half = max(_HALF.scaleb(reading.place, CONTEXT), abs(reading.value) * Decimal("1e-9"))
        if abs(CONTEXT.subtract(reading.value, number.value)) <= half:
            return True
    return False


def _window(pool: Pool, value: Decimal, half: Decimal) -> Iterator[Number]:
    centre, reach = float(value), float(half)
    slack = abs(centre) * _SLACK
    if math.isinf(centre):
        return (
            pool.between(math.copysign(1e308, centre), math.inf)
            if centre > 0
            else pool.between(-math.inf, -1e308)
        )
    return pool.between(centre - reach - slack, centre + reach + slack)


def _truncates(value: Decimal, other: Decimal, unit: Decimal) -> bool:
    gap = CONTEXT.subtract(abs(other), abs(value))
    same = value.is_signed() == other.is_signed() or not value
    return same and 0 <= gap < unit


def _exact(reading: Reading, pool: Pool) -> Iterator[Match]:
    value = reading.value
    fine = abs(value) * Decimal("1e-9")
    for number in _window(pool, value, max(fine, Decimal("0.00005"))):
        other = number.value
        distance = abs(CONTEXT.subtract(value, other))
        shown = number.place <= FOUR_DECIMALS and len(other.as_tuple().digits) >= 3
        allowed = max(fine, _HALF.scaleb(number.place, CONTEXT)) if shown else fine
        if distance <= allowed:
            yield Match(number, reading.relation or "symbol")


def _same_unit(item: Item, number: Number, pool: Pool) -> bool:
    """False when both name the same unit with different prefixes."""
    if not item.unit:
        return True
    mine = read_unit(item.unit)
    if mine is None:
        return True
    theirs = pool.unit(number)
    return theirs is None or theirs[0] != mine[0] or theirs[1] == mine[1]


def _triggered(item: Item, pool: Pool) -> Iterator[Match]:
    """Relations that only the words around a literal allow, when nothing plainer holds."""
    yield from _prefixed(item, pool)
    if (
        item.order
        and item.value
        and item.value.as_tuple().digits.count(0) == len(item.value.as_tuple().digits) - 1
        and item.value.as_tuple().digits[0] == 1
    ):
        yield from _order(item, pool)
    if item.bound is not Bound.NONE and item.value:
        yield from _bounded(item, pool)
    if item.odds and item.value > 0:
        yield from _odds(item, pool)


def _prefixed(item: Item, pool: Pool) -> Iterator[Match]:
    mine = read_unit(item.unit) if item.unit else None
    if mine is None:
        return
    for power in pool.powers(mine[0]) - {mine[1]}:
        shift = mine[1] - power
        value = item.value.scaleb(shift, CONTEXT)
        # 7.11 s is 7110 ms: zeros that only the smaller unit brings in
        last = item.place + shift + (item.zeros if shift < 0 else 0)
        half = _HALF.scaleb(last, CONTEXT)
        for number in _window(pool, value, half):
            if pool.unit(number) != (mine[0], power):
                continue
            distance = abs(CONTEXT.subtract(value, number.value))
            if distance <= half and (last >= number.place or distance == 0):
                yield Match(number, "prefix")


def _order(item: Item, pool: Pool) -> Iterator[Match]:
    power = item.value.adjusted()
    for sign in (1, -1):
        low, high = (sign * bound for bound in _decade(power))
        for number in pool.between(min(low, high), max(low, high)):
            value = number.value
            if not value:
                continue
            log = float(abs(value).log10(CONTEXT))
            if power in (math.floor(log), round(log)):
                yield Match(number, "order")


def _decade(power: int) -> tuple[float, float]:
    return float(f"1e{power - 1}"), float(f"1e{power + 1}")


def _bounded(item: Item, pool: Pool) -> Iterator[Match]:
    """Below, or above, what is stated: within three decades of a round bound, one of a finer one."""
    digits = len(item.value.as_tuple().digits) - item.zeros
    reach = {1: 1000, 2: 10}.get(digits)
    limit = abs(float(item.value))
    if reach is None or not math.isfinite(limit):
        return
    upper = item.bound is Bound.UPPER
    low, high = (limit / reach, limit) if upper else (limit, limit * reach)
    for number in _both(pool, low, high, signed=item.value < 0):
        inside = (
            abs(number.value) <= abs(item.value) if upper else abs(number.value) >= abs(item.value)
        )
        if inside:
            yield Match(number, "bound")
    if upper and item.value in _P_VALUES:
        for number in pool.between(0.0, limit):
            if pool.names.is_p_value(number):
                yield Match(number, "bound")


def _both(pool: Pool, low: float, high: float, *, signed: bool) -> Iterator[Number]:
    if not signed:
        yield from pool.between(low, high)
    yield from pool.between(-high, -low)


def _odds(item: Item, pool: Pool) -> Iterator[Match]:
    """`1 in N`: the printed chance, turned over and rounded to N's digits, is N."""
    half = _HALF.scaleb(item.place + item.zeros, CONTEXT)
    low = CONTEXT.divide(Decimal(1), CONTEXT.add(item.value, half))
    high = CONTEXT.divide(Decimal(1), max(CONTEXT.subtract(item.value, half), Decimal("1e-9")))
    for number in pool.between(float(low) * (1 - _SLACK), float(high) * (1 + _SLACK)):
        if low <= number.value <= high:
            yield Match(number, "odds")


def explain_miss(item: Item, pool: Pool) -> Miss:
    """Why nothing supports an item, with the nearest printed number."""
    best: Number | None = None
    closest = math.inf
    for reading in readings(item):
        if reading.problem_only:
            continue
        centre = float(reading.value)
        if not math.isfinite(centre):
            continue
        unit = Decimal(1).scaleb(reading.place, CONTEXT)
        for number in pool.around(centre, 6):
            distance = abs(CONTEXT.subtract(reading.value, number.value))
            coarse = number.place > reading.place and distance <= _HALF.scaleb(
                number.place, CONTEXT
            )
            if coarse and not item.exact and _same_unit(item, number, pool):
                return Miss("overprecise", number)
            if (
                _truncates(reading.value, number.value, unit)
                and number.place < reading.place
                and item.value
            ):
                return Miss("truncated", number)
            gap = abs(centre - number.key)
            if gap < closest:
                best, closest = number, gap
    return Miss("absent", best)


def chance_of(item: Item, pool: Pool) -> float:
    """Probability that an invented number of these digits and this size would have been accepted.

    The number of distinct printed values within half a decade, times the share of a decade that
    one of them covers, summed over the relations that the text allows.
    """
    total = 0.0
    for reading in readings(item):
        if reading.problem_only:
            continue
        size = abs(float(reading.value))
        if not size or not math.isfinite(size):
            continue
        half = float(_HALF.scaleb(reading.place + (item.zeros if item.loose else 0), CONTEXT))
        if item.exact:
            half = max(size * 1e-9, 5e-5)
        width = math.log10((size + half) / (size - half)) if half < size else 1.0
        low, high = size / HALF_DECADE, size * HALF_DECADE
        count = pool.count(low, high) if reading.value > 0 else pool.count(-high, -low)
        total += count * min(width, 1.0) * (1.5 if item.cut else 1.0)
    if item.bound is not Bound.NONE or item.order:
        total += 1.0
    return 1 - math.exp(-total)
