"""Finding the number that an answer gives for a value.

First the structured values, then `name = number` in the prose, last the only number of an
answer to a one-value problem. Among several candidates nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from scisolve_batch.grading.entries import Entry, read_entries
from scisolve_batch.grading.numbers import (
    MAX_TEXT,
    find_numbers,
    find_stated_numbers,
    match_number,
    read_number,
    tidy,
)
from scisolve_batch.grading.units import is_unit, is_unit_in_prose
from scisolve_batch.records import CertifiedValue, Problem, ReportedValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """What an answer gives for one value."""

    how: str
    """`structured`, `labelled` or `sole_number`."""
    text: str
    """As it was written."""
    entries: tuple[Entry, ...] = ()
    """The numbers; empty when they cannot be read."""
    unit: str | None = None
    """The unit that was given."""
    note: str = ""
    """Why it cannot be read."""

    @property
    def value(self) -> Decimal | None:
        """The number, when it is a single real one."""
        single = len(self.entries) == 1 and not self.entries[0].im
        return self.entries[0].re if single else None

    @property
    def digits(self) -> int:
        """Significant digits as written, of the entry with most of them."""
        return max((one.digits for one in self.entries), default=0)


def locate(
    problem: Problem, *, answer: str | None, values: Sequence[ReportedValue]
) -> dict[str, Located]:
    """Find what an answer gives for each value of a problem, by name."""
    names = [value.name for value in problem.values]
    found = _structured(problem.values, values)
    prose = tidy((answer or "")[:MAX_TEXT].replace("\\\\", ";"))  # rows of LaTeX
    for certified in problem.values:
        name = certified.name
        if name not in found:
            labelled = (
                _labelled_entries(certified, prose)
                if holds_more(certified)
                else _labelled(certified, prose)
            )
            if labelled:
                found[name] = labelled
    if len(names) == 1 and not found and not holds_more(problem.values[0]):
        sole = _sole_number(problem, prose)
        if sole:
            found[names[0]] = sole
    return found


def holds_more(certified: CertifiedValue) -> bool:
    """Whether a certified value is a list or complex, and not one real number."""
    return certified.value.startswith("[") or "j" in certified.value


def _key(name: str) -> str:
    """Names that differ in case, dashes or decoration are the same name, if that is unique."""
    bare = re.sub(r"\s*[(\[][^()\[\]]*[)\]]\s*$", "", name)  # a unit in brackets
    return re.sub(r"[\s\-_`$*{}\\]+", "", bare).casefold()


_INDEXED = re.compile(
    r"(?P<name>.+?)\s*(?:\[(?P<a>[0-9]{1,4})\]|\((?P<b>[0-9]{1,4})\)|_?(?P<c>[0-9]{1,4}))"
)


def _structured(
    asked: Sequence[CertifiedValue], values: Sequence[ReportedValue]
) -> dict[str, Located]:
    """Values under their names; the entries of a list may come one by one, `x[0]`, `x[1]`."""
    names = [value.name for value in asked]
    keys = [_key(name) for name in names]
    lists = {_key(one.name): one.name for one in asked if one.value.startswith("[")}
    given: dict[str, list[ReportedValue]] = {}
    parts: dict[str, list[tuple[int, ReportedValue]]] = {}
    for value in values:
        if not value.value.strip() or value.value.strip().lower() in ("null", "none"):
            continue
        name = value.name.strip()
        indexed = None if name in names else _INDEXED.fullmatch(name)
        if indexed and _key(indexed["name"]) in lists and _key(name) not in (set(keys) - {*lists}):
            index = int(indexed["a"] or indexed["b"] or indexed["c"])
            parts.setdefault(lists[_key(indexed["name"])], []).append((index, value))
            continue
        if name not in names and keys.count(_key(name)) == 1:
            name = names[keys.index(_key(name))]
        given.setdefault(name, []).append(value)
    found = {}
    for one in asked:
        if one.name in given:
            found[one.name] = _read_all(one, given[one.name])
        elif one.name in parts:
            found[one.name] = _read_parts(one, parts[one.name])
    return found


def _read_all(asked: CertifiedValue, given: list[ReportedValue]) -> Located:
    read = [_read(asked, value) for value in given]
    if len({(_numbers(one), one.unit) for one in read}) > 1:
        if asked.value.startswith("[") and len(read) == len(asked.entries):
            return _join(read)  # a list, an entry at a time under one name
        texts = " and ".join(value.value for value in given)
        return Located(how="structured", text=texts, note="reported twice, differently")
    listed = asked.value.startswith("[") and len(read) == len(asked.entries)
    if listed and all(len(one.entries) == 1 for one in read):
        return _join(read)
    return read[-1]


def _numbers(located: Located) -> tuple[tuple[Decimal, Decimal], ...]:
    return tuple((one.re, one.im) for one in located.entries)


def _read_parts(asked: CertifiedValue, parts: list[tuple[int, ReportedValue]]) -> Located:
    """The entries of a list that were reported by their index, from 0 or from 1."""
    parts = sorted(parts, key=lambda part: part[0])
    first = parts[0][0]
    if first > 1 or [index for index, _ in parts] != list(range(first, first + len(parts))):
        texts = ", ".join(f"{value.name} = {value.value}" for _, value in parts)
        return Located(how="structured", text=texts, note="the indices leave gaps or stand twice")
    return _join([_read(asked, value) for _, value in parts])


def _join(read: list[Located]) -> Located:
    """Single numbers as one list."""
    text = f"[{', '.join(one.text for one in read)}]"
    notes = [one.note or "a list stands inside the list" for one in read if len(one.entries) != 1]
    if notes:
        return Located(how="structured", text=text, note=notes[0])
    units = {one.unit for one in read}
    if len(units) > 1:
        return Located(how="structured", text=text, note="the entries have different units")
    entries = tuple(one.entries[0] for one in read)
    return Located(how="structured", text=text, entries=entries, unit=units.pop())


def _read(asked: CertifiedValue, given: ReportedValue) -> Located:
    unit = given.unit.strip() if given.unit and given.unit.strip() else None
    number = read_number(given.value)
    if holds_more(asked) or number is None:
        return _read_more(asked, given, unit)
    value, digits, rest = number
    if re.search("[0-9]", rest) and not is_unit(rest):
        return Located(how="structured", text=given.value, note=f"`{rest}` follows the number")
    if rest and unit is None:
        unit = rest
    elif rest and rest != unit and not is_unit(rest):
        return Located(how="structured", text=given.value, note=f"`{rest}` follows the number")
    entries = (Entry(value, Decimal(0), digits),)
    return Located(how="structured", text=given.value, entries=entries, unit=unit)


def _read_more(asked: CertifiedValue, given: ReportedValue, unit: str | None) -> Located:
    """A list or a complex number; where one real number is asked for, only a complex one."""
    read = read_entries(given.value)
    note = read.note
    if not holds_more(asked) and (note or len(read.values) != 1):
        note = "not a number"
    if not asked.value.startswith("[") and not note and len(read.values) != 1:
        note = f"{len(read.values)} numbers; a complex number is written like 1+2j"
    if read.unit and unit and read.unit != unit and not is_unit(read.unit):
        note = f"`{read.unit}` follows the numbers"
    if note:
        return Located(how="structured", text=given.value, note=note)
    return Located(how="structured", text=given.value, entries=read.values, unit=unit or read.unit)


_IS = r"(?:=|:|≈|≃|~|\||\bis\b|\bequals\b|\\approx|\\simeq)"
_DECORATION = r"[`*$|\s]{0,6}"
_HEDGE = r"(?:(?:approximately|about|roughly|equal to)\s+|[≈~=]\s*)?"
_EXPRESSION = r"(?:[-+*/^().\d\s√π]{1,40}=\s*)?"


def _labelled(certified: CertifiedValue, prose: str) -> Located | None:
    """The last `name = number`; what is said last is meant."""
    label = re.compile(
        rf"(?<![\w.\\-]){re.escape(certified.name)}(?!\w)[`*$}}]{{0,4}}\s{{0,3}}{_IS}{_DECORATION}{_HEDGE}"
        rf"{_EXPRESSION}{_DECORATION}(?=[-+]?\s?[0-9.])"
    )
    last = None
    for found in label.finditer(prose):
        number = match_number(prose, found.end())
        if number is not None:
            text = prose[found.end() : number.end]
            unit = _unit_after(certified, prose, number.end)
            entries = (Entry(number.value, Decimal(0), number.digits),)
            last = Located(how="labelled", text=text, entries=entries, unit=unit)
    return last


_OPENS = ("(", "[", "{")
_COMPLEX = re.compile(r"[-+]?[0-9.ij][-+0-9.eE ijI]{0,120}")


def _listed(prose: str, start: int) -> tuple[str, int] | None:
    """The list in brackets or the complex number that begins here, and where it ends."""
    if prose.startswith("\\begin{", start):
        end = prose.find("}", max(0, prose.find("\\end{", start, start + 8000)))
        return (prose[start : end + 1], end + 1) if end > start + 20 else None
    wrapper = re.match(r"(?:(?:np\.|numpy\.)?array(?=\())?\\?", prose[start : start + 16])
    at = start + (wrapper.end() if wrapper else 0)
    if prose[at : at + 1] not in _OPENS:
        found = _COMPLEX.match(prose, start)
        return (found[0], found.end()) if found else None
    depth = 0
    for end in range(at, min(len(prose), at + 8000)):
        mark = prose[end]
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0:
            return prose[start : end + 1], end + 1
        if mark == "=" and not prose.endswith("dtype", at, end):
            return None  # the bracket was never closed
    return None


def _labelled_entries(asked: CertifiedValue, prose: str) -> Located | None:
    """The last `name = [...]` or `name = 1+2j`; or every `name[k] = number`."""
    label = re.compile(
        rf"(?<![\w.\\-]){re.escape(asked.name)}(?!\w)(?:\[(?P<index>[0-9]{{1,4}})\])?"
        rf"[`*$}}]{{0,4}}\s{{0,3}}{_IS}{_DECORATION}{_HEDGE}{_DECORATION}"
    )
    last, parts = None, dict[int, Located]()
    for found in label.finditer(prose):
        given = _listed(prose, found.end())
        if given is None:
            continue
        text = given[0].strip().rstrip(".,;").strip()
        read = read_entries(text)
        bare = given[0][0] not in (*_OPENS, "\\", "a", "n")
        if read.note or (found["index"] is None and bare and asked.value.startswith("[")):
            continue
        unit = read.unit or _unit_after(asked, prose, given[1])
        one = Located(how="labelled", text=text, entries=read.values, unit=unit)
        if found["index"] is None:
            last = one
        else:
            parts[int(found["index"])] = one
    if last is not None and (asked.value.startswith("[") or len(last.entries) == 1):
        return last
    first = min(parts, default=2)
    if first > 1 or sorted(parts) != list(range(first, first + len(parts))):
        return None
    joined = _join([parts[index] for index in sorted(parts)])
    return replace(joined, how="labelled")


def _unit_after(asked: CertifiedValue, prose: str, end: int) -> str | None:
    """The word after a number, when it is a unit; of a pure number nobody asks for one."""
    found = re.match(r"\s?([^\s,;.()|]+)", prose[end : end + 40])
    word = found[1].strip("$`*") if found else ""
    if not word or asked.unit is None:
        return word if word in ("%", "percent", "‰", "ppm") else None
    return word if is_unit_in_prose(word, certified=asked.unit) else None


def _sole_number(problem: Problem, prose: str) -> Located | None:
    """The only number that is not one of the statement's."""
    stated = find_stated_numbers(problem.statement)
    new = [number for number in find_numbers(prose) if number.value not in stated]
    if not new or len({number.value for number in new}) > 1:
        return None
    number = max(new, key=lambda one: one.digits)
    return Located(
        how="sole_number",
        text=str(number.value),
        entries=(Entry(number.value, Decimal(0), number.digits),),
        unit=_unit_after(problem.values[0], prose, number.end),
    )
