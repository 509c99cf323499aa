"""Numbers written as words, like `twenty-six`, `two thirds` and `a hundred and five`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
UNITS = {word: number for number, word in enumerate(_SMALL)}
TENS = {word: 10 * number for number, word in enumerate(_TENS, 2)} | {"fourty": 40}
SCALES = {
    "hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12,
}  # fmt: skip
"""Words for powers of ten."""
AFTER_DIGITS = SCALES | {
    "millions": 6, "billions": 9, "mn": 6, "mio": 6, "bn": 9, "mrd": 9, "tausend": 3, "millionen": 6,
    "milliarden": 9, "mille": 3, "milliards": 9, "milliard": 9, "lakh": 5, "crore": 7, "dozen": 0,
    "thousands": 3, "hundreds": 2,
}  # fmt: skip
"""Words that scale the digits before them; a dozen is no power of ten and handled apart."""
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "sixteenth": 16,
    "twentieth": 20, "hundredth": 100, "thousandth": 1000,
}  # fmt: skip
PARTS = _PARTS | {word + "s": number for word, number in _PARTS.items() if word[-1] != "s"}
BEGINNERS = frozenset(UNITS) | frozenset(TENS) | {"hundred", "dozen"}
"""Words that can begin a number."""
_AFTER_A = frozenset(("hundred", "thousand", "million", "billion", "dozen"))
_KNOWN = BEGINNERS | frozenset(SCALES) | frozenset(PARTS) | {"and", "a", "an"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A number in words."""

    value: Fraction
    words: int
    """How many words it takes."""
    place: int = 0
    """A number that ends in a scale word, like `two million`, is known to that power of ten."""


def is_number_word(word: str) -> bool:
    """Whether a word may be part of a number."""
    return word in _KNOWN


def read_phrase(words: list[str]) -> Phrase | None:
    """Read the longest number at the beginning of some lower-case words.

    A lone `one`, `a` or `half` is prose, not a number.
    """
    count = _Count()
    at = 0
    if words[0] in ("a", "an"):
        if len(words) < 2 or words[1] not in _AFTER_A:
            return _fraction(1, words, 1)
        count.group, at = 1, 1
    while at < len(words):
        word = words[at]
        after = words[at + 1] if at + 1 < len(words) else ""
        if word == "dozen" and not count.total and count.group < 100:
            return Phrase(Fraction(12 * max(count.group, 1)), at + 1)
        if word == "and" and count.used and count.goes_on(after):
            at += 1
            continue
        if not count.take(word):
            break
        at += 1
        count.used = at
    if not count.used:
        return None
    value = count.total + count.group
    fraction = _fraction(value, words, count.used)
    if fraction is not None:
        return fraction
    alone = words[: count.used] == ["one"]
    return None if alone else Phrase(Fraction(value), count.used, count.place)


@dataclass(slots=True)
class _Count:
    """A number while its words are read: whole thousands, and what stands below them."""

    total: int = 0
    group: int = 0
    used: int = 0
    place: int = 0

    def take(self, word: str) -> bool:
        """Add a word; False when it cannot follow."""
        if word in TENS and self.group % 100 == 0:
            self.group, self.place = self.group + TENS[word], 0
        elif word in UNITS and self._takes(UNITS[word]):
            self.group, self.place = self.group + UNITS[word], 0
        elif word == "hundred" and self.group < 100 and (self.group or not self.used):
            self.group, self.place = max(self.group, 1) * 100, 2
        elif word in SCALES and word != "hundred" and self.group:
            self.total += self.group * 10 ** SCALES[word]
            self.group, self.place = 0, SCALES[word]
        else:
            return False
        return True

    def _takes(self, unit: int) -> bool:
        """`twenty six` and `hundred six`, but not `six six`."""
        if self.group % 100 == 0:
            return not (self.used and self.group == 0 and not self.total)
        return self.group % 100 >= 20 and self.group % 10 == 0 and 1 <= unit <= 9

    def goes_on(self, word: str) -> bool:
        """Whether a word after `and` belongs to the number: `hundred and five`."""
        after_scale = (self.group and self.group % 100 == 0) or (self.total and not self.group)
        return bool(after_scale) and (word in UNITS or word in TENS)


def _fraction(count: int, words: list[str], used: int) -> Phrase | None:
    """`two thirds`: a small count and an ordinal used as a part."""
    if not (0 < count < 100 and used < len(words) and words[used] in PARTS):
        return None
    part = PARTS[words[used]]
    plural = words[used].endswith("s")
    if plural != (count > 1):  # `a third` and `two thirds`, but no `the two third`
        return None
    return Phrase(Fraction(count, part), used + 1)
