"""Telling computed numbers from copied ones by running the cells again with changed constants.

A constant is changed in the digits that are shown. If the printed number follows it and nothing
else moves, it was copied; if other numbers move too, it is a parameter of the computation. When
the run cannot be reproduced the answer is unknown, never a pass or a failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from scisolve_batch.grounding.constants import Constant, rewrite
from scisolve_batch.grounding.items import CONTEXT
from scisolve_batch.grounding.origins import Origin, agrees
from scisolve_batch.grounding.policy import Rerun
from scisolve_batch.grounding.sources import Number, read_printed
from scisolve_batch.records import Cell, CellStatus, SessionState

_FORGIVEN = """\
try:
    exec(compile({code!r}, "<cell>", "exec"))
except (Exception, SystemExit):
    pass
"""
"""A cell that failed in the record may fail again."""
MOST_RERUNS = 12
"""Runs of the whole session that one check may cost."""


class Finding(StrEnum):
    """What a re-run says about a printed number and the constants it may come from."""

    COMPUTED = "computed"  # it does not follow them
    PARAMETER = "parameter"  # it follows them, and results do too
    COPIED = "copied"  # it follows them, and nothing else does
    UNKNOWN = "unknown"


class _Spent(Exception):
    """The budget of runs is used up."""


@dataclass(slots=True)
class Replay:
    """The recorded session, and what it prints when it is run again.

    Attributes:
        cells: every cell of the session. Those that raised are run again for what they set; those
            that were killed or undone are not.
        rerun: runs codes in a fresh session.
        runs: how often it was asked.
    """

    cells: Sequence[Cell]
    rerun: Rerun
    runs: int = 0
    codes: list[str] = field(init=False)
    _known: dict[str, list[list[Number]] | None] = field(default_factory=dict)
    _base: list[list[Number]] | None = None
    _stable: bool | None = None

    def __post_init__(self) -> None:
        self.codes = [cell.code if cell.ok or _has_effect(cell) else "" for cell in self.cells]

    def reproduces(self) -> bool:
        """Whether the unchanged cells print the recorded numbers again."""
        if self._stable is None:
            again = self._run(self.codes)
            self._base = [read_printed(cell.stdout if cell.ok else "") for cell in self.cells]
            self._stable = again is not None and [
                [one.text for one in numbers] for numbers in again
            ] == [[one.text for one in numbers] for numbers in self._base]
        return self._stable

    def test(self, number: Number, origin: Origin) -> Finding:
        """Change the constants of an origin and see what follows."""
        try:
            if not self.reproduces():
                return Finding.UNKNOWN
            for step in (13, -17):
                finding = self._try(number, origin, step)
                if finding is not None:
                    return finding
        except _Spent:
            return Finding.UNKNOWN
        return Finding.PARAMETER

    def _try(self, number: Number, origin: Origin, step: int) -> Finding | None:
        """One changed run; None when it fails, which a constant without effect cannot cause."""
        changed = [_shift(group[0], number, origin, step) for group in origin.groups]
        outputs = self._run(self._changed(origin, changed))
        if outputs is None:
            return None
        expected = origin.value(changed)
        assert self._base is not None
        found, moved = self._compare(outputs, number, origin, changed)
        if found is None:
            return Finding.PARAMETER  # other lines were printed
        if not agrees(expected, found):
            return Finding.COMPUTED if found.text == number.text else Finding.PARAMETER
        return Finding.PARAMETER if moved else self._press(number, origin)

    def _press(self, number: Number, origin: Origin) -> Finding:
        """A constant that seems to have no effect is changed a lot: limits and tolerances show then."""
        for factor in (Decimal("0.013"), Decimal(71)):
            changed = [_stretch(group[0], factor) for group in origin.groups]
            outputs = self._run(self._changed(origin, changed))
            if outputs is None:
                return Finding.PARAMETER
            found, moved = self._compare(outputs, number, origin, changed)
            if found is None or moved:
                return Finding.PARAMETER
        return Finding.COPIED

    def _changed(self, origin: Origin, values: Sequence[Decimal]) -> list[str]:
        codes = list(self.codes)
        changes: dict[int, list[tuple[Constant, Decimal]]] = {}
        for group, value in zip(origin.groups, values, strict=True):
            for constant in group:
                moved = value if constant is group[0] else _like(constant, group[0], value)
                changes.setdefault(constant.cell, []).append((constant, moved))
        for cell, some in changes.items():
            codes[cell] = rewrite(codes[cell], some)
        return codes

    def _compare(
        self,
        outputs: list[list[Number]],
        number: Number,
        origin: Origin,
        changed: Sequence[Decimal],
    ) -> tuple[Number | None, bool]:
        """The number's new self, and whether anything but echoes of the constants moved."""
        assert self._base is not None
        found, moved = None, False
        for place, (old, new) in enumerate(zip(self._base, outputs, strict=True)):
            if len(old) != len(new):
                return None, True
            for before, after in zip(old, new, strict=True):
                if place == number.source and before.start == number.start:
                    found = after if found is None or before.text == number.text else found
                elif before.text != after.text and not _is_echo(before, after, origin, changed):
                    moved = True
        return found, moved

    def _run(self, codes: Sequence[str]) -> list[list[Number]] | None:
        """What changed cells print. The same change is run once, whatever numbers it is for."""
        key = "\0".join(codes)
        if key not in self._known:
            if self.runs >= MOST_RERUNS:
                raise _Spent
            self.runs += 1
            outputs = self.rerun(
                [
                    code if cell.ok or not code else _FORGIVEN.format(code=code)
                    for code, cell in zip(codes, self.cells, strict=True)
                ]
            )
            self._known[key] = None
            if outputs is not None and len(outputs) == len(self.cells):
                self._known[key] = [
                    read_printed(text if cell.ok else "")
                    for text, cell in zip(outputs, self.cells, strict=True)
                ]
        return self._known[key]


