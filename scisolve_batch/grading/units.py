"""Units of reported values: converted by Pint, or refused with the reason.

Pint is loaded when two units differ, never when they are the same words: it takes a second. It
knows the units; how people and programs write them, and what experts keep apart, is here: hertz
are no radians per second, decibels are converted to nothing, 25 °C are 298.15 K.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from scisolve_batch.grading.numbers import CONTEXT

if TYPE_CHECKING:
    import pint

MAX_UNIT = 80
"""Longest text that can be a unit, in characters."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """To the unit asked for: `factor` times the reported number plus `offset`."""

    factor: Decimal = Decimal(1)
    """One reported unit in units asked for."""
    offset: Decimal = Decimal(0)
    """A reported zero in units asked for, like 273.15 from °C to K."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a number cannot be converted."""

    note: str
    """What is wrong with the unit."""
    known: bool
    """The unit is one, but of another quantity."""


SAME = Conversion()
"""Nothing to convert."""

# Written otherwise than Pint does, or read by it as something that nobody means here.
_ALIASES = {
    "Eh": "hartree", "E_h": "hartree", "Ha": "hartree", "AU": "astronomical_unit",
    "Nm": "N m", "kNm": "kN m", "℃": "degC", "℉": "degF", "‰": "permille", "Torr": "torr",
    "unitless": "1", "none": "1",
}  # fmt: skip

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_DEGREES = re.compile(
    r"(?:°|\bdeg(?:ree)?s?)[\s_]?(C(?:elsius)?|F(?:ahrenheit)?)(?!\w)", re.IGNORECASE
)
_WORD = r"[^\W\d_][^\W\d]*|[%‰°℃℉]"
_FACTOR = re.compile(rf"(?P<word>{_WORD}|1(?![0-9]))(?:\^?\(?(?P<power>[-+]?[0-9]+)\)?)?")
_MAX_POWER = 12

_LOGARITHMIC = re.compile("decibel|neper|bel$|octave|decade")

# Words of English after a number in prose; each is a unit for Pint, like `in` for inches.
_PROSE = frozenset({"a", "am", "are", "as", "at", "bits", "d", "e", "in", "me", "point", "to", "u"})


def conversion(reported: str, certified: str) -> Conversion | Refusal:
    """How to convert a number from the reported to the certified unit, or why that is impossible.

    A unit that nobody knows, like `bins`, is the same as itself.
    """
    if _word(reported) == _word(certified):
        return SAME
    with localcontext(CONTEXT):  # Pint keeps the factors that it computes first
        return _conversion(reported, certified)


@lru_cache(maxsize=256)
def _conversion(reported: str, certified: str) -> Conversion | Refusal:
    mine, theirs = _parse(reported), _parse(certified)
    if mine is None and theirs is None and _singular(reported) == _singular(certified):
        return SAME
    if mine is None:
        note = f"the unit `{_short(reported)}` is not known; asked for `{certified}`"
        return Refusal(note, known=False)
    refusal = Refusal(
        f"the unit `{_short(reported)}` cannot be converted to `{certified}`", known=True
    )
    if theirs is None:
        return refusal
    if "delta_" in str(theirs) and str(mine).startswith("degree_"):
        mine = _registry().parse_units(f"delta_{mine}")  # asked for a difference: no offset
    if mine == theirs:
        return SAME
    if _differ_in_kind(mine, theirs):
        return refusal
    zero, one = (_registry().Quantity(Decimal(number), mine).to(theirs).m for number in (0, 1))
    return Conversion(one - zero, zero)


def _differ_in_kind(mine: pint.Unit, theirs: pint.Unit) -> bool:
    if mine.dimensionality != theirs.dimensionality:
        return True
    if _LOGARITHMIC.search(f"{mine}") or _LOGARITHMIC.search(f"{theirs}"):
        return True
    # A radian is the number 1 for Pint, but an angular frequency is 2 pi times a frequency.
    cycles, turns = {_counts_cycles(mine), _counts_cycles(theirs)}, {_turns(mine), _turns(theirs)}
    return len(cycles) == 2 and len(turns) == 2


