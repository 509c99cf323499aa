"""What a session needs and the template makes once: its namespace, its streams, the names it lends.

What is made before a fork costs the forked process nothing until it changes it.
"""

from __future__ import annotations

import builtins
import faulthandler
import io
import json
import linecache
import multiprocessing
import os
import random
import resource
import select
import signal
import socket
import sys
import threading
import traceback
import types
import warnings
from typing import Any

from scisolve_batch.executor import capture

_LENT = {
    faulthandler: "register",
    io: "FileIO BufferedWriter TextIOWrapper open",
    json: "JSONDecoder JSONEncoder dumps loads",
    linecache: "cache checkcache getline getlines updatecache",
    os: "_exit close dup2 fork fsencode getpgid getpid open pipe setpgid waitpid write",
    resource: "getrusage",
    select: "poll select",
    signal: "setitimer signal",
    socket: "CMSG_SPACE socket socketpair",
    threading: "Thread active_count current_thread enumerate get_ident main_thread",
    traceback: "FrameSummary StackSummary TracebackException format_exception walk_tb",
    warnings: "catch_warnings filterwarnings simplefilter",
}
"""Names that a cell shares with this process's own code, beside all builtins.

What a cell replaces among them is put back after it. Only these: looking at an object touches
its reference count, and after a fork each page that is touched has to be copied.
"""


def _lent_names() -> list[tuple[str, dict[str, Any], str, object]]:
    wanted = {builtins: list(vars(builtins))} | {m: names.split() for m, names in _LENT.items()}
    return [
        (f"{module.__name__}.{name}", vars(module), name, vars(module)[name])
        for module, names in wanted.items()
        for name in names
    ]


class Prepared:
    """What a session can have before it is one: streams, names, settings. Libraries come first."""

    def __init__(self) -> None:
        self.main = types.ModuleType("__main__")
        _fill_namespace(vars(self.main))
        self.streams = capture.Streams()
        self.lent = _lent_names()
        multiprocessing.set_start_method("fork", force=True)  # cells' functions have no file
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

    def take_over(self) -> None:
        """Make all this the process's own; the template itself goes without."""
        sys.modules["__main__"] = self.main
        self.streams.begin()


def _fill_namespace(names: dict[str, Any]) -> None:
    """Put the names that every cell may use into the namespace."""
    import math  # noqa: PLC0415 - these belong to the session, not to this module

    names["__builtins__"] = builtins
    names["math"] = math
    for name, module in (
        ("np", "numpy"),
        ("numpy", "numpy"),
        ("scipy", "scipy"),
        ("plt", "matplotlib.pyplot"),
    ):
        if module in sys.modules:
            names[name] = sys.modules[module]


def seed_generators(seed: int) -> None:
    """Seed both global generators; sessions of one template would share NumPy's otherwise."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
