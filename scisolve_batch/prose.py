"""What of a Markdown text or an output says something, with everything else blanked out.

Places and lines stay what they were in the text. Code, tags, targets of links and the numbers of
headings claim nothing; a fence without a language may hold results and is kept.
"""

from __future__ import annotations

import re

_SILENT = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|svg)\b[^<>]*>.*?(?:</\1\s*>|\Z)"
    # A fence that names its language; it ends with the text when it is never closed.
    r"|^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*\{?[A-Za-z][^\n]*$.*?(?:^ {0,3}(?P=fence)[^\n]*$|\Z)"
    # A tag with attributes; those without are typography, which the reader of numbers knows.
    r"|<[A-Za-z][\w-]*(?:\s+[A-Za-z_:@][\w:.-]*(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>=]+))?){1,40}"
    r"\s*/?>"
    r"|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\s*\)"
    r"|^ {0,3}\[[^\]\n]+\]:[^\n]*$"
    r"|&#(?!8722;)(?:\d+|x[0-9A-Fa-f]+);",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(?P<number>\d{1,2}(?:\.\d{1,2}){0,5})\.?[ \t]+(?=[^\W\d_])", re.MULTILINE
)
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_TAG = re.compile(r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)


def keep_prose(text: str) -> str:
    """A text of the same length in which only what it says is left."""
    return blank_numbering(blank_silent(text))[0]


def blank_silent(text: str) -> str:
    """Blank out code, tags, comments and the targets of links."""
    return _SILENT.sub(lambda found: _blank(found.group()), text)


def blank_numbering(text: str, last: tuple[int, ...] = ()) -> tuple[str, tuple[int, ...]]:
    """Blank out the numbers of headings (`## 2.1 Method`), as long as each follows from the last.

    A number that does not continue the numbering stays: it may be a result. Takes the number of the
    heading before the text, if there is one, and returns that of the last heading too.
    """
    pieces, at = [], 0
    for found in _HEADING.finditer(text):
        number = tuple(map(int, found["number"].split(".")))
        if last and not _follows(number, last):
            continue
        last = number
        if len(number) > 1:  # a bare one is read as a reference anyway
            pieces += [text[at : found.start("number")], " " * len(found["number"])]
            at = found.end("number")
    return "".join(pieces) + text[at:], last


def strip_escapes(text: str) -> str:
    """An output without the codes that colour a terminal."""
    return _ESCAPE.sub("", text) if "\x1b" in text else text


def strip_tags(html: str) -> str:
    """The text of an HTML output."""
    return _TAG.sub(" ", html)


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


def _follows(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    """Whether a number is the next of its level, or the first below the last one."""
    level = len(number) - 1
    if level > len(last) or number[:level] != last[:level]:
        return False
    return number[level] in (0, 1) if level == len(last) else number[level] == last[level] + 1
