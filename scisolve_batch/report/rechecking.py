"""Check recorded answers again with today's rules, and say what would come out otherwise.

Nothing is run and nothing is written into the run directory: the recorded output is the
evidence. What depends on re-running cells cannot be checked here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from scisolve_batch import grading, grounding
from scisolve_batch.files import encode_json, write_whole
from scisolve_batch.grading import grade
from scisolve_batch.grounding import POLICIES, check_grounding
from scisolve_batch.records import (
    FAILING,
    Cell,
    Grade,
    Grounding,
    GroundingVerdict,
    Literal,
    Problem,
    Record,
    Solution,
    Verdict,
)
from scisolve_batch.report.comparison import LiteralFlip
from scisolve_batch.report.results import Result, read_results, read_text
from scisolve_batch.report.summary import Rate
from scisolve_batch.report.tally import rate_of
from scisolve_batch.rundir import RunDir

TOLERANCES = (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2)
"""Relative differences that the sensitivity forgives, one after the other."""
WEAK = 0.05
"""Support that an invented number finds with a higher probability is weak."""


class VerdictFlip(Record):
    """A sample that is judged otherwise today."""

    problem_id: str
    """The problem."""
    sample: int
    """Its sample."""
    measure: str
    """`grounded` or `correct`."""
    recorded: str
    """The verdict in the record."""
    today: str
    """The verdict today."""


class Recheck(Record):
    """A run, judged again."""

    run_id: str
    """Name of the run."""
    recorded_policy: str
    """The policy it was judged by."""
    policy: str
    """The policy it is judged by now."""
    checked: int
    """Finished samples that were judged again."""
    left: int
    """Samples without an answer, which were not."""
    recorded: Rate
    """Grounded rate as recorded."""
    today: Rate
    """Grounded rate today."""
    recorded_correct: Rate
    """Correct rate as recorded."""
    today_correct: Rate
    """Correct rate today."""
    flips: tuple[VerdictFlip, ...]
    """Samples judged otherwise."""
    literals: tuple[LiteralFlip, ...]
    """Numbers judged otherwise."""


class Variant(Record):
    """The grounded rate under another rule."""

    name: str
    """The rule, in a few words."""
    grounded: Rate
    """The rate under it."""
    flips: int
    """Samples it judges otherwise than the record."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A finished sample with its recorded and its new verdicts."""

    result: Result
    solution: Solution
    grounding: Grounding
    grade: Grade


def recheck(
    run: RunDir | Path | str, policy: str | None = None, *, cache: Path | None = None
) -> Recheck:
    """Judge every recorded answer again.

    Args:
        run: the run.
        policy: the grounding policy; none means the run's own.
        cache: a folder in which verdicts are kept by the digest of all they depend on, the rules
            included, so that judging again costs a look-up.

    Raises:
        RunDirError: it is not a run directory.
        UsageError: there is no such policy.
    """
    run = run if isinstance(run, RunDir) else RunDir.read(run)
    policy = policy or run.manifest.grounding
    check_grounding("", (), policy=policy)  # an unknown policy is refused before any work
    results = list(read_results(run))
    judged = [item for item in (_judge(r, policy=policy, cache=cache) for r in results) if item]
    now = {id(item.result): item for item in judged}
    return Recheck(
        run_id=run.manifest.run_id,
        recorded_policy=run.manifest.grounding,
        policy=policy,
        checked=len(judged),
        left=len(results) - len(judged),
        recorded=_rate((r, _grounded(r)) for r in results),
        today=_rate(
            (r, now[id(r)].grounding.grounded if id(r) in now else _grounded(r)) for r in results
        ),
        recorded_correct=_rate((r, r.correct) for r in results),
        today_correct=_rate(
            (r, now[id(r)].grade.correct if id(r) in now else r.correct) for r in results
        ),
        flips=tuple(flip for item in judged for flip in _flips(item)),
        literals=tuple(flip for item in judged for flip in _literal_flips(item)),
    )


def sensitivity(run: RunDir | Path | str) -> tuple[Variant, ...]:
    """The grounded rate under other rules and tolerances, from what is recorded.

    The record itself comes first; then each policy, judged again; then the recorded verdicts
    with a forgiven relative difference to the nearest printed number, without weak support, and
    with a source required for small integers too.

    Raises:
        RunDirError: it is not a run directory.
    """
    run = run if isinstance(run, RunDir) else RunDir.read(run)
    results = list(read_results(run))

    def variant(name: str, passes: Callable[[Result], bool | None]) -> Variant:
        outcomes = [(result, passes(result)) for result in results]
        flips = sum(after != _grounded(result) for result, after in outcomes)
        return Variant(name=name, grounded=_rate(outcomes), flips=flips)

    found = [variant("as recorded", _grounded)]
    for policy in POLICIES:

        def judge_again(result: Result, policy: str = policy) -> bool | None:
            judged = _judge(result, policy=policy)
            return judged.grounding.grounded if judged else _grounded(result)

        found.append(variant(f"policy {policy}", judge_again))
    for tolerance in TOLERANCES:

        def forgiven(item: Literal, tolerance: float = tolerance) -> bool:
            return item.verdict not in FAILING or _distance(item) <= tolerance

        found.append(variant(f"within {tolerance:g} of a printed number", _every(forgiven)))
    weak = _every(lambda item: item.verdict not in FAILING and (item.chance or 0.0) <= WEAK)
    found.append(variant(f"without support of chance above {WEAK:g}", weak))
    strict = _every(lambda item: item.verdict not in FAILING and not _small(item))
    found.append(variant("small integers need a source", strict))
    return tuple(found)


