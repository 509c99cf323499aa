"""Exact values in symbols: fractions, roots, multiples of pi, powers of whole numbers.

Only forms with digits are read; `π` alone claims nothing that could be checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from scisolve_batch.grounding.items import CONTEXT

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")

_INT = r"\d{1,9}"
_ROOT = rf"(?:√\s?\(?\{{?{_INT}\}}?\)?|\\sqrt\s?\{{?{_INT}\}}?|\bsqrt\({_INT}\))"
_PI = r"(?:π(?:\^\{?2\}?|²)?|\bpi\b(?:\^2|\*\*2|²)?)"
_TERM = rf"(?:{_INT}(?:\s?[*·]?\s?(?:{_ROOT}|{_PI}))?|{_ROOT}|{_PI})"
_FRAC = re.compile(
    rf"\\[dt]?frac\s?(?:\{{\s?(-?{_TERM})\s?\}}\s?\{{\s?({_TERM})\s?\}}|(\d)\s?(\d))"
)
_SQRT = re.compile(rf"{_ROOT}(?:\s?/\s?(?:\(\s?{_TERM}\s?\)|{_TERM}))?(?!\.?\d)")
_PRODUCT = re.compile(
    rf"{_INT}\s?[*·]?\s?(?:{_ROOT}|π(?:\^\{{?2\}}?|²)?|pi\b(?:\^2|\*\*2|²)?)"
    rf"(?:\s?/\s?(?:\(\s?{_TERM}\s?\)|{_TERM}))?(?!\.?\d)"
)
_OVER = re.compile(
    rf"{_PI}\s?/\s?(?:\(\s?{_TERM}\s?\)|{_TERM})(?!\.?\d)|π(?:\^\{{?2\}}?|²)(?![\d/])"
)
_PIECE = re.compile(
    rf"(?P<int>{_INT})|(?P<root>√|\\sqrt|sqrt)|(?P<pi>π|pi)|(?P<square>\^\{{?2\}}?|\*\*2|²)"
)


@dataclass(frozen=True, slots=True)
class Symbol:
    """An exact value and where its text ends."""

    value: Decimal
    end: int


def read_command(text: str, start: int) -> Symbol | None:
    r"""A `\frac` or `\sqrt` with simple contents that begins here."""
    found = _FRAC.match(text, start)
    if found:
        top = _term(found[1] or found[3])
        bottom = _term(found[2] or found[4])
        if bottom:
            return Symbol(CONTEXT.divide(top, bottom), found.end())
        return None
    return _read(_SQRT, text, start)


def read_root(text: str, start: int) -> Symbol | None:
    """`√2`, `sqrt(3)/2`."""
    return _read(_SQRT, text, start)


def read_pi(text: str, start: int) -> Symbol | None:
    """`π/4`, `pi/6`, `π²/6`."""
    return _read(_OVER, text, start)


def read_product(text: str, start: int) -> Symbol | None:
    """`3π/4`, `2√2`, `2*pi`."""
    return _read(_PRODUCT, text, start)


def _read(pattern: re.Pattern[str], text: str, start: int) -> Symbol | None:
    found = pattern.match(text, start)
    if not found:
        return None
    top, _, bottom = found.group().partition("/")
    below = _term(bottom.strip().strip("()")) if bottom else Decimal(1)
    if not below:
        return None
    return Symbol(CONTEXT.divide(_term(top), below), found.end())


def _term(text: str) -> Decimal:
    """A product of at most one whole number, one root and one power of pi."""
    value = Decimal(-1 if text.lstrip().startswith("-") else 1)
    rooted = False
    last = Decimal(1)
    for piece in _PIECE.finditer(text):
        if piece["root"]:
            rooted = True
            continue
        if piece["square"]:
            factor = last
        elif piece["pi"]:
            factor = PI
        else:
            factor = Decimal(piece["int"])
            if rooted:
                factor = CONTEXT.sqrt(factor)
        rooted, last = False, factor
        value = CONTEXT.multiply(value, factor)
    return value


Reader = Callable[[str, int], "Symbol | None"]
