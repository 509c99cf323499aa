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
    total, group, used, place, count = 0, 0, 0, 0, len(words)
    at = 0
    if words[0] in ("a", "an"):
        if count < 2 or words[1] not in ("hundred", "thousand", "million", "billion", "dozen"):
            return _fraction(1, words, 1)
        group, at = 1, 1
    while at < count:
        word = words[at]
        if word in TENS and group % 100 == 0:
            group, place = group + TENS[word], 0
            if at + 1 < count and 1 <= UNITS.get(words[at + 1], 0) <= 9:
                at += 1
                group += UNITS[words[at]]
        elif word in UNITS and group % 100 == 0:
            group, place = group + UNITS[word], 0
        elif word == "dozen" and (0 < group < 100 or (used == 0 and group == 0)):
            return Phrase(Fraction(12 * max(group, 1)), at + 1)
        elif word == "hundred" and group < 100 and (group or used == 0):
            group, place = max(group, 1) * 100, 2
        elif word in SCALES and word != "hundred" and group:
            total, group, place = total + group * 10 ** SCALES[word], 0, SCALES[word]
        elif word == "and" and used and at + 1 < count and _continues(words[at + 1], group, total):
            at += 1
            continue
        else:
            break
        at += 1
        used = at
    if not used:
        return None
    value = total + group
    fraction = _fraction(value, words, used)
    if fraction is not None:
        return fraction
    return None if words[:used] == ["one"] else Phrase(Fraction(value), used, place)


def _continues(word: str, group: int, total: int) -> bool:
    after_scale = (group and group % 100 == 0) or (total and not group)
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
