"""The grade of an answer: each certified value met, missed, missing or unreadable.

Everything is compared as exact decimals. Beside the verdict stands how many digits are right
(NIST's log relative error) and which known careless method gives the same wrong value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext

from scisolve_batch.grading.locate import Located, locate
from scisolve_batch.grading.numbers import CONTEXT
from scisolve_batch.grading.units import conversion
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

_SCALES = {"%": Decimal("0.01"), "percent": Decimal("0.01"), "ppm": Decimal("1e-6")}


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
            len(number.as_tuple().digits)
            for number in (
                *(Decimal(value.value) for value in problem.values),
                *(one.value for one in found.values() if one.value is not None),
            )
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
    if located.value is None:
        return blank.model_copy(update={"verdict": ValueVerdict.UNREADABLE, "note": located.note})
    scale = _scale(located.unit, certified.unit)
    if isinstance(scale, str):
        return blank.model_copy(update={"verdict": ValueVerdict.UNREADABLE, "note": scale})
    reported = located.value * scale
    met = is_met(certified, reported)
    error, digits = _accuracy(certified, reported)
    return blank.model_copy(
        update={
            "verdict": ValueVerdict.CORRECT if met else ValueVerdict.WRONG,
            "relative_error": error,
            "correct_digits": digits,
            "claimed_digits": located.digits,
            "trap": None if met else _trap(problem, certified, reported, digits=located.digits),
        }
    )


def _scale(reported: str | None, certified: str | None) -> Decimal | str:
    """Factor to the certified unit, or why there is none. No unit means the one asked for."""
    if reported is None or reported.strip().lower() in _NO_UNIT:
        return Decimal(1)
    if certified is None:  # a pure number: only words that scale it mean something
        return _SCALES.get(reported.strip().lower(), Decimal(1))
    return conversion(reported, certified)


def is_met(certified: CertifiedValue, reported: Decimal) -> bool:
    """Whether a number meets a certified value: equal, or |x - v| <= atol + rtol |v|."""
    value = Decimal(certified.value)
    if certified.exact:
        return reported == value
    tolerance = Decimal(repr(certified.atol or 0.0)) + Decimal(repr(certified.rtol or 0.0)) * abs(
        value
    )
    if certified.rtol is None and certified.atol is None and certified.report_digits:
        tolerance = abs(value).scaleb(1 - certified.report_digits)
    return abs(reported - value) <= tolerance


def _accuracy(certified: CertifiedValue, reported: Decimal) -> tuple[float | None, float | None]:
    """Relative error, and correct digits: NIST's LRE, for a certified zero its LAR."""
    value = Decimal(certified.value)
    most = float(certified.digits or len(value.as_tuple().digits))
    difference = abs(reported - value)
    error = difference / abs(value) if value else None
    measure = difference if error is None else error
    if not measure or measure.adjusted() < -int(most) - 2:
        digits = most
    elif measure.adjusted() > 1:
        digits = 0.0
    else:
        digits = round(min(max(0.0, -math.log10(measure)), most), 2)
    return (None if error is None else _as_float(error)), digits


def _as_float(number: Decimal) -> float:
    """A float for the record, held inside the range of floats."""
    if number.adjusted() > 300:
        return 1e300
    return float(number)


def _trap(
    problem: Problem, certified: CertifiedValue, reported: Decimal, *, digits: int
) -> str | None:
    """The careless method that gives this value, when it is nearer to it than to the truth.

    A value may be a known wrong one to 1e-6, or rounded to at least four digits.
    """
    truth = Decimal(certified.value)
    rounding = Decimal(5).scaleb(reported.adjusted() - digits) if digits >= 4 else Decimal(0)
    for wrong in problem.known_wrong:
        text = wrong.values.get(certified.name)
        trap = Decimal(text) if text is not None else None
        if trap is None or not trap.is_finite():
            continue
        distance = abs(reported - trap)
        near = max(TRAP_RTOL * abs(trap), rounding)
        if distance <= near and distance < abs(reported - truth):
            return wrong.method
    return None
