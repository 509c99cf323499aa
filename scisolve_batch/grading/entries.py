"""Reading complex numbers and lists of numbers, exactly, however they were printed.

`1+2j`, `[1.0, 2.0]`, NumPy's `[1. 2.]`, `array([...])`, JSON and LaTeX columns; a matrix is read
row after row. In a list a comma separates, it never groups digits. Nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from scisolve_batch.grading.numbers import CONTEXT, MAX_TEXT, read_number, tidy
from scisolve_batch.grading.units import is_unit
from scisolve_batch.records import CertifiedValue

MAX_READ = 2000
"""Most entries that are read of a report."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A real or complex number."""

    re: Decimal
    """Real part."""
    im: Decimal = Decimal(0)
    """Imaginary part."""
    digits: int = 0
    """Significant digits as written, of the part with more of them."""

    def turned(self, factor: Entry) -> Entry:
        """The product with another number."""
        return Entry(
            self.re * factor.re - self.im * factor.im,
            self.re * factor.im + self.im * factor.re,
            self.digits,
        )


@dataclass(frozen=True, slots=True)
class Entries:
    """What a text holds, or why it cannot be read."""

    values: tuple[Entry, ...] = ()
    """The numbers, in their order."""
    unit: str | None = None
    """What follows them, like a unit."""
    note: str = ""
    """Why they cannot be read."""


# Digits without groups; powers of ten were rewritten with an `e` before.
_N = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eEdD][-+]?[0-9]{1,9})?"
_END = r"(?![\w.^])"
_I = r"[ijI]"
_ENTRY = re.compile(
    rf"(?P<re>[-+]?\s?{_N})\s{{0,9}}(?P<sign>[-+])\s?(?:(?P<im>{_N})\s?\*?\s?{_I}|{_I}\s?\*?\s?(?P<after>{_N})|{_I}){_END}"
    rf"|(?P<turned>[-+]?\s?{_N})\s?\*?\s?{_I}\s{{0,9}}(?P<last>[-+]\s?{_N}){_END}"
    rf"|(?P<only>[-+]?)\s?(?P<alone>{_N})?\s?\*?\s?{_I}{_END}"
    rf"|(?P<real>[-+]?\s?{_N}){_END}"
)

