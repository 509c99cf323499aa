"""Splitting a run of digits and separators into numbers: groups, decimals, lists, versions.

Whether a comma is a decimal mark is decided once for a text, by the other numbers in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scisolve_batch.grounding.reading import THIN

_EVIDENCE_POINT = re.compile(r"(?<![\d.,])\d+\.(\d+)(?![\d.])")
_EVIDENCE_COMMA = re.compile(r"(?<![\d.,(\[{])\d+,(\d+)(?![\d,])")
_COMMA_WORDS = re.compile(
    r"\b(?:der|die|das|ist|und|mit|wert|beträgt|für|le|la|les|est|une|avec|valeur|pour|vaut|et|el|los|es|"
    r"una|valor|para|het|een|är|och|jest|wynosi|rund|etwa|environ)\b",
    re.IGNORECASE,
)
_NOT_DECIMAL = re.compile(
    r"(?:sec(?:tions?|s?\.)|eqs?\.|equations?|fig(?:ures?|s?\.)|tab(?:les?|\.)|§|abschnitt|kapitel|gleichung|"
    r"abbildung|tabelle|python|numpy|scipy|version|v)\s?\(?$",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\d+|\D")
_GROUP = 3


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a run: one number in plain ASCII, or something that is none."""

    start: int
    end: int
    plain: str
    """Digits with at most one point; empty for a version or date."""


@dataclass(frozen=True, slots=True)
class Split:
    """A run, read."""

    chunks: tuple[Chunk, ...]
    otherwise: tuple[Chunk, ...] = ()
    """Another reading, when the first is doubtful."""
    small_ok: bool = False
    """In the other reading small whole numbers need not be printed."""


def uses_decimal_comma(text: str) -> bool:
    """Whether a text writes decimals with a comma."""
    if not re.search(r"\d,\d", text):
        return False
    for found in _EVIDENCE_POINT.finditer(text):
        before = text[max(0, found.start() - 12) : found.start()]
        if len(found[1]) != _GROUP and not _NOT_DECIMAL.search(before):
            return False
    if any(len(found[1]) != _GROUP for found in _EVIDENCE_COMMA.finditer(text)):
        return True
    words = len(_COMMA_WORDS.findall(text[:4000]))
    return words >= 3


def split_run(run: str, start: int, *, comma: bool, before: str, after: str) -> Split:  # noqa: PLR0911
    """Read a run like `1,234.5`, `0,25`, `1.2.3`, `3,7`, `1_000`.

    Args:
        run: digits with single separators between them.
        start: its place in the text.
        comma: the text writes decimals with a comma.
        before: the character before it.
        after: the character after it.
    """
    pieces = _PARTS.findall(run)
    digits, seps = pieces[::2], pieces[1::2]
    whole = (Chunk(start, start + len(run), run),)
    if not seps:
        return Split(whole)
    kinds = set(seps)
    grouped = len(digits[0]) <= _GROUP and all(len(part) == _GROUP for part in digits[1:])
    plain = "".join(digits)
    joined = (Chunk(start, start + len(run), plain),)
    bracketed = before in ("(", "[", "{") or after in (")", "]", "}")
    if kinds == {"."}:
        if len(seps) > 1:
            thousands = comma and grouped and digits[0][0] != "0"
            return Split(joined if thousands else (Chunk(start, start + len(run), ""),))
        if comma and grouped and digits[0].lstrip("0"):
            return Split(joined, otherwise=whole)
        return Split(whole)
    if kinds == {","}:
        return _read_commas(run, start, digits, comma=comma, bracketed=bracketed)
    decimal = _mixed(digits, seps)
    if decimal:
        return Split((Chunk(start, start + len(run), decimal),))
    if len(kinds) == 1 and grouped and kinds <= {THIN, "'", "_", " "}:
        return Split(joined)
    return Split(_pieces(run, start))


def _read_commas(run: str, start: int, digits: list[str], *, comma: bool, bracketed: bool) -> Split:
    end = start + len(run)
    pieces = _pieces(run, start)
    grouped = len(digits[0]) <= _GROUP and all(len(part) == _GROUP for part in digits[1:])
    if len(digits) == 2 and (comma or not grouped):
        decimal = (Chunk(start, end, ".".join(digits)),)
        if comma:
            return Split(decimal, otherwise=pieces if bracketed else ())
        return Split(pieces) if bracketed else Split(decimal, otherwise=pieces)
    if grouped and digits[0][0] != "0":
        return Split((Chunk(start, end, "".join(digits)),), otherwise=pieces)
    return Split(pieces)


def _mixed(digits: list[str], seps: list[str]) -> str:
    """Groups before one decimal mark (`1,234.5`, `1.234,5`), or thin groups around it."""
    marks = [place for place, sep in enumerate(seps) if sep in ".,"]
    others = set(seps) - {".", ","}
    if len(marks) == 1 and len(others) == 1:
        mark = marks[0]
        before, after = digits[: mark + 1], digits[mark + 1 :]
        whole = len(before) == 1 or (
            len(before[0]) <= _GROUP and all(len(part) == _GROUP for part in before[1:])
        )
        tail = all(len(part) == _GROUP for part in after[:-1]) and len(after[-1]) <= _GROUP
        if whole and (len(after) == 1 or tail):
            return "".join(before) + "." + "".join(after)
    if not others and len(set(seps[:-1])) == 1 and seps[-1] != seps[0]:
        before = digits[:-1]
        if len(before[0]) <= _GROUP and all(len(part) == _GROUP for part in before[1:]):
            return "".join(before) + "." + digits[-1]
    return ""


def _pieces(run: str, start: int) -> tuple[Chunk, ...]:
    """The run cut at everything but points; a piece with two points is a version."""
    found = []
    for piece in re.finditer(r"[\d.]+", run):
        plain = piece.group()
        plain = "" if plain.count(".") > 1 else plain
        found.append(Chunk(start + piece.start(), start + piece.end(), plain))
    return tuple(found)
