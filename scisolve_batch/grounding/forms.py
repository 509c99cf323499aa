"""The patterns of the grammar. Each is anchored or consumes what it scans, so reading is linear."""

from __future__ import annotations

import re
import unicodedata

from scisolve_batch.grounding.items import Item, Kind

SCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"
"""Superscript and subscript digits."""
_UP = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LETTER = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03bf\u03c1-\u03ff\u0400-\u04ff"
_SEP = r"[.,'_\u2009]"
_POW = (
    rf"(?:\^|\*\*)\s?(?:[{{(]\s?\+?(?P<p>[-–]?\d{{1,12}})\s?[)}}]|\+?(?P<b>[-–]?\d{{1,12}})(?!\.?\d))"
    rf"|(?P<s>[⁺⁻]?[{_UP}]{{1,12}})"
)
_TIMES_TEN = rf"\s?[×x*·]\s?10\s?(?:{_POW}|(?P<m>[-–]\d{{1,3}})(?![.\d\w]))"

ATOM = re.compile(
    rf"(?P<link>\b(?i:https?://|www\.|doi:\s?|arxiv:\s?)[^\s<>)\]]+|\b10\.\d{{4,5}}/[^\s<>)\]]+)"
    rf"|(?P<word>[{_LETTER}_][{_LETTER}_\d{_UP}₀-₉]*)"
    rf"|(?P<scale>[)\]]{_TIMES_TEN})"
    rf"|(?P<power>(?:[)\]}}|]\s?\^|[)\]}}]\*\*)\s?[{{(]?[-–+]?\d{{1,2}}(?:/\d{{1,2}})?[)}}]?(?!\.?\d)"
    rf"|[)\]}}|][⁺⁻]?[{_UP}₀-₉]{{1,6}})"
    rf"|(?P<run>(?:(?<![.\d])\.)?\d+(?:{_SEP}\d+)*)"
    r"|(?P<symbol>\\[A-Za-z]+|√|π)"
    r"|(?P<odd>[^\W\d_])"
)
"""Everywhere something with digits may begin. Words are taken whole, so nothing begins inside one."""

# -- words with digits ------------------------------------------------------------------
GLUED_DECIMAL = re.compile(rf"([{_LETTER}_]+)\d+\.\d+(?!\.?\d)")
_SOFTWARE = (
    r"python|numpy|scipy|matplotlib|pandas|sympy|mpmath|numba|jax|torch|pytorch|tensorflow|julia|matlab|octave"
    r"|scikit-learn|sklearn|statsmodels|cuda|mkl|openblas|gcc|clang|fortran|linux|ubuntu|debian|macos|windows"
    r"|cpython|java|go|rust|r|c\+\+|version|ver|release|rev|v"
)
VERSION_NAME = re.compile(
    rf"(?:{_SOFTWARE})(?:\s(?:version|ver\.?|release|v\.?))?[\s.\-]?v?\d{{1,3}}(?:\.\d{{1,3}}){{0,3}}"
    r"(?:\.?(?:rc|a|b|dev|post)\d{1,3})?(?!\w|\.\d)",
    re.IGNORECASE,
)
_STANDARDS = (
    "IEEE|ISO|RFC|DIN|ANSI|NIST|CODATA|WGS|PEP|ASTM|IEC|EN|JIS|IAU|AMS|MSC|PMC|PMID|ISBN|ISSN|DOI"
)
_MONTHS = "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september october november december"
MAY_NAME = frozenset(
    [*_SOFTWARE.replace("\\", "").split("|"), *_STANDARDS.lower().split("|"), *_MONTHS.split(), "c"]
)
"""Words after which digits may be a version, a date or the number of a standard."""
ATTACHES = frozenset("^_{-*+" + _UP + "⁺⁻₀₁₂₃₄₅₆₇₈₉")
"""What begins an exponent or a subscript of a word."""
NAME_TAIL = re.compile(
    r"(?<=\d)(?:[-/]\d{1,4}(?!\.?\d))+|(?:(?<=[A-Z])|(?<=\b\w)|(?<=\b\w\w)|(?<=\b\w\w\w))-\d{1,4}(?![.\d%])(?!\s?(?:%|percent))"
)
ATTACHED = re.compile(
    rf"(?:_?\{{[\w ,+\-–=]*\}}|_\w+)?(?:(?:\^|\*\*)\s?[{{(]?[-–+]?\d{{1,3}}(?:/\d{{1,2}})?[)}}]?(?!\.?\d)"
    rf"|[⁺⁻]?[{_UP}]{{1,6}}|[₀-₉]{{1,6}})?"
)
PLAIN_WORDS = frozenset(
    [
        "by",
        "to",
        "of",
        "is",
        "at",
        "in",
        "or",
        "and",
        "vs",
        "the",
        "for",
        "than",
        "on",
        "as",
        "up",
        "be",
        "das",
        "der",
        "und",
    ]
)
"""Short words that a hyphen does not make a name of, as in `10-by-20`."""
NEXT_WORD = re.compile(r"(?:\s?-\s?|\s+|\s?,\s)?([A-Za-z]+)\b")

