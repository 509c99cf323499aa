"""From samples read together to the columns of every table, one list a column.

A column is one pass over its records: no row and no dictionary is made in between. It never
raises on what a record may hold, and loads no numpy, pandas or pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, cast

from scisolve_batch.records import (
    FAILING,
    CellReplay,
    CellStatus,
    CertifiedValue,
    Limits,
    Manifest,
    Problem,
    ProblemLimits,
    ReplayVerdict,
    SampleReplay,
    Solution,
    StopReason,
    Usage,
)
from scisolve_batch.report.results import LOST, NOT_RUN, UNREADABLE, Batch

NEAR = 0.8
"""A limit counts as nearly reached above this share of it."""

Columns = dict[str, list[Any]]
"""Columns of one table, all of the same length."""

_AROUND = 48  # characters of the answer shown on each side of a number
_FAILING = frozenset(verdict.value for verdict in FAILING)
_LOST = frozenset(reason.value for reason in LOST)
_FINISHED = StopReason.FINISHED.value
_OK = CellStatus.OK.value
_TOKENS = tuple(Usage.model_fields)

_NOBODY = cast(  # stands for a record that is not there
    "Solution",
    SimpleNamespace(
        stop_reason=None,
        grade=SimpleNamespace(correct=None, fraction=None, values=()),
        usage=SimpleNamespace(**dict.fromkeys(_TOKENS)),
        started_at="",
        refusals=(),
        turns=(),
        cells=(),
        **dict.fromkeys(
            (
                "attempt", "seed", "failure", "answer", "verification", "grounding",
                "cost_usd", "duration_s", "model_s", "wait_s", "cell_s",
            )
        ),
    ),
)  # fmt: skip


def columns_of(name: str, manifest: Manifest, batch: Batch) -> Columns:
    """The columns that a batch adds to a table other than `runs`, in any order."""
    return _MAKERS[name](manifest, batch)


def read_time(text: str) -> datetime | None:
    """A time as the records write it, in UTC; None when it is none."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _plain(items: Sequence[Any], *names: str) -> Columns:
    """Fields of records as columns."""
    return {name: list(map(attrgetter(name), items)) for name in names}


def _lists(items: Sequence[Any], name: str) -> Columns:
    """A field that holds several texts as a column."""
    return {name: list(map(list, map(attrgetter(name), items)))}


def _key(manifest: Manifest, batch: Batch, counts: Iterable[int]) -> Columns:
    """What names a sample, once for each of its rows."""
    counted = list(zip(batch.planned, counts, strict=True))
    names = [planned.problem_id for planned, count in counted for _ in range(count)]
    return {
        "run_id": [manifest.run_id] * len(names),
        "problem_id": names,
        "sample": [planned.sample for planned, count in counted for _ in range(count)],
    }


def _total(usage: Usage) -> int:
    """All tokens, unreported ones counted as none."""
    return (
        (usage.input_tokens or 0)
        + (usage.output_tokens or 0)
        + (usage.cache_write_tokens or 0)
        + (usage.cache_read_tokens or 0)
    )


def _items(solution: Solution) -> Sequence[Any]:
    return solution.grounding.literals if solution.grounding else ()


def _ok(cell: Any) -> bool:
    return bool(cell.status == _OK and cell.integrity)


def _solutions(manifest: Manifest, batch: Batch) -> Columns:
    problems = batch.problems
    solutions = [solution or _NOBODY for solution in batch.solutions]
    return {
        **_key(manifest, batch, [1] * len(solutions)),
        "suite_id": [manifest.suite.id] * len(solutions),
        "model": [manifest.model] * len(solutions),
        "problem_digest": [planned.digest for planned in batch.planned],
        **_plain(problems, "title", "domain", "difficulty", "twin_of"),
        **_lists(problems, "tags"),
        **_plain(solutions, "attempt", "seed"),
        "started_at": [read_time(solution.started_at) for solution in solutions],
        **_ends(batch, solutions),
        **_grades(solutions),
        **_checks(solutions),
        **_counts(solutions),
        **_plain([solution.usage for solution in solutions], *_TOKENS),
        "total_tokens": [_total(solution.usage) for solution in solutions],
        **_plain(solutions, "cost_usd", "duration_s", "model_s", "wait_s", "cell_s"),
        "near_limits": list(map(_Near(manifest.limits).limits, problems, batch.solutions)),
        "reproduced": [_reproduced(replay) for replay in batch.replays],
    }


def _reproduced(replay: SampleReplay | None) -> bool | None:
    verdicts = {cell.verdict for cell in replay.cells} if replay else set()
    if ReplayVerdict.DIFFERS in verdicts:
        return False
    return True if verdicts == {ReplayVerdict.REPRODUCED} else None


