"""Measures sessions beside a cold interpreter and a Jupyter kernel, in turns, in one run.

    python benchmarks/executor.py [--rounds 25] [--sessions 32]

Absolute times depend on the machine and its load; the ratios to the cold start, which is measured
in turns with everything else, are what a claim may be built on. Processor time is that of all
processes that take part, the waiting side included. The kernel needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scisolve_batch.executor import ExecutionLimits, SessionSpec, Template, TemplateOptions, linux
from scisolve_batch.executor.launch import scrub
from scisolve_batch.executor.session import PersistentSession

COLD = "import numpy, scipy.integrate, scipy.optimize, scipy.stats, scipy.signal, matplotlib.pyplot"
LIMITS = ExecutionLimits(cell_s=20, wall_s=30)
TRIVIAL = "x = 1"


@dataclass
class Series:
    """Wall and processor seconds of one thing done again and again."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @contextmanager
    def measure(self, pids: Callable[[], Iterable[int]] = tuple) -> Iterator[None]:
        """Measure what happens inside: this process and, by their ids, others."""
        cpu, wall = time.process_time() + spent(pids()), time.perf_counter()
        yield
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() + spent(pids()) - cpu)

    def row(self, name: str, cold: Series | None = None) -> str:
        """The median processor time, tenth percentile and median of the wall, and the ratios."""
        low = sorted(self.wall)[len(self.wall) // 10]
        cpu, wall = statistics.median(self.cpu), statistics.median(self.wall)
        text = f"{name:<52}{1e3 * cpu:10.2f}{1e3 * low:12.2f}{1e3 * wall:10.2f}"
        if cold is not None:
            text += f"      1/{statistics.median(cold.cpu) / max(cpu, 1e-9):.0f}"
        return text


def spent(pids: Iterable[int]) -> float:
    """Processor seconds of the threads of living processes, to the nanosecond."""
    total = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").glob("*"):
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except OSError:
                continue
    return total / 1e9


def private_share_mb(pids: Iterable[int]) -> float:
    """The proportional share of memory (PSS) of processes, in megabytes."""
    kilobytes = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes / 1024


def cold_start(series: Series) -> None:
    environment = scrub({"PATH": "/usr/bin:/bin"}, blas_threads=1)
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-P", "-B", "-c", COLD], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    series.wall.append(time.perf_counter() - wall)
    series.cpu.append(
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    )  # of this child alone: it is the only one that ends meanwhile


class Bench:
    """Opens sessions of one template in fresh folders."""

    def __init__(self, template: Template, folder: Path) -> None:
        self.template, self.folder, self.count = template, folder, 0
        self.source = template.connect()

    def open(self, limits: ExecutionLimits = LIMITS) -> PersistentSession:
        """Open a session in a fresh folder."""
        self.count += 1
        workdir = self.folder / f"work{self.count}"
        workdir.mkdir()
        return self.source.open(SessionSpec(workdir=workdir, figures=workdir, limits=limits))

    def pids(self) -> list[int]:
        """The template and everything below it."""
        pid = self.template.pid
        return [] if pid is None else [pid, *linux.descendants(pid)]

    def ready(self, series: Series) -> None:
        """From the request to a session that takes cells, a spare one waiting."""
        time.sleep(0.15)  # the spare of the last round is forked meanwhile
        session = None
        with series.measure(self.pids):
            session = self.open()
        session.close()

    def round_trips(self, count: int, limits: ExecutionLimits, pause_s: float) -> Series:
        """Trivial cells, with time to think between them."""
        series = Series()
        with self.open(limits) as session:
            session.run(TRIVIAL)
            for _ in range(count):
                time.sleep(pause_s)
                session.process.wait_undo()
                with series.measure(lambda: [session.process.pid]):
                    session.run(TRIVIAL)
        return series

    def restores(self, count: int, megabytes: int) -> Series:
        """What a crashed cell takes, including the way back."""
        series = Series()
        with self.open() as session:
            session.run(f"a = np.ones({megabytes} << 17)" if megabytes else "a = 1")
            for _ in range(count):
                time.sleep(0.1)
                session.process.wait_undo()
                with series.measure():
                    session.run("import os; os.kill(os.getpid(), 9)")
        return series

    def memory_mb(self, sessions: int) -> float:
        """Megabytes that each of many sessions holds for itself, its undo point included."""
        opened = [self.open() for _ in range(sessions)]
        try:
            for session in opened:
                session.run("a = np.arange(10.0)\nprint(a.sum())")
            time.sleep(1)
            return private_share_mb(self.pids()[1:]) / sessions
        finally:
            for session in opened:
                session.close()


class Kernels:
    """Jupyter kernels, started and asked as jupyter_client does it."""

    def start(self, series: Series | None = None) -> tuple[Any, Any]:
        """Start a kernel, load the same modules, and wait for it."""
        from jupyter_client.manager import start_new_kernel

        started: list[Any] = []
        pids: Callable[[], list[int]] = lambda: [one.provisioner.pid for one in started]  # noqa: E731
        environment = scrub({"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"]}, blas_threads=1)
        with (series or Series()).measure(pids):
            manager, client = start_new_kernel(env=environment, stderr=subprocess.DEVNULL)
            started.append(manager)
            client.execute_interactive(COLD, timeout=120)
        return manager, client

    def stop(self, kernel: tuple[Any, Any]) -> None:
        """Kill a kernel."""
        manager, client = kernel
        client.stop_channels()
        manager.shutdown_kernel(now=True)

    def round_trips(self, count: int) -> Series:
        """Trivial cells, until the kernel says that it is idle."""
        series, kernel = Series(), self.start()
        manager, client = kernel
        for _ in range(count):
            with series.measure(lambda: [manager.provisioner.pid]):
                client.execute_interactive(TRIVIAL, timeout=30)
        self.stop(kernel)
        return series

    def memory_mb(self, count: int) -> float:
        """Megabytes that each of a few kernels holds for itself."""
        kernels = [self.start() for _ in range(count)]
        try:
            return private_share_mb(one[0].provisioner.pid for one in kernels) / count
        finally:
            for one in kernels:
                self.stop(one)


