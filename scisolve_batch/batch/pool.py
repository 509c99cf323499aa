"""Worker processes, their pipes and their ends. It acts; what to do is decided elsewhere.

One process and one private pipe per worker, so a death is noticed at once and blamed on one
problem. Not multiprocessing.Pool, which waits for ever for a killed worker, and not
ProcessPoolExecutor, which gives up every other problem too.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from scisolve_batch.batch.worker import Job, OpenModel, Said, work
from scisolve_batch.executor.base import SessionSource
from scisolve_batch.records import Settings

STACK_GRACE_S = 0.2
"""Seconds that a worker gets to write its stack before it is killed."""


@dataclass(frozen=True, slots=True)
class Died:
    """A worker's process ended, with this exit code (negative: the signal)."""

    exitcode: int | None


@dataclass(slots=True)
class _Member:
    process: BaseProcess
    pipe: Connection


@dataclass(slots=True)
class Pool:
    """The workers that live.

    Attributes:
        connect: makes a new worker's source of sessions.
        settings: how problems are run.
        open_model: makes models, in the worker.
        wake: further file objects that end a `listen`.
    """

    connect: Callable[[], SessionSource]
    settings: Settings
    open_model: OpenModel
    wake: tuple[Any, ...] = ()
    _members: dict[int, _Member] = field(default_factory=dict)

    def start(self, worker: int) -> None:
        """Start a worker process."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        source = self.connect()
        process = context.Process(
            target=work,
            name=f"worker-{worker}",
            args=(theirs,),
            kwargs={
                "source": source,
                "settings": self.settings,
                "open_model": self.open_model,
                "parent": os.getpid(),
                "others": [ours, *(member.pipe for member in self._members.values())],
            },
        )
        process.start()
        theirs.close()
        source.close()
        self._members[worker] = _Member(process, ours)

    def send(self, worker: int, job: Job | None) -> None:
        """Give a worker a problem, or None to let it end. A dead one is noticed by `listen`."""
        try:
            self._members[worker].pipe.send(job)
        except (BrokenPipeError, ConnectionResetError):
            return

    def kill(self, worker: int, *, ask_for_stack: bool = False) -> None:
        """Kill a worker. Its sessions end with it.

        Args:
            worker: its number.
            ask_for_stack: let it first write where it is into its problem's folder.
        """
        process = self._members[worker].process
        if ask_for_stack and process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGUSR1)
            process.join(STACK_GRACE_S)
        process.kill()

    def pid(self, worker: int) -> int | None:
        """Process id of a worker."""
        return self._members[worker].process.pid

    def listen(self, timeout: float | None) -> list[tuple[int, Said | Died]]:
        """Wait until some worker says something or ends, or something wakes us.

        What a worker said before it ended comes before its end.

        Args:
            timeout: seconds to wait at most; None waits for as long as it takes.
        """
        sources: list[Any] = list(self.wake)
        for member in self._members.values():
            sources += [member.pipe, member.process.sentinel]
        ready = set(wait(sources, timeout))
        heard: list[tuple[int, Said | Died]] = []
        for worker, member in list(self._members.items()):
            ended = member.process.sentinel in ready
            if member.pipe in ready or ended:
                heard += [(worker, message) for message in _messages(member.pipe)]
            if ended:
                member.process.join()
                heard.append((worker, Died(member.process.exitcode)))
                self._forget(worker)
        return heard

    def _forget(self, worker: int) -> None:
        member = self._members.pop(worker)
        member.pipe.close()
        member.process.close()

    def close(self) -> None:
        """Kill every worker that is left."""
        for member in self._members.values():
            member.process.kill()
        for worker, member in list(self._members.items()):
            member.process.join()
            self._forget(worker)


def _messages(pipe: Connection) -> list[Said]:
    """Every whole message that waits in a pipe."""
    messages = []
    try:
        while pipe.poll():
            messages.append(pipe.recv())
    except (EOFError, OSError):
        pass  # its end, or torn by a kill; the sentinel tells
    return messages
