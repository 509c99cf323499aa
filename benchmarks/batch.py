"""What the machinery costs per problem: CPU of parent, workers and sessions, memory, wall time.

    python benchmarks/batch.py --problems 10000 --jobs 2

Runs generated suites of scripted problems with two small NumPy cells, at N/10 and at N problems, so
that growth shows: the slope between both is what one more problem costs, without the start of the
run. CPU seconds depend on what else the machine does; yardsticks measured at the same time say by
how much: a loop of a million additions, one fork of a process with the same libraries, and one new
file. Some file systems make files slowly for minutes after many were deleted (ext4 without a journal
passes over each freed inode), so nothing is deleted before the last measurement.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from scisolve_batch.batch import runner, templates
from scisolve_batch.batch.progress import Silence
from scisolve_batch.records import Settings
from scisolve_batch.suite import load_suite

SCRIPT = """\
- run_python: |
    values = np.linalg.eigvals(np.array([[{first}, 1.0], [1.0, 3.0]]))
    print("largest =", values.max())
- run_python: print("trace", values.sum(), "determinant", values.prod())
- finish_solution:
    answer: The largest eigenvalue is {largest:.6f}.
    verification: {{kind: invariant, description: trace and determinant, evidence_cell: 2}}
    values: [{{name: largest, value: "{largest:.6f}"}}]
"""


def write_suite(folder: Path, count: int) -> Path:
    """A suite in which no two problems have the same code, so that nothing is read only once."""
    entries = []
    for n in range(count):
        first = 2.0 + n * 0.0003141592653589793
        largest = (first + 3.0 + math.sqrt((first - 3.0) ** 2 + 4.0)) / 2.0
        (folder / f"p{n}.yaml").write_text(SCRIPT.format(first=first, largest=largest))
        entries.append(
            f"- {{id: p{n}, statement: Largest eigenvalue?, solution: p{n}.yaml, "
            f'values: [{{name: largest, value: "{largest!r}", rtol: 1.0e-6}}]}}'
        )
    path = folder / "bench.yaml"
    path.write_text("format: 1\nid: bench\nproblems:\n" + "\n".join(entries) + "\n")
    return path


def cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measure(folder: Path, count: int, jobs: int) -> dict[str, float]:
    """One run in a folder: CPU seconds of each part, growth of the parent in MB, wall seconds."""
    before_exit: list[float] = []
    leave = templates.TemplateKeeper.__exit__

    def note_and_leave(self: templates.TemplateKeeper, *trouble: object) -> None:
        before_exit.append(cpu(resource.RUSAGE_CHILDREN))  # the workers; the template is alive
        leave(self, *trouble)  # type: ignore[arg-type]

    templates.TemplateKeeper.__exit__ = note_and_leave  # type: ignore[method-assign]
    suite = load_suite(write_suite(folder, count))
    own, children, wall = cpu(resource.RUSAGE_SELF), cpu(resource.RUSAGE_CHILDREN), time.time()
    memory = resident_mb()
    outcome = runner.run_suite(
        suite.problems,
        suite=suite.ref,
        settings=Settings(jobs=jobs),
        out=folder / "run",
        progress=lambda _: Silence(),
    )
    wall = time.time() - wall
    grown = resident_mb() - memory
    assert outcome.unfinished == 0
    templates.TemplateKeeper.__exit__ = leave  # type: ignore[method-assign]
    return {
        "parent": cpu(resource.RUSAGE_SELF) - own,
        "workers": before_exit[0] - children,
        "template and sessions": cpu(resource.RUSAGE_CHILDREN) - before_exit[0],
        "grown MB": grown,
        "wall": wall,
    }


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


# ---- yardsticks ----------------------------------------------------------------------


def time_a_loop() -> float:
    """CPU milliseconds of a million additions."""
    before, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return 1000 * (time.process_time() - before)


FORKS = """
import gc, os, resource
import numpy, scipy.integrate, scipy.optimize, scipy.stats, matplotlib.pyplot
gc.collect()
gc.freeze()
for _ in range(40):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
"""


def time_a_fork() -> float:
    """CPU milliseconds of a fork that does nothing, of a process with the scientific libraries."""
    times = []
    for script in (FORKS.replace("range(40)", "range(0)"), FORKS):
        before = cpu(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", script], check=True, env={"MPLBACKEND": "Agg"})
        times.append(cpu(resource.RUSAGE_CHILDREN) - before)
    return max(0.0, 1000 * (times[1] - times[0]) / 40)


def time_a_file(folder: Path) -> float:
    """CPU microseconds of making a file of 500 bytes in a small folder."""
    times = []
    for n in range(40):
        small = folder / str(n)
        small.mkdir(parents=True)
        before = time.process_time()
        for name in "abcdefghij":
            (small / name).write_bytes(b"x" * 500)
        times.append(1e6 * (time.process_time() - before) / 10)
    return statistics.median(times)


# ---- a worker's death ----------------------------------------------------------------

SLEEPY = """\
- run_python: |
    import time
    time.sleep(60)
