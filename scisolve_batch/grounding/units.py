"""SI prefixes: whether two unit words name the same unit, and the power of ten between them.

Conversions that are no power of ten (hours, degrees, calories) are not known here.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PREFIXES = {
    "Q": 30, "R": 27, "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2,
    "da": 1, "d": -1, "c": -2, "m": -3, "µ": -6, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18,
    "z": -21, "y": -24,
}  # fmt: skip
_LONG = {
    "tera": 12, "giga": 9, "mega": 6, "kilo": 3, "hecto": 2, "deci": -1, "centi": -2, "milli": -3,
    "micro": -6, "nano": -9, "pico": -12, "femto": -15,
}  # fmt: skip
_SYMBOLS = frozenset(
    [
        "m",
        "s",
        "g",
        "A",
        "K",
        "mol",
        "cd",
        "Hz",
        "N",
        "Pa",
        "J",
        "W",
        "C",
        "V",
        "F",
        "Ω",
        "ohm",
        "S",
        "Wb",
        "T",
        "H",
        "lm",
        "lx",
        "Bq",
        "Gy",
        "Sv",
        "kat",
        "L",
        "l",
        "eV",
        "bar",
        "rad",
        "sr",
        "B",
        "bit",
        "pc",
        "cal",
        "yr",
        "a",
        "t",
        "M",
        "Wh",
        "VA",
        "dB",
    ]
)
_NAMES = {
    "meter": "m", "metre": "m", "second": "s", "sec": "s", "gram": "g", "gramme": "g", "ampere": "A",
    "amp": "A", "kelvin": "K", "mole": "mol", "hertz": "Hz", "newton": "N", "pascal": "Pa",
    "joule": "J", "watt": "W", "coulomb": "C", "volt": "V", "farad": "F", "ohm": "Ω", "siemens": "S",
    "tesla": "T", "henry": "H", "liter": "L", "litre": "L", "electronvolt": "eV", "radian": "rad",
    "byte": "B", "parsec": "pc", "bit": "bit",
}  # fmt: skip
_UNPREFIXED = frozenset(
    ("min", "cd", "Pa", "Hz", "T", "h", "mol", "ppm", "dB", "ft", "pt", "at", "as", "am", "pm")
)
_FACTOR = re.compile(r"([A-Za-zµμΩ°]+)(?:\^?\{?([-+]?\d)\}?|([⁻]?[²³¹⁴]))?")
_UP = str.maketrans("¹²³⁴⁻", "1234-")


@lru_cache(maxsize=4096)
def read_unit(word: str) -> tuple[str, int] | None:
    """A unit word as its unit without prefixes, and the power of ten of its prefixes.

    Returns:
        None when a part of the word is no unit.
    """
    bases: list[str] = []
    power = 0
    for side, part in zip((1, -1), word.split("/", 1), strict=False):
        found = _FACTOR.fullmatch(part.strip())
        if not found:
            return None
        base = _read_symbol(found[1])
        if base is None:
            return None
        exponent = int(found[2] or (found[3] or "1").translate(_UP))
        bases.append(f"{base[0]}^{side * exponent}")
        power += side * exponent * base[1]
    return "*".join(bases), power


def _read_symbol(word: str) -> tuple[str, int] | None:
    if word in _UNPREFIXED and word != "T":
        return (word, 0) if word in ("Pa", "Hz", "mol", "min", "h", "cd", "dB") else None
    if word in _SYMBOLS:
        return ("Ω" if word == "ohm" else "L" if word == "l" else word), 0
    for size in (1, 2):
        if word[:size] in _PREFIXES and word[size:] in _SYMBOLS:
            base = word[size:]
            return ("L" if base == "l" else base), _PREFIXES[word[:size]]
    lower = word.lower()
    for prefix, power in (("", 0), *_LONG.items()):
        rest = lower.removeprefix(prefix)
        if prefix and rest == lower:
            continue
        for name in (rest, rest.removesuffix("s")):
            if name in _NAMES:
                return _NAMES[name], power
    return None
