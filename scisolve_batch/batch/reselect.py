"""Which problems of an earlier run are worth running again.

It reads the run directory only; whether the problems are still the same is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from scisolve_batch.errors import RunDirError, UsageError
from scisolve_batch.records import PlannedProblem, Solution
from scisolve_batch.rundir import RunDir

Which = Literal["failed", "unfinished", "ungrounded", "incorrect"]
"""What became of a problem, as far as it is a reason to run it again; `failed` is any of these."""

KINDS: tuple[Which, ...] = get_args(Which)


def ids_of(run: Path, which: Sequence[Which]) -> list[str]:
    """Problems of a run of which some sample is of one of these kinds, in the run's order.

    Args:
        run: the run directory, finished or not.
        which: `unfinished` without an accepted answer, or not run at all; `ungrounded` with a
            number that nothing supports; `incorrect` with a value that is not met; `failed` any
            of them. `ungrounded` and `incorrect` are asked of finished samples only.

    Raises:
        RunDirError: it is no run directory.
        UsageError: no problem of the run is of these kinds.
    """
    opened = RunDir.read(run)
    found: dict[str, None] = {}  # a set that keeps its order
    for planned in opened.manifest.planned:
        if _kinds(opened, planned).intersection(which):
            found[planned.problem_id] = None
    if not found:
        raise UsageError(f"no problem of {run} is {' or '.join(which)}; there is nothing to run")
    return list(found)


def _kinds(run: RunDir, planned: PlannedProblem) -> set[Which]:
    try:
        solution = run.problem(planned.problem_id, planned.sample).read_solution()
    except RunDirError:
        solution = None  # a record that cannot be read shows no answer
    if solution is None or not solution.finished:
        return {"failed", "unfinished"}
    faults = _faults(solution)
    return faults | {"failed"} if faults else faults


def _faults(solution: Solution) -> set[Which]:
    faults: set[Which] = set()
    if not solution.grounded:
        faults.add("ungrounded")
    if solution.correct is False:
        faults.add("incorrect")
    return faults
