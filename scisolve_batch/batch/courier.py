"""The process that hands batches to the service and waits for them, so that the run need not.

It alone holds the key and the connection. It decides nothing: what it is told to do it does, and
says how that went.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.connection import Connection
from typing import Any, Self

from scisolve_batch.batch.work import leave_the_terminal
from scisolve_batch.errors import ModelError, ScisolveError
from scisolve_batch.model.batches import POLL_S, BatchService
from scisolve_batch.model.credentials import Credentials

POLL_VARIABLE = "SCISOLVE_BATCH_POLL_S"
"""Environment variable with the seconds between the first two looks at a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Bring the results of a batch.

    Attributes:
        number: the batch's number in its run.
        since: a time before it was handed over.
        ids: the custom ids of its requests.
        requests: what to hand over; None when that was done before.
        batch: its id, if it is known.
        known: ids of the run's other batches.
    """

    number: int
    since: datetime
    ids: tuple[str, ...]
    requests: Sequence[dict[str, Any]] | None = None
    batch: str | None = None
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """The service has the batch, under this id."""

    number: int
    batch: str


@dataclass(frozen=True, slots=True)
class Absent:
    """The service has no such batch."""

    number: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The service could not be asked; `taken` says whether it has the batch."""

    number: int
    error: ModelError
    taken: bool


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a batch, JSON lines."""

    number: int
    batch: str
    data: bytes


News = Taken | Absent | Failed | Results


class Courier:
    """The courier's process, as the run sees it."""

    def __init__(self, credentials: Credentials) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_carry,
            name="courier",
            args=(theirs, credentials),
            kwargs={"others": [self.pipe], "parent": os.getpid()},
        )
        self._process.start()
        theirs.close()

    def send(self, deliveries: Sequence[Delivery]) -> None:
        """Have batches brought. All are handed over before the first is waited for."""
        with suppress(BrokenPipeError, ConnectionResetError):  # `news` tells
            self.pipe.send(list(deliveries))

    def news(self) -> list[News]:
        """What it said since the last time. Does not wait.

        Raises:
            ScisolveError: it has ended.
        """
        said: list[News] = []
        try:
            while self.pipe.poll():
                said.append(self.pipe.recv())
        except (EOFError, OSError):
            if not said:
                raise ScisolveError(
                    "the process that asks the service in batches ended; resume the run, nothing "
                    "that was asked is lost"
                ) from None
        return said

    def close(self) -> None:
        """End it. What the service has, it keeps."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _carry(
    pipe: Connection, credentials: Credentials, *, others: Sequence[Connection], parent: int
) -> None:
    leave_the_terminal(others, parent=parent)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    first = float(os.environ.get(POLL_VARIABLE) or POLL_S[0])
    service = BatchService(
        credentials, sleep=time.sleep, poll_s=(first, max(first, min(POLL_S[1], 30 * first)))
    )
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            taken: list[tuple[int, str]] = []
            for delivery in pipe.recv():
                try:
                    batch = _identify(service, delivery)
                except ModelError as error:
                    pipe.send(Failed(delivery.number, error, taken=False))
                    continue
                pipe.send(
                    Absent(delivery.number) if batch is None else Taken(delivery.number, batch)
                )
                if batch is not None:
                    taken.append((delivery.number, batch))
            for number, batch in taken:
                try:
                    pipe.send(Results(number, batch, service.fetch(batch)))
                except ModelError as error:
                    pipe.send(Failed(number, error, taken=True))


def _identify(service: BatchService, delivery: Delivery) -> str | None:
    if delivery.batch is not None:
        return delivery.batch
    if delivery.requests is None:
        return service.find(delivery.ids, since=delivery.since, known=delivery.known)
    return service.hand_over(delivery.requests, since=delivery.since, known=delivery.known)
