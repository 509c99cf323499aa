"""Wrong versions of certified values: each digit that must be right, changed by one.

With them a self-test shows that neither a gold solution nor the grader lets a wrong value pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from scisolve_batch.grading.compare import modulus, tolerance
from scisolve_batch.grading.entries import parse_entries
from scisolve_batch.records import CertifiedValue, Problem


def corruptions(problem: Problem) -> Iterator[tuple[str, Problem]]:
    """The problem with one digit of one certified value changed, for each that must be right.

    Digits that count for no more than twice the tolerance are left: a right answer may be within
    the tolerance of both.
    """
    for place, certified in enumerate(problem.values):
        for text in change_digits(certified, margin=2):
            values = list(problem.values)
            values[place] = certified.model_copy(update={"value": text})
            yield certified.name, problem.model_copy(update={"values": tuple(values)})


def change_digits(certified: CertifiedValue, *, margin: int = 1) -> Iterator[str]:
    """The certified value with one digit changed by one, for each digit that must be right.

    In a list one entry is changed at a time, in a complex number one part. A digit must be right
    when a change of it is more than `margin` times the tolerance.
    """
    entries = certified.entries
    for number, entry in enumerate(entries):
        for changed in _change_entry(certified, entry, margin):
            listed = [*entries[:number], changed, *entries[number + 1 :]]
            yield f"[{', '.join(listed)}]" if certified.value.startswith("[") else changed


_PART = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


def _change_entry(certified: CertifiedValue, entry: str, margin: int) -> Iterator[str]:
    (whole,) = parse_entries((entry,))
    size = modulus(whole.re, whole.im)
    for part in _PART.finditer(entry):
        value = Decimal(part[0])
        accepted = tolerance(certified, abs(value) if certified.by_parts else size)
        exponent = value.as_tuple().exponent
        assert isinstance(exponent, int)  # a certified value is finite
        for place in range(value.adjusted(), exponent - 1, -1):
            step = Decimal(1).scaleb(place)
            if step > margin * accepted:
                changed = str(value + step if value >= 0 else value - step)
                sign = "+" if part.start() and not changed.startswith("-") else ""
                yield entry[: part.start()] + sign + changed + entry[part.end() :]
