"""The policy `flat`: a relative difference of at most 1e-3 to any printed number supports a literal.

The rule this project grew out of, kept for comparison with old results. It lets about a quarter
of wrong numbers pass and refuses a third of honest ones; `decimal` is the rule to use.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from scisolve_batch.grounding.policy import Question
from scisolve_batch.records import Literal, Verdict

RTOL = 1e-3
"""Largest accepted relative difference."""
ATOL = 1e-12
"""Two numbers no larger than this are the same zero."""
LARGEST_STRUCTURAL = 10
"""A bare integer from 0 to this needs no source."""

# Nothing starts right after a word character or a dot; what follows a number is not looked at.
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-+]?)"
    r"(?P<body>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\.\d+|\d+)"
    r"(?P<exponent>[eE][-+]?\d+)?"
    r"(?P<percent>\s*%)?"
)


@dataclass(frozen=True, slots=True)
class FlatNumber:
    """A number as this rule reads it."""

    text: str
    start: int
    end: int
    values: tuple[float, ...]
    """One candidate; two, v and v/100, before a percent sign."""
    digits: int
    """Significant digits; trailing zeros count only in an integer."""
    structural: bool
    """A bare integer from 0 to 10."""


@dataclass(frozen=True, slots=True)
class _Source:
    number: FlatNumber
    cell: int | None
    line: int | None


@dataclass(frozen=True, slots=True)
class _Pool:
    """Every candidate value with its source, sorted by value."""

    values: list[float]
    places: list[int]
    sources: list[_Source]


def read_flat(text: str) -> Iterator[FlatNumber]:
    """Each number of a text, from left to right."""
    for found in _NUMBER.finditer(text):
        body = found["body"].replace(",", "")
        exponent = found["exponent"] or ""
        value = float(found["sign"] + body + exponent)
        bare = body.isdecimal() and not exponent and not found["percent"]
        yield FlatNumber(
            text=found.group(),
            start=found.start(),
            end=found.end(),
            values=(value, value / 100) if found["percent"] else (value,),
            digits=count_digits(body),
            structural=bare and 0 <= value <= LARGEST_STRUCTURAL,
        )


def count_digits(body: str) -> int:
    """Significant digits of a number without sign, commas and exponent; at least 1."""
    whole, point, fraction = body.partition(".")
    digits = whole + fraction.rstrip("0") if point else whole
    # Other scripts' zeros lead a number too.
    start = next((i for i, digit in enumerate(digits) if int(digit)), len(digits))
    return max(1, len(digits) - start)


def judge_flat(question: Question) -> list[Literal]:
    """Judge each number of an answer by the flat rule.

    The rule of the program this project grew out of, with one hole closed: a printed number that
    overflows to infinity is near everything, and supports nothing here.
    """
    pool = _gather(question)
    judged: dict[str, dict[str, object]] = {}
    literals = []
    for where, text in question.texts:
        for number in read_flat(text):
            if number.text not in judged:
                judged[number.text] = _judge(number, pool)
            literals.append(
                Literal(
                    text=number.text,
                    where=where,
                    start=number.start,
                    end=number.end,
                    value=number.text.rstrip("%").strip().replace(",", ""),
                    **judged[number.text],
                )
            )
    return literals


def _gather(question: Question) -> _Pool:
    sources = []
    for cell in question.cells:
        if cell.ok:
            for number, line in _with_lines(cell.stdout):
                sources.append(_Source(number, cell.index, line))
    sources += [_Source(number, None, None) for number in read_flat(question.problem)]
    pairs = sorted(
        (value, place)
        for place, source in enumerate(sources)
        for value in source.number.values
        if math.isfinite(value)
    )
    return _Pool([value for value, _ in pairs], [place for _, place in pairs], sources)


def _with_lines(text: str) -> Iterator[tuple[FlatNumber, int]]:
    line, seen = 1, 0
    for number in read_flat(text):
        line += text.count("\n", seen, number.start)
        seen = number.start
        yield number, line


def _judge(number: FlatNumber, pool: _Pool) -> dict[str, object]:
    if number.structural:
        return {"verdict": Verdict.STRUCTURAL}
    near = sorted(_near(number, pool))
    if not near:
        source = _nearest(number, pool)
        verdict, reason = Verdict.UNGROUNDED, "absent"
    else:
        enough = (place for place in near if pool.sources[place].number.digits >= number.digits)
        place = next(enough, None)
        if place is not None:
            found = pool.sources[place]
            return {"verdict": Verdict.GROUNDED, "relation": "near", **_place(found)} | {
                "printed": found.number.text
            }
        source = max((pool.sources[place] for place in near), key=lambda one: one.number.digits)
        verdict, reason = Verdict.OVERPRECISE, "overprecise"
    judged: dict[str, object] = {"verdict": verdict, "reason": reason}
    return judged | _place(source) | {"nearest": source.number.text} if source else judged


def _place(source: _Source) -> dict[str, object]:
    kind = "problem" if source.cell is None else "cell"
    return {"source": kind, "cell": source.cell, "line": source.line}


def _near(number: FlatNumber, pool: _Pool) -> set[int]:
    places = set()
    for value in number.values:
        if not math.isfinite(value):
            continue
        # A little wider than the rule, which then decides.
        reach = abs(value) * RTOL * 1.01 + 2 * ATOL
        low, high = (
            bisect_left(pool.values, value - reach),
            bisect_right(pool.values, value + reach),
        )
        for at in range(low, high):
            other = pool.values[at]
            size = max(abs(value), abs(other))
            if abs(value - other) <= RTOL * size or size <= ATOL:
                places.add(pool.places[at])
    return places


def _nearest(number: FlatNumber, pool: _Pool) -> _Source | None:
    best, closest = None, math.inf
    for value in number.values:
        at = bisect_left(pool.values, value)
        for neighbour in (at - 1, at):
            if 0 <= neighbour < len(pool.values) and math.isfinite(value):
                distance = abs(pool.values[neighbour] - value)
                if distance < closest:
                    best, closest = pool.sources[pool.places[neighbour]], distance
    return best
