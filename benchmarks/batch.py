"""What the machinery costs per problem: CPU of parent, workers and sessions, memory, wall time.

    python benchmarks/batch.py --problems 1000 --jobs 8

Runs generated suites of scripted problems with two small NumPy cells, at N/10 and at N problems,
so that growth shows; and prints CPU milliseconds per problem and the parent's memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from scisolve_batch.batch import runner, templates
from scisolve_batch.batch.progress import Silence
from scisolve_batch.records import Settings
from scisolve_batch.suite import load_suite

SCRIPT = """\
- run_python: |
    values = np.linalg.eigvals(np.array([[2.0, 1.0], [1.0, 3.0]]))
    print("largest =", values.max())
- run_python: print("trace", values.sum(), "determinant", values.prod())
- finish_solution:
    answer: The largest eigenvalue is 3.618034.
    verification: {kind: invariant, description: trace and determinant, evidence_cell: 2}
    values: [{name: largest, value: "3.618034"}]
"""


def write_suite(folder: Path, count: int) -> Path:
    (folder / "script.yaml").write_text(SCRIPT)
    entries = "\n".join(
        f"- {{id: p{n}, statement: Largest eigenvalue?, solution: script.yaml, "
        f'values: [{{name: largest, value: "3.6180339887498949", rtol: 1.0e-6}}]}}'
        for n in range(count)
    )
    path = folder / "bench.yaml"
    path.write_text(f"format: 1\nid: bench\nproblems:\n{entries}\n")
    return path


def cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measure(count: int, jobs: int) -> dict[str, float]:
    """One run; CPU milliseconds per problem, MB and wall seconds."""
    before_exit: list[float] = []
    leave = templates.TemplateKeeper.__exit__

    def note_and_leave(self: templates.TemplateKeeper, *trouble: object) -> None:
        before_exit.append(cpu(resource.RUSAGE_CHILDREN))  # the workers; the template is alive
        leave(self, *trouble)  # type: ignore[arg-type]

    templates.TemplateKeeper.__exit__ = note_and_leave  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = load_suite(write_suite(folder, count))
        own, children, wall = cpu(resource.RUSAGE_SELF), cpu(resource.RUSAGE_CHILDREN), time.time()
        outcome = runner.run_suite(
            suite.problems,
            suite=suite.ref,
            settings=Settings(jobs=jobs),
            out=folder / "run",
            progress=lambda _: Silence(),
        )
        wall = time.time() - wall
        assert outcome.unfinished == 0
    templates.TemplateKeeper.__exit__ = leave  # type: ignore[method-assign]
    workers = before_exit[0] - children
    sessions = cpu(resource.RUSAGE_CHILDREN) - before_exit[0]
    per = 1000 / count
    return {
        "parent ms": (cpu(resource.RUSAGE_SELF) - own) * per,
        "workers ms": workers * per,
        "template and sessions ms": sessions * per,
        "parent peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "wall s": wall,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    for count in (max(1, options.problems // 10), options.problems):
        found = measure(count, options.jobs)
        print(f"{count} problems, {options.jobs} workers, two cells each; per problem:")
        for name, value in found.items():
            print(f"  {name:<26} {value:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
