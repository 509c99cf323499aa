"""Whether reported numbers meet certified ones, and how far the worst of them is off.

Entry by entry within tolerance; for sets by the best assignment, for eigenvectors up to the sign
or the phase that fits best. Everything is compared as exact decimals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from scisolve_batch.grading.entries import Entry, certified_entries
from scisolve_batch.records import CertifiedValue

Cost = tuple[bool, Decimal]
"""Outside of the tolerance, and how far off in units of it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a report compares with a certified value."""

    met: bool
    """Every entry is within its tolerance."""
    pairs: tuple[tuple[Entry, Entry], ...]
    """Certified and reported entry, as they were matched."""
    error: float | None
    """Largest relative error; none when every certified number is zero."""
    digits: float
    """Fewest correct digits: NIST's LRE, for a certified zero its LAR."""


def is_met(certified: CertifiedValue, reported: Decimal) -> bool:
    """Whether a number meets a certified number: equal, or |x - v| <= atol + rtol |v|."""
    return compare(certified, (Entry(reported),)).met


def compare(certified: CertifiedValue, reported: Sequence[Entry]) -> Comparison:
    """Compare a report that has as many entries as the certified value."""
    truth = certified_entries(certified)
    best: tuple[Cost, tuple[tuple[Entry, Entry], ...]] | None = None
    for turned in _turned(certified, truth, reported):
        if certified.any_order:
            turned = _assign(certified, truth, turned)  # noqa: PLW2901  # the same, in order
        pairs = tuple(zip(truth, turned, strict=True))
        worst = max(_cost(certified, *pair) for pair in pairs)
        if best is None or worst < best[0]:
            best = worst, pairs
        if not worst[0]:
            break
    assert best is not None  # the report itself is always considered
    (missed, _), pairs = best
    error, digits = _accuracy(certified, pairs)
    return Comparison(met=not missed, pairs=pairs, error=error, digits=digits)


def tolerance(certified: CertifiedValue, size: Decimal) -> Decimal:
    """Largest accepted difference from a number of this size."""
    if certified.exact:
        return Decimal(0)
    if certified.rtol is None and certified.atol is None and certified.report_digits:
        return size.scaleb(1 - certified.report_digits)
    return Decimal(repr(certified.atol or 0.0)) + Decimal(repr(certified.rtol or 0.0)) * size


def _measures(
    certified: CertifiedValue, truth: Entry, reported: Entry
) -> Iterator[tuple[Decimal, Decimal]]:
    """Differences that count, with the size of what they are measured against."""
    if certified.by_parts:
        yield abs(reported.re - truth.re), abs(truth.re)
        yield abs(reported.im - truth.im), abs(truth.im)
    else:
        yield distance(truth, reported), modulus(truth.re, truth.im)


def modulus(x: Decimal, y: Decimal) -> Decimal:
    """|x + iy|, without a root when one of them is zero."""
    if not x or not y:
        return abs(x) + abs(y)
    return (x * x + y * y).sqrt()


def distance(one: Entry, other: Entry) -> Decimal:
    """Distance in the complex plane."""
    return modulus(one.re - other.re, one.im - other.im)


def _cost(certified: CertifiedValue, truth: Entry, reported: Entry) -> Cost:
    worst: Cost = (False, Decimal(0))
    for difference, size in _measures(certified, truth, reported):
        accepted = tolerance(certified, size)
        share = difference / accepted if accepted else difference
        worst = max(worst, (difference > accepted, share))
    return worst


def _accuracy(
    certified: CertifiedValue, pairs: Sequence[tuple[Entry, Entry]]
) -> tuple[float | None, float]:
    """Largest relative error, and fewest correct digits."""
    errors: list[Decimal] = []
    correct: list[float] = []
    for truth, reported in pairs:
        most = float(certified.digits or truth.digits or 1)
        for difference, size in _measures(certified, truth, reported):
            measure = difference / size if size else difference
            if size:
                errors.append(measure)
            if not measure or measure.adjusted() < -int(most) - 2:
                correct.append(most)
            elif measure.adjusted() > 1:
                correct.append(0.0)
            else:
                correct.append(round(min(max(0.0, -math.log10(measure)), most), 2))
    return (_as_float(max(errors)) if errors else None), min(correct)