def _has_effect(cell: Cell) -> bool:
    """Whether a failed cell left in the session what it had done before it failed."""
    return cell.state is SessionState.KEPT and cell.status in (CellStatus.ERROR, CellStatus.EXIT)


def _is_echo(before: Number, after: Number, origin: Origin, changed: Sequence[Decimal]) -> bool:
    """Whether a number only shows the constants again, before and after the change."""
    for old, new in _shown(origin, changed):
        if not old or not before.value:
            continue
        power = before.value.adjusted() - old.adjusted()
        for step in (power, power - 1, power + 1):
            for sign in (1, -1):
                was = old.scaleb(step, CONTEXT) * sign
                will = new.scaleb(step, CONTEXT) * sign
                if agrees(was, before) and agrees(will, after):
                    return True
    return False


def _shown(origin: Origin, changed: Sequence[Decimal]) -> Iterator[tuple[Decimal, Decimal]]:
    values = [group[0].value for group in origin.groups]
    yield origin.value(values), origin.value(changed)
    yield from zip(values, changed, strict=True)


def _shift(constant: Constant, number: Number, origin: Origin, step: int) -> Decimal:
    """The constant with its last two shown digits changed."""
    if origin.how == "join":
        last = int(constant.value.scaleb(-constant.place, CONTEXT)) % 10
        return CONTEXT.add(constant.value, Decimal(1 if last < 9 else -1).scaleb(constant.place))
    place = max(number.place - origin.power, constant.place)
    size = step if constant.value.adjusted() - place >= 2 else (1 if step > 0 else -1)
    if constant.value.adjusted() - place == 1:
        size = 3 if step > 0 else -3
    moved = CONTEXT.add(constant.value, Decimal(size).scaleb(place, CONTEXT))
    return (
        moved
        if moved > 0
        else CONTEXT.add(constant.value, abs(Decimal(size)).scaleb(place, CONTEXT))
    )


def _like(constant: Constant, model: Constant, value: Decimal) -> Decimal:
    """Another spelling of the same constant, changed in the same way."""
    change = CONTEXT.subtract(value, model.value)
    power = constant.value.adjusted() - model.value.adjusted()
    return CONTEXT.add(constant.value, change.scaleb(power, CONTEXT))


def _stretch(constant: Constant, factor: Decimal) -> Decimal:
    moved = CONTEXT.multiply(constant.value, factor)
    if constant.place >= 0:
        return max(Decimal(1), moved.to_integral_value())
    return moved
