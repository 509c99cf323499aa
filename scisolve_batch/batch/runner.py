"""A whole batch: the run directory, the template, the scheduler's decisions and the pool's acts.

`run_suite` returns when every planned problem has its record or the run was stopped. What was
settled stays settled, whatever ends the run.
"""

from __future__ import annotations

import os
import platform
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import FrameType

from scisolve_batch.batch.models import ModelOpener
from scisolve_batch.batch.pool import Died, Pool
from scisolve_batch.batch.progress import Progress
from scisolve_batch.batch.scheduler import (
    Action,
    Attempt,
    AttemptFinished,
    Dispatch,
    Event,
    KillWorker,
    Loss,
    RecordLoss,
    RetireWorker,
    Scheduler,
    StartWorker,
    StopRequested,
    Tick,
    WaitAnnounced,
    WorkerLost,
    WorkerReady,
)
from scisolve_batch.batch.worker import (
    Doing,
    Job,
    OpenModel,
    Ready,
    Said,
    Settled,
    Waited,
    derive_seed,
    lost_solution,
    settled,
    utc_now,
)
from scisolve_batch.errors import FATAL_MODEL_ERRORS, RETRYABLE_MODEL_ERRORS, ScisolveError
from scisolve_batch.executor import Template, TemplateOptions
from scisolve_batch.records import (
    Failure,
    JournalEvent,
    JournalLine,
    Limits,
    Manifest,
    PlannedProblem,
    Problem,
    Settings,
    StopReason,
    SuiteRef,
)
from scisolve_batch.rundir import RunDir

DEADLINE_GRACE_S = 60.0
"""Seconds beyond a problem's own limits after which its worker is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How a run ended.

    Attributes:
        path: the run directory.
        interrupted: it was stopped before every planned problem had its record.
        fatal: why no problem could go on, when the service or the machine said so.
    """

    path: Path
    interrupted: bool
    fatal: str | None


def run_suite(
    problems: Sequence[Problem],
    *,
    suite: SuiteRef,
    settings: Settings,
    out: Path,
    open_model: OpenModel | None = None,
    progress: Callable[[int], Progress],
) -> RunOutcome:
    """Run every problem of a suite and leave a run directory.

    Args:
        problems: what to run, in order.
        suite: what they are part of.
        settings: how they are run.
        out: the run directory to make.
        open_model: makes the models; by default as `settings.model` says.
        progress: makes the display, given the number of planned problems.

    Raises:
        RunDirError: the run directory cannot be written.
        SessionError: no executor can be started on this machine.
    """
    opener = open_model or ModelOpener(settings)
    planned = [
        PlannedProblem(problem_id=problem.id, sample=sample, digest=problem.digest)
        for sample in range(1, settings.samples + 1)
        for problem in problems
    ]
    with Template.start(TemplateOptions(isolation=settings.isolation_mode)) as template:
        manifest = Manifest(
            **dict(settings),
            run_id=out.name,
            created_at=utc_now(),
            suite=suite,
            planned=tuple(planned),
            problems=tuple(problems),
            versions=template.versions,
            platform=f"{platform.system()} {platform.release()} {platform.machine()}",
            isolation=template.isolation,
        )
        display = progress(len(planned))
        with RunDir.create(out, manifest) as run, _stop_signals() as stops:
            batch = _Batch(
                run=run,
                settings=settings,
                problems={problem.id: problem for problem in problems},
                display=display,
                stops=stops,
                scheduler=Scheduler(
                    [Attempt(item.problem_id, item.sample) for item in planned],
                    jobs=settings.jobs,
                    timeout=_deadline(settings.limits, problems),
                    max_attempts=settings.max_attempts,
                ),
                pool=Pool(template.connect, settings, opener, wake=(stops.wake,)),
            )
            try:
                batch.run_to_end()
            finally:
                batch.pool.close()
                display.close()
            return RunOutcome(
                path=out,
                interrupted=len(batch.scheduler.settled) < len(planned),
                fatal=batch.fatal,
            )


