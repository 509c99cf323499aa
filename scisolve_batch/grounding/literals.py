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
from scisolve_batch.grounding.context import is_level, read_setting, reference_before
from scisolve_batch.grounding.items import CONTEXT, LONGEST_EXPONENT, Item, Kind, Option
from scisolve_batch.grounding.reading import Text, read_text
from scisolve_batch.grounding.separators import Chunk, Split, split_run, uses_decimal_comma
from scisolve_batch.grounding.symbols import (
    Symbol,
    read_command,
    read_pi,
    read_product,
    read_root,
)
from scisolve_batch.grounding.units import read_unit
from scisolve_batch.grounding.words import AFTER_DIGITS, BEGINNERS, is_number_word, read_phrase

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
    comma: bool = False
    markers: int = 0
    """The last list marker at the beginning of a line."""

    def read(self) -> None:
        self.comma = uses_decimal_comma(self.text)
        text = self.text
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
        text = self.text
        lower = word.lower()
        if lower in BEGINNERS or lower in ("a", "an"):
            if self._phrase(lower, end):
                return
            self.at = end
            if text[end : end + 1] not in forms.ATTACHES:
                return
            self.at = end - len(word)
        elif lower in ("sqrt", "pi"):
            symbol = read_root(text, self.at) if lower == "sqrt" else read_pi(text, self.at)
            if symbol:
                self._exact(symbol, "symbol")
                return
        elif (
            word.isalpha()
            and lower not in forms.MAY_NAME
            and text[end : end + 1] not in forms.ATTACHES
        ):
            self.at = end
            return
        decimals = forms.GLUED_DECIMAL.match(text, self.at)
        if decimals and not forms.VERSION_NAME.match(text, self.at):
            self.at = decimals.end(1)  # the number follows
            if reference := forms.REFERENCE_WORD.fullmatch(decimals[1]):
                self.at = reference.end() - reference.start() + decimals.start()
            return
        if version := forms.VERSION_NAME.match(text, self.at):
            self._add(Kind.NAME, version.end(), "version")
            return
        for pattern, why in ((forms.MONTH_DATE, "date"), (forms.STANDARD, "name")):
            if dated := pattern.match(text, self.at):
                self._add(Kind.NAME, dated.end(), why)
                return
        name = None if lower in forms.PLAIN_WORDS else forms.NAME_TAIL.match(text, end)
        tail = name.end() if name else end
        attached = forms.ATTACHED.match(text, tail)
        if attached:
            tail = attached.end()
        self._add(Kind.NAME, tail, "name")

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

    def _exact(self, symbol: Symbol, why: str, options: tuple[Option, ...] = ()) -> None:
        start, negative = self._sign(self.at)
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
        for pattern, why in forms.NOT_NUMBERS:
            if (found := pattern.match(text, start)) is not None:
                self._add(Kind.NAME, found.end(), why)
                return
        if (found := forms.BASED.match(text, start)) is not None:
            self._based(found)
            return
        if (symbol := read_product(text, start)) is not None:
            self._exact(symbol, "symbol")
            return
        if (found := forms.MIXED_UP.match(text, start)) is not None:
            self._add(Kind.UNREAD, found.end(), "unread")
            return
        if end - start > LONGEST_NUMBER:
            self._add(Kind.UNREAD, end, "unread")
            return
        if (found := forms.FRACTION.match(text, start)) is not None:
            self._fraction(found)
            return
        if (found := forms.POWER.match(text, start)) is not None and self._power(found):
            return
        self._numbers(start, end)

    def _numbers(self, start: int, end: int) -> None:
        text = self.text
        if (found := forms.SPACED.match(text, start)) is not None:
            split = self._spaced(found)
            end = found.end()
        else:
            split = split_run(
                text[start:end],
                start,
                comma=self.comma,
                before=text[start - 1 : start],
                after=text[end : end + 1],
            )
        chunks = [chunk for chunk in split.chunks if chunk.plain]
        if len(chunks) != len(split.chunks):  # a version among them
            self._add(Kind.NAME, end, "version")
            return
        options = self._options(split)
        for chunk in chunks[:-1]:
            self._finish(self._number(chunk, chunk.end))
        last = self._tail(chunks[-1])
        if last is not None:
            if len(chunks) == 1:
                last.options = options
            self._finish(last)

    def _options(self, split: Split) -> tuple[Option, ...]:
        if not split.otherwise:
            return ()
        items = tuple(self._number(chunk, chunk.end) for chunk in split.otherwise if chunk.plain)
        if any(forms.LEADING_ZERO.match(chunk.plain) for chunk in split.otherwise):
            return ()
        plural = forms.PLURAL_BEFORE.search(self.text[max(0, self.at - 16) : self.at])
        return (Option(items=items, printed=not plural),)

    def _spaced(self, found: re.Match[str]) -> Split:
        """Groups of three with ordinary blanks between them: a number, or a row of numbers."""
        run, start = found.group(), found.start()
        whole, mark, fraction = run.replace(" ", ""), "", ""
        if found["decimals"]:
            mark, fraction = ".", found["decimals"][1:]
            whole = run[: -len(found["decimals"])].replace(" ", "")
        joined = (Chunk(start, found.end(), whole + mark + fraction),)
        pieces = tuple(
            Chunk(start + one.start(), start + one.end(), one.group().replace(",", "."))
            for one in re.finditer(r"\d+(?:[.,]\d+)?", run)
        )
        if self.comma or not forms.in_brackets(self.text, start, found.end()):
            return Split(joined, otherwise=pieces)
        return Split(pieces)

    def _number(self, chunk: Chunk, end: int) -> Item:
        """A chunk as a number, with the sign in front of it and nothing after it."""
        whole, point, fraction = chunk.plain.partition(".")
        start, negative = self._sign(chunk.start)
        integer = not point
        value = Decimal(f"{'-' if negative else ''}{whole or '0'}{point}{fraction or ''}")
        return Item(
            start=start,
            end=end,
            kind=Kind.NUMBER,
            value=value,
            place=-len(fraction),
            integer=integer,
            zeros=forms.trailing_zeros(whole) if integer else 0,
            signed=start < chunk.start,
            why="padded" if integer and len(whole) > 1 and whole[0] == "0" else "",
        )

    def _sign(self, start: int) -> tuple[int, bool]:
        """Where a number with its sign begins, and whether it is negative."""
        if self.text[start - 1 : start] not in forms.BEFORE_SIGNED:
            return start, False
        found = forms.SIGN.search(self.text, max(0, start - 4), start)
        if not found or (self.items and found.start("sign") < self.items[-1].end):
            return start, False
        place = found.start("sign")
        if not found["free"] and not forms.may_carry_sign(self.text, place):
            return start, False
        return place, found["sign"] in "-–"

    def _tail(self, chunk: Chunk) -> Item | None:
        """The number with what belongs to it on the right: exponent, percent, scale, unit."""
        text, end = self.text, chunk.end
        item = self._number(chunk, end)
        error: Item | None = None
        if (found := forms.ERROR.match(text, end)) is not None:
            digits = found[1]
            error = Item(
                start=end,
                end=found.end(),
                kind=Kind.NUMBER,
                why="uncertainty",
                value=Decimal(digits).scaleb(item.place, CONTEXT),
                place=item.place,
                error=True,
            )
            end = found.end()
        found = forms.EXPONENT.match(text, end)
        if found is not None and found["e"] and (letters := forms.GLUED.match(text, found.end())):
            if letters.group() not in ("i", "j") and read_unit(letters.group()) is None:
                found = None  # 12e4f is a name
        if found is not None:
            digits = forms.written_power(found)
            if len(digits.lstrip("-+")) > LONGEST_EXPONENT:
                self.at = item.start
                self._add(Kind.UNREAD, found.end(), "unread")
                return None
            end = found.end()
            item.scale(int(digits))
            if error:
                error.scale(int(digits))
        if error is None:
            item.end = end
            return self._suffix(item, end)
        error.end = end
        self._finish(item)
        return self._suffix(error, end)

    def _suffix(self, item: Item, end: int) -> Item | None:
        text = self.text
        if (found := forms.ELLIPSIS.match(text, end)) is not None:
            item.cut, end = True, found.end()
        if (found := forms.DIMENSION.match(text, end)) is not None:
            self._finish(item)
            self.at = found.end()
            return None
        if (found := forms.PERCENT.match(text, end)) is not None:
            shift = forms.PERCENT_SHIFTS[found.lastgroup or "percent"]
            item.shifts, item.end = (0, shift), found.end()
            return item
        if (found := forms.SCALE.match(text, end)) is not None:
            word = found[1].lower()
            item.end = found.end()
            if word == "dozen":
                item.value *= 12
            else:
                item.scale(AFTER_DIGITS[word])
            return item
        if (found := forms.GLUED.match(text, end)) is not None:
            return self._glued(item, found)
        if (found := forms.POWER_OF.match(text, end)) is not None:  # 2.5², 3^{n}
            self._finish(item)
            self.at = end
            self._add(Kind.NAME, found.end(), "exponent")
            return None
        if (found := forms.UNIT.match(text, end)) is not None and read_unit(found[1]):
            item.unit = found[1]
        return item

    def _glued(self, item: Item, found: re.Match[str]) -> Item | None:
        """Letters right after the digits: an ordinal, an imaginary unit, a suffix, a unit."""
        letters = found.group()
        stop = found.end()
        if item.integer and forms.NAME_SUFFIX.match(self.text, item.end):
            stop = forms.NAME_SUFFIX.match(self.text, item.end).end()  # type: ignore[union-attr]
            self.at = item.start
            self._add(Kind.NAME, stop, "name")
            return None
        if letters in ("i", "j"):
            item.imaginary, item.end = True, stop
            return item
        if letters in forms.SUFFIXES and not forms.UNIT_GOES_ON.match(self.text, stop):
            item.shifts, item.unit, item.end = (0, forms.SUFFIXES[letters]), letters, stop
            return item
        unit = forms.UNIT.match(self.text, found.start())
        if unit is not None and read_unit(unit[1]) is not None:
            item.unit = unit[1]
        return item

    def _fraction(self, found: re.Match[str]) -> None:
        """`a/b`: one exact number; or both parts are printed side by side."""
        top, bottom = found[1], found[2]
        if not int(bottom):
            self._numbers(found.start(), found.start() + len(top))
            return
        start = found.start()
        parts = tuple(
            self._number(
                Chunk(start + found.start(i) - start, found.end(i), found[i]), found.end(i)
            )
            for i in (1, 2)
        )
        value = _quotient(Fraction(int(top), int(bottom)))
        self._exact(Symbol(value, found.end()), "fraction", (Option(items=parts),))

    def _power(self, found: re.Match[str]) -> bool:
        """`10^-8` is an order of magnitude; `2^53` is a whole number."""
        base = int(found["base"])
        written = forms.written_power(found)
        if len(written.lstrip("-+")) > LONGEST_EXPONENT:
            return False
        power = int(written)
        if base == 10:
            start, negative = self._sign(self.at)
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
            self._place(item)
        if item.kind is Kind.NUMBER:
            setting = read_setting(text, item.start)
            if setting.flipped and not item.signed:
                item.value = item.value.copy_negate()
                item.signed = item.flipped = True
            item.loose, item.bound, item.order = setting.loose, setting.bound, setting.order
            item.magnitude, item.odds = setting.magnitude, setting.odds
            if item.shifts[-1] < 0:
                self._share_shift(item)
        self.items.append(item)

    def _place(self, item: Item) -> None:
        """References, list markers and customary levels are structural; cited years are names."""
        text = self.text
        written = text[item.start : item.end]
        percent = item.shifts == (0, -2)
        digits = written.rstrip("% \\").strip()
        if is_level(text, digits, start=item.start, end=item.end, percent=percent):
            item.kind, item.why = Kind.STRUCTURAL, "level"
        elif item.signed or item.exact or not forms.SHORT_REFERENCE.fullmatch(written):
            return
        elif forms.YEAR.fullmatch(written) and forms.is_cited(text, item.start, item.end):
            item.kind, item.why = Kind.NAME, "citation"
        elif why := self._reference(item):
            item.kind, item.why = Kind.STRUCTURAL, why

    def _reference(self, item: Item) -> str:
        kind = reference_before(self.text, item.start, item.end)
        if kind == "document" or (kind == "place" and item.integer):
            return "place" if kind == "place" else "reference"
        if self._continues_reference(item):
            return self.items[-1].why
        marked = forms.LIST_MARKER.match(self.text, item.start)
        if marked and forms.line_start(self.text, item.start) and item.value <= self.markers + 1:
            self.markers = int(item.value)
            return "marker"
        return ""

    def _continues_reference(self, item: Item) -> bool:
        """`Figures 2 and 3`, `cells 1-4`."""
        last = self.items[-1] if self.items else None
        return bool(
            last
            and last.kind is Kind.STRUCTURAL
            and last.why in ("reference", "place")
            and item.integer
            and forms.CONNECTED.fullmatch(self.text, last.end, item.start)
        )

    def _share_shift(self, item: Item) -> None:
        """In `3.1 and 4.2 %` or `12.5 ± 0.3 %` the sign counts for each number."""
        at = len(self.items) - 1
        start = item.start
        while at >= 0 and len(self.items) - at <= 8:
            other = self.items[at]
            if other.kind is not Kind.NUMBER or other.shifts != (0,) or other.unit:
                break
            if not forms.CONNECTED.fullmatch(self.text, other.end, start):
                break
            other.shifts = item.shifts
            start, at = other.start, at - 1


def _quotient(value: Fraction) -> Decimal:
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
