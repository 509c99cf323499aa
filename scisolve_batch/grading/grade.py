"""The grade of an answer: each certified value met, missed, missing or unreadable.

Everything is compared as exact decimals. Beside the verdict stands how many digits are right
(NIST's log relative error) and which known careless method gives the same wrong value.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext

from scisolve_batch.grading.compare import compare, distance, modulus
from scisolve_batch.grading.entries import Entry, certified_entries
from scisolve_batch.grading.locate import Located, locate
from scisolve_batch.grading.numbers import CONTEXT
from scisolve_batch.grading.units import SAME, Conversion, Refusal, conversion
from scisolve_batch.records import (
    CertifiedValue,
    Grade,
    Problem,
    ReportedValue,
    ValueGrade,
    ValueVerdict,
)

TRAP_RTOL = Decimal("1e-6")
"""How close a wrong value is to a known wrong one to be called the same."""

_NO_UNIT = frozenset(
    {"", "1", "-", "n/a", "none", "null", "dimensionless", "unitless", "pure number"}
)
"""Ways of saying that a number has no unit; it is then taken to be in the unit asked for."""

_SCALES = {
    "%": Conversion(Decimal("0.01")),
    "percent": Conversion(Decimal("0.01")),
    "‰": Conversion(Decimal("0.001")),
    "ppm": Conversion(Decimal("1e-6")),
}
"""Words that scale a pure number."""


def grade(problem: Problem, *, answer: str | None, values: Sequence[ReportedValue]) -> Grade:
    """Compare an answer with the certified values of its problem.

    Args:
        problem: the problem with its certified values.
        answer: the prose of the answer, searched for values that are not structured.
        values: the structured values.
    """
    if not problem.values:
        return Grade()
    with localcontext(CONTEXT) as context:
        found = locate(problem, answer=answer, values=values)
        longest = max(
            len(part.as_tuple().digits)
            for entry in (
                *(entry for value in problem.values for entry in certified_entries(value)),
                *(entry for one in found.values() for entry in one.entries),
            )
            for part in (entry.re, entry.im)
        )
        context.prec = max(60, 2 * longest + 10)
        grades = tuple(
            _grade_value(problem, certified, found.get(certified.name))
            for certified in problem.values
        )
    right = sum(one.verdict is ValueVerdict.CORRECT for one in grades)
    return Grade(correct=right == len(grades), fraction=right / len(grades), values=grades)


def _grade_value(
    problem: Problem, certified: CertifiedValue, located: Located | None
) -> ValueGrade:
    blank = ValueGrade(
        name=certified.name,
        certified=certified.value,
        unit=certified.unit,
        verdict=ValueVerdict.MISSING,
    )
    if located is None:
        return blank
    blank = blank.model_copy(update={"reported": located.text, "how": located.how})
    if not located.entries:
        return blank.model_copy(update={"verdict": ValueVerdict.UNREADABLE, "note": located.note})
    asked = _to_unit(located.unit, certified.unit)
    if isinstance(asked, Refusal):
        # Kilograms for metres are wrong; of a word that is no unit nobody knows.
        verdict = ValueVerdict.WRONG if asked.known else ValueVerdict.UNREADABLE
        return blank.model_copy(update={"verdict": verdict, "note": asked.note})
    reported = tuple(_converted(one, asked) for one in located.entries)
    if len(reported) != len(certified.entries):
        note = f"{len(reported)} numbers; {len(certified.entries)} are asked for"
        return blank.model_copy(update={"verdict": ValueVerdict.WRONG, "note": note})
    result = compare(certified, reported)
    return blank.model_copy(
        update={
            "verdict": ValueVerdict.CORRECT if result.met else ValueVerdict.WRONG,
            "relative_error": result.error,
            "correct_digits": result.digits,
            "claimed_digits": located.digits,
            "trap": None if result.met else _trap(problem, certified, reported),
        }
    )


def _to_unit(reported: str | None, certified: str | None) -> Conversion | Refusal:
    """The way to the certified unit, or why there is none. No unit means the one asked for."""
    if reported is None or reported.strip().lower() in _NO_UNIT:
        return SAME
    if certified is None:  # a pure number: only words that scale it mean something
        return _SCALES.get(reported.strip().lower(), SAME)
    return conversion(reported, certified)


def _converted(entry: Entry, to: Conversion) -> Entry:
    if to is SAME:
        return entry
    return Entry(entry.re * to.factor + to.offset, entry.im * to.factor, entry.digits)


def _trap(problem: Problem, certified: CertifiedValue, reported: Sequence[Entry]) -> str | None:
    """The careless method that gives this value, when it is nearer to it than to the truth.

    A value may be a known wrong one to 1e-6, or rounded to at least four digits; a list is one
    when every entry is.
    """
    for wrong in problem.known_wrong:
        text = wrong.values.get(certified.name)
        if text is None:
            continue
        trap = certified.model_copy(
            update={"value": text, "exact": False, "rtol": float(TRAP_RTOL), "atol": None}
        )
        known = certified_entries(trap)
        finite = all(part.is_finite() for one in known for part in (one.re, one.im))
        if not finite or len(known) != len(reported):
            continue
        near, right = compare(trap, reported).pairs, compare(certified, reported).pairs
        worst, off = max(distance(*pair) for pair in near), max(distance(*pair) for pair in right)
        if worst < off and all(_is_near(*pair) for pair in near):
            return wrong.method
    return None


def _is_near(trap: Entry, reported: Entry) -> bool:
    size = modulus(reported.re, reported.im)
    rounding = Decimal(0)
    if reported.digits >= 4:
        rounding = Decimal(5).scaleb(size.adjusted() - reported.digits)
    return distance(trap, reported) <= max(TRAP_RTOL * modulus(trap.re, trap.im), rounding)
