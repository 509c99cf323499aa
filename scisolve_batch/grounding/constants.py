"""The numeric constants of recorded code, and changed copies of the code.

A constant is any run of digits in the source that could become a number: in an expression, a
string, bytes, JSON, a default argument. Comments and format specifications are none.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from itertools import accumulate

from scisolve_batch.grounding.items import CONTEXT
from scisolve_batch.grounding.syntax import read_syntax

MOST_CONSTANTS = 400
"""Constants of a session that are looked at; code with more holds data, not results."""

_DIGITS = re.compile(r"(?<![\w.])(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_IN_TEXT = re.compile(r"(?<![A-Za-z_])(?:\d[\d_]*(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
_SPECIFICATION = re.compile(r"(?::[^{}\n:]{0,12}|%[-+ #0]*\d*)$")
_KEYED = re.compile(r"[\"']\s*:\s*[-+]?$")
_SPECIFIED = re.compile(r"[a-zA-Z%]?\}|[a-zA-Z]")
_WHOLE = r"[0-9](?:_?[0-9])*"
_TOKEN = re.compile(
    r"#[^\r\n]*"
    r"|(?P<text>(?:[bBuU]?[rR]?|[rR][bB]|(?P<formatted>[fFtT][rR]?|[rR][fFtT]))(?:"
    r"\'\'\'(?:[^'\\]|\\.|'(?!''))*\'\'\'|\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*\"\"\""
    r"|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))"
    r"|(?P<number>0(?:[xX](?:_?[0-9a-fA-F])+|[bB](?:_?[01])+|[oO](?:_?[0-7])+)"
    rf"|(?:{_WHOLE}(?:\.(?:{_WHOLE})?)?|\.{_WHOLE})(?:[eE][-+]?{_WHOLE})?[jJ]?)"
    r"|\w+",
    re.DOTALL,
)
"""The words of code that Python accepts; what lies between them holds no digit."""
_NESTED = sys.version_info >= (3, 12)
"""Strings of the same quotes may stand inside a formatted one."""
_LONE_RETURN = re.compile(r"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class Constant:
    """Digits of the source.

    Attributes:
        cell: which code it stands in, counted from 0.
        start: first character in that code.
        end: one past the last.
        value: its value, without a sign.
        place: its last digit counts 10**place.
        quoted: it stands in a string.
        width: how many digits are written.
    """

    cell: int
    start: int
    end: int
    value: Decimal
    place: int
    quoted: bool
    width: int = 1
    digits: int = 1
    """Significant digits, zeros at the end of a whole number not counted."""


def find_constants(codes: Sequence[str]) -> list[Constant]:
    """Every constant of some codes, in order."""
    found: list[Constant] = []
    for cell, code in enumerate(codes):
        found += (Constant(cell, *one) for one in _scan(code))
    return found


@lru_cache(maxsize=256)
def _scan(code: str) -> tuple[tuple[int, int, Decimal, int, bool, int, int], ...]:
    found = []
    for start, end, quoted in _pieces(code):
        for one in (_IN_TEXT if quoted else _DIGITS).finditer(code, start, end):
            if quoted and _is_specification(code, one):
                continue
            value = _decimal(one.group())
            if value is not None:
                _, digits, place = value.as_tuple()
                assert isinstance(place, int)
                width = sum(map(str.isdigit, one.group().lower().partition("e")[0]))
                significant = _significant(digits, place)
                found.append((one.start(), one.end(), value, place, quoted, width, significant))
    return tuple(found)


def _significant(digits: tuple[int, ...], place: int) -> int:
    if digits == (0,):
        return 1
    written = "".join(map(str, digits))
    return len(written) if place < 0 else len(written.rstrip("0"))


def _pieces(code: str) -> Iterator[tuple[int, int, bool]]:
    """The numbers and strings of a code; all of it when it cannot be tokenized."""
    if read_syntax(code) is None:
        return _tokens(code)
    pieces = []
    for token in _TOKEN.finditer(code):
        if _NESTED and token["formatted"]:
            return _tokens(code)
        if kind := token.lastgroup:
            pieces.append((token.start(), token.end(), kind != "number"))
    return iter(pieces)


def _tokens(code: str) -> Iterator[tuple[int, int, bool]]:
    """The same of any code, by Python's own module, which is slow."""
    # Python ends a line there too; `tokenize` does not. Nothing else that str.splitlines knows does.
    lines = list(io.StringIO(_LONE_RETURN.sub("\n", code)))
    starts = [0, *accumulate(map(len, lines))]
    pieces = []
    try:
        for token in tokenize.generate_tokens(partial(next, iter(lines))):
            quoted = token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith(
                "FSTRING"
            )
            if quoted or token.type == tokenize.NUMBER:
                (row, column), (last, stop) = token.start, token.end
                pieces.append((starts[row - 1] + column, starts[last - 1] + stop, quoted))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return iter(((0, len(code), True),))
    return iter(pieces)


def _is_specification(code: str, found: re.Match[str]) -> bool:
    """`{x:.4f}` and `%8.3e` hold digits that are no numbers."""
    before = code[max(0, found.start() - 14) : found.start()]
    if not _SPECIFICATION.search(before):
        return False
    if _KEYED.search(before):
        return False  # JSON: {"k": 1.5}
    return bool(_SPECIFIED.match(code, found.end()))


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text.replace("_", "").replace(",", ""))
    except InvalidOperation:
        return None
    return value if abs(value.adjusted()) < 400 else None


def rewrite(code: str, changes: Sequence[tuple[Constant, Decimal]]) -> str:
    """A code in which some of its constants have other values, written in the same style."""
    for constant, value in sorted(changes, key=lambda one: -one[0].start):
        old = code[constant.start : constant.end]
        code = code[: constant.start] + _write(old, value) + code[constant.end :]
    return code


def _write(old: str, value: Decimal) -> str:
    width = sum(map(str.isdigit, old))
    mantissa, mark, exponent = old.lower().partition("e")
    if mark:
        moved = value.scaleb(-int(exponent), CONTEXT)
        return f"{moved:f}{mark}{exponent}"
    text = f"{value:f}"
    if "." not in text and old[:1] == "0":  # 0548 in a string
        text = text.zfill(width)
    if "." in mantissa and "." not in text:
        text += "."
    return text
