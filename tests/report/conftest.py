"""Run directories made by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from scisolve_batch.records import Problem, Solution
from scisolve_batch.rundir import RunDir

sys.path.insert(0, str(Path(__file__).parent))  # so that tests here share their records

from handmade import manifest, problem

MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Write a run directory from problems and solutions; its path."""

    def make(
        solutions: Iterable[Solution] = (),
        *,
        problems: Iterable[Problem] | None = None,
        name: str = "run-1",
        samples: int = 1,
        **fields: Any,
    ) -> Path:
        solutions = tuple(solutions)
        if problems is None:
            names = dict.fromkeys(each.problem_id for each in solutions)
            problems = [problem(each) for each in names]
        plan = manifest(problems, samples=samples, **({"run_id": name} | fields))
        with RunDir.create(tmp_path / "runs" / name, plan) as run:
            by_id = {each.id: each for each in plan.problems}
            for each in solutions:
                folder = run.problem(each.problem_id, each.sample)
                folder.prepare(by_id[each.problem_id])
                for cell in each.cells:
                    folder.write_cell(cell)
                folder.write_solution(each)
        return run.path

    return make
