"""Starts the template of a run, tests what keeps its sessions apart, hands out connections.

The template is exec'd with an environment of a few harmless variables, so neither it nor any
session ever held a key. This process imports no scientific library.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import identity, selftest
from scisolve_batch.executor.isolation import SWITCHABLE, drops_root, holds
from scisolve_batch.executor.slots import Slots
from scisolve_batch.executor.source import (
    InterpreterSource,
    Launch,
    Source,
    TemplateConnection,
    TemplateProcess,
    protect_this_process,
)

KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "TMPDIR")
"""Variables that reach the processes of model code, beside LC_*."""

ISOLATION_MODES = ("auto", "require", "off")
METHODS = ("fork", "spawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateOptions:
    """How sessions of a run are started.

    Attributes:
        isolation: `auto` puts up every layer that works here, `require` also refuses to start
            unless network, foreign files, the key and signals test as closed, `off` leaves
            everything off that can be left off.
        method: `fork` (a template; Linux) or `spawn` (an interpreter per session); None takes
            what suits the system.
        python: the interpreter; it must have NumPy, SciPy and Matplotlib.
        preload: modules that are ready in every session; None means NumPy, most of SciPy and
            pyplot.
        spares: sessions that wait ready-made.
        blas_threads: threads of BLAS and OpenMP in a session.
        cpu_slots: cells that run at once; None means one per processor, 0 any number.
        layers_off: isolation layers to leave out, of `isolation.SWITCHABLE`.
        self_test: try the isolation out from a real session at the start.
        timeout_s: seconds that the start may take.
    """

    isolation: str = "auto"
    method: str | None = None
    python: str = sys.executable
    preload: tuple[str, ...] | None = None
    spares: int = 1
    blas_threads: int = 1
    cpu_slots: int | None = None
    layers_off: tuple[str, ...] = ()
    self_test: bool = True
    timeout_s: float = 120.0


def scrub(environment: Mapping[str, str], *, blas_threads: int) -> dict[str, str]:
    """Make the environment of model code: a few kept variables, and those that bound threads."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in KEPT_VARIABLES or name.startswith("LC_")
    }
    count = str(blas_threads)
    return kept | {
        "MPLBACKEND": "Agg",
        "OPENBLAS_NUM_THREADS": count,
        "OMP_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "NUMEXPR_NUM_THREADS": count,
        "VECLIB_MAXIMUM_THREADS": count,
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
        "PYTHONHASHSEED": "0",  # the order of sets is the same in every session
        "PYTHONUTF8": "1",
    }


class Template:
    """The source of a run's sessions. Made by `start`, ended by `close` or its `with` block."""

    def __init__(self, options: TemplateOptions) -> None:
        if options.isolation not in ISOLATION_MODES:
            raise SessionError(
                f"unknown isolation {options.isolation!r}: use one of {', '.join(ISOLATION_MODES)}"
            )
        if sys.platform == "win32":
            raise SessionError("sessions cannot be run on Windows; use the Linux of WSL 2")
        method = options.method or ("fork" if sys.platform == "linux" else "spawn")
        if method not in METHODS:
            raise SessionError(f"unknown method {method!r}: use one of {', '.join(METHODS)}")
        self.options, self.method = options, method
        self.versions: dict[str, str] = {}
        """Versions of Python, numpy, scipy and matplotlib that cells run with."""
        self.isolation: dict[str, Any] = {}
        """What keeps sessions apart: mode, layers with their state, and what was tested."""
        self._folder = tempfile.TemporaryDirectory(prefix="scisolve-")
        count = options.cpu_slots
        self._slots = Slots(
            Path(self._folder.name), count=_processors() if count is None else count
        )
        self._launch = Launch(
            python=options.python,
            environment=scrub(os.environ, blas_threads=options.blas_threads),
            layers_off=_layers_off(options),
            preload=options.preload,
            ids=_unused_ids(options, method=method),
        )
        self._process: TemplateProcess | None = None

    @classmethod
    def start(cls, options: TemplateOptions | None = None) -> Template:
        """Start the template and test its sessions.

        Raises:
            SessionError: it cannot start, or isolation is required and not given here.
        """
        template = cls(options or TemplateOptions())
        try:
            template._start()
        except BaseException:
            template.close()
            raise
        return template

    def _start(self) -> None:
        if self.options.isolation != "off":
            protect_this_process()
        layers: dict[str, Any] = {}
        if self.method == "fork":
            told = {
                "op": "start",
                "spares": self.options.spares,
                "layers_off": list(self._launch.layers_off),
                "preload": self.options.preload,
                "ids": self._launch.ids,
            }
            self._process = TemplateProcess(self._launch, told, timeout_s=self.options.timeout_s)
            self.versions = dict(self._process.report["versions"])
            layers = dict(self._process.report["layers"])
            self._launch = replace(
                self._launch,
                ids=self._launch.ids if drops_root(layers) else None,
                opens_ways=holds(layers, "session_namespaces"),
            )
        self.isolation = {
            "mode": self.options.isolation,
            "method": self.method,
            "platform": f"{platform.system()} {platform.release()}",
            "layers": layers,
        }
        if self.options.self_test or self.options.isolation == "require" or not self.versions:
            with self.connect() as source:
                found = selftest.try_isolation(source)
            self.isolation |= {
                "layers": layers | found["layers"],
                "tested": found["tested"],
                "closed": found["closed"],
            }
            self.versions = self.versions or found["versions"]
        if self.options.isolation == "require":
            selftest.refuse_if_open(self.isolation)

    @property
    def pid(self) -> int | None:
        """The template's process; None when each session is an interpreter of its own."""
        return self._process.pid if self._process else None

    def connect(self) -> Source:
        """Make a source of sessions for one worker.

        It can be handed to a forked worker as an argument. Then close it here once the worker
        runs: the worker's sessions end when the worker does, in whatever way.

        Raises:
            SessionError: the template is gone.
        """
        if self._process is None:
            return InterpreterSource(self._launch, self._slots)
        return TemplateConnection(self._process.connect(), launch=self._launch, slots=self._slots)

    def close(self) -> None:
        """End the template and with it every session. May be called twice."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _unused_ids(options: TemplateOptions, *, method: str) -> int | None:
    """Find numbers that sessions may have instead of root's; None when they have no need of them."""
    if sys.platform != "linux" or os.getuid() != 0:
        return None
    if "unprivileged_identity" in _layers_off(options):
        return None
    if method == "spawn" and identity.closed_folder(options.python):
        return None  # without a mount namespace nobody else could run the interpreter
    try:
        return identity.find_unused_ids()
    except OSError:
        return None


def _layers_off(options: TemplateOptions) -> tuple[str, ...]:
    if options.isolation == "off":
        return SWITCHABLE
    return options.layers_off