def _as_float(number: Decimal) -> float:
    """A float for the record, held inside the range of floats."""
    if number.adjusted() > 300:
        return 1e300
    return float(number)


# ---- signs, phases, assignments ------------------------------------------------------


def _turned(
    certified: CertifiedValue, truth: Sequence[Entry], reported: Sequence[Entry]
) -> Iterator[tuple[Entry, ...]]:
    """The report, and what it is the same as."""
    yield tuple(reported)
    if certified.up_to_sign:
        yield tuple(Entry(-one.re, -one.im, one.digits) for one in reported)
    if certified.up_to_phase:
        for factor in _phases(truth, reported):
            yield tuple(one.turned(factor) for one in reported)


def _phases(truth: Sequence[Entry], reported: Sequence[Entry]) -> Iterator[Entry]:
    """Phases that bring the report closest: in least squares, and at the largest entry."""
    products = [
        true.turned(Entry(one.re, -one.im)) for true, one in zip(truth, reported, strict=True)
    ]
    largest = max(range(len(truth)), key=lambda k: modulus(truth[k].re, truth[k].im))
    total = Entry(
        sum((one.re for one in products), Decimal(0)), sum((one.im for one in products), Decimal(0))
    )
    for one in (total, products[largest]):
        size = modulus(one.re, one.im)
        if size:
            yield Entry(one.re / size, one.im / size)


def _assign(
    certified: CertifiedValue, truth: Sequence[Entry], reported: Sequence[Entry]
) -> tuple[Entry, ...]:
    """The reported entries in the order whose worst cost is smallest (bottleneck assignment)."""
    by_size = sorted(range(len(truth)), key=lambda k: (truth[k].re, truth[k].im))
    ordered = sorted(reported, key=lambda one: (one.re, one.im))
    guess = list(reported)
    for place, one in zip(by_size, ordered, strict=True):
        guess[place] = one
    costs = [[_cost(certified, true, one) for one in reported] for true in truth]
    limit = max(_cost(certified, *pair) for pair in zip(truth, guess, strict=True))
    levels = sorted({cost for row in costs for cost in row if cost <= limit})
    low, high = 0, len(levels) - 1
    best = _match(costs, levels[high])
    while low < high:
        middle = (low + high) // 2
        found = _match(costs, levels[middle])
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    assert best is not None  # the guess is such an assignment
    return tuple(reported[k] for k in best)


def _match(costs: Sequence[Sequence[Cost]], limit: Cost) -> list[int] | None:
    """A column for each row with no cost above the limit, by augmenting paths (Kuhn)."""
    near = [[k for k, cost in enumerate(row) if cost <= limit] for row in costs]
    owner: dict[int, int] = {}
    for row in range(len(costs)):
        if not _place(row, near, owner):
            return None
    columns = [0] * len(costs)
    for column, row in owner.items():
        columns[row] = column
    return columns


def _place(start: int, near: Sequence[Sequence[int]], owner: dict[int, int]) -> bool:
    """Give a row a column, moving others on where that is needed (breadth first)."""
    reached_by: dict[int, int] = {}
    rows = [start]
    for row in rows:
        for column in near[row]:
            if column in reached_by:
                continue
            reached_by[column] = row
            if column in owner:
                rows.append(owner[column])
                continue
            while True:  # walk back: each row on the path takes the column that it reached
                taker = reached_by[column]
                if taker == start:
                    owner[column] = taker
                    return True
                given_up = next(c for c, r in owner.items() if r == taker)
                owner[column] = taker
                column = given_up  # noqa: PLW2901
    return False