"""


def time_deaths(count: int) -> list[float]:
    """Milliseconds from the kill of a worker to the line about it in the journal."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sleepy.yaml").write_text(SLEEPY)
        entries = "".join(
            f"- {{id: p{n}, statement: Wait., solution: sleepy.yaml}}\n" for n in range(count)
        )
        (folder / "deaths.yaml").write_text(f"format: 1\nid: deaths\nproblems:\n{entries}")
        command = [sys.executable, "-m", "scisolve_batch", "run", "deaths.yaml", "--out", "run"]
        run = subprocess.Popen(
            [*command, "-j", "1", "--no-report", "--quiet"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        journal = folder / "run" / "journal.jsonl"
        for n in range(count):
            victim = None
            while victim is None:
                time.sleep(0.05)
                with suppress(FileNotFoundError):
                    status = json.loads((folder / "run" / "status.json").read_bytes())
                    busy = [one for one in status["running"] if one["problem_id"] == f"p{n}"]
                    victim = next((one for one in busy if one["doing"].startswith("cell")), None)
            size = journal.stat().st_size
            began = time.monotonic()
            os.kill(victim["pid"], signal.SIGKILL)
            while journal.stat().st_size == size:
                time.sleep(0.0005)
            found.append(1000 * (time.monotonic() - began))
        run.wait()
    return sorted(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--deaths", type=int, default=0, metavar="N", help="Also kill N workers.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        compare(Path(name), options)
    if options.deaths:
        times = time_deaths(options.deaths)
        print(
            f"death of a worker in the journal after {statistics.median(times):.1f} ms "
            f"(median of {len(times)}), {times[-1]:.1f} ms at most"
        )
    return 0


def compare(folder: Path, options: argparse.Namespace) -> None:
    """Measure a tenth of the problems and all of them, and print what one more costs."""
    loops, forks, files = [time_a_loop()], [time_a_fork()], [time_a_file(folder / "files")]
    counts = (max(1, options.problems // 10), options.problems)
    runs = []
    for count in counts:
        place = folder / str(count)
        place.mkdir()
        runs.append(measure(place, count, options.jobs))
        loops.append(time_a_loop())
        forks.append(time_a_fork())
        files.append(time_a_file(folder / f"files-{count}"))
        found = runs[-1]
        print(f"{count} problems, {options.jobs} workers, two cells each:")
        for part in PARTS:
            print(f"  {part:<22} {1000 * found[part] / count:8.2f} ms CPU per problem")
        ideal = sum(found[part] for part in PARTS) / (os.cpu_count() or 1)
        print(
            f"  wall {found['wall']:.1f} s; all of that CPU on {os.cpu_count()} processors without "
            f"a gap: {ideal:.1f} s; the parent grew by {found['grown MB']:.1f} MB",
            flush=True,
        )
    print(f"one more problem (slope from {counts[0]} to {counts[1]}):")
    for part in PARTS:
        slope = (runs[1][part] - runs[0][part]) / max(1, counts[1] - counts[0])
        print(f"  {part:<22} {1000 * slope:8.2f} ms CPU")
    print(
        f"yardsticks: a million additions {statistics.median(loops):.0f} ms, "
        f"a fork that does nothing {statistics.median(forks):.1f} ms, "
        f"a new file {statistics.median(files):.0f} us"
    )


PARTS = ("parent", "workers", "template and sessions")

if __name__ == "__main__":
    sys.exit(main())
