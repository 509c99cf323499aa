"""Each planned sample of a run with whatever its folder holds. Reading never raises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scisolve_batch.records import PlannedProblem, Problem, Solution, StopReason
from scisolve_batch.rundir import SOLUTION, ProblemDir, RunDir

LOST = frozenset({StopReason.MODEL_ERROR, StopReason.SESSION_LOST, StopReason.INTERRUPTED})
"""Ends that say nothing about the solver: the service, the machine or a person ended the work."""

NOT_RUN = "not_run"
UNREADABLE = "unreadable"
SCRIPTED = "scripted"


@dataclass(frozen=True)
class Result:
    """One planned sample with whatever is known about it."""

    planned: PlannedProblem
    """The line of the plan."""
    problem: Problem
    """The problem, or a bare one when the manifest does not hold it."""
    solution: Solution | None
    """Its record, none while there is none that can be read."""
    folder: ProblemDir
    """Where it was worked on."""
    trouble: str = ""
    """Why the record cannot be read."""

    @cached_property
    def cause(self) -> str:
        """Why the work ended, also when there is no record."""
        if self.solution is not None:
            return self.solution.stop_reason.value
        return UNREADABLE if self.trouble else NOT_RUN

    @cached_property
    def missing(self) -> bool:
        """The result says nothing about the solver."""
        return self.solution is None or self.solution.stop_reason in LOST

    @cached_property
    def outcome(self) -> str:
        """Where the sample stands in the ledger."""
        if self.solution is None or not self.solution.finished:
            return "unfinished"
        grounding = self.solution.grounding
        return grounding.verdict.value if grounding is not None else "unchecked"

    @cached_property
    def correct(self) -> bool | None:
        """All certified values are met; none when nothing is certified or the result is missing."""
        if self.missing or self.solution is None:
            return None
        if not self.solution.finished:
            return False if self.problem.values else None
        return self.solution.grade.correct


def scrub(value: Any) -> Any:
    """The same JSON value without lone surrogates, which no UTF-8 can carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {scrub(key): scrub(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrub(item) for item in value]
    return value


def read_solution(folder: ProblemDir) -> tuple[Solution | None, str]:
    """The record of a sample, or why it cannot be read. It does not raise."""
    try:
        data = (folder.path / SOLUTION).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        return None, f"cannot be read: {error.strerror or error}"
    try:
        return Solution.model_validate_json(data), ""
    except ValidationError:
        pass  # lone surrogates are legal in JSON and refused by the fast reader
    try:
        return Solution.model_validate(scrub(json.loads(data))), ""
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return None, f"not a solution record: {place}: {first['msg']}"
    except (ValueError, RecursionError) as error:
        return None, f"not a solution record: {error}"


def read_text(path: Path) -> str | None:
    """A file as text, or None when it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def read_results(run: RunDir) -> Iterator[Result]:
    """Every planned sample, in the order of the plan."""
    problems = {problem.id: problem for problem in run.manifest.problems}
    for planned in run.manifest.planned:
        problem = problems.get(planned.problem_id) or Problem(id=planned.problem_id, statement="")
        folder = run.problem(planned.problem_id, planned.sample)
        solution, trouble = read_solution(folder)
        yield Result(planned, problem, solution, folder, trouble)
