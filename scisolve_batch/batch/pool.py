"""Worker processes, their pipes and their ends. It acts; what to do is decided elsewhere.

One process and one private pipe per worker, so a death is noticed at once and blamed on one
problem. Not multiprocessing.Pool, which waits for ever for a killed worker, and not
ProcessPoolExecutor, which gives up every other problem too.
"""

from __future__ import annotations

import multiprocessing
import os
import selectors
import signal
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import IO, Any, Protocol

from scisolve_batch.batch.board import Board, Hold
from scisolve_batch.batch.work import work
from scisolve_batch.batch.worker import Job, OpenModel, Order, Said
from scisolve_batch.executor.base import SessionSource
from scisolve_batch.model.waves import Response
from scisolve_batch.records import Problem, Settings

STACK_GRACE_S = 0.2
"""Seconds that a worker gets to write its stack before it is killed."""


@dataclass(frozen=True, slots=True)
class Died:
    """A worker's process ended, with this exit code (negative: the signal); or `why`, in words."""

    exitcode: int | None
    why: str = ""


class Workers(Protocol):
    """What a run needs of those who work for it, wherever they are."""

    def start(self, worker: int) -> None:
        """Start a worker under this number; it says `Ready`."""
        ...

    def send(self, worker: int, job: Job | None) -> None:
        """Give a worker a problem, or None to let it end."""
        ...

    def kill(self, worker: int, *, ask_for_stack: bool = False) -> str:
        """End a worker; its `Died` follows. Returns its Python stack, or nothing."""
        ...

    def pid(self, worker: int) -> int | None:
        """Its process, when that is one of this machine."""
        ...

    def doing(self, worker: int) -> tuple[str, float] | None:
        """What its problem waits for, and since when (seconds since 1970)."""
        ...

    def answer(self, worker: int, answer: Response) -> None:
        """Bring a worker the answer that it waits for."""
        ...

    def hold(self, until: float) -> None:
        """Let no worker ask the service before this reading of the monotonic clock."""
        ...

    def listen(self, timeout: float | None) -> list[tuple[int, Said | Died]]:
        """What was said since the last time; waits for it."""
        ...

    def close(self) -> None:
        """End all that are left."""
        ...


@dataclass(slots=True)
class _Member:
    process: BaseProcess
    pipe: Connection
    board: Board
    stack: IO[bytes]


@dataclass(slots=True)
class Pool:
    """The workers that live.

    Attributes:
        connect: makes a new worker's source of sessions.
        settings: how problems are run.
        open_model: makes models, in the worker.
        problems: every problem that can be sent, by id; a forked worker has them all.
        wake: further file objects that end a `listen`.
    """

    connect: Callable[[], SessionSource]
    settings: Settings
    open_model: OpenModel
    problems: Mapping[str, Problem]
    wake: tuple[Any, ...] = ()
    _hold: Hold = field(default_factory=Hold)
    _members: dict[int, _Member] = field(default_factory=dict)
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def __post_init__(self) -> None:
        for source in self.wake:
            self._selector.register(source, selectors.EVENT_READ)

    def start(self, worker: int) -> None:
        """Start a worker process."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        source = self.connect()
        board = Board()
        stack = tempfile.TemporaryFile(prefix="stack-")  # noqa: SIM115 - closed by _forget
        process = context.Process(
            target=work,
            name=f"worker-{worker}",
            args=(theirs,),
            kwargs={
                "source": source,
                "settings": self.settings,
                "open_model": self.open_model,
                "problems": self.problems,
                "board": board,
                "hold": self._hold,
                "stack": stack,
                "parent": os.getpid(),
                "others": [ours, *(member.pipe for member in self._members.values()), *self.wake],
            },
        )
        process.start()
        theirs.close()
        source.close()
        self._members[worker] = _Member(process, ours, board, stack)
        self._selector.register(ours, selectors.EVENT_READ, worker)
        self._selector.register(process.sentinel, selectors.EVENT_READ, worker)

    def send(self, worker: int, job: Job | None) -> None:
        """Give a worker a problem, or None to let it end. A dead one is noticed by `listen`."""
        order = job and Order(job.attempt, str(job.folder), job.seed, job.cap)
        try:
            self._members[worker].pipe.send(order)
        except (BrokenPipeError, ConnectionResetError):
            return

    def kill(self, worker: int, *, ask_for_stack: bool = False) -> str:
        """Kill a worker. Its sessions end with it.

        Args:
            worker: its number.
            ask_for_stack: let it first write down where it is.

        Returns:
            The worker's Python stack, or nothing.
        """
        member = self._members[worker]
        process = member.process
        if ask_for_stack and process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGUSR1)
            process.join(STACK_GRACE_S)
        process.kill()
        member.stack.seek(0)
        return member.stack.read().decode("utf-8", "replace") if ask_for_stack else ""

    def answer(self, worker: int, answer: Response) -> None:
        """Bring a worker the answer that it waits for. A dead one is noticed by `listen`."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self._members[worker].pipe.send(answer)

    def hold(self, until: float) -> None:
        """Let no worker ask the service before this reading of the monotonic clock."""
        self._hold.write(until)

    def pid(self, worker: int) -> int | None:
        """Process id of a worker."""
        return self._members[worker].process.pid

    def doing(self, worker: int) -> tuple[str, float] | None:
        """What a worker's problem waits for, and since when (seconds since 1970)."""
        return self._members[worker].board.read()

    def listen(self, timeout: float | None) -> list[tuple[int, Said | Died]]:
        """Wait until some worker says something or ends, or something wakes us.

        What a worker said before it ended comes before its end.

        Args:
            timeout: seconds to wait at most; None waits for as long as it takes.
        """
        heard: list[tuple[int, Said | Died]] = []
        ended: list[int] = []
        for key, _ in self._selector.select(timeout):
            if key.data is None:
                continue  # something else to wake for
            member = self._members[key.data]
            if key.fileobj is not member.pipe:
                ended.append(key.data)
            else:
                heard += [(key.data, message) for message in _hear(member.pipe, most=1)]
        for worker in ended:
            member = self._members[worker]
            heard += [(worker, message) for message in _hear(member.pipe)]
            member.process.join()
            heard.append((worker, Died(member.process.exitcode)))
            self._forget(worker)
        return heard

    def _forget(self, worker: int) -> None:
        member = self._members.pop(worker)
        for source in (member.pipe, member.process.sentinel):
            with suppress(KeyError):
                self._selector.unregister(source)
        member.pipe.close()
        member.process.close()
        member.board.close()
        member.stack.close()

    def close(self) -> None:
        """Kill every worker that is left."""
        for member in self._members.values():
            member.process.kill()
        for worker, member in list(self._members.items()):
            member.process.join()
            self._forget(worker)
        self._hold.close()
        self._selector.close()


def _hear(pipe: Connection, *, most: int | None = None) -> list[Said]:
    """The whole messages that wait in a pipe; with `most`, one that is known to be there."""
    messages: list[Said] = []
    try:
        while len(messages) != most and (most or pipe.poll()):
            messages.append(pipe.recv())
    except (EOFError, OSError):
        pass  # its end, or torn by a kill; the sentinel tells
    return messages
