"""The policy `flat`: the rule of scisolve 0.1, kept so that old results can be compared.

A number matches a printed one within a relative difference of 1e-3, whatever its digits. It
accepts about a quarter of wrong numbers and reads only plain notation: a baseline, not advice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scisolve_batch.grounding.sources import Source
from scisolve_batch.records import Literal, Verdict

RTOL = 1e-3
"""Largest relative difference of a match."""
ATOL = 1e-12
"""Two numbers this small are both zero."""
STRUCTURAL_MAX = 10
"""Bare integers from 0 to this need no source."""

_NUMBER = re.compile(
    r"""
    (?<![\w.])                            # not inside a word or another number
    (?P<sign>[-+]?)
    (?P<body>\d{1,3}(?:,\d{3})+(?:\.\d*)? # thousands
       |\d+\.\d* | \.\d+ | \d+)
    (?P<exponent>[eE][-+]?\d+)?
    (?P<percent>\s*%)?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class FlatNumber:
    """A number as this policy reads it.

    Attributes:
        start: first character.
        end: one past the last character.
        text: as it is written.
        values: its value, and its hundredth when a percent sign follows.
        digits: significant digits, zeros at the end of a fraction not counted.
        structural: a bare integer from 0 to 10.
    """

    start: int
    end: int
    text: str
    values: tuple[float, ...]
    digits: int
    structural: bool


def read_numbers(text: str) -> list[FlatNumber]:
    """Every number of a text, from left to right."""
    return [_read(match) for match in _NUMBER.finditer(text)]


def _read(match: re.Match[str]) -> FlatNumber:
    body, exponent = match["body"].replace(",", ""), match["exponent"] or ""
    value = float(match["sign"].replace("+", "") + body + exponent)
    values = (value, value / 100) if match["percent"] else (value,)
    bare = body.isdigit() and not exponent and not match["percent"] and "," not in match["body"]
    return FlatNumber(
        match.start(),
        match.end(),
        match.group(),
        values,
        _digits(body),
        bare and 0 <= value <= STRUCTURAL_MAX,
    )


def _digits(body: str) -> int:
    whole, point, fraction = body.partition(".")
    digits = (whole + fraction.rstrip("0") if point else whole).lstrip("0")
    return max(1, len(digits))


@dataclass(frozen=True, slots=True)
class _Printed:
    number: FlatNumber
    value: float
    source: Source


def check_flat(text: str, sources: Sequence[Source]) -> list[Literal]:
    """The verdict of each number of a text against the sources."""
    pool = [
        _Printed(number, value, source)
        for source in sources
        for number in read_numbers(source.text)
        for value in number.values
    ]
    return [_judge(number, pool) for number in read_numbers(text)]


def _judge(number: FlatNumber, pool: Sequence[_Printed]) -> Literal:
    near = [item for item in pool if any(_close(value, item.value) for value in number.values)]
    enough = next((item for item in near if item.number.digits >= number.digits), None)
    if number.structural and enough is None:
        verdict, support = Verdict.STRUCTURAL, None
    elif enough is not None:
        verdict, support = Verdict.GROUNDED, enough
    elif near:
        verdict, support = Verdict.OVERPRECISE, near[0]
    else:
        verdict, support = Verdict.UNGROUNDED, None
    nearest = None
    if verdict is Verdict.UNGROUNDED and pool:
        nearest = min(pool, key=lambda item: abs(item.value - number.values[0])).number.text
    source = support.source if support else None
    return Literal(
        text=number.text,
        start=number.start,
        end=number.end,
        value=repr(number.values[0]),
        verdict=verdict,
        reason={Verdict.UNGROUNDED: "absent", Verdict.OVERPRECISE: "digits"}.get(verdict, ""),
        source=source.kind if source else None,
        cell=source.cell if source else None,
        line=source.line(support.number.start) if source and support and source.cell else None,
        printed=support.number.text if support else None,
        nearest=nearest,
    )


def _close(a: float, b: float) -> bool:
    if abs(a) <= ATOL and abs(b) <= ATOL:
        return True
    return abs(a - b) <= RTOL * max(abs(a), abs(b))
