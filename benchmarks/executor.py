"""Measures the executor against a cold start of the same interpreter, in the same run.

    python benchmarks/executor.py [--rounds 25]

Absolute times depend on the machine and its load; the ratios to the cold start, which is
measured in turns with everything else, are what a claim may be built on.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from scisolve_batch.executor import ExecutionLimits, SessionSpec, Template, TemplateOptions
from scisolve_batch.executor.launch import scrub
from scisolve_batch.executor.session import PersistentSession

COLD = "import numpy, scipy.integrate, scipy.optimize, scipy.stats, scipy.signal, matplotlib.pyplot"
LIMITS = ExecutionLimits(cell_s=20, wall_s=30)


def median_ms(seconds: list[float]) -> float:
    return 1000 * statistics.median(seconds)


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def cold_start() -> None:
    environment = scrub({"PATH": "/usr/bin:/bin"}, blas_threads=1)
    subprocess.run([sys.executable, "-P", "-B", "-c", COLD], env=environment, check=True)


class Bench:
    """Opens sessions of one template in fresh folders."""

    def __init__(self, template: Template, folder: Path) -> None:
        self.source, self.folder, self.count = template.connect(), folder, 0

    def open(self, limits: ExecutionLimits = LIMITS) -> PersistentSession:
        """Open a session in a fresh folder."""
        self.count += 1
        workdir = self.folder / f"work{self.count}"
        workdir.mkdir()
        return self.source.open(SessionSpec(workdir=workdir, figures=workdir, limits=limits))

    def ready(self) -> float:
        """Seconds from the request to a session that takes cells, a spare one waiting."""
        time.sleep(0.15)  # the spare of the last round is forked meanwhile
        start = time.perf_counter()
        session = self.open()
        seconds = time.perf_counter() - start
        session.close()
        return seconds

    def round_trips(self, count: int, limits: ExecutionLimits, pause_s: float) -> list[float]:
        """Seconds of a trivial cell, with time to think between cells."""
        with self.open(limits) as session:
            session.run("x = 1")
            seconds = []
            for _ in range(count):
                time.sleep(pause_s)
                seconds.append(timed(lambda: session.run("x = 1")))
        return seconds

    def restores(self, count: int, megabytes: int) -> list[float]:
        """Seconds that a crashed cell takes beyond its own, including the way back."""
        with self.open() as session:
            session.run(f"a = np.ones({megabytes} << 17)" if megabytes else "a = 1")
            seconds = []
            for _ in range(count):
                time.sleep(0.1)
                session.process.wait_undo()
                cell_s = timed(lambda: session.run("import os; os.kill(os.getpid(), 9)"))
                seconds.append(cell_s)
        return seconds


def show(name: str, seconds: list[float], cold_ms: float) -> None:
    milliseconds = median_ms(seconds)
    print(
        f"{name:<58} median {milliseconds:9.2f} ms  min {1000 * min(seconds):9.2f} ms"
        f"  1/{cold_ms / milliseconds:.0f} of a cold start"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=25)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = {
            "full isolation": TemplateOptions(cpu_slots=0),
            "no isolation": TemplateOptions(isolation="off", cpu_slots=0),
        }
        cold: list[float] = []
        ready: dict[str, list[float]] = {}
        templates = {label: Template.start(option) for label, option in options.items()}
        benches = {}
        for label, template in templates.items():
            home = folder / label.replace(" ", "_")
            home.mkdir()
            benches[label] = Bench(template, home)
        for number in range(rounds):
            if number % 5 == 0:
                cold.append(timed(cold_start))
            for label, bench in benches.items():
                ready.setdefault(label, []).append(bench.ready())
        cold_ms = median_ms(cold)
        versions = next(iter(templates.values())).versions
        print(f"Python {versions['python']}, NumPy {versions['numpy']}, {platform.platform()}")
        print(f"cold start: {COLD}\n  median {cold_ms:.0f} ms of {len(cold)}, in turns with:")
        for label, seconds in ready.items():
            show(f"ready session, {label}", seconds, cold_ms)
        bench = benches["full isolation"]
        plain = replace(LIMITS, snapshot_mb=0)
        show("trivial cell, no undo point", bench.round_trips(4 * rounds, plain, 0.0), cold_ms)
        show("trivial cell, undo point after it", bench.round_trips(rounds, LIMITS, 0.1), cold_ms)
        for megabytes in (0, 100, 500):
            what = f"killed cell and restore, {megabytes} MB of arrays"
            show(what, bench.restores(max(3, rounds // 3), megabytes), cold_ms)
        for template in templates.values():
            template.close()


if __name__ == "__main__":
    main()