def _grounded(result: Result) -> bool | None:
    if result.missing or result.solution is None:
        return None
    return result.solution.grounded


def _every(passes: Callable[[Literal], bool]) -> Callable[[Result], bool | None]:
    """A rule that holds for a result when it holds for each of its recorded literals."""

    def rule(result: Result) -> bool | None:
        recorded = _grounded(result)
        solution = result.solution
        if recorded is None or solution is None or not solution.finished:
            return recorded
        checked = solution.grounding
        if checked is None or checked.verdict is GroundingVerdict.NOTHING_COMPUTED:
            return recorded
        if not checked.literals:
            return recorded
        return all(passes(item) for item in checked.literals)

    return rule


def _distance(item: Literal) -> float:
    """Relative difference of a failing number to the nearest printed one."""
    try:
        value = float(item.value if item.value is not None else item.text)
        near = float((item.nearest or item.printed or "").replace(",", ""))
    except ValueError:
        return float("inf")
    largest = max(abs(value), abs(near))
    return abs(value - near) / largest if largest else 0.0


def _small(item: Literal) -> bool:
    if item.verdict is not Verdict.STRUCTURAL or item.value is None:
        return False
    try:
        value = float(item.value)
    except ValueError:
        return False
    return value.is_integer() and 0 <= value <= 10


def _rate(outcomes: Iterable[tuple[Result, bool | None]]) -> Rate:
    rows = [
        {"problem_id": result.planned.problem_id, "passes": passes}
        for result, passes in outcomes
        if passes is not None or result.missing
    ]
    return rate_of(rows, "passes")


def _judge(result: Result, *, policy: str, cache: Path | None = None) -> _Judged | None:
    solution = result.solution
    if solution is None or not solution.finished or solution.answer is None:
        return None
    cells = tuple(
        cell.model_copy(
            update={"stdout": read_text(result.folder.cells / f"{cell.index:02d}.out") or ""}
        )
        for cell in solution.cells
    )
    file = None
    if cache is not None:
        file = cache / f"{_digest(result.problem, solution, cells, policy)}.json"
        if (kept := _read_kept(file)) is not None:
            return _Judged(result, solution, *kept)
    checked = check_grounding(
        solution.answer, cells, result.problem.statement, policy=policy, values=solution.values
    )
    graded = grade(result.problem, answer=solution.answer, values=solution.values)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        kept_data = {
            "grounding": checked.model_dump(mode="json"),
            "grade": graded.model_dump(mode="json"),
        }
        write_whole(file, encode_json(kept_data))
    return _Judged(result, solution, checked, graded)


class _Kept(Record):
    grounding: Grounding
    grade: Grade


def _read_kept(file: Path) -> tuple[Grounding, Grade] | None:
    try:
        kept = _Kept.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None
    return kept.grounding, kept.grade


@cache
def _rules_digest() -> bytes:
    """Digest of the rules' own source: verdicts of other rules are not these rules' verdicts."""
    digest = hashlib.sha256()
    for package in (grounding, grading):
        start = Path(package.__file__ or "")
        files = sorted(start.parent.glob("*.py")) if start.name == "__init__.py" else [start]
        for file in files:
            digest.update(file.read_bytes())
    return digest.digest()


def _digest(problem: Problem, solution: Solution, cells: Sequence[Cell], policy: str) -> str:
    digest = hashlib.sha256(_rules_digest())
    inputs = {
        "policy": policy,
        "problem": [problem.statement, [value.model_dump(mode="json") for value in problem.values]],
        "known_wrong": [item.model_dump(mode="json") for item in problem.known_wrong],
        "answer": solution.answer,
        "values": [value.model_dump(mode="json") for value in solution.values],
        "cells": [[cell.index, cell.ok, cell.stdout] for cell in cells],
    }
    digest.update(encode_json(inputs))
    return digest.hexdigest()


def _flips(item: _Judged) -> Iterable[VerdictFlip]:
    before = item.solution.grounding.verdict.value if item.solution.grounding else "unchecked"
    pairs = (
        ("grounded", before, item.grounding.verdict.value),
        ("correct", _word(item.solution.grade), _word(item.grade)),
    )
    for measure, recorded, today in pairs:
        if recorded != today:
            yield VerdictFlip(
                problem_id=item.result.planned.problem_id,
                sample=item.result.planned.sample,
                measure=measure,
                recorded=recorded,
                today=today,
            )


def _word(given: Grade) -> str:
    return {True: "correct", False: "wrong", None: "not graded"}[given.correct]


def _literal_flips(item: _Judged) -> Iterable[LiteralFlip]:
    recorded = item.solution.grounding.literals if item.solution.grounding else ()
    before = {(one.where, one.start): one for one in recorded}
    after = {(one.where, one.start): one for one in item.grounding.literals}
    for key in sorted({*before, *after}):
        first, second = before.get(key), after.get(key)
        if (first.verdict if first else None) == (second.verdict if second else None):
            continue
        known = first or second
        assert known is not None
        yield LiteralFlip(
            problem_id=item.result.planned.problem_id,
            sample=item.result.planned.sample,
            where=known.where,
            text=known.text,
            first=first.verdict.value if first else None,
            second=second.verdict.value if second else None,
        )
