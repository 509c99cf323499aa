"""Engines that carry problems to other machines: Parsl and Dask, as optional extras.

They only carry. What is run, in which order and how often is decided here; an engine that would
run something again on its own is refused.
"""

from __future__ import annotations

import importlib
import os
import re
import runpy
import signal
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from scisolve_batch.batch.errand import Answer, Errand, run_errand
from scisolve_batch.errors import UsageError

ENGINES = ("parsl", "dask")


class Engine(Protocol):
    """Something that runs errands elsewhere."""

    def submit(self, errand: Errand) -> Future[Answer | None]:
        """Hand in an errand. The future fails when the engine lost it."""
        ...

    def close(self) -> None:
        """Let go of the engine; errands that still run are not waited for."""
        ...


def open_engine(text: str) -> Engine:
    """The engine that `--backend` names: `parsl:CONFIG.py` or `dask:ADDRESS`.

    Raises:
        UsageError: there is no such engine, it is not installed, or it would repeat problems.
    """
    name, _, where = text.partition(":")
    if name not in ENGINES or not where:
        raise UsageError(f"--backend {text}: write parsl:CONFIG.py or dask:ADDRESS")
    with _unheard_interrupts():
        return ParslEngine(Path(where)) if name == "parsl" else DaskEngine(where)


@contextmanager
def _unheard_interrupts() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C, which is for the run alone."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class ParslEngine:
    """Parsl, started here from a file that sets `config`.

    Args:
        path: the file.

    Raises:
        UsageError: Parsl is not installed, or the file holds no config that can be used.
    """

    def __init__(self, path: Path) -> None:
        parsl = _load("parsl", "parsl")
        if not path.is_file():
            raise UsageError(f"--backend parsl:{path}: no such file")
        config = runpy.run_path(str(path)).get("config")
        if not isinstance(config, parsl.Config):
            raise UsageError(f"{path}: set `config` to a parsl.Config")
        if config.retries:
            raise UsageError(
                f"{path}: retries is {config.retries}; set it to 0, because a problem must not be "
                "run again without the run's knowledge (--max-attempts does that)"
            )
        # Parsl looks for its own programs on the path, which lacks them in a venv not activated.
        programs = str(Path(sys.executable).parent)
        os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"
        self._pool = _load("parsl.concurrent", "parsl").ParslPoolExecutor(config=config)

    def submit(self, errand: Errand) -> Future[Answer | None]:
        """Hand in an errand."""
        return self._pool.submit(run_errand, errand)  # type: ignore[no-any-return]

    def close(self) -> None:
        """End what Parsl started."""
        with _unheard_interrupts():
            self._pool.shutdown(wait=False)


class DaskEngine:
    """A Dask scheduler that runs already.

    Args:
        address: where it listens, like `tcp://host:8786`.

    Raises:
        UsageError: Dask is not installed, nobody listens, or the scheduler repeats lost tasks.
    """

    def __init__(self, address: str) -> None:
        if not re.fullmatch(r"(?:\w+://)?[^\s/]+:\d{1,5}", address):
            raise UsageError(
                f"--backend dask:{address}: no address of a scheduler; write it like tcp://host:8786"
            )
        distributed = _load("distributed", "dask")
        try:
            self._client = distributed.Client(address, timeout="20s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"--backend dask:{address}: {error}") from error
        allowed = self._client.run_on_scheduler(_allowed_failures)
        if allowed:
            self._client.close()
            raise UsageError(
                f"the Dask scheduler at {address} starts a lost task up to {allowed} times again; "
                "start it with DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0"
            )
        self._open: set[Any] = set()

    def submit(self, errand: Errand) -> Future[Answer | None]:
        """Hand in an errand."""
        key = f"scisolve-{errand.claim.name}-{uuid.uuid4().hex}"
        theirs = self._client.submit(run_errand, errand, key=key, pure=False, retries=0)
        ours: Future[Answer | None] = Future()
        self._open.add(theirs)  # Dask forgets a task that nobody holds
        theirs.add_done_callback(_passer(ours, self._open))
        return ours

    def close(self) -> None:
        """Leave the scheduler; it drops what was handed in and not begun."""
        self._client.close()


def _passer(ours: Future[Answer | None], held: set[Any]) -> Callable[[Any], None]:
    """Carries a Dask future's end over to one of the standard library, which it is not."""

    def carry(theirs: Any) -> None:
        held.discard(theirs)
        try:
            ours.set_result(theirs.result())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the future
            ours.set_exception(error)

    return carry


def _allowed_failures(dask_scheduler: Any = None) -> int:
    """Runs in the scheduler's process."""
    return int(dask_scheduler.allowed_failures)


def _load(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(
            f"--backend {extra} needs `pip install 'scisolve-batch[{extra}]'` ({error})"
        ) from error