def _deadline(limits: Limits, problems: Sequence[Problem]) -> float:
    """Seconds after which a worker has certainly outlived its problem's own limits."""
    problem_s = max([limits.problem_s, *(p.limits.problem_s or 0.0 for p in problems)])
    cell_s = max([limits.cell_s, *(p.limits.cell_s or 0.0 for p in problems)])
    return problem_s + 2 * max(4 * cell_s, cell_s + 30.0) + DEADLINE_GRACE_S


# ---- stopping ------------------------------------------------------------------------


@dataclass(slots=True)
class _Stops:
    """Requests to stop, as they came in. `wake` becomes readable with each."""

    wake: socket.socket
    interrupts: int = 0
    terminated: bool = False

    def hear(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a handler
        if number == signal.SIGINT:
            self.interrupts += 1
        else:
            self.terminated = True

    def drain(self) -> None:
        while True:
            try:
                if not self.wake.recv(4096):
                    return
            except BlockingIOError:
                return


@contextmanager
def _stop_signals() -> Iterator[_Stops]:
    """Turn Ctrl-C and SIGTERM into something to wait for."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)  # noqa: FBT003 - the standard library's signature
    writer.setblocking(False)  # noqa: FBT003
    stops = _Stops(reader)
    before = {
        number: signal.signal(number, stops.hear) for number in (signal.SIGINT, signal.SIGTERM)
    }
    fd_before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield stops
    finally:
        signal.set_wakeup_fd(fd_before)
        for number, handler in before.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()


# ---- the loop ------------------------------------------------------------------------


@dataclass(slots=True)
class _Batch:
    """Carries events to the scheduler and its actions to the pool and the run directory."""

    run: RunDir
    settings: Settings
    problems: dict[str, Problem]
    display: Progress
    stops: _Stops
    scheduler: Scheduler
    pool: Pool
    doing: dict[int, str] = field(default_factory=dict)
    fatal: str | None = None
    exitcode: int | None = None
    heard_interrupts: int = 0

    def run_to_end(self) -> None:
        self.log(JournalEvent.STARTED, detail=f"pid {os.getpid()}")
        self.perform(self.scheduler.start())
        while not self.scheduler.done:
            wake = self.scheduler.wake_time()
            timeout = None if wake is None else max(0.0, wake - monotonic())
            for worker, message in self.pool.listen(timeout):
                self.hear(worker, message)
            self.hear_stops()
            self.tell(Tick())
        if self.scheduler.broken:
            raise ScisolveError("worker processes die before they can work; nothing could be run")
        self.log(JournalEvent.STOPPED, detail=self.fatal or "")

    def tell(self, event: Event) -> None:
        self.perform(self.scheduler.handle(event, monotonic()))

    def hear(self, worker: int, message: Said | Died) -> None:
        """Translate what a worker said into an event."""
        match message:
            case Ready():
                self.tell(WorkerReady(worker))
            case Doing(what):
                self.doing[worker] = what
            case Waited(seconds):
                self.tell(WaitAnnounced(worker, seconds))
            case Settled():
                retryable = _retryable(message)
                if retryable and self.scheduler.may_retry(message.attempt):
                    self.log(JournalEvent.LOST, message.attempt, worker=worker)
                else:
                    self.settle(message, worker=worker)
                self.tell(AttemptFinished(worker, retryable))
            case Died(exitcode):
                self.exitcode = exitcode
                self.tell(WorkerLost(worker))

    def settle(self, result: Settled, *, worker: int | None) -> None:
        """A record is on disk: say so, in the journal first."""
        self.log(JournalEvent.SETTLED, result.attempt, worker=worker)
        self.display.settled(result)
        if result.failure and result.failure.kind in FATAL_MODEL_ERRORS and self.fatal is None:
            self.fatal = result.failure.message
            self.display.say(f"stopping: {self.fatal}")
            self.tell(StopRequested())

    def hear_stops(self) -> None:
        """First Ctrl-C: finish what runs. Second, or SIGTERM: end it."""
        self.stops.drain()
        if self.stops.interrupts > self.heard_interrupts or self.stops.terminated:
            at_once = self.stops.interrupts > 1 or self.stops.terminated
            if not at_once:
                self.display.say(
                    "stopping: running problems are finished, no new ones are started "
                    "(Ctrl-C again to end them now)"
                )
            self.heard_interrupts = self.stops.interrupts
            self.stops.terminated = False
            self.tell(StopRequested(now=at_once))

    # -- actions --

    def perform(self, actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case StartWorker(worker):
                    self.pool.start(worker)
                case Dispatch(worker, attempt):
                    self.dispatch(worker, attempt)
                case KillWorker(worker):
                    self.pool.kill(worker)
                case RetireWorker(worker):
                    self.pool.send(worker, None)
                case RecordLoss():
                    self.record_loss(action)

    def dispatch(self, worker: int, attempt: Attempt) -> None:
        problem = self.problems[attempt.problem_id]
        folder = self.run.problem(attempt.problem_id, attempt.sample)
        folder.set_aside(attempt.attempt - 1)
        self.log(JournalEvent.DISPATCHED, attempt, worker=worker)
        seed = derive_seed(self.settings.seed, problem, sample=attempt.sample)
        self.pool.send(worker, Job(attempt=attempt, problem=problem, folder=folder.path, seed=seed))

    def record_loss(self, loss: RecordLoss) -> None:
        """Write the record that a lost worker could not write."""
        attempt = loss.attempt
        folder = self.run.problem(attempt.problem_id, attempt.sample)
        solution = folder.read_solution()
        if solution is None:  # else it died between its record and saying so
            reason, failure = self.explain(loss)
            problem = self.problems[attempt.problem_id]
            solution = lost_solution(
                problem, self.settings.model, folder, reason=reason, failure=failure
            ).model_copy(
                update={
                    "sample": attempt.sample,
                    "attempt": attempt.attempt,
                    "seed": derive_seed(self.settings.seed, problem, sample=attempt.sample),
                }
            )
            folder.path.mkdir(parents=True, exist_ok=True)
            folder.write_solution(solution)
        if loss.retry:
            self.log(JournalEvent.LOST, attempt, detail=str(loss.loss))
        else:
            self.settle(settled(attempt, solution), worker=None)

    def explain(self, loss: RecordLoss) -> tuple[StopReason, Failure]:
        """Stop reason and failure of a lost attempt."""
        match loss.loss:
            case Loss.TIMED_OUT:
                text = "its worker outlived the problem's deadline and was killed"
                return StopReason.TIME_LIMIT, Failure(kind="deadline", message=text)
            case Loss.STOPPED:
                text = "the run was stopped while this problem was being worked on"
                return StopReason.INTERRUPTED, Failure(kind="stopped", message=text)
            case Loss.CRASHED:
                text = f"its worker process ended {_how(self.exitcode)}"
                return StopReason.SESSION_LOST, Failure(kind="worker_lost", message=text)

    def log(
        self,
        event: JournalEvent,
        attempt: Attempt | None = None,
        *,
        worker: int | None = None,
        detail: str = "",
    ) -> None:
        self.run.log(
            JournalLine(
                event=event,
                at=utc_now(),
                problem_id=attempt.problem_id if attempt else None,
                sample=attempt.sample if attempt else None,
                attempt=attempt.attempt if attempt else None,
                worker=worker,
                detail=detail,
            )
        )


def _retryable(result: Settled) -> bool:
    """The machinery failed, not the model: another attempt may go better."""
    if result.failure and result.failure.kind in FATAL_MODEL_ERRORS:
        return False
    if result.stop_reason is StopReason.SESSION_LOST:
        return True
    return (
        result.stop_reason is StopReason.MODEL_ERROR
        and result.failure is not None
        and result.failure.kind in RETRYABLE_MODEL_ERRORS
    )


def _how(exitcode: int | None) -> str:
    if exitcode is None:
        return "in an unknown way"
    if exitcode < 0:
        return f"by signal {-exitcode} ({signal.Signals(-exitcode).name})"
    return f"with exit code {exitcode}"
