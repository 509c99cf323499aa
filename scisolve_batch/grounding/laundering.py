"""Taking support away from numbers that the cells only copied from their own source code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from scisolve_batch.grounding.constants import MOST_CONSTANTS, Constant, find_constants
from scisolve_batch.grounding.judged import Judged, Page
from scisolve_batch.grounding.match import Match
from scisolve_batch.grounding.origins import find_copies, find_joins, find_sums
from scisolve_batch.grounding.policy import Question
from scisolve_batch.grounding.replay import Finding, Replay
from scisolve_batch.grounding.sources import Number, Pool
from scisolve_batch.grounding.static import find_static_copies
from scisolve_batch.records import Verdict

_SUM = re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s*[-+]\s*(?:\d+\.\d|\.\d)")
_RUN = re.compile(r"\d[\d_.]*")
MOST_ORIGINS = 3
"""Ways from constants to a number that are tried."""
MOST_SUPPORTS = 5000
"""Supporting numbers of a literal that are tested; one with more is a size or a count."""


def expose_copies(pages: Sequence[Page], question: Question, pool: Pool) -> None:
    """Fail the literals whose only support was copied from a constant of the source.

    Without a re-run only what can be seen in the code is failed, and nothing is doubted.
    """
    cells = question.cells
    codes = [cell.code for cell in cells]  # a failed cell may have set what a later one prints
    look = None if question.rerun is not None else _Look.at(codes)
    suspects = [
        judged
        for page in pages
        for judged in page.judged
        if judged.verdict is Verdict.GROUNDED and judged.chosen is not None
        if page.where != "answer" or not judged.item.small  # needs no source anyway
        if look is None or all(look.holds(one.number) for one in judged.matches)
    ]
    if not suspects:
        return
    given = {abs(one.value) for one in pool.numbers if pool.texts[one.source].cell is None}
    constants = [one for one in find_constants(codes) if one.value not in given]
    if not constants:
        return
    replay = None
    if question.rerun is not None:
        replay = Replay(cells, question.rerun)
    trial = _Trial(pool, codes, constants[:MOST_CONSTANTS], replay)
    for judged in suspects:
        trial.judge(judged)


@dataclass(frozen=True, slots=True)
class _Look:
    """The cheap first look: the runs of digits of the code, points aside."""

    runs: tuple[str, ...]
    joined: str
    sums: bool
    """Two constants are added or subtracted somewhere."""

    @classmethod
    def at(cls, codes: Sequence[str]) -> _Look:
        text = "\n".join(codes)
        runs = [run.replace(".", "").replace("_", "") for run in _RUN.findall(text)]
        stripped = tuple(run.strip("0") for run in runs if len(run) > 1)
        return cls(stripped, "".join(runs), bool(_SUM.search(text)))

    def holds(self, number: Number) -> bool:
        """Whether a constant of the code may begin with a number's digits."""
        digits = "".join(map(str, number.value.as_tuple().digits)).strip("0")
        begun = digits[:-1] if len(digits) > 2 else digits
        if len(digits) < 2:
            return False
        return self.sums or digits in self.joined or any(run.startswith(begun) for run in self.runs)


@dataclass(slots=True)
class _Trial:
    """What is known so far about the printed numbers of one session."""

    pool: Pool
    codes: list[str]
    constants: list[Constant]
    replay: Replay | None
    findings: dict[int, Finding] = field(default_factory=dict)
    seen: set[tuple[int, str]] | None = None

    def judge(self, judged: Judged) -> None:
        """Take a literal's support away when every number that supports it was copied."""
        supports = judged.matches
        if len(supports) > MOST_SUPPORTS or any(
            self.pool.texts[one.number.source].cell is None for one in supports
        ):
            return
        parameter: Match | None = None
        unknown = False
        for match in supports:
            finding = self.findings.get(id(match.number))
            if finding is None:
                finding = self.findings[id(match.number)] = self.test(match.number)
            if finding is Finding.COMPUTED:
                return
            if finding is Finding.PARAMETER:
                parameter = match
            unknown = unknown or finding is Finding.UNKNOWN
        if parameter is not None:
            judged.chosen = Match(parameter.number, "parameter")
        elif unknown:
            judged.verdict, judged.reason = Verdict.UNKNOWN, "not_reproduced"
        else:
            judged.fail("constant", judged.chosen.number if judged.chosen else None)

    def test(self, number: Number) -> Finding:
        """What is known about one printed number."""
        if len(number.value.as_tuple().digits) - (number.place >= 0) < 2:
            return Finding.COMPUTED
        before = [one for one in self.constants if one.cell <= number.source]
        if (number.source, number.text) in self.static():
            return Finding.COPIED
        if self.replay is None:
            return Finding.COMPUTED
        copies = list(find_copies(number, before))
        origins = copies or [*find_joins(number, before), *find_sums(number, before)]
        for origin in origins[:MOST_ORIGINS]:
            finding = self.replay.test(number, origin)
            if finding is not Finding.COMPUTED:
                return finding
        return Finding.COMPUTED

    def static(self) -> set[tuple[int, str]]:
        """The copies that can be seen without running anything."""
        if self.seen is None:
            self.seen = find_static_copies(self.codes, self.constants)
        return self.seen
