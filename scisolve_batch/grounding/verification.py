"""Whether the check that an answer names could have happened.

It asks for one of the six kinds and for a cell that succeeded and printed something. It does not
ask whether that output proves what the description says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from scisolve_batch.grounding.check import check_grounding
from scisolve_batch.grounding.evidence import find_empty_check
from scisolve_batch.records import Cell, Grounding, Verification, VerificationKind

KINDS = tuple(kind.value for kind in VerificationKind)
"""The six kinds, as a model writes them."""

_DECIMAL = re.compile(r"[-+−–]?(\d[\d.,]*)(?:[eE][-+]?\d+|\s?[×x*]\s?10\S+)?\s?%?")
_LONGEST_NUMBER = 9
_LONGEST_QUOTE = 60
_ADVICE = "give the number of the cell whose output shows the check"


def check_verification(raw: object, cells: Sequence[Cell]) -> Verification:
    """Read and check the `verification` of a finish call.

    Args:
        raw: what the model sent, in whatever shape.
        cells: every cell of the session, failed ones included.

    Returns:
        What was read; `reason` is a sentence to act on when it is not valid.
    """
    if not isinstance(raw, Mapping):
        got = "nothing was given" if raw is None else f"it is {_quote(raw)}"
        wanted = '{"kind": ..., "description": ..., "evidence_cell": ...}'
        return Verification(kind="", reason=f"{got}; send an object like {wanted}")
    kind, description = raw.get("kind"), raw.get("description")
    number = _read_number(raw.get("evidence_cell"))
    reason = _kind_fault(kind) or _cell_fault(raw.get("evidence_cell"), number, cells)
    return Verification(
        kind=kind if isinstance(kind, str) else "" if kind is None else _quote(kind),
        description=_as_text(description),
        evidence_cell=number,
        valid=not reason,
        reason=reason,
    )


def _read_number(given: object) -> int | None:
    """An integer, or a string of its digits; True and 2.0 are neither."""
    if isinstance(given, str):
        given = given.strip()
        if given.isascii() and given.isdigit() and len(given) <= _LONGEST_NUMBER:
            return int(given)
        return None
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _kind_fault(kind: object) -> str:
    if isinstance(kind, str) and kind in KINDS:
        return ""
    got = "missing" if kind is None else _quote(kind)
    return f"`kind` is {got}; it must be one of {', '.join(KINDS)}"


def _cell_fault(given: object, number: int | None, cells: Sequence[Cell]) -> str:
    if number is None:
        got = "missing" if given is None else f"{_quote(given)}, not a whole number"
        return f"`evidence_cell` is {got}; {_ADVICE}"
    if not cells:
        return f"`evidence_cell` is {number}, but no cell was run; run a check and name its cell"
    cell = next((one for one in cells if one.index == number), None)
    if cell is None:
        ran = ", ".join(str(one.index) for one in cells[:8])
        if len(cells) > 8:
            ran = f"{cells[0].index} to {cells[-1].index}"
        return f"`evidence_cell` is {_quote(number)}, but the cells run are {ran}; {_ADVICE}"
    if not cell.ok:
        how = cell.status.value if cell.integrity else "it interfered with its session"
        return (
            f"`evidence_cell` is {number}, but cell {number} failed ({how}), so its output is no "
            "evidence; run the check in a cell that succeeds and name that one"
        )
    if not cell.stdout.strip():
        return (
            f"`evidence_cell` is {number}, but cell {number} printed nothing; "
            "print what the check shows and name the cell that prints it"
        )
    return ""


def _as_text(description: object) -> str:
    if isinstance(description, str):
        return description
    return "" if description is None else _quote(description)


def _quote(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # an integer of thousands of digits cannot be turned into text
        return "a huge number"
    return shown if len(shown) <= _LONGEST_QUOTE else shown[: _LONGEST_QUOTE - 1] + "…"


def find_weakness(
    verification: Verification, cells: Sequence[Cell], grounding: Grounding, problem: str = ""
) -> str:
    """Why a valid check shows little; empty when nothing speaks against it.

    Weak is evidence that holds no number, that compares a value with itself, that prints constants
    of its own code only, that is the only cell which the answer's numbers come from, or whose
    description quotes numbers that were never printed. It is recorded and warned about, and
    refuses nothing.
    """
    if not verification.valid:
        return ""
    cell = next(one for one in cells if one.index == verification.evidence_cell)
    if not any(character.isdigit() for character in cell.stdout):
        return f"cell {cell.index} printed no number"
    ran = [one.code for one in cells if one.ok and one.index <= cell.index]
    if empty := find_empty_check(ran, len(ran) - 1, cell.stdout):
        return f"cell {cell.index} {empty}"
    support = {item.cell for item in grounding.literals if item.cell is not None}
    if support == {cell.index}:
        return f"cell {cell.index} is the cell that the answer's own numbers come from"
    return _find_unprinted(verification.description, cells, grounding.policy, problem)


def _find_unprinted(description: str, cells: Sequence[Cell], policy: str, problem: str) -> str:
    """The first result that a description quotes and nothing printed, as a weakness."""
    if not any(character.isdigit() for character in description):
        return ""
    for literal in check_grounding(description, cells, problem, policy=policy).ungrounded:
        if _is_result(literal.text):
            return f"its description quotes {literal.text}, which nothing printed"
    return ""


def _is_result(text: str) -> bool:
    """Whether a number of a description reports something: `pi^2/6` and `2^100` say how it was done."""
    found = _DECIMAL.fullmatch(text.strip())
    return found is not None and len(found[1].replace(".", "").replace(",", "").strip("0")) >= 3