def _ends(batch: Batch, solutions: Sequence[Solution]) -> Columns:
    """How the samples ended, and what may be said of them for that."""
    finished = [solution.stop_reason == _FINISHED for solution in solutions]
    missing = [s.stop_reason is None or s.stop_reason in _LOST for s in solutions]
    ends = list(zip(solutions, finished, missing, strict=True))
    checks = [solution.verification for solution in solutions]
    found = list(zip(solutions, batch.troubles, strict=True))
    return {
        "outcome": [
            (s.grounding.verdict if s.grounding else "unchecked") if done else "unfinished"
            for s, done, _ in ends
        ],
        "cause": [
            solution.stop_reason or (UNREADABLE if trouble else NOT_RUN)
            for solution, trouble in found
        ],
        "missing": missing,
        "failure_kind": [s.failure.kind if s.failure else None for s in solutions],
        "failure_message": [
            s.failure.message if s.failure else trouble or None for s, trouble in found
        ],
        "finished": finished,
        "grounded": [
            None if lost else done and s.grounding is not None and s.grounding.verdict == "grounded"
            for s, done, lost in ends
        ],
        "verified": [
            None if lost else done and check is not None and check.valid
            for (_, done, lost), check in zip(ends, checks, strict=True)
        ],
        "correct": [
            _correct(problem, solution, lost=lost, done=done)
            for problem, (solution, done, lost) in zip(batch.problems, ends, strict=True)
        ],
    }


def _correct(problem: Problem, solution: Solution, *, lost: bool, done: bool) -> bool | None:
    if lost:
        return None
    return solution.grade.correct if done else False if problem.values else None


def _grades(solutions: Sequence[Solution]) -> Columns:
    values = [solution.grade.values for solution in solutions]
    digits = [[v.correct_digits for v in each if v.correct_digits is not None] for each in values]
    return {
        "fraction": [solution.grade.fraction for solution in solutions],
        "worst_correct_digits": [min(each) if each else None for each in digits],
        "traps": [[grade.trap for grade in grades if grade.trap] for grades in values],
        "answer": [solution.answer for solution in solutions],
    }


def _checks(solutions: Sequence[Solution]) -> Columns:
    checks = [solution.verification for solution in solutions]
    return {
        "verification_kind": [check.kind if check else None for check in checks],
        "verification_valid": [check.valid if check else None for check in checks],
        "verification_reason": [check.reason if check else None for check in checks],
        "verification_weakness": [check.weakness if check else None for check in checks],
        "verification_description": [check.description if check else None for check in checks],
        "evidence_cell": [check.evidence_cell if check else None for check in checks],
    }


def _counts(solutions: Sequence[Solution]) -> Columns:
    literals = [s.grounding.literals if s.grounding else () for s in solutions]
    failing = [[item.text for item in items if item.verdict in _FAILING] for items in literals]
    chances = [[item.chance for item in items if item.chance is not None] for items in literals]
    return {
        "literals": list(map(len, literals)),
        "failing_literals": list(map(len, failing)),
        "failing_texts": failing,
        "expected_coincidences": [sum(each) if each else None for each in chances],
        "refusals": [len(solution.refusals) for solution in solutions],
        "turns": [len(solution.turns) for solution in solutions],
        "cells": [len(solution.cells) for solution in solutions],
        "cells_ok": [
            len([c for c in s.cells if c.status == _OK and c.integrity]) for s in solutions
        ],
        "retried": [
            (solution.attempt or 1) > 1 or bool([t for t in solution.turns if t.attempts > 1])
            for solution in solutions
        ],
    }


class _Near:
    """Finds the limits that a sample nearly reached. Few problems have limits of their own."""

    def __init__(self, run: Limits) -> None:
        self.run = run
        self.known: dict[tuple[float | None, ...], tuple[float, ...]] = {}

    def thresholds(self, own: ProblemLimits) -> tuple[float, ...]:
        """Turns, seconds of the problem, seconds of a cell, and MiB that count as near."""
        mine = (own.max_turns, own.problem_s, own.cell_s, own.memory_mb)
        found = self.known.get(mine)
        if found is None:
            run = self.run
            others = (run.max_turns, run.problem_s, run.cell_s, run.memory_mb)
            limits = [b if a is None else a for a, b in zip(mine, others, strict=True)]
            found = self.known[mine] = tuple(NEAR * limit for limit in limits)
        return found

    def limits(self, problem: Problem, solution: Solution | None) -> list[str]:
        """Their names."""
        if solution is None:
            return []
        turns, problem_s, cell_s, memory_mb = self.thresholds(problem.limits)
        max_tokens, cells = self.run.max_tokens, solution.cells
        near = ["turns"] if len(solution.turns) > turns else []
        if max_tokens is not None and _total(solution.usage) > NEAR * max_tokens:
            near.append("tokens")
        if solution.duration_s - solution.wait_s > problem_s:
            near.append("problem_s")
        if [cell for cell in cells if cell.wall_s > cell_s]:
            near.append("cell_s")
        if [cell for cell in cells if (cell.peak_memory_mb or 0) > memory_mb]:
            near.append("memory_mb")
        if [cell for cell in cells if cell.stdout_dropped or cell.stderr_dropped]:
            near.append("output_kb")
        return near


