"""Which problem runs where, decided without touching a process, a pipe or a clock.

`Scheduler.handle` takes what happened and returns what to do; `pool.py` does it. A run's whole
story is its list of events, so any fault can be told again in a test.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

MAX_FAILED_STARTS = 5
"""Workers in a row that may die before they are ready."""


class Attempt(NamedTuple):
    """One try at one sample of one problem. The last two count from 1."""

    problem_id: str
    sample: int = 1
    attempt: int = 1

    @property
    def key(self) -> tuple[str, int]:
        """What is settled once: the sample, whatever the attempt."""
        return self.problem_id, self.sample


class Loss(StrEnum):
    """Why an attempt ended without its worker saying so."""

    CRASHED = "crashed"  # the worker died
    TIMED_OUT = "timed_out"  # it was killed at its deadline
    STOPPED = "stopped"  # it was killed because the run was stopped


# ---- events: what happened -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """A started worker waits for its first problem."""

    worker: int


@dataclass(frozen=True, slots=True)
class AttemptFinished:
    """A worker reported the end of its problem; its record is on disk.

    `retryable`: the machinery failed, another attempt may go better. `usable`: the worker can
    take another problem; otherwise it is let go and replaced.
    """

    worker: int
    retryable: bool = False
    usable: bool = True


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker's process ended."""

    worker: int


@dataclass(frozen=True, slots=True)
class WaitAnnounced:
    """A worker's problem waits for the service; this time is not the problem's fault."""

    worker: int
    seconds: float


@dataclass(frozen=True, slots=True)
class WidthChanged:
    """From now on this many problems may run at once."""

    width: int


@dataclass(frozen=True, slots=True)
class HeldUntil:
    """No problem is started before this reading of the clock."""

    time: float


@dataclass(frozen=True, slots=True)
class StopRequested:
    """Start nothing more; with `now`, also end what runs."""

    now: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed."""


Event = (
    WorkerReady
    | AttemptFinished
    | WorkerLost
    | WaitAnnounced
    | WidthChanged
    | HeldUntil
    | StopRequested
    | Tick
)


# ---- actions: what to do about it ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class StartWorker:
    """Start a worker process under this number."""

    worker: int


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Give a worker its next problem."""

    worker: int
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class KillWorker:
    """Kill a worker; `WorkerLost` will follow."""

    worker: int
    loss: Loss


@dataclass(frozen=True, slots=True)
class RetireWorker:
    """Let an idle worker end."""

    worker: int


@dataclass(frozen=True, slots=True)
class RecordLoss:
    """Write down that an attempt was lost; `retry` says whether it is tried again."""

    attempt: Attempt
    loss: Loss
    retry: bool


Action = StartWorker | Dispatch | KillWorker | RetireWorker | RecordLoss


@dataclass(slots=True)
class _Running:
    attempt: Attempt
    deadline: float
    loss: Loss = Loss.CRASHED
    killed: bool = False


