"""A batch from Python: the smoke suite with its scripted solutions, and what came of it."""

import os
import tempfile
from pathlib import Path

from scisolve_batch import RunDir, Settings, load_suite, run_suite
from scisolve_batch.batch.progress import Silence

suite = load_suite("smoke")
with tempfile.TemporaryDirectory() as folder:
    outcome = run_suite(
        suite.problems,
        suite=suite.ref,
        settings=Settings(jobs=os.cpu_count() or 2),
        out=Path(folder) / "smoke",
        progress=lambda _: Silence(),
    )
    solutions = {plan.problem_id: found for plan, found in RunDir.read(outcome.path).solutions()}

for name, solution in solutions.items():
    print(f"{name:<32} grounded {solution.grounded}  correct {solution.correct}")
assert outcome.unfinished == 0
assert all(solution.grounded and solution.correct for solution in solutions.values())