def _context(answer: str, literal: Any) -> str:
    if literal.where != "answer":
        return ""
    return " ".join(answer[max(0, literal.start - _AROUND) : literal.end + _AROUND].split())


def _literals(manifest: Manifest, batch: Batch) -> Columns:
    each = [_items(solution) if solution else () for solution in batch.solutions]
    items = [item for items in each for item in items]
    return {
        **_key(manifest, batch, map(len, each)),
        "literal": [number for items in each for number in range(1, len(items) + 1)],
        **_plain(items, "text", "where", "start", "end", "value", "verdict"),
        "failing": [item.verdict in _FAILING for item in items],
        **_plain(items, "reason", "relation", "source", "cell", "line", "printed", "label"),
        **_plain(items, "nearest", "chance"),
        **_lists(items, "warnings"),
        "context": [
            _context(solution.answer or "", item)
            for solution, items in zip(batch.solutions, each, strict=True)
            if solution
            for item in items
        ],
    }


def _cells(manifest: Manifest, batch: Batch) -> Columns:
    each = [solution.cells if solution else () for solution in batch.solutions]
    cells = [cell for cells in each for cell in cells]
    replays: list[CellReplay | None] = []
    for replay, cells_of_one in zip(batch.replays, each, strict=True):
        known = {again.cell: again for again in replay.cells} if replay else {}
        replays += [known.get(cell.index) for cell in cells_of_one]
    return {
        **_key(manifest, batch, map(len, each)),
        "cell": [cell.index for cell in cells],
        "status": [cell.status for cell in cells],
        "ok": list(map(_ok, cells)),
        **_plain(cells, "state", "note"),
        **_plain(batch.texts, "code", "stdout", "stderr"),
        **_plain(cells, "traceback", "stack", "wall_s", "cpu_s", "peak_memory_mb"),
        **_plain(cells, "stdout_dropped", "stderr_dropped", "alarms", "snapshot", "threads"),
        **_plain(cells, "integrity"),
        **_lists(cells, "figures"),
        "replay": [again.verdict.value if again else None for again in replays],
        "replay_detail": [again.detail if again else None for again in replays],
    }


def _values(manifest: Manifest, batch: Batch) -> Columns:
    each = [solution.grade.values if solution else () for solution in batch.solutions]
    grades = [grade for grades in each for grade in grades]
    owned = list(zip(batch.problems, each, strict=True))
    certified = [_certified(problem, grade) for problem, grades in owned for grade in grades]
    return {
        **_key(manifest, batch, map(len, each)),
        "domain": [problem.domain for problem, grades in owned for _ in grades],
        **_plain(grades, "name", "certified", "reported", "unit", "verdict", "how"),
        **_plain(grades, "relative_error", "correct_digits", "claimed_digits"),
        "certified_digits": [value.digits for value in certified],
        **_plain(certified, "rtol", "atol", "exact"),
        "trap": [grade.trap for grade in grades],
    }


_UNKNOWN = CertifiedValue(name="", value="")


def _certified(problem: Problem, grade: Any) -> CertifiedValue:
    for value in problem.values:
        if value.name == grade.name:
            return value
    return _UNKNOWN


def _turns(manifest: Manifest, batch: Batch) -> Columns:
    each = [solution.turns if solution else () for solution in batch.solutions]
    turns = [turn for turns in each for turn in turns]
    return {
        **_key(manifest, batch, map(len, each)),
        "turn": [turn.index for turn in turns],
        **_plain(turns, "stop_reason", "model"),
        **_plain([turn.usage for turn in turns], *_TOKENS),
        **_plain(turns, "duration_s", "wait_s", "first_event_s", "attempts", "request_id"),
        **_plain(turns, "cost_usd"),
        **_lists(turns, "errors"),
    }


_MAKERS = {
    "solutions": _solutions,
    "literals": _literals,
    "cells": _cells,
    "values": _values,
    "turns": _turns,
}
