"""Units of reported values: the same unit written otherwise, another SI prefix, or a refusal.

A product of powers like `m^3/mol`, `kg·m²·s⁻²` or `1/s`. No temperatures with an offset, no
logarithmic units except as themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

Dimension = tuple[tuple[str, int], ...]
"""Base symbols with their powers, sorted."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as a factor of base units."""

    factor: Decimal
    dimension: Dimension


_PREFIXES = {
    "": 0, "Q": 30, "R": 27, "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3,
    "h": 2, "da": 1, "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18,
    "z": -21, "y": -24,
}  # fmt: skip

# Symbols that take prefixes: factor and base units (m, g, s, A, K, mol, cd, rad).
_SYMBOLS: dict[str, tuple[str, str]] = {
    "m": ("1", "m"), "g": ("1", "g"), "s": ("1", "s"), "A": ("1", "A"), "K": ("1", "K"),
    "mol": ("1", "mol"), "cd": ("1", "cd"), "rad": ("1", "rad"), "Hz": ("1", "s-1"),
    "N": ("1000", "g m s-2"), "Pa": ("1000", "g m-1 s-2"), "J": ("1000", "g m2 s-2"),
    "W": ("1000", "g m2 s-3"), "C": ("1", "A s"), "V": ("1000", "g m2 s-3 A-1"),
    "F": ("0.001", "g-1 m-2 s4 A2"), "ohm": ("1000", "g m2 s-3 A-2"),
    "S": ("0.001", "g-1 m-2 s3 A2"), "Wb": ("1000", "g m2 s-2 A-1"), "T": ("1000", "g s-2 A-1"),
    "H": ("1000", "g m2 s-2 A-2"), "L": ("0.001", "m3"), "l": ("0.001", "m3"),
    "M": ("1000", "mol m-3"), "eV": ("1.602176634E-16", "g m2 s-2"), "bar": ("100000000", "g m-1 s-2"),
    "cal": ("4184", "g m2 s-2"),
}  # fmt: skip

# Symbols and words that take none.
_WORDS: dict[str, tuple[str, str]] = {
    "min": ("60", "s"), "h": ("3600", "s"), "d": ("86400", "s"),
    "atm": ("101325000", "g m-1 s-2"), "hartree": ("4.3597447222060E-15", "g m2 s-2"),
    "deg": ("0.017453292519943295769236907684886127134", "rad"),
    "%": ("0.01", ""), "ppm": ("0.000001", ""), "1": ("1", ""), "t": ("1000000", "g"),
    "angstrom": ("1E-10", "m"),
}  # fmt: skip

_SPELLED = {
    "meter": "m", "metre": "m", "gram": "g", "second": "s", "sec": "s", "ampere": "A",
    "kelvin": "K", "mole": "mol", "radian": "rad", "hertz": "Hz", "newton": "N", "pascal": "Pa",
    "joule": "J", "watt": "W", "coulomb": "C", "volt": "V", "farad": "F", "liter": "L",
    "litre": "L", "molar": "M", "electronvolt": "eV", "minute": "min", "hour": "h", "hr": "h",
    "day": "d", "degree": "deg", "Hartree": "hartree", "Eh": "hartree", "E_h": "hartree",
    "Ha": "hartree", "percent": "%", "kilometer": "km", "kilometre": "km", "centimeter": "cm",
    "centimetre": "cm", "millimeter": "mm", "millimetre": "mm", "kilogram": "kg",
    "millisecond": "ms", "microsecond": "us", "nanosecond": "ns", "millimolar": "mM",
    "kilohertz": "kHz", "megahertz": "MHz", "Ohm": "ohm", "°": "deg", "Å": "angstrom",
    "decibel": "dB", "dimensionless": "1", "unitless": "1", "none": "1",
}  # fmt: skip

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_FACTOR = re.compile(r"([^\W\d_][^\W\d]*|%|°|1)(?:\^?\{?\(?([-+]?[0-9]+)\)?\}?)?")


def read_unit(text: str) -> Unit | None:
    """Read a unit; None when some part of it is not known."""
    plain = text.strip().strip("[]$ ")
    plain = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda s: "^" + s[0].translate(_SUPERSCRIPTS), plain)
    plain = plain.replace("−", "-").replace("**", "^").replace("µ", "u").replace("μ", "u")
    plain = plain.replace("Ω", "ohm").replace("Ω", "ohm").replace("Å", "Å")
    plain = re.sub(r"\^[{(]([-+]?[0-9]+)[)}]", r"^\1", plain.replace(" per ", "/"))
    factor, powers = Decimal(1), dict[str, int]()
    sign, groups = 1, [1]  # a solidus inverts the next factor, or the next group in brackets
    for piece in re.findall(r"[()/]|[^\s()/*·⋅×]+", plain):
        if piece == "/":
            sign = -1
        elif piece == "(":
            groups.append(groups[-1] * sign)
            sign = 1
        elif piece == ")":
            groups.pop()
            if not groups:
                return None
        else:
            one = _read_factor(piece)
            if one is None:
                return None
            turn, sign = groups[-1] * sign, 1
            factor *= one.factor if turn > 0 else 1 / one.factor
            for base, power in one.dimension:
                powers[base] = powers.get(base, 0) + turn * power
    if not plain or len(groups) > 1 or sign < 0:
        return None
    return Unit(factor, tuple(sorted((base, power) for base, power in powers.items() if power)))


def _read_factor(text: str) -> Unit | None:
    found = _FACTOR.fullmatch(text)
    if not found:
        return None
    symbol = _symbol(found[1])
    if symbol is None:
        return None
    power = int(found[2] or 1)
    if abs(power) > 12:
        return None
    scale, bases = symbol
    return Unit(scale**power, tuple((base, number * power) for base, number in bases))


def _symbol(word: str) -> tuple[Decimal, Dimension] | None:
    for name in (word, word.lower(), word.removesuffix("s"), word.lower().removesuffix("s")):
        name = _SPELLED.get(name, name)  # noqa: PLW2901  # the short form of a spelled unit
        if name in _WORDS:
            return Decimal(_WORDS[name][0]), _bases(_WORDS[name][1])
        for prefix, exponent in _PREFIXES.items():
            if name.startswith(prefix) and name[len(prefix) :] in _SYMBOLS:
                scale, bases = _SYMBOLS[name[len(prefix) :]]
                return Decimal(scale).scaleb(exponent), _bases(bases)
        if word == name and len(word) == 1:
            break  # one letter has one case: `S` is no `s`
    return None


def _bases(text: str) -> Dimension:
    pairs = (re.fullmatch(r"([A-Za-z]+)(-?[0-9]*)", part) for part in text.split())
    return tuple((found[1], int(found[2] or 1)) for found in pairs if found)


def conversion(reported: str, certified: str) -> Decimal | str:
    """Factor from a reported to a certified unit, or the reason why there is none."""
    mine, theirs = read_unit(reported), read_unit(certified)
    if mine and theirs and mine.dimension == theirs.dimension:
        return mine.factor / theirs.factor
    if mine is None and theirs is None and _word(reported) == _word(certified):
        return Decimal(1)  # neither is known, like `bins`, but it is the same word
    if mine is None:
        return f"the unit `{reported}` is not known; asked for `{certified}`"
    return f"the unit `{reported}` cannot be converted to `{certified}`"


def _word(text: str) -> str:
    word = re.sub(r"\s+", " ", text.strip().strip("[]$ ")).removesuffix("s")
    return _SPELLED.get(word, word).lower()
