"""Runs scripted solutions and reference computations, for the self-test of suites.

Scripts pass through the same pool, executor and loop as a run; nothing of them is kept.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scisolve_batch.audit import Recompute
from scisolve_batch.batch.progress import Progress
from scisolve_batch.batch.runner import run_suite
from scisolve_batch.errors import UsageError
from scisolve_batch.executor import ExecutionLimits, SessionSource, SessionSpec, Template
from scisolve_batch.records import Problem, Settings, Solution
from scisolve_batch.rundir import RunDir
from scisolve_batch.suite import Reference, Suite


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


REFERENCE_S = 60.0
"""Processor seconds that a reference computation may take."""

# What prints the values of a reference computation, all digits of them; runs after its file.
_PRINT = """
def _text(value):
    from decimal import Decimal, localcontext
    from fractions import Fraction
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, Fraction):
        with localcontext(prec=60):
            return str(Decimal(value.numerator) / value.denominator)
    if hasattr(value, "_mpc_"):
        import mpmath
        return mpmath.nstr(value.real, 40) + ("" if value.imag < 0 else "+") + mpmath.nstr(value.imag, 40) + "j"
    if hasattr(value, "_mpf_"):
        import mpmath
        return mpmath.nstr(value, 40)
    return str(value)

for _name, _value in ({expression}).items():
    print("VALUE", _name, "=", _text(_value))
"""


@contextmanager
def recomputer() -> Iterator[Recompute]:
    """A function that runs reference computations, each in a session of its own.

    One that suites share is run once; without any, nothing is started.
    """
    known: dict[tuple[str, Reference], Mapping[str, str] | str] = {}
    with ExitStack() as stack:
        source: SessionSource | None = None

        def recompute(problem: Problem, reference: Reference) -> Mapping[str, str] | str:
            nonlocal source
            key = problem.digest, reference
            if key not in known:
                if source is None:
                    source = stack.enter_context(stack.enter_context(Template.start()).connect())
                known[key] = _recompute(problem, reference, source)
            return known[key]

        yield recompute


def _recompute(
    problem: Problem, reference: Reference, source: SessionSource
) -> Mapping[str, str] | str:
    """The values that a reference computation gives, or the last line of its error."""
    with tempfile.TemporaryDirectory(prefix="reference-") as folder:
        workdir, figures = Path(folder) / "work", Path(folder) / "figures"
        workdir.mkdir()
        figures.mkdir()
        for file in problem.data:
            shutil.copyfile(file.path, workdir / file.file)
        limits = ExecutionLimits(cell_s=REFERENCE_S)
        session = source.open(SessionSpec(workdir=workdir, figures=figures, seed=0, limits=limits))
        try:
            code = Path(reference.path).read_text(encoding="utf-8")
            cell = session.run(code + _PRINT.replace("{expression}", reference.expression))
        finally:
            session.close()
    if not cell.ok:
        return (cell.traceback.strip().splitlines() or [cell.note or cell.status.value])[-1]
    return dict(re.findall(r"^VALUE (\S+) = (.*)$", cell.stdout, re.MULTILINE))
