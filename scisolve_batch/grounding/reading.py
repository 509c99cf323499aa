"""Undoing typography before numbers are read, with the way back to the text as it stands.

Digits of every script become ASCII digits, minus signs become `-`, invisible characters vanish,
HTML and LaTeX spacing becomes spacing. No digit is ever added or lost.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

THIN = "\u2009"
"""Every blank that may stand inside one number becomes this one."""

# Characters that read alike, one for one.
_SAME = {
    **dict.fromkeys(map(ord, "\u2212\ufe63\uff0d\u2010\u2011\u2796"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u2008\u2009\u200a\u202f\u2006"), THIN),
    **dict.fromkeys(map(ord, "\u2019\u02bc\uff07"), "'"),
    **dict.fromkeys(map(ord, "\u00d7\u2715\u2a2f\u2a09"), "×"),
    **dict.fromkeys(map(ord, "\u00b7\u22c5\u2219\u2022"), "·"),
    **dict.fromkeys(map(ord, "\u00b5\u03bc"), "µ"),
    **dict.fromkeys(map(ord, "\u2044\u2215\uff0f"), "/"),
    ord("\u066b"): ".",
    ord("\u066c"): ",",
    ord("\u066a"): "%",
    ord("\uff05"): "%",
    ord("\ufe6a"): "%",
    ord("\uff0e"): ".",
    ord("\uff0c"): ",",
    ord("\uff0b"): "+",
    ord("\uff1d"): "=",
    ord("\uff08"): "(",
    ord("\uff09"): ")",
    ord("\uff3e"): "^",
    ord("\u2213"): "±",
    ord("\u2248"): "≈",
    ord("\u2009"): THIN,
    ord("\u2026"): "…",
}
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_INVISIBLE = frozenset(("Cf", "Mn", "Me"))
_OVERRIDES = "\u202d\u202e"

_REWRITTEN = re.compile(
    r"&(?:nbsp|thinsp|ensp|emsp|minus|times|plusmn|middot|ndash|lt|gt|le|ge|asymp|percnt|#8722);"
    r"|<(?:sup|sub)>|</(?:sup|sub)>|</?(?:b|i|u|em|strong|code|span|mark|tt|small|big)>"
    r"|</?(?:br|p|td|th|tr|li|div)\s?/?>"
    r"|\{,\}|\{\.\}|\{-\}|\$-\$|\\[,;:!]|\\%"
    r"|\\(?:left|right|times|cdot|pm|approx|l?dots|pi|sim|leq?|geq?|lesssim|gtrsim)(?![A-Za-z])"
)
_MEANT = {
    "&nbsp;": THIN, "&thinsp;": THIN, "&ensp;": " ", "&emsp;": " ", "&minus;": "-",
    "&#8722;": "-", "&times;": "×", "&plusmn;": "±", "&middot;": "·", "&ndash;": "–",
    "&lt;": "<", "&gt;": ">", "&le;": "≤", "&ge;": "≥", "&asymp;": "≈", "&percnt;": "%",
    "<sup>": "^{", "<sub>": "_{", "</sup>": "}", "</sub>": "}",
    "<br>": " ", "<br/>": " ", "<br />": " ", "<td>": " ", "</td>": " ", "<th>": " ", "</th>": " ",
    "<tr>": "\n", "</tr>": "\n", "<p>": "\n", "</p>": "\n", "<li>": "\n", "</li>": "\n",
    "<div>": "\n", "</div>": "\n",
    "{,}": ",", "{.}": ".", "{-}": "-", "$-$": "-", r"\,": THIN, r"\;": THIN, r"\:": THIN,
    r"\!": "", r"\left": "", r"\right": "", r"\times": "×", r"\cdot": "·", r"\pm": "±",
    r"\%": "%", r"\approx": "≈", r"\ldots": "…", r"\dots": "…", r"\pi": "π", r"\sim": "~",
    r"\leq": "≤", r"\le": "≤", r"\geq": "≥", r"\ge": "≥", r"\lesssim": "≤", r"\gtrsim": "≥",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Text:
    """A text as it is read."""

    clean: str
    """The text without typography."""
    origin: list[int] | None
    """Where each clean character starts in the text; None when nothing was moved."""
    ends: list[int] | None
    """Where it ends."""
    length: int
    """Characters of the text as it stands."""
    reversed_from: int | None = None
    """Where, in the clean text, a character turns the reading direction around."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span of the clean text, in the text as it stands."""
        if self.origin is None or self.ends is None:
            return start, end
        first = self.origin[start] if start < len(self.origin) else self.length
        return first, self.ends[end - 1] if end > start else first


def read_text(raw: str) -> Text:
    """Undo the typography of a text.

    A digit stays one character at its own place; what stands between digits without being seen
    is removed, so that it cannot split a number in two.
    """
    if raw.isascii():
        return _rewritten(raw, None, len(raw), None)
    overridden = next((i for i, char in enumerate(raw) if char in _OVERRIDES), None)
    kept: list[str] = []
    origin: list[int] = []
    start = None
    for place, char in enumerate(raw):
        if place == overridden:
            start = len(kept)
        if char < "\x80":
            plain = char
        elif unicodedata.category(char) in _INVISIBLE:
            continue
        else:
            plain = _plain(char)
        kept.append(plain)
        origin.append(place)
    moved = origin if len(origin) != len(raw) else None
    return _rewritten("".join(kept), moved, len(raw), start)


def _plain(char: str) -> str:
    same = _SAME.get(ord(char))
    if same is not None:
        return same
    digit = unicodedata.decimal(char, None)
    return char if digit is None else str(digit)


def _rewritten(text: str, origin: list[int] | None, length: int, turned: int | None) -> Text:
    ends = None if origin is None else [place + 1 for place in origin]
    if not any(char in text for char in "\\&{<"):
        return Text(text, origin, ends, length, turned)
    parts: list[str] = []
    starts: list[int] = []
    stops: list[int] = []
    at = 0
    for found in _REWRITTEN.finditer(text):
        meant = _MEANT.get(found.group().lower(), _MEANT.get(found.group(), ""))
        parts += [text[at : found.start()], meant]
        starts += range(at, found.start())
        stops += range(at + 1, found.start() + 1)
        starts += [found.start()] * len(meant)
        stops += [found.end()] * len(meant)
        at = found.end()
    if at == 0:
        return Text(text, origin, ends, length, turned)
    parts.append(text[at:])
    starts += range(at, len(text))
    stops += range(at + 1, len(text) + 1)
    if origin is not None:
        if turned is not None:
            turned = next((i for i, place in enumerate(starts) if place >= turned), None)
        starts = [origin[place] for place in starts]
        stops = [origin[place - 1] + 1 for place in stops]
    return Text("".join(parts), starts, stops, length, turned)
