"""What the place of a number makes of it: a reference, a list marker, a level, a shared percent."""

from __future__ import annotations

from dataclasses import dataclass

from scisolve_batch.grounding import forms
from scisolve_batch.grounding.context import is_level, read_setting, reference_before
from scisolve_batch.grounding.items import Item, Kind


@dataclass(slots=True)
class Surroundings:
    """A clean text and the items found in it so far."""

    text: str
    items: list[Item]
    markers: int = 0
    """The last list marker at the beginning of a line."""

    def place(self, item: Item) -> None:
        """References, list markers and customary levels are structural; cited years are names."""
        text = self.text
        written = text[item.start : item.end]
        percent = item.shifts == (0, -2)
        digits = written.rstrip("% \\").strip()
        if is_level(text, digits, start=item.start, end=item.end, percent=percent):
            item.kind, item.why = Kind.STRUCTURAL, "level"
        elif item.signed or item.exact or not forms.SHORT_REFERENCE.fullmatch(written):
            return
        elif forms.YEAR.fullmatch(written) and forms.is_cited(text, item.start, item.end):
            item.kind, item.why = Kind.NAME, "citation"
        elif why := self._reference(item):
            item.kind, item.why = Kind.STRUCTURAL, why

    def _reference(self, item: Item) -> str:
        kind = reference_before(self.text, item.start, item.end)
        if kind == "document" or (kind == "place" and item.integer):
            return "place" if kind == "place" else "reference"
        if self._continues_reference(item):
            return self.items[-1].why
        marked = forms.LIST_MARKER.match(self.text, item.start)
        if marked and forms.line_start(self.text, item.start) and item.value <= self.markers + 1:
            self.markers = int(item.value)
            return "marker"
        return ""

    def _continues_reference(self, item: Item) -> bool:
        """`Figures 2 and 3`, `cells 1-4`."""
        last = self.items[-1] if self.items else None
        return bool(
            last
            and last.kind is Kind.STRUCTURAL
            and last.why in ("reference", "place")
            and item.integer
            and forms.CONNECTED.fullmatch(self.text, last.end, item.start)
        )

    def share_percent(self, item: Item) -> None:
        """In `3.1 and 4.2 %` or `12.5 ± 0.3 %` the sign counts for each number."""
        at = len(self.items) - 1
        start = item.start
        while at >= 0 and len(self.items) - at <= 8:
            other = self.items[at]
            if other.kind is not Kind.NUMBER or other.shifts != (0,) or other.unit:
                break
            if not forms.SHARED.fullmatch(self.text, other.end, start):
                break
            other.shifts = item.shifts
            start, at = other.start, at - 1


def apply_setting(item: Item, text: str) -> None:
    """Note what the words before a number say about it."""
    setting = read_setting(text, item.start)
    if setting.flipped and not item.signed:
        item.value = item.value.copy_negate()
        item.signed = item.flipped = True
    item.loose, item.bound, item.order = setting.loose, setting.bound, setting.order
    item.magnitude, item.odds = setting.magnitude, setting.odds