# -- runs of digits that are no numbers -----------------------------------------------------
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
MIXED_UP = re.compile(r"\d[\d.,]*[OoОоIlЗ|]+[\d.,]*\d[\w.,]*(?<!\.)")
"""Letters that look like digits, between digits."""
NOT_NUMBERS = (
    (
        re.compile(
            r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:?\d{2}(?::?\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?!\.?\d)"
            r"|\d{4}-\d{2}(?![\d.-])(?<=-0[1-9]|-1[0-2])(?<=\b[12][09]\d{2}-\d\d)"
            r"|(?:19|20)\d{2}/\d{1,2}/\d{1,2}(?!\d)|\d{1,2}/\d{1,2}/(?:19|20)\d{2}(?!\d)"
            r"|(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:(?:19|20)\d{2}|\d{2}(?=\s|$))(?!\d)"
            rf"|\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH},?\s(?:19|20)\d{{2}}(?!\d)",
            re.IGNORECASE,
        ),
        Kind.NAME,
        "date",
    ),
    (re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?![\d:])"), Kind.NAME, "time"),
    (re.compile(r"(?:0?\d|1[0-2]):[0-5]\d\s?(?:a\.?m|p\.?m)\b", re.IGNORECASE), Kind.NAME, "time"),
    (
        re.compile(
            r"(?:[01]\d|2[0-3]):[0-5]\d(?![\d:]|\.\d|\s?(?:ratio|odds))(?:\s?(?:am|pm|UTC|Z)\b)?"
        ),
        Kind.NAME,
        "time",
    ),
    (
        re.compile(r"\d{1,4}(?:\.\d{1,4}){2,4}(?:\.?(?:rc|a|b|dev|post)\d{1,3})?(?![.,]?\d)"),
        Kind.NAME,
        "version",
    ),
    (
        re.compile(r"\d+(?:st|nd|rd|th|er|ère|ème|e)\b(?![-+–])", re.IGNORECASE),
        Kind.NAME,
        "ordinal",
    ),
    (re.compile(r"\d+(?:\.\d+)?th\b|\d+(?:st|nd|rd|th)\b", re.IGNORECASE), Kind.NAME, "ordinal"),
    (re.compile(r"[1-9]-?[Dd]\b"), Kind.NAME, "name"),
    (re.compile(r"\d{2,3}-bit\b"), Kind.NAME, "name"),
    (re.compile(r"(?:1[89]|20)\d0s\b"), Kind.NAME, "date"),
    (MIXED_UP, Kind.UNREAD, "unread"),
)
"""Dates, times, versions, ordinals."""
BASED = re.compile(r"0x[0-9a-f_]+\b|0b[01_]+\b|0o[0-7_]+\b", re.IGNORECASE)

