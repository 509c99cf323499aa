"""A text while it is judged: its items, their supports, and the clauses they stand in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from scisolve_batch.grounding.items import Item, Kind
from scisolve_batch.grounding.literals import Reading
from scisolve_batch.grounding.match import Match
from scisolve_batch.grounding.names import Clauses, words_of
from scisolve_batch.grounding.sources import Number
from scisolve_batch.records import Verdict

_PLUS_MINUS = re.compile(r"\s*(?:±|\+/-|\+-)\s*")
_LIST = re.compile(r"\s*(?:,\s*and\s|,|\band\b|&)\s*")


@dataclass(slots=True, eq=False)
class Judged:
    """An item with the number that was chosen for it."""

    item: Item
    verdict: Verdict
    reason: str = ""
    matches: Sequence[Match] = ()
    chosen: Match | None = None
    nearest: Number | None = None
    score: float = 0.0
    """How well the label of the chosen number fits the clause."""
    chance: float | None = None
    note: str = ""
    """What a refusal adds: the pair a result was derived from, the unit that is known."""
    warnings: tuple[str, ...] = ()

    def fail(self, reason: str, number: Number | None) -> None:
        """Take the support away again."""
        self.verdict, self.reason = Verdict.UNGROUNDED, reason
        self.nearest, self.chosen, self.matches, self.chance = number, None, (), None


@dataclass(slots=True)
class Page:
    """One text of the question while it is judged."""

    where: str
    raw: str
    reading: Reading
    clauses: Clauses
    judged: list[Judged] = field(default_factory=list)

    def span(self, item: Item) -> tuple[int, int]:
        """The place of an item in the text as it stands."""
        return self.reading.text.span(item.start, item.end)

    def words(self, item: Item) -> frozenset[str]:
        """The words of the clause that an item stands in."""
        first, last = self.clauses.around(item.start, item.end)
        return frozenset(words_of(self.reading.text.clean[first:last]))

    def own_words(self, judged: Judged) -> frozenset[str]:
        """The words of a literal's clause; `respectively` pairs names and numbers in order."""
        first, last = self.clauses.around(judged.item.start, judged.item.end)
        clause = self.reading.text.clean[first:last]
        if "respectively" in clause:
            numbers = [
                one
                for one in self.judged
                if first <= one.item.start < last and one.item.kind is not Kind.NAME
            ]
            before = self.reading.text.clean[first : numbers[0].item.start]
            parts = [part for part in _LIST.split(before) if part.strip()][-len(numbers) :]
            if len(parts) == len(numbers):
                return frozenset(words_of(parts[numbers.index(judged)]))
        return frozenset(words_of(clause))

    def beside(self, item: Item) -> Number | None:
        """The printed number of the value whose uncertainty an item is."""
        last = self.judged[-1] if self.judged else None
        if last is None or last.chosen is None:
            return None
        between = self.reading.text.clean[last.item.end : item.start]
        return last.chosen.number if item.error or _PLUS_MINUS.fullmatch(between) else None

    def used(self, item: Item) -> set[int]:
        """The printed numbers that the clause has quoted so far; a list quotes each once."""
        first, _ = self.clauses.around(item.start, item.end)
        found = set()
        for one in reversed(self.judged):
            if one.item.start < first:
                break
            if one.chosen:
                found.add(id(one.chosen.number))
        return found
