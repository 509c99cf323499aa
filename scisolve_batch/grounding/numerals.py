"""Numbers in digits with all that belongs to them.

Sign, groups, exponent, uncertainty in the last digits, percent sign, scale word, unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from scisolve_batch.grounding import forms
from scisolve_batch.grounding.items import CONTEXT, LONGEST_EXPONENT, Item, Kind, Option
from scisolve_batch.grounding.separators import Chunk, Split, split_run
from scisolve_batch.grounding.units import read_unit
from scisolve_batch.grounding.words import AFTER_DIGITS


@dataclass(frozen=True, slots=True)
class Found:
    """What a run of digits is, and where reading goes on."""

    items: tuple[Item, ...]
    stop: int


@dataclass(slots=True)
class Numerals:
    """Reads runs of digits of one clean text."""

    text: str
    comma: bool
    """The text writes decimals with a comma."""
    floor: int = 0
    """Where the last item ended; a sign before it is not free."""

    def read(self, start: int, end: int) -> Found:
        """The numbers of a run, or the name that it is part of."""
        text = self.text
        if (found := forms.SPACED_DECIMALS.match(text, start)) is not None:
            split = self._si_style(found)
            end = found.end()
        elif (found := forms.SPACED.match(text, start)) is not None:
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
        if not all(chunk.plain for chunk in split.chunks):  # a version among them
            return _other(start, end, Kind.NAME, "version")
        *first, last = split.chunks
        items = [self.number(chunk) for chunk in first]
        tail = self._tail(last)
        if not first and tail.items[-1].kind is Kind.NUMBER:
            tail.items[-1].options = self._options(split)
        return Found((*items, *tail.items), tail.stop)

    def number(self, chunk: Chunk) -> Item:
        """A chunk as a number, with the sign in front of it and nothing after it."""
        whole, point, fraction = chunk.plain.partition(".")
        start, negative = self.sign(chunk.start)
        integer = not point
        return Item(
            start=start,
            end=chunk.end,
            kind=Kind.NUMBER,
            value=Decimal(f"{'-' if negative else ''}{whole or '0'}{point}{fraction}"),
            place=-len(fraction),
            integer=integer,
            zeros=forms.trailing_zeros(whole) if integer else 0,
            signed=start < chunk.start,
            why="padded" if integer and len(whole) > 1 and whole[0] == "0" else "",
        )

    def sign(self, start: int) -> tuple[int, bool]:
        """Where a number with its sign begins, and whether it is negative."""
        if self.text[start - 1 : start] not in forms.BEFORE_SIGNED:
            return start, False
        found = forms.SIGN.search(self.text, max(0, start - 4), start)
        if not found or found.start("sign") < self.floor:
            return start, False
        place = found.start("sign")
        if not found["free"] and not forms.may_carry_sign(self.text, place):
            return start, False
        return place, found["sign"] in "-–"

    def _options(self, split: Split) -> tuple[Option, ...]:
        if any(forms.LEADING_ZERO.match(chunk.plain) for chunk in split.otherwise):
            return ()
        items = tuple(self.number(chunk) for chunk in split.otherwise if chunk.plain)
        start = split.chunks[0].start
        plural = forms.PLURAL_BEFORE.search(self.text[max(0, start - 16) : start])
        return (Option(items=items, printed=not plural),) if items else ()

    def _spaced(self, found: re.Match[str]) -> Split:
        """Groups of three with ordinary blanks between them: a number, or a row of numbers."""
        run, start = found.group(), found.start()
        decimals = found["decimals"] or ""
        whole = run[: len(run) - len(decimals)].replace(" ", "")
        joined = (Chunk(start, found.end(), whole + decimals.replace(",", ".")),)
        pieces = tuple(
            Chunk(start + one.start(), start + one.end(), one.group().replace(",", "."))
            for one in re.finditer(r"\d+(?:[.,]\d+)?", run)
        )
        if self.comma or not forms.in_brackets(self.text, start):
            return Split(joined, otherwise=pieces)
        return Split(pieces)

    def _si_style(self, found: re.Match[str]) -> Split:
        """`6.626 070 15`: groups of three after the point, too."""
        run, start = found.group(), found.start()
        joined = Chunk(start, found.end(), run.replace(" ", "").replace(",", "."))
        pieces = tuple(
            Chunk(start + one.start(), start + one.end(), one.group().replace(",", "."))
            for one in re.finditer(r"\S+", run)
        )
        if forms.in_brackets(self.text, start):
            return Split(pieces)
        return Split((joined,), otherwise=pieces)

    def _tail(self, chunk: Chunk) -> Found:
        """The number with what belongs to it on the right: uncertainty, exponent and the rest."""
        text, end = self.text, chunk.end
        item = self.number(chunk)
        error: Item | None = None
        if (found := forms.ERROR.match(text, end)) is not None:
            error = Item(
                start=end,
                end=found.end(),
                kind=Kind.NUMBER,
                why="uncertainty",
                value=Decimal(found[1]).scaleb(item.place, CONTEXT),
                place=item.place,
                integer=item.integer,
                error=True,
            )
            end = found.end()
        if (found := self._exponent(end)) is not None:
            digits = forms.written_power(found)
            end = found.end()
            if len(digits.lstrip("-+")) > LONGEST_EXPONENT:
                return _other(item.start, end, Kind.UNREAD, "unread")
            for one in (item, error):
                if one is not None:
                    one.scale(int(digits))
        if error is None:
            item.end = end
            return self._suffix(item, end)
        error.end = end
        rest = self._suffix(error, end)
        return Found((item, *rest.items), rest.stop)

    def _exponent(self, end: int) -> re.Match[str] | None:
        found = forms.EXPONENT.match(self.text, end)
        if found is None or not found["e"]:
            return found
        letters = forms.GLUED.match(self.text, found.end())
        known = letters is None or letters.group() in ("i", "j") or read_unit(letters.group())
        return found if known else None  # 12e4f is a name

    def _suffix(self, item: Item, end: int) -> Found:
        """Dots, a percent sign, a scale word, letters, a unit."""
        text = self.text
        if (found := forms.ELLIPSIS.match(text, end)) is not None:
            item.cut, end = True, found.end()
        if (found := forms.DIMENSION.match(text, end)) is not None:
            return Found((item,), found.end())
        if (found := forms.PERCENT.match(text, end)) is not None:
            item.shifts = (0, forms.PERCENT_SHIFTS[found.lastgroup or "percent"])
            item.end = found.end()
        elif (found := forms.SCALE.match(text, end)) is not None:
            item.end = found.end()
            if (word := found[1].lower()) == "dozen":
                item.value *= 12
            else:
                item.scale(AFTER_DIGITS[word])
        elif (found := forms.GLUED.match(text, end)) is not None:
            return self._glued(item, found)
        elif (found := forms.POWER_OF.match(text, end)) is not None:  # 2.5², 3^{n}
            power = _other(end, found.end(), Kind.NAME, "exponent")
            has = forms.has_digit(text, end, found.end())
            return Found((item, *(power.items if has else ())), found.end())
        elif (found := forms.UNIT.match(text, end)) is not None and read_unit(found[1]):
            item.unit = found[1]
        return Found((item,), max(item.end, end))

    def _glued(self, item: Item, found: re.Match[str]) -> Found:
        """Letters right after the digits: an imaginary unit, a suffix, a unit, a name."""
        letters, stop = found.group(), found.end()
        if item.integer and (name := forms.NAME_SUFFIX.match(self.text, item.end)):
            return _other(item.start, name.end(), Kind.NAME, "name")
        if letters in ("i", "j"):
            item.imaginary, item.end = True, stop
            self._take_sign(item)
        elif letters in forms.SUFFIXES and not forms.UNIT_GOES_ON.match(self.text, stop):
            item.shifts, item.unit, item.end = (0, forms.SUFFIXES[letters]), letters, stop
        else:
            unit = forms.UNIT.match(self.text, found.start())
            if unit is not None and read_unit(unit[1]) is not None:
                item.unit = unit[1]
        return Found((item,), item.end)

    def _take_sign(self, item: Item) -> None:
        """The sign between the parts of a complex number is the second part's own."""
        before = self.text[max(0, item.start - 2) : item.start].rstrip()[-1:]
        if not item.signed and before and before in "+-–±":
            item.signed = before != "±"
            if before in "-–":
                item.value = item.value.copy_negate()


def _other(start: int, end: int, kind: Kind, why: str) -> Found:
    return Found((Item(start=start, end=end, kind=kind, why=why),), end)