def _counts_cycles(unit: pint.Unit) -> bool:
    return "hertz" in str(unit)


def _turns(unit: pint.Unit) -> bool:
    return "radian" in str(_registry().Quantity(Decimal(1), unit).to_root_units().units)


def is_unit(text: str) -> bool:
    """Whether a text is a unit, as far as Pint knows."""
    with localcontext(CONTEXT):
        return _parse(text) is not None


def is_unit_in_prose(word: str, *, certified: str) -> bool:
    """Whether the word after a number in prose is its unit, and no word of the sentence."""
    if _word(word) == _word(certified):
        return True
    return word.lower() not in _PROSE and is_unit(word)


@lru_cache(maxsize=256)
def _parse(text: str) -> pint.Unit | None:
    expression = _expression(text)
    if expression is None:
        return None
    import pint  # noqa: PLC0415  # only when units differ

    words = {word: _known(word) for word in re.findall(_WORD, expression)}
    if None in words.values():
        return None
    spelled = re.sub(_WORD, lambda found: str(words[found[0]]), expression)
    try:
        unit: pint.Unit = _registry().parse_units(spelled)
    except (pint.PintError, ValueError):  # `1/1` has no unit, `degC*delta_degC` none either
        return None
    return unit


def _known(word: str) -> str | None:
    """The word as Pint writes it; long ones in any case, because `M` is no `m`."""
    for name in (word, word.lower()) if len(word) > 2 else (word,):
        if name in "%‰°" or _registry().parse_unit_name(name):
            return name
    return None


def _expression(text: str) -> str | None:
    """A product of powers like `m^3/mol`, `kg·m²·s⁻²` or `J/(mol K)` in Pint's words."""
    plain = text.strip().strip("[]$ ")
    if not plain or len(plain) > MAX_UNIT:
        return None
    plain = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda s: "^" + s[0].translate(_SUPERSCRIPTS), plain)
    plain = plain.replace("−", "-").replace("**", "^").replace("\\", "")
    plain = re.sub(r"\^[{(]([-+]?[0-9]+)[)}]", r"^\1", re.sub(r"\bper\b", "/", plain))
    plain = _DEGREES.sub(lambda found: f"deg{found[1][0].upper()}", plain)
    parts: list[str] = []
    depth = 0
    for piece in re.findall(r"[()/]|[^\s()/*·⋅×]+", plain):
        depth += (piece == "(") - (piece == ")")
        factor = piece if piece in "()/" else _factor(piece)
        if factor is None or depth < 0:
            return None
        if parts and factor not in ")/" and parts[-1] not in "(/":
            parts.append("*")
        elif not _may_follow(factor, parts[-1] if parts else ""):
            return None
        parts.append(factor)
    return "".join(parts) if parts and parts[-1] != "/" and depth == 0 else None


def _may_follow(piece: str, before: str) -> bool:
    """A solidus and a closing bracket follow a factor, which follows anything else."""
    return piece not in ")/" or before not in ("", "(", "/")


def _factor(text: str) -> str | None:
    found = _FACTOR.fullmatch(text)
    if not found or abs(int(found["power"] or 1)) > _MAX_POWER:
        return None
    word = _ALIASES.get(found["word"], found["word"])
    word = f"({word.replace(' ', '*')})" if " " in word else word
    return f"{word}**({found['power']})" if found["power"] else word


@cache
def _registry() -> Any:
    """Pint's units, in exact decimals."""
    import pint  # noqa: PLC0415  # only when units differ

    return pint.UnitRegistry(non_int_type=Decimal)


def _word(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip().strip("[]$ "))


def _singular(text: str) -> str:
    return _word(text).lower().removesuffix("s")


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "..."
