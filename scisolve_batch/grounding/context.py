"""What the words around a number say about it: approximate, a bound, a size, a reference."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scisolve_batch.grounding.items import Bound

REACH = 64
"""Characters before a number that are looked at."""

_TOKEN = re.compile(r"[^\W\d_]+|\d+|\S|\n")
# Emphasis, brackets and the like may stand between a word and its number.
_GAP = frozenset("*_`$({[|:=\"'-+") | {"a", "an", "is", "be"}
_ENDS = frozenset(".;!?\n|")
_LOOSE_WORDS = frozenset(
    [
        "about",
        "roughly",
        "approximately",
        "approx",
        "nearly",
        "around",
        "almost",
        "circa",
        "ca",
        "some",
        "etwa",
        "rund",
        "environ",
        "order",
        "≈",
        "~",
        "∼",
        "≃",
        "≅",
        "≐",
    ]
)
_LOOSE_PAIRS = frozenset(
    ("close to", "just over", "just under", "order of", "orders of", "close by")
)
_UPPER_WORDS = frozenset(["<", "≤", "⩽", "≲", "≪", "below", "under", "within"])
_UPPER_PAIRS = frozenset(
    [
        "less than",
        "smaller than",
        "fewer than",
        "lower than",
        "better than",
        "at most",
        "up to",
        "bounded by",
        "not exceed",
        "not exceeding",
        "never exceed",
        "never exceeds",
        "not exceeds",
    ]
)
_LOWER_WORDS = frozenset(
    [">", "≥", "⩾", "≳", "≫", "above", "exceed", "exceeds", "exceeded", "exceeding"]
)
_LOWER_PAIRS = frozenset(["greater than", "larger than", "more than", "higher than", "at least"])
_MINUS = frozenset(("minus", "negative", "moins"))
_SIZE = (
    "minus", "negativ", "drop", "decreas", "fall", "fell", "loss", "lose", "lost", "reduc", "declin",
    "shrink", "shrank", "magnitude", "absolute", "modulus", "size", "shorter", "shortfall", "down",
)  # fmt: skip
_BARS = re.compile(r"\|[^\s|]{1,16}\|\s?[=≈<>~:]\s?$")

_REFERENCE = re.compile(
    r"(?:(?<![A-Za-z])(?P<document>sections?|secs?\.?|subsections?|figs?\.?|figures?|tabs?\.?|tables?"
    r"|chapters?|ch\.|appendix|theorems?|lemmas?|definitions?|abschnitt|kapitel|abbildung|tabelle)\s?"
    r"|(?<![A-Za-z])(?P<bracketed>eqs?\.?|eqns?\.?|equations?|refs?\.?|references?|gleichung)\s?[(\[]?\s?"
    r"|(?<![A-Za-z])(?P<place>cells?|calls?|steps?|lines?|index|indices|entry|entries|rows?|columns?|cols?"
    r"|pages?|pp?\.|volumes?|vol\.|zelle|schritt|zeile|turns?|examples?|items?|notes?|remarks?|exercises?"
    r"|problems?|questions?)\s"
    r"|(?P<sign>§§?\s?|\#))$",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"(?:[^s]s|indices|entries)\s$", re.IGNORECASE)
_GOES_ON = re.compile(r"\s?(?:-|–|to\b|and\b|&|,\s?\d)")
_LEVEL_AFTER = re.compile(
    r"[\s~*-]{0,3}(?:\w+[\s-]){0,2}?(?:confidence|credible|credibility|interval|level|percentile|prediction|"
    r"quantile|ci\b|hdi\b|significance|bootstrap|c\.?l\.?\b|konfidenz)",
    re.IGNORECASE,
)
_LEVEL_BEFORE = re.compile(
    r"(?:confidence|credible|significance|percentiles?|quantiles?|level|\bci\b|α|alpha)"
    r"[\s:=(of]{0,8}$",
    re.IGNORECASE,
)
LEVELS = frozenset(
    [
        "50",
        "68",
        "68.3",
        "68.27",
        "80",
        "90",
        "95",
        "95.4",
        "95.45",
        "97.5",
        "2.5",
        "98",
        "99",
        "99.5",
        "99.7",
        "99.73",
        "99.9",
        "5",
        "1",
    ]
)
"""Confidence and significance levels in use, in percent."""
_FRACTIONS = frozenset(["0.5", "0.68", "0.8", "0.80", "0.9", "0.90", "0.95", "0.98", "0.975", "0.025", "0.99", "0.995", "0.999", "0.05", "0.01", "0.005", "0.001", "0.1", "0.10"])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """What stands around a number."""

    loose: bool = False
    bound: Bound = Bound.NONE
    order: bool = False
    flipped: bool = False
    magnitude: bool = False
    odds: bool = False


def read_setting(text: str, start: int) -> Setting:
    """What the words before a number say about it."""
    before = text[max(0, start - REACH) : start]
    tokens = [one.lower() for one in _TOKEN.findall(before)]
    at = len(tokens) - 1
    while at >= 0 and tokens[at] in _GAP:
        at -= 1
    if at < 0:
        return _PLAIN
    word = tokens[at]
    if word == "." and at and tokens[at - 1] in ("approx", "ca"):
        at, word = at - 1, tokens[at - 1]
    last = tokens[at - 1] if at else ""
    pair = f"{last} {word}"
    negated = word == "than" and at > 1 and tokens[at - 2] in ("no", "not")
    upper = word in _UPPER_WORDS or pair in _UPPER_PAIRS
    lower = word in _LOWER_WORDS or pair in _LOWER_PAIRS
    if upper and pair.startswith("not exceed"):
        lower = False
    if negated and last in ("more", "less", "fewer", "greater"):
        upper, lower = lower, upper
    bound = Bound.UPPER if upper else Bound.LOWER if lower else Bound.NONE
    loose = word in _LOOSE_WORDS or pair in _LOOSE_PAIRS
    loose = loose or (word in ("magnitude", "of") and "order" in tokens[max(0, at - 4) : at])
    return Setting(
        loose=loose,
        bound=bound,
        order=loose,
        flipped=word in _MINUS,
        magnitude=_speaks_of_size(tokens, before),
        odds=_is_odds(tokens[: at + 1]),
    )


_PLAIN = Setting()


def _speaks_of_size(tokens: list[str], before: str) -> bool:
    for token in reversed(tokens[-8:]):
        if token in _ENDS:
            break
        if token.startswith(_SIZE):
            return True
    return "|" in before[-24:] and bool(_BARS.search(before[-24:]))


def _is_odds(tokens: list[str]) -> bool:
    """`1 in`, `one out of about`."""
    kept = [one for one in tokens[-5:] if one not in ("about", "every", "roughly", "~", "≈")]
    if kept[-1:] == ["in"]:
        return kept[-2:-1] in (["1"], ["one"])
    return kept[-2:] == ["out", "of"] and kept[-3:-2] in (["1"], ["one"])


def reference_before(text: str, start: int, end: int) -> str:
    """`document`, `place` or nothing: what kind of reference a number right here would be.

    `steps 400` is a count; `steps 4 to 9` and `step 400` are places.
    """
    before = text[max(0, start - 24) : start]
    last = before.rstrip(" ([\u2009")[-1:]
    found = _REFERENCE.search(before) if last.isalpha() or last in ".§#" else None
    if not found:
        return ""
    if not found["place"]:
        return "document"
    if _PLURAL.search(before) and end - start > 1 and not _GOES_ON.match(text, end):
        return ""
    return "place"


def is_level(text: str, written: str, *, start: int, end: int, percent: bool) -> bool:
    """Whether a number names a customary confidence or significance level."""
    if written not in (LEVELS if percent else _FRACTIONS):
        return False
    if _LEVEL_BEFORE.search(text[max(0, start - 32) : start]):
        return True
    return percent and bool(_LEVEL_AFTER.match(text, end, min(len(text), end + 40)))
