"""What the words around a number say about it: approximate, a bound, a size, a reference."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scisolve_batch.grounding.items import Bound

REACH = 64
"""Characters before a number that are looked at."""

# Emphasis, brackets and blanks may stand between a word and its number.
_GAP = r"[\s*_`$({\[|:=]{0,8}"
_BEFORE = re.compile(
    r"(?:(?P<order>\border(?:s of magnitude)?(?:\s+of)?(?:\s+magnitude)?)"
    r"|(?P<upper><|≤|⩽|≲|≪|\b(?:less|smaller|fewer|lower|no more|not more|better)\s+than|\bbelow|\bunder"
    r"|\bat\s+most|\bwithin|\bup\s+to|\bbounded\s+by|\b(?:not|never)\s+exceed(?:s|ing)?)"
    r"|(?P<lower>>|≥|⩾|≳|≫|\b(?:greater|larger|more|higher|no less|not less)\s+than|\babove"
    r"|\bat\s+least|\bexceed(?:s|ed|ing)?)"
    r"|(?P<loose>≈|~|∼|≃|≅|≐|\babout|\broughly|\bapproximately|\bapprox\.?|\bnearly|\baround|\balmost"
    r"|\bcirca|\bca\.|\bclose\s+to|\bsome|\bof\s+the\s+order|\betwa|\brund|\benviron|\bjust\s+(?:over|under))"
    rf"){_GAP}(?:about\s|≈\s?|~\s?|an?\s)?{_GAP}[-+]?$",
    re.IGNORECASE,
)
_MINUS = re.compile(rf"\b(?:minus|negative|moins){_GAP}$", re.IGNORECASE)
_SIZE = re.compile(
    r"(?:\b(?:minus|negativ\w*|drop\w*|decreas\w*|fall\w*|fell|los[st]\w*|loss\w*|lose\w*|reduc\w*"
    r"|declin\w*|shrink\w*|shrank|magnitude|absolute|modulus|size|short(?:er|fall)?|down)\b|\|)"
    r"[^.;!?|\n]{0,32}$",
    re.IGNORECASE,
)
_ODDS = re.compile(r"(?:\b1|\bone)\s+(?:in|out\s+of)\s+(?:about\s+|every\s+)?$", re.IGNORECASE)

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
LEVELS = frozenset("50 68 68.3 68.27 80 90 95 95.4 95.45 97.5 2.5 98 99 99.5 99.7 99.73 99.9 5 1".split())
"""Confidence and significance levels in use, in percent."""
_FRACTIONS = frozenset("0.5 0.68 0.8 0.80 0.9 0.90 0.95 0.98 0.975 0.025 0.99 0.995 0.999 0.05 0.01 0.005 0.001 0.1 0.10".split())  # fmt: skip


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
    found = _BEFORE.search(before)
    bound = Bound.NONE
    if found and found["upper"]:
        bound = Bound.UPPER
    elif found and found["lower"]:
        bound = Bound.LOWER
    return Setting(
        loose=bool(found and (found["loose"] or found["order"])),
        bound=bound,
        order=bool(found and (found["order"] or found["loose"])),
        flipped=bool(_MINUS.search(before)),
        magnitude=bool(_SIZE.search(before)),
        odds=bool(_ODDS.search(before)),
    )


def reference_before(text: str, start: int, end: int) -> str:
    """`document`, `place` or nothing: what kind of reference a number right here would be.

    `steps 400` is a count; `steps 4 to 9` and `step 400` are places.
    """
    before = text[max(0, start - 24) : start]
    found = _REFERENCE.search(before)
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