# -- numbers --------------------------------------------------------------------------------
SIGN = re.compile(
    r"(?P<free>(?<=[=<>≈~(|:&])\s{1,2})?(?P<sign>[-+–])(?:\s?[$€£¥]\s?|(?<=\s.)\s|(?<=[=<>≈~(|:&]\s.)\s)?$"
)
BEFORE_SIGNED = frozenset("-+–$€£¥ \n")
SPACED = re.compile(r"[1-9]\d{0,2}(?: \d{3})+(?P<decimals>[.,]\d+)?(?![\d]|[.,]\d| \d)")
SPACED_DECIMALS = re.compile(
    r"\d{1,3}(?: \d{3})*[.,]\d{3}(?: \d{3})+(?: \d{1,2}(?=\(|\s?[×x]\s?10))?(?![\d]|[.,]\d| \d)"
    r"|\d{1,3}(?: \d{3})*[.,]\d{3}(?: \d{3})* \d{1,2}(?=\(|\s?[×x]\s?10)"
)
ERROR = re.compile(r"\((\d{1,6})\)")
EXPONENT = re.compile(
    rf"\.?[eE](?P<e>[-+–]?\d{{1,12}})(?![\d_]|\.\d)(?=[{_LETTER}]{{0,8}}(?!\d))|\.?[dD](?P<d>[-+–]\d{{1,12}})(?![\w])|{_TIMES_TEN}"
)
MONTH_DATE = re.compile(
    rf"{_MONTH}\s(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s)?(?:19|20)\d{{2}}(?!\.?\d)|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
STANDARD = re.compile(
    rf"(?:{_STANDARDS})"
    r"(?:[\s:/-]{0,2}[\dXx][\d./-]*\d|\s?\d)(?!\.?\d)"
)
CAPITAL_NAME = re.compile(r"[A-Z][a-z]{3,}-\d{1,2}(?![.\d%]|\s?%)")
NAMES = (
    (VERSION_NAME, "version"),
    (CAPITAL_NAME, "name"),
    (MONTH_DATE, "date"),
    (STANDARD, "name"),
)
DATED = re.compile(
    r"(?:\bas\s+of|\bsince|\byear|©|\bpublished\s+in|\bfounded\s+in)\s$", re.IGNORECASE
)
RULE_AFTER = re.compile(r"[\s-](?:rule|law|scaling)\b")
YEAR = re.compile(r"(?:18|19|20)\d{2}")
CITED_BEFORE = re.compile(
    r"\bet\s+al\.?,?\s?[(\[]?$|\b[A-Z]\w+\s(?:and|&)\s[A-Z]\w+,?\s?[(\[]?$|[(\[;][^()\[\]\d]{0,60}[A-Z]\w+\.?,\s$"
)
CITED_AFTER = re.compile(r"[a-z]?\s?[)\];,]|[a-z]?\.\s|$")
ELLIPSIS = re.compile(r"…|\.{3,}")
PERCENT = re.compile(
    r"\s?\)?\s?(?:(?P<percent>%|per\s?cent\b|percent\b|pct\b|prozent\b|pour\s?cent\b|percentage\s+points?\b|pp\b)"
    r"|(?P<mille>‰|per\s?mille\b)|(?P<ppm>ppm\b)|(?P<ppb>ppb\b)|(?P<basis>basis\s+points?\b|bps\b))",
    re.IGNORECASE,
)
PERCENT_SHIFTS = {"percent": -2, "mille": -3, "ppm": -6, "ppb": -9, "basis": -4}
SCALE = re.compile(
    r"[\s\u2009-]?\s?(hundred|thousands?|millions?|billions?|trillion|mn|mio|bn|mrd|tausend|millionen|milliarden?"
    r"|mille|milliards?|lakh|crore|dozen)\b",
    re.IGNORECASE,
)
GLUED = re.compile(rf"[{_LETTER}]+")
DIMENSION = re.compile(r"[x×](?=\d)|\s[x×]\s(?=\d)")
SUFFIXES = {"k": 3, "K": 3, "M": 6, "B": 9, "G": 9}
UNIT_GOES_ON = re.compile(r"[/·*^²³]")
NAME_SUFFIX = re.compile(rf"[{_LETTER}]+\d[\w]*|_\w+")
UNIT = re.compile(
    r"[\s\u2009~]{0,2}(?:\\(?:mathrm|text|rm|mathit|si|unit|,|;)\s?\{?\s?|\{|\[)?"
    rf"((?:[{_LETTER}°Ω%µ]|\\(?:mu|Omega|degree|circ))[{_LETTER}°Ωµ]*(?:[²³⁻¹]+|\^\{{?-?\d\}}?)?(?:/[{_LETTER}µ]+(?:[²³]|\^\d)?)?)"
)
POWER_OF = re.compile(rf"(?:\^|\*\*)\s?\{{?[-–+]?[\w/]{{1,8}}\}}?(?!\.?\d)|[⁺⁻]?[{_UP}]{{1,6}}")
FRACTION = re.compile(r"(\d{1,12})\s?/\s?(\d{1,12})(?![\d]|[.,]\d|\s?/)(?!\s?[×x*]\s?10)")
POWER = re.compile(rf"(?P<base>\d{{1,7}})(?:{_POW})")
LEADING_ZERO = re.compile(r"0\d")
PLURAL_BEFORE = re.compile(r"(?:s|indices|vertices)\s?[(\[]?$")

# -- places ---------------------------------------------------------------------------------
SHORT_REFERENCE = re.compile(r"\d{1,6}|(?:[12]?\d|30)(?:\.(?:[12]?\d|30)){1,3}")
LIST_MARKER = re.compile(r"\d{1,3}[.)](?=\s+\S)")
SHARED = re.compile(r"\s*(?:,|–|-|±|\+/-|\+-|to|and|or|through|und|bis|et|à)\s*(?:and|or)?\s*")
CONNECTED = re.compile(
    r"[\s%)]*(?:,|;|–|-|/|±|\+/-|\+-|&|to|and|or|through|und|bis|et|à|±)?\s*(?:and|or)?\s*\(?"
)
COMMAND_ARGUMENT = re.compile(
    r"\\(?:eq|auto|page|c)?(?:ref|cite[pt]?|label|binom|vspace|hspace|begin|end|footnote(?:mark)?)"
    r"(?:\{[^{}\n]{0,80}\})+"
)
SCRIPT_RUN = re.compile(r"[⁰¹²³⁴-⁹₀-₉]+")

_NUMBER_COMMANDS = ("\\num{", "\\SI{", "\\qty{", "\\ang{", "\\boxed{", "\\mathbf{", "\\textbf{")
_FROM_UP = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")


def from_superscripts(text: str) -> str:
    """`⁻³` as `-3`."""
    return text.translate(_FROM_UP)


def include_command(text: str, items: tuple[Item, ...]) -> None:
    r"""Let `\num{...}` be part of the number in it."""
    first, last = items[0], items[-1]
    if text[first.start - 1 : first.start] == "{" and text[last.end : last.end + 1] == "}":
        for command in _NUMBER_COMMANDS:
            if text.endswith(command, 0, first.start):
                first.start -= len(command)
                last.end += 1


def trailing_zeros(digits: str) -> int:
    """How many zeros a whole number ends with; none for zero itself."""
    kept = digits.rstrip("0")
    return len(digits) - len(kept) if kept else 0


def has_digit(text: str, start: int, end: int) -> bool:
    """Whether a span holds a digit of any kind."""
    part = text[start:end]
    if part.isascii():
        return any(char.isdigit() for char in part)
    return any(unicodedata.category(char) in ("Nd", "Nl", "No") for char in part)


def written_power(found: re.Match[str]) -> str:
    """The exponent that one of the forms of a power has, in ASCII."""
    groups = found.groupdict()
    written = next((groups[name] for name in "epbmd" if groups.get(name)), None)
    return from_superscripts(groups["s"]) if written is None else written.replace("–", "-")


def may_carry_sign(text: str, place: int) -> bool:
    """Whether a sign that touches a number may be its own: not after a word, digit or bracket."""
    before = text[place - 1 : place]
    if not before:
        return True
    if before.isalnum() or before in ")]}_²³%°…":
        return False
    if before in "$'\"" and place >= 2:  # mathematics or a quotation: look behind it
        return not text[place - 2].isalnum()
    return True


def is_cited(text: str, start: int, end: int) -> bool:
    """Whether a year stands in a citation, or after words that make it a date."""
    before = text[max(0, start - 80) : start]
    if DATED.search(before):
        return True
    return bool(CITED_BEFORE.search(before) and CITED_AFTER.match(text, end))


def in_brackets(text: str, start: int) -> bool:
    """Whether square brackets stand around a place, like in a printed array."""
    opened = text.rfind("[", max(0, start - 400), start)
    return opened > text.rfind("]", max(0, start - 400), start)


def line_start(text: str, place: int) -> bool:
    """Whether only blanks and list signs stand before a place on its line."""
    begun = text.rfind("\n", max(0, place - 24), place) + 1
    if begun == 0 and place > 24:
        return False
    return not text[begun:place].strip(" \t>*-#(")
