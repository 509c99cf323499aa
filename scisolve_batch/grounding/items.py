"""What is read from a text: numbers, and things with digits that are none.

Every digit of a text belongs to exactly one item.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from enum import StrEnum

CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Wide enough for every difference that decides; comparisons are exact anyway."""

LARGEST_STRUCTURAL = 10
"""A bare whole number up to this may be a count of cases or an index and needs no source."""

LONGEST_EXPONENT = 6
"""Digits of an exponent that are read; nothing printed lies beyond."""


class Kind(StrEnum):
    """What an item is."""

    NUMBER = "number"
    STRUCTURAL = "structural"  # a reference, a list marker, a confidence level
    NAME = "name"  # an identifier, a date, a version, an exponent of a symbol
    UNREAD = "unread"  # digits that no rule reads


class Bound(StrEnum):
    """Which side of a number the text speaks of."""

    NONE = ""
    UPPER = "upper"
    LOWER = "lower"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """Another way to read the same characters.

    Attributes:
        items: what is read then.
        printed: each of them must be printed; being small is not enough.
    """

    items: tuple[Item, ...]
    printed: bool = True


@dataclass(slots=True, kw_only=True)
class Item:
    """A number of a text, or something with digits that is none. Places are in the clean text."""

    start: int
    end: int
    kind: Kind
    why: str = ""
    """What it is, when it is not a plain number: `date`, `version`, `reference`, `fraction`, ..."""
    value: Decimal = Decimal(0)
    """The number as written, scale words and powers of ten applied, percent signs not."""
    place: int = 0
    """The last written digit counts 10**place."""
    exact: bool = False
    """A fraction, root or multiple of pi: a value without a last digit."""
    integer: bool = False
    """Written without point and exponent."""
    zeros: int = 0
    """Trailing zeros of an integer, which may stand for digits that were not given."""
    signed: bool = False
    """A sign stands in front of it."""
    shifts: tuple[int, ...] = (0,)
    """Powers of ten that its percent sign or suffix may mean."""
    loose: bool = False
    """`about`, `~` or the like stands before it."""
    bound: Bound = Bound.NONE
    flipped: bool = False
    """`minus` stands before it as a word."""
    magnitude: bool = False
    """The text speaks of a decrease or a size, so the sign may be left out."""
    order: bool = False
    """A bare power of ten."""
    cut: bool = False
    """Three dots follow, so digits were cut off."""
    odds: bool = False
    """`1 in` stands before it."""
    error: bool = False
    """An uncertainty in the last digits."""
    imaginary: bool = False
    unit: str = ""
    """The word that follows it."""
    options: tuple[Option, ...] = field(default=())

    @property
    def small(self) -> bool:
        """A bare whole number from 0 to 10."""
        return (
            self.integer
            and not self.signed
            and self.shifts == (0,)
            and 0 <= self.value <= LARGEST_STRUCTURAL
        )

    def scale(self, power: int) -> None:
        """Multiply by a power of ten."""
        self.value = self.value.scaleb(power, CONTEXT)
        self.place += power
        self.integer = False
