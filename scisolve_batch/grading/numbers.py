"""Reading one number as people and programs write it, exactly, as a Decimal.

Expressions (`17/70`, `2^53`, `sqrt(2)`), nan, inf and complex numbers are not numbers here:
nothing is evaluated. Digits are never lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation

MAX_TEXT = 20_000
"""Longest text that is read, in characters."""

CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Wide enough that no reported exponent overflows a comparison."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_DASHES = str.maketrans({"−": "-", "﹣": "-", "－": "-", "‐": "-", "‑": "-"})

# A group separator is a comma, underscore, apostrophe or space; one number uses one kind.
_GROUPS = r"[1-9][0-9]{0,2}(?P<gap>[,_' \u00a0\u2009\u202f])[0-9]{3}(?:(?P=gap)[0-9]{3})*"
_PLAIN = r"[0-9]+"
_MANTISSA = rf"(?:(?:{_GROUPS}|{_PLAIN})(?:\.[0-9]*)?|\.[0-9]+)"
_EXPONENT = (
    r"(?:[eEdD](?P<e>[-+]?[0-9]{1,9})"
    r"|\s?(?:×|x|X|\*|·|⋅|\\times|\\cdot)\s?10\s?(?:(?:\^|\*\*)\s?[{(]?\s?(?P<p>[-+]?[0-9]{1,9})\s?[)}]?"
    r"|(?P<s>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,9})))"
)
_POWER = r"10(?:\^[{(]?(?P<bare>[-+]?[0-9]{1,9})[)}]?|(?P<sup>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,9}))"
_NUMBER = re.compile(
    rf"(?<![\w.^])(?P<sign>[-+]?)\s?(?:{_POWER}|(?P<mantissa>{_MANTISSA}){_EXPONENT}?)"
    r"(?![0-9]|[.,][0-9]|[\^]|\*\*)"
)

_NUMPY = re.compile(
    r"(?:np\.|numpy\.)?(?:float|int|uint)(?:8|16|32|64|128)?\(\s*([^()]*?)\s*\)"
    r"|(?:mp\.)?(?:mpf|Decimal)\(\s*['\"]?([^'\"()]*)['\"]?\s*\)"
)
_LATEX = ((r"\,", " "), (r"\;", " "), (r"\ ", " "), ("{,}", ","), (r"\left", ""), (r"\right", ""))
_WRAPPED = re.compile(r"\\(?:mathrm|text|mathbf|boxed|operatorname)\s*\{([^{}]*)\}")

_LABEL = re.compile(r"^[^\W\d]\w{0,40}\s?[=≈:]\s?")
_SPACED_DECIMALS = re.compile(r"[-+]?[0-9]+\.(?:[0-9]{3}\s)+[0-9]{1,3}(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Number:
    """A number that was read."""

    value: Decimal
    """Its exact value."""
    digits: int
    """Significant digits as written; trailing zeros count."""
    end: int
    """Where it ends in the tidied text."""


def tidy(text: str) -> str:
    """Undo typography and the wrappers of NumPy and LaTeX, so that plain numbers are left."""
    text = text.translate(_DASHES)
    text = _NUMPY.sub(lambda found: found[1] if found[1] is not None else found[2], text)
    for written, meant in _LATEX:
        text = text.replace(written, meant)
    text = _WRAPPED.sub(r"\1", text)
    # An en dash is a minus unless it stands between two numbers, where it is a range.
    return re.sub(r"(?<![0-9])–(?=[0-9.])", "-", text)


def read_number(text: str) -> tuple[Decimal, int, str] | None:
    """Read text that is one number, with whatever follows it.

    Returns:
        Value, significant digits as written, and the rest of the text (a unit, perhaps); None
        when it is not a number.
    """
    if len(text) > MAX_TEXT:
        return None
    plain = tidy(text).strip().strip("$`*").strip()
    plain = _LABEL.sub("", plain).lstrip("≈~=").strip()
    if plain[:1] + plain[-1:] in ("()", "[]"):
        plain = plain[1:-1].strip()
    if _SPACED_DECIMALS.fullmatch(plain):
        plain = re.sub(r"\s", "", plain)
    found = match_number(plain)
    if found is None:
        return None
    rest = plain[found.end :].strip().strip("$`*").strip()
    rest = re.sub(r"^\([0-9]+\)|^(?:\.\.\.|…)", "", rest)  # 1.234(5) and 1.234...
    rest = re.sub(r"^\s*(?:±|\+/-|\+-|\\pm)\s*[0-9.eE+-]+", "", rest).strip()
    return found.value, found.digits, rest.rstrip(".").strip()


def match_number(text: str, start: int = 0) -> Number | None:
    """The number that begins right here, if the text goes on as after a number."""
    found = _NUMBER.match(text, start)
    return _read(found, text) if found else None


def find_numbers(text: str) -> Iterator[Number]:
    """Each number of running text that was tidied."""
    for found in _NUMBER.finditer(text):
        number = _read(found, text)
        if number is not None:
            yield number


def _read(found: re.Match[str], text: str) -> Number | None:
    rest = text[found.end() : found.end() + 24]
    # Part of an expression or of a word, an imaginary number, a decimal comma: not this number.
    if re.match(r"\s?[/*]\s?[0-9(]|j\b|\s?[-+]\s?[0-9.]+(?:[eE][-+]?[0-9]+)?j|,[0-9]", rest):
        return None
    if re.match(r"[A-Za-z_]", rest) and re.match(r"[-\w]*[0-9]", rest):
        return None  # an identifier like 3b2
    bare = found["bare"] or found["sup"]
    if bare is not None:
        mantissa, exponent = "1", bare
    else:
        mantissa, exponent = found["mantissa"], found["e"] or found["p"] or found["s"] or "0"
    mantissa = re.sub(r"[,_' \u00a0\u2009\u202f]", "", mantissa)
    try:
        value = Decimal(f"{found['sign']}{mantissa}e{exponent.translate(_SUPERSCRIPTS)}", CONTEXT)
    except InvalidOperation:
        return None
    if not value.is_finite():
        return None
    return Number(value, len(mantissa.replace(".", "").lstrip("0")) or 1, found.end())


def find_stated_numbers(text: str) -> set[Decimal]:
    """The numbers of a text, such as a problem's statement."""
    return {number.value for number in find_numbers(tidy(text))}
