"""Certified values against a computation that was made again, to the last certified digit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from scisolve_batch.grading.compare import modulus
from scisolve_batch.grading.entries import certified_entries
from scisolve_batch.grading.grade import grade
from scisolve_batch.records import CertifiedValue, Problem, ReportedValue


def disagreements(problem: Problem, recomputed: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with certified values, given by name what they came out as this time.

    They must agree within one unit of the last certified digit; integers that are exact, exactly.
    """
    strict = tuple(_to_the_last_digit(certified) for certified in problem.values)
    values = [ReportedValue(name=name, value=text) for name, text in recomputed.items()]
    asked = problem.model_copy(update={"values": strict, "known_wrong": ()})
    for one in grade(asked, answer=None, values=values).values:
        if one.reported is None:
            yield f"the reference computation does not give `{one.name}`"
        elif one.verdict != "correct":
            yield (
                f"`{one.name}` is certified as {one.certified}, and its reference computation "
                f"gives {one.reported}"
            )


def _to_the_last_digit(certified: CertifiedValue) -> CertifiedValue:
    """The same value with a tolerance of one unit in the last digit of its largest entry."""
    if certified.exact:
        return certified
    digits = certified.digits or 1
    size = max(modulus(one.re, one.im) for one in certified_entries(certified))
    unit = Decimal(1).scaleb(size.adjusted() - digits + 1) if size else Decimal(0)
    atol = float(unit) if unit else certified.atol
    return certified.model_copy(update={"rtol": None, "atol": atol, "unit": None})