@dataclass(slots=True)
class Scheduler:
    """The state of a batch.

    Attributes:
        attempts: what to do, in order.
        jobs: most workers at a time.
        timeout: seconds after which a worker's problem is given up.
        max_attempts: attempts at a sample before a loss is final.
        settled: each settled sample with the number of its last attempt.
    """

    attempts: Iterable[Attempt]
    jobs: int
    timeout: float
    max_attempts: int = 1
    settled: dict[tuple[str, int], int] = field(init=False, default_factory=dict)
    _queue: deque[Attempt] = field(init=False)
    _running: dict[int, _Running] = field(init=False, default_factory=dict)
    _workers: set[int] = field(init=False, default_factory=set)
    _idle: set[int] = field(init=False, default_factory=set)
    _next_worker: int = field(init=False, default=0)
    _width: int = field(init=False)
    _held_until: float = field(init=False, default=0.0)
    _stopping: bool = field(init=False, default=False)
    _failed_starts: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._queue = deque(self.attempts)
        self._width = self.jobs

    @property
    def done(self) -> bool:
        """Nothing runs, and nothing more will be started."""
        return not self._workers and not self._running and (self._stopping or not self._queue)

    @property
    def stopping(self) -> bool:
        """A stop was requested."""
        return self._stopping

    @property
    def broken(self) -> bool:
        """Workers die before they are ready, so nothing can be run."""
        return self._failed_starts >= MAX_FAILED_STARTS

    @property
    def running(self) -> dict[int, Attempt]:
        """What each busy worker works on."""
        return {worker: run.attempt for worker, run in self._running.items()}

    @property
    def waiting(self) -> tuple[Attempt, ...]:
        """What has not been started."""
        return tuple(self._queue)

    @property
    def waiting_count(self) -> int:
        """How many have not been started."""
        return len(self._queue)

    def wake_time(self) -> float | None:
        """The clock's reading at which a `Tick` is due, if one is."""
        times = [run.deadline for run in self._running.values() if not run.killed]
        if self._queue and self._idle and self._held_until and not self._stopping:
            times.append(self._held_until)
        return min(times, default=None)

    def start(self) -> list[Action]:
        """The first actions."""
        return self._grow()

    def handle(self, event: Event, now: float) -> list[Action]:
        """What to do about an event, at this reading of the clock."""
        match event:
            case WorkerReady(worker):
                self._failed_starts = 0
                self._idle.add(worker)
            case AttemptFinished(worker, retryable, usable):
                self._finish(worker, retryable=retryable)
                if not usable:
                    self._idle.discard(worker)
                    self._workers.discard(worker)
                    return [RetireWorker(worker), *self._grow(), *self._assign(now)]
            case WorkerLost(worker):
                return self._lose(worker) + self._assign(now)
            case WaitAnnounced(worker, seconds):
                if run := self._running.get(worker):
                    run.deadline += max(0.0, seconds)
            case WidthChanged(width):
                self._width = max(1, min(width, self.jobs))
            case HeldUntil(time):
                self._held_until = max(self._held_until, time)
            case StopRequested(at_once):
                self._stopping = True
                return (self._kill(Loss.STOPPED) if at_once else []) + self._assign(now)
            case Tick():
                if now >= self._held_until:
                    self._held_until = 0.0
                return self._kill(Loss.TIMED_OUT, now) + self._assign(now)
        return self._assign(now)

    def _finish(self, worker: int, *, retryable: bool) -> None:
        run = self._running.pop(worker)
        if retryable and self.may_retry(run.attempt):
            self._again(run.attempt)
        else:
            self.settled[run.attempt.key] = run.attempt.attempt
        self._idle.add(worker)

    def _lose(self, worker: int) -> list[Action]:
        started = worker in self._running or worker in self._idle
        if worker in self._workers and not started:  # a retired one is expected to end
            self._failed_starts += 1
            self._stopping |= self.broken
        self._workers.discard(worker)
        self._idle.discard(worker)
        actions: list[Action] = []
        if run := self._running.pop(worker, None):
            # What was stopped on purpose or ran out of time would do so again.
            retry = run.loss is Loss.CRASHED and self.may_retry(run.attempt)
            if retry:
                self._again(run.attempt)
            else:
                self.settled[run.attempt.key] = run.attempt.attempt
            actions.append(RecordLoss(run.attempt, run.loss, retry))
        return actions + self._grow()

    def may_retry(self, attempt: Attempt) -> bool:
        """Another attempt is allowed after this one."""
        return attempt.attempt < self.max_attempts and not self._stopping

    def _again(self, attempt: Attempt) -> None:
        self._queue.append(attempt._replace(attempt=attempt.attempt + 1))

    def _kill(self, loss: Loss, now: float | None = None) -> list[Action]:
        """End what runs: everything, or what is past its deadline at `now`."""
        actions: list[Action] = []
        for worker, run in self._running.items():
            if not run.killed and (now is None or now >= run.deadline):
                run.killed, run.loss = True, loss
                actions.append(KillWorker(worker, loss))
        return actions

    def _grow(self) -> list[Action]:
        actions: list[Action] = []
        wanted = 0 if self._stopping else min(self.jobs, len(self._queue) + len(self._running))
        while len(self._workers) < wanted:
            self._workers.add(self._next_worker)
            actions.append(StartWorker(self._next_worker))
            self._next_worker += 1
        return actions

    def _assign(self, now: float) -> list[Action]:
        """Give idle workers problems, or let them go when there are none left for them."""
        actions: list[Action] = []
        for worker in sorted(self._idle):
            if self._queue and not self._stopping:
                if len(self._running) < self._width and now >= self._held_until:
                    self._idle.discard(worker)
                    attempt = self._queue.popleft()
                    self._running[worker] = _Running(attempt, now + self.timeout)
                    actions.append(Dispatch(worker, attempt))
            elif self._stopping or not self._retries_possible():
                self._idle.discard(worker)
                self._workers.discard(worker)
                actions.append(RetireWorker(worker))
        return actions

    def _retries_possible(self) -> bool:
        return any(run.attempt.attempt < self.max_attempts for run in self._running.values())