def measure(rounds: int, sessions: int, folder: Path) -> None:
    options = {
        "full isolation": TemplateOptions(cpu_slots=0),
        "no isolation": TemplateOptions(isolation="off", cpu_slots=0),
    }
    templates = {label: Template.start(option) for label, option in options.items()}
    benches: dict[str, Bench] = {}
    for label, template in templates.items():
        home = folder / label.replace(" ", "_")
        home.mkdir()
        benches[label] = Bench(template, home)
    kernels = Kernels() if find_spec("ipykernel") and find_spec("jupyter_client") else None
    cold, kernel_ready = Series(), Series()
    ready = {label: Series() for label in benches}
    for number in range(rounds):
        if number % 5 == 0:
            cold_start(cold)
            if kernels:
                kernels.stop(kernels.start(kernel_ready))
        for label, bench in benches.items():
            bench.ready(ready[label])
    versions = templates["full isolation"].versions
    print(f"Python {versions['python']}, NumPy {versions['numpy']}, {platform.platform()}")
    print(f"\n{'milliseconds':<52}{'CPU':>10}{'wall p10':>12}{'wall':>10}      CPU of a cold start")
    print(cold.row(f"cold interpreter with the same imports ({len(cold.wall)})", cold))
    if kernels:
        print(kernel_ready.row("ready kernel (ipykernel) with the same imports", cold))
    for label, series in ready.items():
        print(series.row(f"ready session, {label}", cold))
    bench = benches["full isolation"]
    if kernels:
        print(kernels.round_trips(4 * rounds).row("trivial cell, ipykernel"))
    plain = replace(LIMITS, snapshot_mb=0)
    print(bench.round_trips(8 * rounds, plain, 0.0).row("trivial cell, no undo point"))
    print(bench.round_trips(rounds, LIMITS, 0.1).row("trivial cell, undo point after it"))
    for megabytes in (0, 100, 500):
        name = f"killed cell and restore, {megabytes} MB of arrays"
        print(bench.restores(max(3, rounds // 3), megabytes).row(name))
    print(f"\nmemory of one's own (PSS) of each of {sessions} sessions, undo points included: "
          f"{bench.memory_mb(sessions):.1f} MB")  # fmt: skip
    if kernels:
        print(f"of each of 4 kernels: {kernels.memory_mb(4):.1f} MB")
    for template in templates.values():
        template.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--sessions", type=int, default=32)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measure(given.rounds, given.sessions, Path(name))


if __name__ == "__main__":
    main()
