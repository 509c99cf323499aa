"""Taking support away from numbers that the cells only copied from their own source code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scisolve_batch.grounding.constants import MOST_CONSTANTS, Constant, find_constants
from scisolve_batch.grounding.judged import Judged, Page
from scisolve_batch.grounding.match import Match
from scisolve_batch.grounding.origins import Origin, find_copies, find_joins, find_sums
from scisolve_batch.grounding.policy import Question
from scisolve_batch.grounding.replay import Finding, Replay, open_replay
from scisolve_batch.grounding.sources import Number, Pool
from scisolve_batch.grounding.static import find_static_copies
from scisolve_batch.records import Verdict

MOST_SUPPORTS = 6
"""Supporting numbers of a literal that are tested; a literal with more is not a copied one."""


def expose_copies(pages: Sequence[Page], question: Question, pool: Pool) -> None:
    """Fail the literals whose only support was copied from a constant of the source.

    Without a re-run only what can be seen in the code is failed, and nothing is doubted.
    """
    cells = [cell for cell in question.cells if cell.ok]
    codes = [cell.code for cell in cells]
    given = {abs(one.value) for one in pool.numbers if pool.texts[one.source].cell is None}
    constants = [one for one in find_constants(codes) if one.value not in given]
    if not constants:
        return
    few = constants[:MOST_CONSTANTS]
    static = find_static_copies(codes, constants)
    replay = None
    if question.rerun is not None:
        replay = open_replay(codes, [cell.stdout for cell in cells], question.rerun)
    findings: dict[int, Finding] = {}
    for page in pages:
        for judged in page.judged:
            if judged.verdict is Verdict.GROUNDED and judged.chosen is not None:
                _expose(judged, pool, few, static, replay, findings)


def _expose(
    judged: Judged,
    pool: Pool,
    constants: Sequence[Constant],
    static: dict[tuple[int, str], bool],
    replay: Replay | None,
    findings: dict[int, Finding],
) -> None:
    supports = judged.matches
    if len(supports) > MOST_SUPPORTS or any(
        pool.texts[one.number.source].cell is None for one in supports
    ):
        return
    parameter: Match | None = None
    worst = Finding.COPIED
    for match in supports:
        finding = findings.get(id(match.number))
        if finding is None:
            finding = _test(match.number, constants, static, replay)
            findings[id(match.number)] = finding
        if finding is Finding.COMPUTED:
            return
        if finding is Finding.PARAMETER:
            parameter = match
        if finding is Finding.UNKNOWN:
            worst = Finding.UNKNOWN
    if parameter is not None:
        judged.chosen = Match(parameter.number, "parameter")
    elif worst is Finding.UNKNOWN:
        judged.verdict, judged.reason = Verdict.UNKNOWN, "not_reproduced"
    else:
        judged.fail("constant", judged.chosen.number if judged.chosen else None)


def _test(
    number: Number,
    constants: Sequence[Constant],
    static: dict[tuple[int, str], bool],
    replay: Replay | None,
) -> Finding:
    """What is known about one printed number."""
    before = [one for one in constants if one.cell <= number.source]
    origins = list(_origins(number, before))
    if not origins:
        return Finding.COMPUTED
    if (number.source, number.text) in static and origins[0].how == "copy":
        return Finding.COPIED
    if replay is None:
        return Finding.COMPUTED
    result = Finding.COMPUTED
    for origin in origins[:3]:
        finding = replay.test(number, origin)
        if finding is not Finding.COMPUTED:
            return finding
        result = finding
    return result


def _origins(number: Number, constants: Sequence[Constant]) -> Iterator[Origin]:
    if len(number.value.as_tuple().digits) - (number.place >= 0) < 2:
        return
    copies = list(find_copies(number, constants))
    yield from copies
    if not copies:
        yield from find_joins(number, constants)
        yield from find_sums(number, constants)