_TIMES_TEN = re.compile(
    r"\s?(?:×|\*|·|⋅|\\times|\\cdot)\s?10\s?(?:(?:\^|\*\*)\s?[{(]?\s?([-+]?[0-9]{1,9})\s?[)}]?|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,9}))"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_NUMPY_COMPLEX = re.compile(r"(?:np\.|numpy\.)?complex(?:64|128|256)?\(\s*([^(),]*?)\s*\)")
_PARTS = re.compile(
    rf"(?:mpc\(|\{{)\s*['\"]?re(?:al)?['\"]?\s*[=:]\s*['\"]?([-+]?{_N})['\"]?\s*,"
    rf"\s*['\"]?im(?:ag)?['\"]?\s*[=:]\s*['\"]?([-+]?{_N})['\"]?\s*[)}}]"
)
_ARRAY = re.compile(
    r"(?:np\.|numpy\.|mp\.|jnp\.)?(?:array|asarray|matrix|Matrix|tuple|list|set)(?=\()"
)
_DTYPE = re.compile(r",\s*(?:dtype|shape)\s*=\s*[^,()\[\]]*")
_LATEX_FRAME = re.compile(r"\\(begin|end)\s*\{[a-zA-Z]*(?:matrix|array|cases)\}(?:\{[lcr|]*\})?")
_TRANSPOSED = re.compile(r"^(?:\^\{?\s*(?:T|\\top|\\mathsf\{T\}|\\intercal)\s*\}?|ᵀ|\.T\b)")
_LABELLED = re.compile(r"^[^\W\d]\w{0,40}(?:\s?[\[(][0-9]{1,4}[\])])?\s?[=≈:]\s?(?=\S)")
_OPEN, _CLOSE = "([{", ")]}"


def certified_entries(certified: CertifiedValue) -> tuple[Entry, ...]:
    """The numbers of a certified value."""
    return parse_entries(certified.entries)


def parse_entries(texts: tuple[str, ...]) -> tuple[Entry, ...]:
    """Numbers as a suite writes them; `nan` and `inf` are numbers that nothing equals."""
    return tuple(_exact(text) for text in texts)


def _exact(text: str) -> Entry:
    found = _ENTRY.fullmatch(text)
    if found is None:
        return Entry(Decimal(text))
    return _entry(found)


def read_entries(text: str) -> Entries:
    """Read text that is a number, real or complex, or a list of such numbers."""
    if len(text) > MAX_TEXT:
        return Entries(note=f"longer than {MAX_TEXT} characters")
    body, rest = _split_rest(_normalise(text))
    body = re.sub(r"(?<=[0-9.])\s?(?:\.\.\.|…)(?=\s*[,;\])}]|\s*$)", "", body)  # 1.234...
    if re.search(r"\.\.\.|…", body):
        return Entries(note="entries are left out (`...`)")
    if rest and re.search("[0-9]", rest) and not is_unit(rest):
        return Entries(note=f"`{_short(rest)}` follows the numbers")
    return _collect(body, units={rest} if rest else set())


def _collect(body: str, *, units: set[str]) -> Entries:
    values: list[Entry] = []
    for piece in _pieces(body):
        found = _read_piece(piece)
        if isinstance(found, str):
            return Entries(note=found)
        if len(values) == MAX_READ:
            return Entries(note=f"more than {MAX_READ} entries")
        values.append(found[0])
        units |= {found[1]} if found[1] else set()
    if len(units) > 1:
        return Entries(note=f"the units {', '.join(sorted(units))} stand side by side")
    return Entries(tuple(values), next(iter(units), None)) if values else Entries(note="no number")


def _normalise(text: str) -> str:
    """Undo the wrappers of NumPy, mpmath, JSON and LaTeX."""
    plain = _NUMPY_COMPLEX.sub(r"\1", tidy(text.replace("\\\\", ";"))).strip().strip("$`").strip()
    plain = _PARTS.sub(lambda s: f"{s[1]}{'' if s[2][0] in '+-' else '+'}{s[2]}j", plain)
    plain = _TIMES_TEN.sub(lambda s: "e" + (s[1] or s[2].translate(_RAISED)), plain)
    plain = _DTYPE.sub("", _ARRAY.sub("", plain))
    plain = _LATEX_FRAME.sub(lambda s: "[" if s[1] == "begin" else "]", plain)
    plain = plain.replace("\\{", "{").replace("\\}", "}").replace("&", ",")
    plain = re.sub(r"(?<=\w)[\[(]([0-9]{1,4})[\])](?=\s?[=≈:])", r"_\1", plain)  # x[0] = ...
    plain = re.sub(r"['\"]", "", plain)
    return _LABELLED.sub("", plain).lstrip("≈~=").strip()


def _split_rest(plain: str) -> tuple[str, str]:
    """A list in brackets, and what follows it; without brackets all of it."""
    if plain[:1] not in _OPEN or not plain:
        return plain, ""
    depth = 0
    for place, mark in enumerate(plain):
        depth += (mark in _OPEN) - (mark in _CLOSE)
        if depth == 0:
            rest = _TRANSPOSED.sub("", plain[place + 1 :].strip()).strip("$`. ")
            # Rows without brackets around them, or a sum like (1+2j)+3: not a list and a unit.
            if re.match(r"[,;+*/(\[{-]", rest):
                return plain, ""
            return plain[1:place], rest
    return plain[1:], ""


def _pieces(body: str) -> Iterator[str]:
    """The entries of a list: between commas when there are any, else between spaces."""
    flat = re.sub(r"[\[\]{};]|\n", " , " if "," in body else " ", body)
    if "," in flat:
        yield from (piece.strip() for piece in flat.split(",") if piece.strip())
        return
    flat = re.sub(r"\(([^()]*)\)", r" \1 ", flat).strip()
    at = 0
    while at < len(flat):
        found = _ENTRY.match(flat, at)
        if found is None:
            yield flat[at:].strip()  # a unit, or nothing that can be read
            return
        at = found.end()
        rest = re.match(r"\s+(?=[-+.0-9ijI])", flat[at:])
        if rest is None and flat[at:].strip():
            yield flat[found.start() :].strip()
            return
        yield found[0]
        at += rest.end() if rest else len(flat) - at


def _read_piece(piece: str) -> tuple[Entry, str | None] | str:
    """One number, with its unit; or why there is none."""
    bare = _LABELLED.sub("", piece).strip("$` ")
    bare = re.sub(r"^\(([^()]*)\)", r"\1", bare).strip()
    found = _ENTRY.match(bare)
    if found is not None and found["real"] is None:
        rest = bare[found.end() :].strip()
        if not rest or (is_unit(rest) and not re.match("[0-9]", rest)):
            return _entry(found), rest or None
        return f"`{_short(rest)}` follows the number"
    number = read_number(bare)
    if number is None:
        return f"`{_short(piece)}` is not a number"
    value, digits, rest = number
    if rest and not is_unit(rest):
        return f"`{_short(rest)}` follows the number"
    return Entry(value, Decimal(0), digits), rest or None


def _entry(found: re.Match[str]) -> Entry:
    if found["real"] is not None:
        return Entry(_decimal(found["real"]), Decimal(0), _digits(found["real"]))
    if found["turned"] is not None:
        digits = max(_digits(found["turned"]), _digits(found["last"]))
        return Entry(_decimal(found["last"]), _decimal(found["turned"]), digits)
    if found["re"] is None:
        written = found["alone"] or "1"
        return Entry(Decimal(0), _decimal(found["only"] + written), _digits(written))
    written = found["im"] or found["after"] or "1"
    digits = max(_digits(found["re"]), _digits(written))
    return Entry(_decimal(found["re"]), _decimal(found["sign"] + written), digits)


def _decimal(text: str) -> Decimal:
    return Decimal(re.sub(r"\s", "", text).replace("d", "e").replace("D", "e"), CONTEXT)


def _digits(text: str) -> int:
    mantissa = re.split("[eEdD]", text)[0]
    return len(re.sub(r"[^0-9]", "", mantissa).lstrip("0")) or 1


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "..."
