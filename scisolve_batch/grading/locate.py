"""Finding the number that an answer gives for a value.

First the structured values, then `name = number` in the prose, last the only number of an
answer to a one-value problem. Among several candidates nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from scisolve_batch.grading.numbers import (
    MAX_TEXT,
    find_numbers,
    find_stated_numbers,
    match_number,
    read_number,
    tidy,
)
from scisolve_batch.grading.units import read_unit
from scisolve_batch.records import Problem, ReportedValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """What an answer gives for one value."""

    how: str
    """`structured`, `labelled` or `sole_number`."""
    text: str
    """As it was written."""
    value: Decimal | None = None
    """The number, none when it cannot be read."""
    digits: int = 0
    """Significant digits as written."""
    unit: str | None = None
    """The unit that was given."""
    note: str = ""
    """Why it cannot be read."""


def locate(
    problem: Problem, *, answer: str | None, values: Sequence[ReportedValue]
) -> dict[str, Located]:
    """Find what an answer gives for each value of a problem, by name."""
    names = [value.name for value in problem.values]
    found = _structured(names, values)
    prose = tidy((answer or "")[:MAX_TEXT])
    for name in names:
        if name not in found:
            labelled = _labelled(name, prose)
            if labelled:
                found[name] = labelled
    if len(names) == 1 and not found:
        sole = _sole_number(problem, prose)
        if sole:
            found[names[0]] = sole
    return found


def _key(name: str) -> str:
    """Names that differ in case, dashes or decoration are the same name, if that is unique."""
    bare = re.sub(r"\s*[(\[][^()\[\]]*[)\]]\s*$", "", name)  # a unit in brackets
    return re.sub(r"[\s\-_`$*{}\\]+", "", bare).casefold()


def _structured(names: list[str], values: Sequence[ReportedValue]) -> dict[str, Located]:
    given: dict[str, list[ReportedValue]] = {}
    keys = [_key(name) for name in names]
    for value in values:
        name = value.name.strip()
        if name not in names and keys.count(_key(name)) == 1:
            name = names[keys.index(_key(name))]
        if value.value.strip() and value.value.strip().lower() not in ("null", "none"):
            given.setdefault(name, []).append(value)
    return {name: _read_all(given[name]) for name in names if name in given}


def _read_all(given: list[ReportedValue]) -> Located:
    read = [_read(value) for value in given]
    if len({(one.value, one.unit) for one in read}) > 1:
        texts = " and ".join(value.value for value in given)
        return Located(how="structured", text=texts, note="reported twice, differently")
    return read[-1]


def _read(given: ReportedValue) -> Located:
    number = read_number(given.value)
    if number is None:
        return Located(how="structured", text=given.value, note="not a number")
    value, digits, rest = number
    unit = given.unit.strip() if given.unit and given.unit.strip() else None
    if re.search("[0-9]", rest) and read_unit(rest) is None:
        return Located(how="structured", text=given.value, note=f"`{rest}` follows the number")
    if rest and unit is None:
        unit = rest
    elif rest and read_unit(rest) is None and rest != unit:
        return Located(how="structured", text=given.value, note=f"`{rest}` follows the number")
    return Located(how="structured", text=given.value, value=value, digits=digits, unit=unit)


_IS = r"(?:=|:|≈|≃|~|\||\bis\b|\bequals\b|\\approx|\\simeq)"
_DECORATION = r"[`*$|\s]{0,6}"
_HEDGE = r"(?:(?:approximately|about|roughly|equal to)\s+|[≈~=]\s*)?"
_EXPRESSION = r"(?:[-+*/^().\d\s√π]{1,40}=\s*)?"


def _labelled(name: str, prose: str) -> Located | None:
    """The last `name = number`; what is said last is meant."""
    label = re.compile(
        rf"(?<![\w.\\-]){re.escape(name)}(?!\w)[`*$}}]{{0,4}}\s{{0,3}}{_IS}{_DECORATION}{_HEDGE}"
        rf"{_EXPRESSION}{_DECORATION}(?=[-+]?\s?[0-9.])"
    )
    last = None
    for found in label.finditer(prose):
        number = match_number(prose, found.end())
        if number is not None:
            text = prose[found.end() : number.end]
            unit = _unit_after(prose, number.end)
            last = Located(
                how="labelled", text=text, value=number.value, digits=number.digits, unit=unit
            )
    return last


def _unit_after(prose: str, end: int) -> str | None:
    """The word after a number, when it is a unit."""
    found = re.match(r"\s?([^\s,;.()|]+)", prose[end : end + 40])
    return found[1].strip("$`*") if found and read_unit(found[1].strip("$`*")) else None


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
        value=number.value,
        digits=number.digits,
        unit=_unit_after(prose, number.end),
    )
