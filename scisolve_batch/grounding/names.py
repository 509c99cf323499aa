"""The names that printed numbers carry, and whether a quoted number stands under its own.

A label is what stands on the line before a number. Names only raise doubts: a literal is accused
when its own number's label shares no word with its sentence while another label fits it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scisolve_batch.grounding.units import read_unit

if TYPE_CHECKING:
    from scisolve_batch.grounding.sources import Number, Pool

_WORDS = re.compile(r"(?<![\d.])[^\W\d_]+")
_STOP = frozenset((
    "the", "a", "an", "of", "at", "is", "in", "for", "and", "to", "by", "with", "from", "on", "as", "per",
    "or", "its", "it", "are", "was", "be", "value", "result", "np", "float", "int", "array", "none",
    "dtype", "print", "we", "i", "get", "run", "gives", "that", "this",
))  # fmt: skip
_SHORT = {
    short: word
    for word, shorts in {
        "maximum": "max maximal largest", "minimum": "min minimal smallest", "error": "err",
        "mean": "avg average", "deviation": "std sd stdev", "standard": "se", "output": "out",
        "frequency": "freq", "temperature": "temp", "probability": "prob", "coefficient": "coef coeff",
        "number": "num count", "iteration": "iter iters niter", "evaluation": "eval evals nfev",
        "relative": "rel", "absolute": "abs", "difference": "diff delta", "estimate": "est estimated",
        "initial": "init", "root": "sqrt", "variance": "var", "correlation": "corr rho",
        "residual": "res resid", "reference": "ref", "solution": "sol", "position": "pos",
        "velocity": "vel speed", "acceleration": "acc", "amplitude": "amp", "total": "tot",
        "lower": "lo low", "upper": "hi high", "eigenvalue": "eig lambda", "square": "squared",
        "loss": "lost",
    }.items()
    for short in shorts.split()
}  # fmt: skip
"""Words that code uses for others; both are read as the long one."""
_UNIT = re.compile(r"['\")\]]{0,2}\s?([A-Za-zµΩ°/²³^]+)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BREAK = re.compile(r"\n|[;!?](?=\s|$)|(?<!\b[A-Za-z])(?<!Fig)(?<!Eq)(?<!Sec)(?<!approx)\.(?=\s|$)")
SURE = 0.99
FITS = 0.7
MOST_HOLDERS = 8
"""A word that more labels hold tells nothing apart."""
MISSING = 0.25
"""A label's words that a sentence lacks count this much against it."""


def words_of(text: str) -> tuple[str, ...]:
    """The meaningful words of a text, lower case, without plural endings."""
    found = []
    for word in _WORDS.findall(_CAMEL.sub(" ", text)):
        lower = word.lower()
        if lower in _STOP:
            continue
        if len(lower) > 3 and lower.endswith("s") and not lower.endswith("ss"):
            lower = lower[:-1]
        found.append(_SHORT.get(lower, lower))
    return tuple(found)


@dataclass(slots=True)
class Label:
    """Words that stand before numbers, and these numbers: a row shares the label of its first."""

    numbers: list[Number]
    text: str
    words: frozenset[str]


@dataclass(slots=True)
class Names:
    """Every label of a pool, and which labels hold a word."""

    labels: dict[int, Label] = field(default_factory=dict)
    holders: dict[str, list[Label]] = field(default_factory=dict)

    def label(self, number: Number) -> Label | None:
        """The label of a number, if it has one."""
        return self.labels.get(id(number))

    def is_p_value(self, number: Number) -> bool:
        """Whether a number is printed as a p-value or a probability."""
        label = self.label(number)
        return bool(label and label.words & {"p", "pvalue", "probability"})

    def score(self, label: Label | None, clause: frozenset[str]) -> float:
        """How much of a label stands in a clause; rare words count more."""
        if label is None:
            return 0.0
        held = missing = 0.0
        for word in label.words:
            weight = 1 / len(self.holders[word])
            if word in clause:
                held += weight
            else:
                missing += weight
        return held - MISSING * missing if held else 0.0

    def fit(self, label: Label | None, clause: frozenset[str]) -> float:
        """The share of a label that stands in a clause, 0 to 1."""
        if label is None:
            return 0.0
        whole = sum(1 / len(self.holders[word]) for word in label.words)
        held = sum(1 / len(self.holders[word]) for word in label.words if word in clause)
        return held / whole if whole else 0.0

    def rivals(self, clause: frozenset[str]) -> list[Label]:
        """The labels that a clause nearly spells out, with a word that only they hold."""
        found: dict[int, Label] = {}
        for word in clause:
            for label in self.holders.get(word, ())[:MOST_HOLDERS]:
                found[id(label)] = label
        return [label for label in found.values() if self._fits(label, clause)]

    def _fits(self, label: Label, clause: frozenset[str]) -> bool:
        whole = sum(1 / len(self.holders[word]) for word in label.words)
        held = sum(1 / len(self.holders[word]) for word in label.words if word in clause)
        return held >= SURE and held >= FITS * whole


def collect_names(pool: Pool) -> Names:
    """The labels of every printed number."""
    names = Names()
    end, source = 0, -1
    before = ""
    last: Label | None = None
    for number in pool.numbers:
        if number.source != source:
            source, end, before, last = number.source, 0, "", None
        text = pool.texts[source].text
        if pool.texts[source].cell is None:
            continue
        if number.start < end:  # another reading of the same digits
            continue
        line = text.rfind("\n", end, number.start) + 1
        first = max(end, line)
        if line > end or end == 0:
            before, last = "", None
        segment = text[first : number.start]
        end_before, end = end, number.end
        if first == end_before and (unit := _UNIT.match(segment)) and read_unit(unit[1]):
            segment = segment[unit.end() :]
        words = frozenset(words_of(segment)) if len(segment) > 1 else None
        if not words:
            if last is not None:
                last.numbers.append(number)
                names.labels[id(number)] = last
            continue
        if all(len(word) == 1 for word in words) and before:
            words |= frozenset(words_of(before))
        before = segment
        label = last = Label([number], segment.strip(" \t:=|,;([{'\"")[-80:], words)
        names.labels[id(number)] = label
        for word in words:
            names.holders.setdefault(word, []).append(label)
    return names


@dataclass(frozen=True, slots=True)
class Clauses:
    """A text cut into sentences, list items and table rows."""

    text: str
    breaks: Sequence[int]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """The clause that a span stands in."""
        at = bisect_right(self.breaks, start)
        first = self.breaks[at - 1] if at else 0
        at = bisect_right(self.breaks, end)
        return first, self.breaks[at] if at < len(self.breaks) else len(self.text)


def cut_clauses(text: str) -> Clauses:
    """Find the ends of the sentences and lines of a text."""
    return Clauses(text, [found.end() for found in _BREAK.finditer(text)])
