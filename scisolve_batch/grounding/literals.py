"""Reading the numbers of an answer: one ordered grammar, from left to right, in linear time.

A recognised form is one item, never its pieces, and every digit of the text ends up in exactly
one item; digits that no rule reads are returned as `unread`. No text raises.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from scisolve_batch.grounding import forms
from scisolve_batch.grounding.items import CONTEXT, LONGEST_EXPONENT, Item, Kind, Option
from scisolve_batch.grounding.numerals import Numerals
from scisolve_batch.grounding.reading import Text, read_text
from scisolve_batch.grounding.separators import Chunk, uses_decimal_comma
from scisolve_batch.grounding.surroundings import Surroundings, apply_setting
from scisolve_batch.grounding.symbols import (
    Symbol,
    read_command,
    read_pi,
    read_product,
    read_root,
)
from scisolve_batch.grounding.words import BEGINNERS, is_number_word, read_phrase

LONGEST_NUMBER = 2000
"""Digits of a number that are read; a longer one is `unread`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text and what was read from it."""

    text: Text
    items: tuple[Item, ...]


def read_literals(raw: str) -> Reading:
    """Read every number of a text, and everything else in it that has digits."""
    text = read_text(raw)
    reader = _Reader(text.clean)
    reader.read()
    items = reader.items
    if text.reversed_from is not None:
        turned = text.reversed_from
        for one in items:
            if one.start >= turned:
                one.kind, one.why, one.options = Kind.UNREAD, "unread", ()
    return Reading(text, tuple(items))


@dataclass(slots=True)
class _Reader:
    """One pass over a clean text; `at` only ever moves forward."""

    text: str
    at: int = 0
    items: list[Item] = field(default_factory=list)
    numerals: Numerals = field(init=False)
    surroundings: Surroundings = field(init=False)

    def read(self) -> None:
        text = self.text
        self.numerals = Numerals(text, comma=uses_decimal_comma(text))
        self.surroundings = Surroundings(text, self.items)
        while (found := forms.ATOM.search(text, self.at)) is not None:
            self.at = found.start()
            kind = found.lastgroup
            if kind == "word":
                self._word(found.group(), found.end())
            elif kind == "run":
                self._run(found.end())
            elif kind == "link":
                self._add(Kind.NAME, found.end(), "link")
            elif kind == "scale":
                self._scale_bracket(found)
            elif kind == "power":
                self._add(Kind.NAME, found.end(), "exponent")
            elif kind == "symbol":
                self._symbol(found)
            else:
                self._odd(found)

    def _add(self, kind: Kind, end: int, why: str) -> None:
        """Add an item that is no number, unless it holds no digit."""
        end = max(end, self.at + 1)
        if forms.has_digit(self.text, self.at, end):
            self.items.append(Item(start=self.at, end=end, kind=kind, why=why))
        self.at = end

    # -- words ------------------------------------------------------------------------

    def _word(self, word: str, end: int) -> None:
        """A word: part of a number in words, a name with digits, or nothing."""
        text, lower = self.text, word.lower()
        if lower in BEGINNERS or lower in ("a", "an"):
            if self._phrase(lower, end):
                return
        elif lower in ("sqrt", "pi"):
            symbol = read_root(text, self.at) if lower == "sqrt" else read_pi(text, self.at)
            if symbol:
                self._exact(symbol, "symbol")
                return
        attached = text[end : end + 1] in forms.ATTACHES
        if word.isalpha() and lower not in forms.MAY_NAME and not attached:
            self.at = end
        else:
            self._named(lower, end)

    def _named(self, lower: str, end: int) -> None:
        """A word with digits in it or on it: a version, a date, an identifier, an exponent."""
        text = self.text
        decimals = forms.GLUED_DECIMAL.match(text, self.at)
        if decimals and not forms.VERSION_NAME.match(text, self.at):
            self.at = decimals.end(1)  # the number follows
            return
        for pattern, why in forms.NAMES:
            if found := pattern.match(text, self.at):
                self._add(Kind.NAME, found.end(), why)
                return
        name = None if lower in forms.PLAIN_WORDS else forms.NAME_TAIL.match(text, end)
        tail = name.end() if name else end
        attached = forms.ATTACHED.match(text, tail)
        self._add(Kind.NAME, attached.end() if attached else tail, "name")

    def _phrase(self, lower: str, end: int) -> bool:
        """A number in words; single small ones are structural."""
        words, ends = [lower], [end]
        place = end
        for _ in range(12):
            found = forms.NEXT_WORD.match(self.text, place)
            if not found or not is_number_word(found[1].lower()):
                break
            place = found.end()
            words.append(found[1].lower())
            ends.append(place)
        phrase = read_phrase(words)
        if phrase is None:
            return False
        stop = ends[phrase.words - 1]
        if phrase.value.denominator > 1:
            self._exact(Symbol(_quotient(phrase.value), stop), "words")
            return True
        value = Decimal(phrase.value.numerator)
        item = Item(
            start=self.at,
            end=stop,
            kind=Kind.NUMBER,
            why="words",
            value=value,
            place=phrase.place,
            integer=True,
            zeros=forms.trailing_zeros(str(phrase.value.numerator)),
        )
        if item.small:
            item.kind, item.why = Kind.STRUCTURAL, "count"
        self._finish(item)
        return True

    # -- symbols ----------------------------------------------------------------------

    def _symbol(self, found: re.Match[str]) -> None:
        char = self.text[self.at]
        if char == "\\":
            symbol = read_command(self.text, self.at)
            ignored = forms.COMMAND_ARGUMENT.match(self.text, self.at)
            if symbol is None and ignored:
                self._add(Kind.NAME, ignored.end(), "name")
                return
        else:
            symbol = read_pi(self.text, self.at) if char == "π" else read_root(self.text, self.at)
        if symbol is None:
            attached = forms.ATTACHED.match(self.text, found.end())
            self._add(Kind.NAME, attached.end() if attached else found.end(), "name")
        else:
            self._exact(symbol, "symbol")

    def _sign_before(self, start: int) -> tuple[int, bool]:
        self.numerals.floor = self.items[-1].end if self.items else 0
        return self.numerals.sign(start)

    def _exact(self, symbol: Symbol, why: str, options: tuple[Option, ...] = ()) -> None:
        start, negative = self._sign_before(self.at)
        value = -symbol.value if negative else symbol.value
        item = Item(
            start=start,
            end=symbol.end,
            kind=Kind.NUMBER,
            why=why,
            value=value,
            exact=True,
            signed=start < self.at,
            options=options,
        )
        self._finish(item)

    # -- runs of digits -----------------------------------------------------------------

    def _run(self, end: int) -> None:
        text, start = self.text, self.at
        for pattern, kind, why in forms.NOT_NUMBERS:
            if (found := pattern.match(text, start)) is not None:
                self._add(kind, found.end(), why)
                return
        if (found := forms.BASED.match(text, start)) is not None:
            self._based(found)
        elif (symbol := read_product(text, start)) is not None:
            self._exact(symbol, "symbol")
        elif end - start > LONGEST_NUMBER:
            self._add(Kind.UNREAD, end, "unread")
        elif (found := forms.FRACTION.match(text, start)) is not None:
            self._fraction(found)
        elif (found := forms.POWER.match(text, start)) is None or not self._power(found):
            self._numbers(start, end)

    def _numbers(self, start: int, end: int) -> None:
        """Numbers in digits; what their surroundings say is added to each."""
        self.numerals.floor = self.items[-1].end if self.items else 0
        found = self.numerals.read(start, end)
        forms.include_command(self.text, found.items)
        for item in found.items:
            if item.kind is Kind.NUMBER:
                self._finish(item)
            else:
                self.items.append(item)
        self.at = max(found.stop, self.at, start + 1)

    def _fraction(self, found: re.Match[str]) -> None:
        """`a/b`: one exact number; or both parts are printed side by side. `2 1/2` is mixed."""
        top, bottom = int(found[1]), int(found[2])
        if not bottom:
            self._numbers(found.start(), found.end(1))
            return
        if forms.RULE_AFTER.match(self.text, found.end()):  # Simpson's 3/8 rule
            self._add(Kind.NAME, found.end(), "name")
            return
        value = Fraction(top, bottom)
        last = self.items[-1] if self.items else None
        whole = last is not None and last.integer and not last.signed and last.kind is Kind.NUMBER
        if whole and value < 1 and self.text[last.end : self.at] in (" ", "-"):  # type: ignore[union-attr]
            self.items.pop()
            self.at, value = last.start, value + int(last.value)  # type: ignore[union-attr]
            self._exact(Symbol(_quotient(value), found.end()), "fraction")
            return
        parts = tuple(
            self.numerals.number(Chunk(found.start(i), found.end(i), found[i])) for i in (1, 2)
        )
        options = (Option(items=parts),)
        self._exact(Symbol(_quotient(value), found.end()), "fraction", options)

    def _power(self, found: re.Match[str]) -> bool:
        """`10^-8` is an order of magnitude; `2^53` is a whole number."""
        base = int(found["base"])
        written = forms.written_power(found)
        if len(written.lstrip("-+")) > LONGEST_EXPONENT:
            return False
        power = int(written)
        if base == 10:
            start, negative = self._sign_before(self.at)
            self._finish(
                Item(
                    start=start,
                    end=found.end(),
                    kind=Kind.NUMBER,
                    why="power",
                    value=Decimal(-1 if negative else 1).scaleb(power, CONTEXT),
                    place=power,
                    signed=negative,
                    order=True,
                )
            )
            return True
        if abs(power) > 4000 or base > 10**6:
            return False
        exact = CONTEXT.power(Decimal(base), power) if power < 0 else Decimal(base**power)
        self._exact(Symbol(exact, found.end()), "power")
        return True

    def _based(self, found: re.Match[str]) -> None:
        """`0xFF`: a whole number in another base."""
        digits = found.group().replace("_", "")
        if len(digits) > 66:
            self._add(Kind.NAME, found.end(), "name")
            return
        value = Decimal(int(digits, 0))
        self._finish(
            Item(
                start=self.at,
                end=found.end(),
                kind=Kind.NUMBER,
                why="based",
                value=value,
                exact=True,
            )
        )

    # -- what is left -------------------------------------------------------------------

    def _odd(self, found: re.Match[str]) -> None:
        """A digit of another kind: `½`, `Ⅳ`, a superscript after a letter or a bracket."""
        char = self.text[self.at]
        if not char.isnumeric():
            self.at = found.end()
            return
        before = self.text[self.at - 1 : self.at]
        normal = unicodedata.normalize("NFKC", char)
        if char in forms.SCRIPTS:
            end = forms.SCRIPT_RUN.match(self.text, self.at).end()  # type: ignore[union-attr]
            hangs = bool(before) and not before.isspace() and end - self.at <= 6
            self._add(Kind.NAME if hangs else Kind.UNREAD, end, "exponent" if hangs else "unread")
            return
        top, slash, bottom = normal.partition("\u2044")
        if slash and top.isdecimal() and bottom.isdecimal() and int(bottom):
            self._vulgar(Fraction(int(top), int(bottom)), found.end())
            return
        number = unicodedata.numeric(char, None)
        if number is not None and number == int(number) and 0 <= number <= 10:
            self._add(Kind.STRUCTURAL, found.end(), "count")
            return
        self._add(Kind.UNREAD, found.end(), "unread")

    def _vulgar(self, part: Fraction, end: int) -> None:
        """`½`, or `2½` when a whole number stands directly before it."""
        last = self.items[-1] if self.items else None
        if last and last.end == self.at and last.integer and not last.signed:
            self.items.pop()
            self.at, part = last.start, part + int(last.value)
        self._exact(Symbol(_quotient(part), end), "fraction")

    def _scale_bracket(self, found: re.Match[str]) -> None:
        """`(a ± b)×10^n` and `[a, b] × 10^n` scale what stands in the brackets."""
        digits = forms.written_power(found)
        opened = max(self.text.rfind("(", max(0, self.at - 160), self.at),
                     self.text.rfind("[", max(0, self.at - 160), self.at))  # fmt: skip
        inside = [
            place
            for place in range(len(self.items) - 1, -1, -1)[:12]
            if opened >= 0 and self.items[place].start > opened
        ]
        if not inside or len(digits.lstrip("-+")) > LONGEST_EXPONENT:
            self._add(Kind.UNREAD if not inside else Kind.NAME, found.end(), "unread")
            return
        for place in inside:
            item = self.items[place]
            if item.kind in (Kind.NUMBER, Kind.STRUCTURAL):
                item.scale(int(digits))
                item.kind, item.options = Kind.NUMBER, ()
        self.items[inside[0]].end = found.end()
        self.at = found.end()

    def _finish(self, item: Item) -> None:
        """Add a number with what its surroundings say, unless they make it no number."""
        text = self.text
        self.at = max(item.end, self.at + 1)
        if item.kind is Kind.NUMBER:
            self.surroundings.place(item)
        if item.kind is Kind.NUMBER:
            apply_setting(item, text)
            if item.shifts[-1] < 0:
                self.surroundings.share_percent(item)
        self.items.append(item)


def _quotient(value: Fraction) -> Decimal:
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
