"""Every limit and isolation promise, tried out on this machine in real sessions.

Each trial runs a cell that breaks a promise on purpose and measures what happened. A promise that
the platform cannot keep is reported with the reason, and only required ones count as failures.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scisolve_batch.executor.base import ExecutionLimits, Session, SessionSource, SessionSpec
from scisolve_batch.executor.launch import Template, TemplateOptions
from scisolve_batch.records import Cell, CellStatus, SessionState

LIMITS = ExecutionLimits(
    cell_s=1.0,
    wall_s=2.0,
    grace_s=0.5,
    memory_mb=512,
    output_bytes=10_000,
    processes=24,
    file_mb=4,
    disk_mb=16,
)
"""Small limits, so that the whole examination takes seconds."""

ALLOWED_OVERRUN_S = 2.0
"""How much later than promised a cell may end; a busy machine needs some time to kill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A promise and what became of it.

    Attributes:
        promise: what is promised.
        held: it was kept.
        required: without it, runs on this machine cannot be trusted.
        measured: what was measured, in words.
    """

    promise: str
    held: bool
    required: bool
    measured: str


@dataclass(frozen=True, slots=True)
class _Trial:
    promise: str
    code: str
    judge: Callable[[Cell, float], tuple[bool, str]]
    required: bool = True


def _ended(status: set[CellStatus], limit_s: float) -> Callable[[Cell, float], tuple[bool, str]]:
    """The cell ended in one of these ways, not long after its limit."""

    def judge(cell: Cell, seconds: float) -> tuple[bool, str]:
        late = seconds - limit_s
        held = cell.status in status and late < ALLOWED_OVERRUN_S
        return held, f"limit {limit_s:g} s, {cell.status.value} after {seconds:.2f} s"

    return judge


def _status(*status: CellStatus) -> Callable[[Cell, float], tuple[bool, str]]:
    def judge(cell: Cell, seconds: float) -> tuple[bool, str]:
        return cell.status in status, f"{cell.status.value} after {seconds:.2f} s"

    return judge


def _printed(words: str) -> Callable[[Cell, float], tuple[bool, str]]:
    def judge(cell: Cell, seconds: float) -> tuple[bool, str]:
        last = (cell.stdout.strip() or cell.traceback.strip() or cell.status.value).splitlines()
        return words in cell.stdout, f"{last[-1][:60]} ({seconds:.2f} s)"

    return judge


def _flooded(cell: Cell, seconds: float) -> tuple[bool, str]:
    kept = len(cell.stdout.encode())
    held = cell.ok and kept <= LIMITS.output_bytes + 200 and cell.stdout_dropped > 0
    return held, f"kept {kept:,} bytes, dropped {cell.stdout_dropped:,} ({seconds:.2f} s)"


# Spun in a function: an alarm on the back jump of a loop directly in a `try` can pass its handler.
_SWALLOW = """
def spin():
    while True:
        str(1)
def swallow():
    try:
        spin()
    except BaseException:
        pass
while True:
    swallow()
"""
_SIGNALS = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
_HOLD = "import subprocess; subprocess.Popen(['sleep', '30']); print('done')"
_DETACH = """
import subprocess, time
subprocess.Popen(["sleep", "31"], start_new_session=True)
time.sleep(60)
"""
_BOMB = """
import os, time
born = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(60)
        born += 1
except OSError:
    pass
