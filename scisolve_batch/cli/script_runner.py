"""Runs scripted solutions as a batch does, for the self-test of suites.

They pass through the same pool, executor and loop as a run; nothing of them is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scisolve_batch.batch.progress import Progress
from scisolve_batch.batch.runner import run_suite
from scisolve_batch.errors import UsageError
from scisolve_batch.records import Problem, Settings, Solution
from scisolve_batch.rundir import RunDir
from scisolve_batch.suite import Suite


@dataclass(slots=True)
class ScriptRuns:
    """What the scripts of suites did. A script that suites share is run once for all."""

    times: int = 2
    """How often a scripted solution is run, with a seed of its own each time."""
    solutions: dict[tuple[str, str, int], Solution] = field(default_factory=dict)
    """By digest of the problem, path of the script and number of the run."""

    def __call__(self, problem: Problem, script: str, number: int) -> Solution:
        """What a script did when it was run for the first or second time."""
        return self.solutions[problem.digest, script, min(number, self.times)]

    def run(self, suite: Suite, *, jobs: int, progress: Callable[[int], Progress]) -> None:
        """Run the scripts of a suite that were not run yet.

        Raises:
            UsageError: it was interrupted.
            SessionError: no executor can be started on this machine.
        """
        for model, kind, times in (
            ("scripted", "solution", self.times),
            ("scripted:naive", "naive", 1),
        ):
            wanted = [
                problem
                for problem in suite.problems
                if (script := getattr(problem, kind)) is not None
                and (problem.digest, script, 1) not in self.solutions
            ]
            settings = Settings(model=model, samples=times, jobs=jobs, limits=suite.limits)
            for problem, number, solution in _run(suite, wanted, settings, progress):
                self.solutions[problem.digest, getattr(problem, kind), number] = solution


def _run(
    suite: Suite,
    problems: Sequence[Problem],
    settings: Settings,
    progress: Callable[[int], Progress],
) -> list[tuple[Problem, int, Solution]]:
    if not problems:
        return []
    by_id = {problem.id: problem for problem in problems}
    with tempfile.TemporaryDirectory(prefix="selftest-") as folder:
        outcome = run_suite(
            problems,
            suite=suite.ref,
            settings=settings,
            out=Path(folder) / "run",
            progress=progress,
        )
        found = [
            (by_id[planned.problem_id], planned.sample, solution)
            for planned, solution in RunDir.read(outcome.path).solutions()
            if solution is not None
        ]
    if outcome.unfinished:
        raise UsageError("interrupted; --no-run looks at the content alone")
    return found
