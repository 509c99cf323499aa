"""Runs scripted solutions one by one through the real executor and the real loop."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scisolve_batch.audit import RunScript
from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.batch.worker import Job, run_problem
from scisolve_batch.executor import Template
from scisolve_batch.model.scripted import ScriptedModel
from scisolve_batch.records import Problem, Settings, Solution


@contextmanager
def script_runner() -> Iterator[RunScript]:
    """A function that runs a script on a problem with a seed, and leaves nothing behind."""
    with Template.start() as template, template.connect() as source:

        def run_script(problem: Problem, script: str, seed: int) -> Solution:
            with tempfile.TemporaryDirectory(prefix="selftest-") as folder:
                return run_problem(
                    Job(
                        attempt=Attempt(problem.id),
                        problem=problem,
                        folder=Path(folder),
                        seed=seed,
                    ),
                    settings=Settings(),
                    source=source,
                    open_model=lambda *_, **__: ScriptedModel.from_file(script),
                )

        yield run_script
