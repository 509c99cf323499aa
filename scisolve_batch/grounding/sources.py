"""The numbers that may support a literal: what successful cells printed, and the problem's own.

Output is read by one small pattern, because there may be a lot of it; the problem statement is
prose and read by the grammar of answers. Numbers keep their text, so nothing is lost to floats.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from scisolve_batch.grounding.items import CONTEXT, LONGEST_EXPONENT, Kind
from scisolve_batch.grounding.literals import read_literals
from scisolve_batch.grounding.names import Names, collect_names
from scisolve_batch.grounding.units import read_unit
from scisolve_batch.records import Cell

# Nothing starts inside a word (`float64`, `x1`) or after a digit and a dot (versions).
_PRINTED = re.compile(
    r"(?<![\w.])(?P<sign>[-+\u2212]?)(?P<body>\d[\d_]*(?:,\d{3})*(?:\.\d*)?|\.\d+)"
    r"(?P<exp>[eEdD][-+\u2212]?\d+|\s?(?:×|\\times|x|\*|·)\s?10\s?(?:(?:\^|\*\*)\{?[-+\u2212]?\d+\}?|[⁻⁺]?[⁰¹²³⁴-⁹]+))?"
    r"(?P<percent>\s?%)?"
)
_BASED = re.compile(r"[xXoObB][0-9a-fA-F]+")
_VERSION = re.compile(r"\.\d")
_UNIT_AFTER = re.compile(
    r"['\")\]]{0,2}[ \u00a0\u2009]?([A-Za-z°Ωµμ]+(?:[²³]|\^-?\d)?(?:/[A-Za-zµμ]+(?:[²³]|\^\d)?)?)(?![\w=])"
)
_UNIT_WORD = re.compile(
    r"(?<=[\d\s(\[])([A-Za-zµμΩ°]+(?:[²³]|\^-?\d)?(?:/[A-Za-zµμ]+(?:[²³]|\^\d)?)?)(?![\w])"
)
_UNIT_BEFORE = re.compile(
    r"[\[(]\s?([A-Za-z°Ωµμ]+[²³^\d]*(?:/[A-Za-zµμ]+[²³^\d]*)?)\s?[\])]['\"]?\s*[:=,]?\s*$"
)
_UP = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺\u2212", "0123456789-+-")


@dataclass(frozen=True, slots=True)
class Text:
    """A text whose numbers count.

    Attributes:
        cell: number of the cell; None for the problem.
        text: the text.
    """

    cell: int | None
    text: str


@dataclass(slots=True)
class Number:
    """A printed number."""

    text: str
    source: int
    """Which text it stands in, counted in the pool."""
    start: int
    end: int
    key: float
    """Its value as a float, to sort by."""
    percent: bool = False
    given: Decimal | None = None
    """Its value, when it was read by the grammar of answers."""
    digits: int | None = None
    _value: Decimal | None = field(default=None, repr=False, init=False)

    @property
    def value(self) -> Decimal:
        """The exact value as printed."""
        if self.given is not None:
            return self.given
        if self._value is None:
            self._value = _decimal(self.text)
        return self._value

    @property
    def place(self) -> int:
        """The last printed digit counts 10**place."""
        if self.digits is not None:
            return self.digits
        exponent = self.value.as_tuple().exponent
        return exponent if isinstance(exponent, int) else 0

    @property
    def integer(self) -> bool:
        """Printed without point and exponent."""
        if self.given is not None:
            return self.place >= 0
        return self.text.lstrip("-+\u2212").replace(",", "").replace("_", "").isdecimal()


def _decimal(text: str) -> Decimal:
    plain = text.rstrip("%").strip().replace(",", "").replace("_", "").replace("\u2212", "-")
    found = re.match(
        r"([-+]?[\d.]+)(?:[eEdD]([-+]?\d+)|\D+?10\s?(?:\^|\*\*)?\{?([-+]?\d+|[⁻⁺⁰¹²³⁴-⁹]+))?", plain
    )
    assert found is not None
    exponent = (found[2] or found[3] or "0").translate(_UP)
    try:
        return Decimal(found[1]).scaleb(int(exponent), CONTEXT)
    except (InvalidOperation, OverflowError, ValueError):
        return Decimal("NaN")


@dataclass(slots=True)
class Pool:
    """Every number that may support a literal, sorted by value."""

    texts: list[Text]
    numbers: list[Number]
    keys: list[float]
    order: list[Number]
    distinct: list[float]
    _names: Names | None = None
    _units: dict[int, tuple[str, int] | None] = field(default_factory=dict)
    _powers: dict[str, set[int]] | None = None

    @property
    def names(self) -> Names:
        """The labels of the numbers, found when first asked for."""
        if self._names is None:
            self._names = collect_names(self)
        return self._names

    def unit(self, number: Number) -> tuple[str, int] | None:
        """The unit printed after a number, or in brackets before it, and its power of ten."""
        known = self._units.get(id(number), False)
        if known is False:
            known = self._units[id(number)] = self._find_unit(number)
        return known  # type: ignore[return-value]

    def _find_unit(self, number: Number) -> tuple[str, int] | None:
        text = self.texts[number.source].text
        found = _UNIT_AFTER.match(text, number.end)
        unit = read_unit(found[1]) if found else None
        if unit is None:
            found = _UNIT_BEFORE.search(text, max(0, number.start - 32), number.start)
            unit = read_unit(found[1]) if found else None
        return unit

    def only_unit(self, word: str, number: Number) -> str:
        """The unit that the problem uses instead of this word's, for a number printed without one.

        Answers in coherent SI units (m, s, kg) are not asked about: code computes in them.
        """
        mine = read_unit(word)
        if mine is None or self.unit(number) is not None or self.texts[number.source].cell is None:
            return ""
        if mine[1] == (3 if mine[0].startswith("g^") else 0):
            return ""
        others = {one[1]: one_word for one, one_word in self._spoken() if one[0] == mine[0]}
        return "" if not others or mine[1] in others else next(iter(others.values()))

    def _spoken(self) -> Iterator[tuple[tuple[str, int], str]]:
        problem = next((text.text for text in self.texts if text.cell is None), "")
        for found in _UNIT_WORD.finditer(problem):
            unit = read_unit(found[1])
            if unit:
                yield unit, found[1]

    def powers(self, base: str) -> set[int]:
        """The powers of ten of the prefixes with which a unit was printed."""
        if self._powers is None:
            self._powers = {}
            for number in self.numbers:
                unit = self.unit(number)
                if unit:
                    self._powers.setdefault(unit[0], set()).add(unit[1])
        return self._powers.get(base, set())

    def between(self, low: float, high: float) -> Iterator[Number]:
        """The numbers whose float values lie in a closed interval."""
        start, end = bisect_left(self.keys, low), bisect_right(self.keys, high)
        return iter(self.order[start:end])

    def around(self, value: float, count: int) -> list[Number]:
        """The numbers next to a value, some on each side."""
        at = bisect_left(self.keys, value)
        return self.order[max(0, at - count) : at + count]

    def count(self, low: float, high: float) -> int:
        """How many different values lie in a closed interval."""
        return bisect_right(self.distinct, high) - bisect_left(self.distinct, low)

    def line(self, number: Number) -> int:
        """The line a number stands on, from 1."""
        return self.texts[number.source].text.count("\n", 0, number.start) + 1


def gather(cells: Sequence[Cell], problem: str) -> Pool:
    """Read every source: each cell in order, then the problem. Nothing is read of a failed cell."""
    return _gather(tuple((cell.index, cell.stdout if cell.ok else "") for cell in cells), problem)


@lru_cache(maxsize=1)
def _gather(outputs: tuple[tuple[int, str], ...], problem: str) -> Pool:
    """The pool of some outputs; an answer and the check that it names are judged by the same."""
    texts: list[Text] = [Text(index, output) for index, output in outputs]
    numbers: list[Number] = []
    for place, text in enumerate(texts):
        numbers += read_printed(text.text, place)
    if problem:
        texts.append(Text(None, problem))
        numbers += _read_problem(problem, len(texts) - 1)
    order = sorted(numbers, key=lambda one: one.key)
    keys = [one.key for one in order]
    return Pool(texts, numbers, keys, order, sorted(set(keys)))


def read_printed(text: str, source: int = 0) -> list[Number]:
    """Every number of a cell's output."""
    numbers = []
    seen = -1
    for found in _PRINTED.finditer(text):
        end = found.end()
        if found.start() == seen:  # its sign was read with it
            continue
        body = found["body"]
        if text[end : end + 1] == "." and _VERSION.match(text, end):
            continue  # 1.26.4
        if body == "0" and _BASED.match(text, end):
            continue  # 0xff
        written = found.group()
        if found["exp"] and sum(map(str.isdigit, found["exp"])) > LONGEST_EXPONENT + 2:
            continue
        if (
            found["exp"] is None
            and found["percent"] is None
            and body.isdecimal()
            and found["sign"] in ("", "-")
        ):
            key = float(written) if len(written) < 300 else _key(written)
        else:
            key = _key(written)
        if math.isnan(key):  # not readable
            continue
        number = Number(written, source, found.start(), end, key)
        numbers.append(number)
        if found["percent"]:
            part, place = number.value.scaleb(-2, CONTEXT), number.place - 2
            numbers.append(replace(number, key=key / 100, percent=True, given=part, digits=place))
        if "," in body and "." not in body and not found["exp"]:
            numbers += _listed(found, source)
        if text[end : end + 1] in "+-" and end + 1 < len(text):
            numbers += (parts := list(_imaginary(text, end, source)))
            seen = end + 1 if parts else seen
    return numbers