print("stopped at", born)
"""
_BIG_FILE = """
try:
    with open("big", "wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
    print("wrote it all")
except OSError as error:
    print("stopped:", error)
"""

TRIALS = (
    _Trial(
        "an endless loop ends at its limit",
        "while True: pass",
        _ended({CellStatus.SOFT_TIMEOUT, CellStatus.CPU_LIMIT}, LIMITS.cell_s),
    ),
    _Trial(
        "a long call into compiled code is killed",
        "import itertools; sum(itertools.repeat(1, 10**11))",
        _ended({CellStatus.CPU_LIMIT, CellStatus.HARD_TIMEOUT}, LIMITS.cpu_kill_s),
    ),
    _Trial(
        "code that swallows the alarm is killed",
        _SWALLOW,
        _ended({CellStatus.CPU_LIMIT, CellStatus.HARD_TIMEOUT}, LIMITS.cpu_kill_s),
    ),
    _Trial(
        "a sleep ends at the ceiling on the clock",
        "import time; time.sleep(60)",
        _ended({CellStatus.SOFT_TIMEOUT, CellStatus.HARD_TIMEOUT}, LIMITS.wall_ceiling_s),
    ),
    _Trial(
        "ignoring SIGTERM does not help",
        _SIGNALS,
        _ended({CellStatus.SOFT_TIMEOUT, CellStatus.HARD_TIMEOUT}, LIMITS.wall_ceiling_s),
    ),
    _Trial("a background process does not hold the cell up", _HOLD, _printed("done")),
    _Trial(
        "a detached process ends with its cell's session",
        _DETACH,
        _ended({CellStatus.SOFT_TIMEOUT, CellStatus.HARD_TIMEOUT}, LIMITS.wall_ceiling_s),
    ),
    _Trial(
        "memory is limited",
        "x = bytearray(2 * 1024**3)",
        _status(CellStatus.MEMORY, CellStatus.RESOURCE_LIMIT, CellStatus.CRASH),
    ),
    _Trial("output is cut and counted", "for _ in range(50): print('x' * 1_000_000)", _flooded),
    _Trial("a single file is limited", _BIG_FILE, _printed("stopped")),
    _Trial(
        "processes are limited",
        _BOMB,
        lambda cell, seconds: (
            "stopped at" in cell.stdout or cell.status is not CellStatus.OK,
            f"{(cell.stdout.strip() or cell.status.value)[:40]} ({seconds:.2f} s)",
        ),
        required=False,
    ),
    _Trial(
        "a crash costs only its cell",
        "import ctypes; ctypes.string_at(0)",
        lambda cell, seconds: (
            cell.status is CellStatus.CRASH and cell.state is not SessionState.LOST,
            f"{cell.status.value}, variables {cell.state.value} ({seconds:.2f} s)",
        ),
    ),
)

_AREAS = {
    "network": "a cell reaches no network",
    "files": "a cell reads and writes only its own folder",
    "key": "a cell finds no key, in no environment and no memory",
    "signals": "a cell cannot signal the run",
}


def examine(*, isolation: str = "auto") -> Iterator[Finding]:
    """Try every promise, one after the other.

    Args:
        isolation: `auto` or `off`, as for a run.

    Raises:
        SessionError: no session can be started on this machine at all.
    """
    options = TemplateOptions(isolation=isolation, preload=("numpy",))
    began = time.monotonic()
    with Template.start(options) as template, template.connect() as source:
        yield Finding(
            promise="sessions can be started",
            held=True,
            required=True,
            measured=f"{template.isolation['method']}, {time.monotonic() - began:.2f} s",
        )
        for trial in TRIALS:
            yield _try(trial, source)
        yield _no_leftovers(source)
        yield from _isolation_findings(template.isolation)


@contextmanager
def _session(source: SessionSource) -> Iterator[Session]:
    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        work, figures = Path(folder, "work"), Path(folder, "figures")
        work.mkdir()
        figures.mkdir()
        session = source.open(SessionSpec(workdir=work, figures=figures, limits=LIMITS))
        try:
            yield session
        finally:
            session.close()


def _try(trial: _Trial, source: SessionSource) -> Finding:
    with _session(source) as session:
        session.run("v = 7")
        began = time.monotonic()
        cell = session.run(trial.code)
        seconds = time.monotonic() - began
        held, measured = trial.judge(cell, seconds)
        alive = session.run("print(1 + 1)")
        if alive.stdout.strip() != "2":
            held, measured = False, f"{measured}; the session is gone afterwards"
    return Finding(promise=trial.promise, held=held, required=trial.required, measured=measured)


def _no_leftovers(source: SessionSource) -> Finding:
    """Start a marked process in a cell and look for it once the session is closed."""
    marked = f"{86_000 + os.getpid() % 1000}.25"
    with _session(source) as session:
        session.run(
            f"import subprocess; subprocess.Popen(['sleep', '{marked}'], start_new_session=True)"
        )
    end = time.monotonic() + 3
    while (left := _find_process(marked)) and time.monotonic() < end:
        time.sleep(0.05)
    if left is None:
        return Finding(
            promise="no process is left when a session ends",
            held=False,
            required=False,
            measured="not looked for: this system has no /proc",
        )
    return Finding(
        promise="no process is left when a session ends",
        held=not left,
        required=True,
        measured=f"{len(left)} left",
    )


def _find_process(word: str) -> list[int] | None:
    proc = Path("/proc")
    if not (proc / "self" / "cmdline").exists():
        return None
    found = []
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                if word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def _isolation_findings(isolation: dict[str, Any]) -> Iterator[Finding]:
    closed = isolation.get("closed", {})
    tested = isolation.get("tested", {})
    for area, promise in _AREAS.items():
        if area not in closed:
            yield Finding(promise=promise, held=False, required=False, measured="not tested")
            continue
        opened = [
            name
            for name, result in tested.items()
            if isinstance(result, dict) and not result.get("closed")
        ]
        measured = "tried and refused" if closed[area] else f"open: {', '.join(opened)}"
        yield Finding(promise=promise, held=bool(closed[area]), required=True, measured=measured)
    for name, layer in isolation.get("layers", {}).items():
        state = layer.get("state", "?")
        reason = layer.get("why") or layer.get("reason") or ""
        yield Finding(
            promise=f"layer: {name.replace('_', ' ')}",
            held=state == "in_force",
            required=False,
            measured=f"{state.replace('_', ' ')}{': ' if reason else ''}{reason}",
        )
