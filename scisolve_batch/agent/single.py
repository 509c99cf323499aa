"""`Agent`: solve problems from Python, one at a time, without a run directory."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from scisolve_batch.agent.events import Observer, ignore
from scisolve_batch.agent.loop import solve
from scisolve_batch.executor import Template
from scisolve_batch.executor.base import ExecutionLimits, SessionSource, SessionSpec
from scisolve_batch.grounding import DEFAULT_POLICY
from scisolve_batch.model import open_model
from scisolve_batch.model.base import Model
from scisolve_batch.records import Limits, Problem, Solution


class Agent:
    """A model with an executor.

    Args:
        model: a `Model`, or the name of a live one like `anthropic:claude-haiku-5-5`, whose key
            is read from the environment.
        limits: what a problem may use.
        grounding: name of the policy that traces numbers to their source.
        source: where sessions come from; by default a process of its own for each `solve`.

    Example:
        >>> from scisolve_batch import Agent, ScriptedModel, finish, run_python
        >>> model = ScriptedModel([
        ...     run_python("print('half of pi is', np.pi / 2)"),
        ...     run_python("print('arcsin 1 is', np.arcsin(1.0))"),
        ...     finish("It is 1.5708.", verification=("independent_method", "arcsin", 2)),
        ... ])
        >>> solution = Agent(model=model).solve("What is half of pi?")
        >>> solution.answer, solution.grounded, solution.verification.kind
        ('It is 1.5708.', True, 'independent_method')
    """

    def __init__(
        self,
        *,
        model: Model | str,
        limits: Limits | None = None,
        grounding: str = DEFAULT_POLICY,
        source: SessionSource | None = None,
        observe: Observer = ignore,
    ) -> None:
        self._open: Callable[[], Model] = (
            (lambda: open_model(model)) if isinstance(model, str) else (lambda: model)
        )
        self._limits = limits or Limits()
        self._grounding = grounding
        self._source = source
        self._observe = observe

    def solve(self, problem: Problem | str) -> Solution:
        """Solve one problem in a new session.

        Args:
            problem: a statement, or a problem of a suite.

        Raises:
            SessionError: no executor can be started on this machine.
            UsageError: there is no such model, or no key for it.
        """
        if isinstance(problem, str):
            problem = problem_from_text(problem)
        if self._source is not None:
            return self._solve_from(self._source, problem)
        with Template.start() as template, template.connect() as source:
            return self._solve_from(source, problem)

    def _solve_from(self, source: SessionSource, problem: Problem) -> Solution:
        with tempfile.TemporaryDirectory(prefix="scisolve-") as folder:
            work, figures = Path(folder, "work"), Path(folder, "figures")
            work.mkdir()
            figures.mkdir()
            for data in problem.data:
                (work / data.file).write_bytes(Path(data.path).read_bytes())
            spec = SessionSpec(
                workdir=work,
                figures=figures,
                seed=problem.seed or 0,
                limits=ExecutionLimits(
                    cell_s=self._limits.cell_s,
                    memory_mb=self._limits.memory_mb,
                    output_bytes=self._limits.output_kb * 1024,
                ),
            )
            model = self._open()
            session = source.open(spec)
            try:
                return solve(
                    problem,
                    model=model,
                    session=session,
                    limits=self._limits,
                    grounding=self._grounding,
                    observe=self._observe,
                )
            finally:
                session.close()


def problem_from_text(statement: str) -> Problem:
    """A problem that is only a statement; its id is the start of the statement's digest."""
    digest = hashlib.sha256(statement.encode("utf-8", "backslashreplace")).hexdigest()
    return Problem(id=f"problem-{digest[:8]}", statement=statement, digest=digest)