def _key(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        value = _decimal(written)
        if value.is_nan():
            return math.nan
        return float(value) if abs(value.adjusted()) < 10 ** (LONGEST_EXPONENT + 1) else math.nan


def _listed(found: re.Match[str], source: int) -> Iterator[Number]:
    """`100,200,300` without blanks may be a list as well as one number."""
    start = found.start("body")
    for piece in re.finditer(r"\d+", found["body"]):
        text = piece.group()
        first = start + piece.start()
        if piece.start() == 0 and found["sign"]:
            text, first = found["sign"] + text, first - 1
        yield Number(text, source, first, start + piece.end(), _key(text))


_PART = re.compile(r"[-+]\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?=[ji])")


def _imaginary(text: str, start: int, source: int) -> Iterator[Number]:
    """The second part of `1.5-2.5j`, whose sign follows a digit."""
    found = _PART.match(text, start)
    if found:
        yield Number(found.group(), source, start, found.end(), _key(found.group()))


def _read_problem(problem: str, source: int) -> Iterator[Number]:
    reading = read_literals(problem)
    seen: set[tuple[int, int]] = set()
    for item in reading.items:
        readings = [item, *(one for option in item.options for one in option.items)]
        for one in readings:
            if one.kind not in (Kind.NUMBER, Kind.STRUCTURAL) or one.error:
                continue
            start, end = reading.text.span(one.start, one.end)
            key = _float(one.value)
            seen.add((start, end))
            text = problem[start:end]
            yield Number(text, source, start, end, key, one.shifts != (0,), one.value, one.place)
    for number in read_printed(problem, source):
        if (number.start, number.end) not in seen:
            yield number


def _float(value: Decimal) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
