"""What is left of a run, and whether it may be continued with what is asked for now."""

from __future__ import annotations

from collections.abc import Sequence

from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.batch.worker import utc_now
from scisolve_batch.errors import FATAL_MODEL_ERRORS
from scisolve_batch.model.budget import Spend
from scisolve_batch.model.prices import NANO
from scisolve_batch.problemdir import ProblemDir
from scisolve_batch.records import (
    Failure,
    JournalEvent,
    JournalLine,
    Manifest,
    PlannedProblem,
    Settings,
    Solution,
    StopReason,
)
from scisolve_batch.rundir import RunDir
from scisolve_batch.settings import FREE_SETTINGS, describe_differences


def is_final(stop_reason: StopReason, failure: Failure | None) -> bool:
    """Whether a record stands: it was neither interrupted nor stopped by the run's own failure."""
    if stop_reason is StopReason.INTERRUPTED:
        return False
    return failure is None or failure.kind not in FATAL_MODEL_ERRORS


def _stands(solution: Solution | None) -> bool:
    return solution is not None and is_final(solution.stop_reason, solution.failure)


def plan_rest(run: RunDir) -> list[Attempt]:
    """The attempts that a run still needs, in the order of its plan.

    A record on disk counts even when its line in the journal is missing: the process can have
    died between the two.
    """
    last_attempt: dict[tuple[str, int], int] = {}
    given_up: set[tuple[str, int]] = set()  # attempts of which another one was to follow
    for line in run.journal():
        if line.problem_id is None or line.sample is None:
            continue
        key = (line.problem_id, line.sample)
        last_attempt[key] = max(last_attempt.get(key, 0), line.attempt or 1)
        if line.event is JournalEvent.LOST:
            given_up.add(key)
        else:
            given_up.discard(key)
    rest = []
    for planned, solution in run.solutions():
        key = (planned.problem_id, planned.sample)
        if _stands(solution) and key not in given_up:
            continue
        rest.append(Attempt(*key, last_attempt.get(key, 0) + 1))
    return rest


def settle_unsaid(run: RunDir) -> None:
    """Journal the records that are on disk but not in the journal: somebody died in between."""
    said = {
        (line.problem_id, line.sample)
        for line in run.journal()
        if line.event is JournalEvent.SETTLED
    }
    left = {attempt.key for attempt in plan_rest(run)}
    for planned, solution in run.solutions():
        key = (planned.problem_id, planned.sample)
        if solution is not None and key not in said | left:
            run.log(
                JournalLine(
                    event=JournalEvent.SETTLED,
                    at=utc_now(),
                    problem_id=planned.problem_id,
                    sample=planned.sample,
                    attempt=solution.attempt,
                    detail="its record was found on disk",
                    digest=run.problem(*key).digest(),
                )
            )


def spent_so_far(run: RunDir) -> Spend:
    """What every record of a run has spent, earlier attempts included."""
    total = Spend()
    for path in (run.path / "problems").glob("*/solution.json"):
        solution = ProblemDir(path.parent).read_solution()
        if solution is not None:
            nano = round((solution.cost_usd or 0.0) * NANO)
            total += Spend(solution.usage.total, nano)
    return total


def differences(
    manifest: Manifest,
    settings: Settings,
    *,
    planned: Sequence[PlannedProblem] | None = None,
) -> list[str]:
    """What would change between a run and its continuation, a line each; empty when nothing.

    Args:
        manifest: what the run set out to do.
        settings: what is asked for now.
        planned: what the suite plans now; None when the run's own plan is taken.
    """
    found = describe_differences(manifest, settings, free=FREE_SETTINGS)
    if planned is not None:
        found += _plan_differences(manifest.planned, planned)
    return found


def _plan_differences(before: Sequence[PlannedProblem], now: Sequence[PlannedProblem]) -> list[str]:
    old = {(item.problem_id, item.sample): item.digest for item in before}
    new = {(item.problem_id, item.sample): item.digest for item in now}
    found = []
    for key in sorted(old.keys() | new.keys()):
        name = key[0] if key[1] == 1 else f"{key[0]} (sample {key[1]})"
        if key not in new:
            found.append(f"{name}: dropped from the suite")
        elif key not in old:
            found.append(f"{name}: new in the suite")
        elif old[key] != new[key]:
            found.append(f"{name}: changed in the suite")
    return found
