"""Workers that are places in an engine instead of processes of this machine.

To the scheduler they are workers: they get one problem at a time, and an errand that the engine
loses is a worker that died.
"""

from __future__ import annotations

import os
import queue
import selectors
import shutil
import socket
import uuid
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from scisolve_batch.batch.backends import Engine
from scisolve_batch.batch.errand import CLAIMS, Answer, Claim, Errand
from scisolve_batch.batch.pool import Died
from scisolve_batch.batch.worker import Job, Queued, Ready, Replied, Said
from scisolve_batch.model.waves import Response
from scisolve_batch.records import Settings

LOOK_EVERY_S = 1.0
"""How often the shared storage is asked what an errand does."""


@dataclass(slots=True)
class _Sent:
    claim: Claim
    future: Future[Answer | None]
    asked: float
    begun: bool = False
    doing: tuple[str, float] | None = None


@dataclass(slots=True)
class EnginePool:
    """The errands that are out.

    Attributes:
        engine: who carries them.
        settings: how problems are run.
        run: the run directory, on storage that all machines share.
        wake: further file objects that end a `listen`.
    """

    engine: Engine
    settings: Settings
    run: Path
    wake: tuple[Any, ...] = ()
    _sent: dict[int, _Sent] = field(default_factory=dict)
    _news: list[tuple[int, Said | Died]] = field(default_factory=list)
    _done: queue.SimpleQueue[int] = field(default_factory=queue.SimpleQueue)
    _part: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _ring: tuple[socket.socket, socket.socket] = field(default_factory=socket.socketpair)

    def __post_init__(self) -> None:
        for end in self._ring:
            end.setblocking(False)  # noqa: FBT003 - the standard library's signature
        for source in (*self.wake, self._ring[0]):
            self._selector.register(source, selectors.EVENT_READ)

    def start(self, worker: int) -> None:
        """Count on one more place in the engine."""
        self._news.append((worker, Ready()))

    def send(self, worker: int, job: Job | None) -> None:
        """Hand in an errand, or give up the place."""
        if job is None:
            self._news.append((worker, Died(0)))
            return
        claim = Claim(
            self.run.resolve() / CLAIMS, job.folder.name, f"{self._part}-{job.attempt.attempt}"
        )
        claim.grant()
        errand = Errand(
            job=_absolute(job),
            settings=self.settings,
            claim=claim,
            folder=os.getcwd(),  # noqa: PTH109 - as text, for another machine
        )
        future = self.engine.submit(errand)
        self._sent[worker] = _Sent(claim, future, monotonic())
        future.add_done_callback(lambda _: self._call(worker))

    def _call(self, worker: int) -> None:
        """Wake the run up; called by threads of the engine."""
        self._done.put(worker)
        with suppress(OSError):  # full, so it wakes up anyway; or closed
            self._ring[1].send(b".")

    def kill(self, worker: int, *, ask_for_stack: bool = False) -> str:  # noqa: ARG002 - far away
        """Give up on an errand: it loses its claim, and stops before its next write."""
        if sent := self._sent.pop(worker, None):
            sent.claim.revoke()
            sent.future.cancel()
            self._news.append((worker, Died(None, "the run gave up on it")))
        return ""

    def pid(self, worker: int) -> int | None:  # noqa: ARG002 - of another machine
        """No process of this machine."""
        return None

    def doing(self, worker: int) -> tuple[str, float] | None:
        """What an errand waits for: a place in the engine, or what its machine says."""
        sent = self._sent.get(worker)
        return sent.doing if sent else None

    def answer(self, worker: int, answer: Response) -> None:
        """Nobody waits here: requests of other machines are not gathered into batches."""

    def hold(self, until: float) -> None:
        """Other machines share no memory; their own retries keep the service's waits."""

    def listen(self, timeout: float | None) -> list[tuple[int, Said | Died]]:
        """Wait until an errand is done or lost, or something wakes us."""
        self._selector.select(0.0 if self._news else timeout)
        with suppress(BlockingIOError):
            while self._ring[0].recv(4096):
                pass
        heard, self._news = self._news, []
        with suppress(queue.Empty):
            while True:
                worker = self._done.get_nowait()
                if sent := self._sent.pop(worker, None):
                    heard += [(worker, said) for said in _result(sent.future)]
        return heard + self._look()

    def _look(self) -> list[tuple[int, Said | Died]]:
        """Ask the storage what each errand does. Waiting for a place is not its problem's time."""
        queued: list[tuple[int, Said | Died]] = []
        now = monotonic()
        for worker, sent in self._sent.items():
            if now < sent.asked + LOOK_EVERY_S:
                continue
            sent.begun = sent.begun or sent.claim.has_begun()
            if not sent.begun:
                queued.append((worker, Queued(now - sent.asked)))
            sent.doing = sent.claim.heard() or sent.doing
            sent.asked = now
        return queued

    def close(self) -> None:
        """Give up on every errand that is out. Without its claim, none can begin or go on."""
        for worker in list(self._sent):
            self.kill(worker)
        shutil.rmtree(self.run / CLAIMS, ignore_errors=True)
        self._selector.close()
        for end in self._ring:
            end.close()


def _absolute(job: Job) -> Job:
    """The job with paths that mean the same in every folder."""
    problem = job.problem
    data = tuple(
        one.model_copy(update={"path": str(Path(one.path).resolve())}) for one in problem.data
    )
    scripts = {
        name: str(Path(path).resolve())
        for name, path in (("solution", problem.solution), ("naive", problem.naive))
        if path is not None
    }
    problem = problem.model_copy(update={"data": data, **scripts})
    return Job(
        attempt=job.attempt,
        problem=problem,
        folder=job.folder.resolve(),
        seed=job.seed,
        cap=job.cap,
    )


def _result(future: Future[Answer | None]) -> list[Said | Died]:
    """What became of an errand, as a worker would say it."""
    try:
        answer = future.result(timeout=0)
    except CancelledError:
        return [Died(None, "the engine cancelled it")]
    except Exception as error:  # noqa: BLE001 - the border to the engine: whatever it lost it for
        words = f"{type(error).__name__}: {error}".strip()
        return [Died(None, f"the engine lost it ({words[:500]})")]
    if answer is None:
        return [Died(None, "another attempt took its place")]
    spent: list[Said | Died] = []
    if answer.wait_s > 0 or answer.spend.tokens:
        spent.append(Replied(answer.wait_s, answer.spend))
    return [*spent, answer.settled]
