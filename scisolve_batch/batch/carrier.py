"""Carries events from the pool to the scheduler, and its actions to the pool and the disk.

What happened is in the journal before anything follows from it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic, time

from scisolve_batch.batch.mail import Mail
from scisolve_batch.batch.pool import Died, Workers
from scisolve_batch.batch.progress import Progress
from scisolve_batch.batch.resume import is_final
from scisolve_batch.batch.scheduler import (
    Action,
    Attempt,
    AttemptFinished,
    Dispatch,
    Event,
    HeldUntil,
    KillWorker,
    Loss,
    RecordLoss,
    RetireWorker,
    Scheduler,
    StartWorker,
    StopRequested,
    Tick,
    WaitAnnounced,
    WidthChanged,
    WorkerLost,
    WorkerReady,
)
from scisolve_batch.batch.spending import Purse
from scisolve_batch.batch.stops import StopLevel, Stops
from scisolve_batch.batch.watch import Watch
from scisolve_batch.batch.worker import (
    STACK,
    Asked,
    Job,
    Queued,
    Ready,
    Replied,
    Said,
    Settled,
    Throttled,
    derive_seed,
    lost_solution,
    settled,
    utc_now,
)
from scisolve_batch.errors import FATAL_MODEL_ERRORS, RETRYABLE_MODEL_ERRORS, ScisolveError
from scisolve_batch.files import write_whole
from scisolve_batch.model import RateControl
from scisolve_batch.model.budget import Spend
from scisolve_batch.records import (
    Failure,
    JournalEvent,
    JournalLine,
    Problem,
    Settings,
    StopReason,
)
from scisolve_batch.rundir import RunDir


@dataclass(slots=True)
class Carrier:
    """Carries events to the scheduler and its actions to the pool and the run directory."""

    run: RunDir
    settings: Settings
    problems: dict[str, Problem]
    display: Progress
    stops: Stops
    scheduler: Scheduler
    pool: Workers
    purse: Purse
    rate: RateControl
    watch: Watch
    mail: Mail | None = None
    stacks: dict[Attempt, str] = field(default_factory=dict)
    paid: dict[Attempt, Spend] = field(default_factory=dict)
    final: int = 0
    fatal: str | None = None
    out_of_money: bool = False
    end: Died | None = None
    rate_seen: int = 0
    stop_level: StopLevel = StopLevel.NONE

    def run_to_end(self) -> None:
        """Work until nothing runs and nothing more is to be started.

        Raises:
            ScisolveError: workers die before they can work.
            RunDirError: the run directory cannot be written any more.
        """
        self.log(
            JournalEvent.STARTED,
            detail=f"pid {os.getpid()}",
            digest=self.run.manifest_digest(),
        )
        self.perform(self.scheduler.start())
        while not self.scheduler.done:
            for worker, message in self.pool.listen(self.patience()):
                self.hear(worker, message)
            self.hear_stops()
            self.tell(Tick())
            self.deal_out()
            self.watch.show()
        self.watch.show()
        if self.scheduler.broken:
            raise ScisolveError("worker processes die before they can work; nothing could be run")
        self.log(JournalEvent.STOPPED, detail=self.fatal or "")

    def patience(self) -> float:
        """Seconds to listen at most: until a deadline, or until something is to be shown."""
        due = self.watch.due()
        if (wake := self.scheduler.wake_time()) is not None:
            due = min(due, wake)
        return max(0.0, due - monotonic())

    def tell(self, event: Event) -> None:
        """Let the scheduler decide about an event, and do what it says."""
        self.perform(self.scheduler.handle(event, monotonic()))

    def hear(self, worker: int, message: Said | Died) -> None:
        """Translate what a worker said into an event."""
        match message:
            case Ready():
                self.tell(WorkerReady(worker))
            case Replied():
                self.hear_reply(worker, message)
            case Throttled(kind, retry_after_s):
                self.rate.failed(kind, at=monotonic(), retry_after_s=retry_after_s)
                self.follow_rate()
            case Asked(letter):
                if self.mail is not None:
                    attempt = self.scheduler.running[worker]
                    self.mail.asked(worker, attempt, letter, now=monotonic())
            case Settled():
                self.forget_mail(worker, recorded=message.usage.total > 0)
                self.watch.end(worker)
                self.purse.end(message.attempt)
                self.mind_the_purse()
                retryable = _retryable(message)
                if retryable and self.scheduler.may_retry(message.attempt):
                    self.log(JournalEvent.LOST, message.attempt, worker=worker)
                else:
                    self.settle(message, worker=worker)
                usable = message.failure is None or message.failure.kind != "session"
                self.tell(AttemptFinished(worker, retryable, usable))
            case Queued(wait_s):
                self.tell(WaitAnnounced(worker, wait_s))
            case Died():
                self.forget_mail(worker, recorded=False)
                if self.watch.end(worker):
                    attempt = self.scheduler.running[worker]
                    self.paid[attempt] = self.purse.end(attempt)
                self.end = message
                self.tell(WorkerLost(worker))

    def hear_reply(self, worker: int, reply: Replied) -> None:
        """Account for a reply: its money, its wait, and that the service bears the load."""
        if attempt := self.scheduler.running.get(worker):
            self.purse.spend(attempt, reply.spend)
        if reply.wait_s > 0 and self.mail is None:
            self.tell(WaitAnnounced(worker, reply.wait_s))
        self.rate.replied(at=monotonic())
        self.follow_rate()

    def deal_out(self) -> None:
        """Send the next wave when it is complete, and bring answers to those that wait."""
        if self.mail is None:
            return
        running = self.scheduler.running
        coming = 0 if self.scheduler.stopping else self.scheduler.waiting_count
        complete = len(running) >= min(self.settings.jobs, len(running) + coming)
        for worker, seconds in self.mail.waits(monotonic()):
            self.tell(WaitAnnounced(worker, seconds))
        for worker, answer in self.mail.step(running, complete=complete):
            self.pool.answer(worker, answer)

    def forget_mail(self, worker: int, *, recorded: bool) -> None:
        """A worker's attempt is over; without a record, what it was answered serves the next."""
        attempt = self.scheduler.running.get(worker)
        if self.mail is not None and attempt is not None:
            self.mail.ended(worker, attempt, recorded=recorded)

    def follow_rate(self) -> None:
        """Let the scheduler know what the service bears, when that has changed."""
        for change in self.rate.history[self.rate_seen :]:
            self.log(
                JournalEvent.RATE,
                detail=f"{change.allowed} at once after {change.reason}, "
                f"hold {max(0.0, change.hold_until - change.at):.1f} s",
            )
            self.tell(HeldUntil(change.hold_until))
            self.tell(WidthChanged(change.allowed))
            self.pool.hold(change.hold_until)
        self.rate_seen = len(self.rate.history)

    def mind_the_purse(self) -> None:
        """Start nothing more when a further problem could not be paid for."""
        if not self.out_of_money and self.scheduler.waiting_count and self.purse.is_empty():
            self.out_of_money = True
            self.display.say(f"stopping: {self.purse.spent.usd:.2f} USD are spent, the cap is near")
            self.tell(StopRequested())

    def settle(self, result: Settled, *, worker: int | None) -> None:
        """A record is on disk: say so, in the journal first."""
        self.log(JournalEvent.SETTLED, result.attempt, worker=worker, digest=result.digest)
        self.final += is_final(result.stop_reason, result.failure)
        self.display.settled(result)
        if result.failure and result.failure.kind in FATAL_MODEL_ERRORS and self.fatal is None:
            self.fatal = result.failure.message
            self.display.say(f"stopping: {self.fatal}")
            self.tell(StopRequested())

    def hear_stops(self) -> None:
        """First Ctrl-C: finish what runs. Second, or SIGTERM: end it."""
        self.stops.drain()
        level = self.stops.level
        if level <= self.stop_level:
            return
        self.stop_level = level
        if level is StopLevel.DRAIN:
            self.display.say(
                "stopping: what runs is finished, nothing new is started (Ctrl-C again: end it now)"
            )
        self.tell(StopRequested(now=level is StopLevel.CANCEL))

    # -- actions --

    def perform(self, actions: Sequence[Action]) -> None:
        """Do what the scheduler decided."""
        for action in actions:
            match action:
                case StartWorker(worker):
                    self.pool.start(worker)
                case Dispatch(worker, attempt):
                    self.dispatch(worker, attempt)
                case KillWorker(worker, loss):
                    self.kill(worker, loss)
                case RetireWorker(worker):
                    self.pool.send(worker, None)
                case RecordLoss():
                    self.record_loss(action)

    def dispatch(self, worker: int, attempt: Attempt) -> None:
        """Give a worker its problem; an earlier attempt's folder is kept beside."""
        problem = self.problems[attempt.problem_id]
        folder = self.run.problem(attempt.problem_id, attempt.sample)
        folder.set_aside(attempt.attempt - 1)
        self.log(JournalEvent.DISPATCHED, attempt, worker=worker)
        seed = derive_seed(self.settings.seed, problem, sample=attempt.sample)
        job = Job(
            attempt=attempt,
            problem=problem,
            folder=folder.path,
            seed=seed,
            cap=self.purse.begin(attempt),
        )
        now = time()  # before the worker can say what it does
        self.pool.send(worker, job)
        self.watch.begin(worker, attempt, at=now)

    def kill(self, worker: int, loss: Loss) -> None:
        """Kill a worker; what it was doing at its deadline is kept for the record."""
        stack = self.pool.kill(worker, ask_for_stack=loss is Loss.TIMED_OUT)
        if stack:
            self.stacks[self.scheduler.running[worker]] = stack

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
                    "cost_usd": self.paid.pop(attempt, Spend()).usd or None,
                    "seed": derive_seed(self.settings.seed, problem, sample=attempt.sample),
                }
            )
            folder.path.mkdir(parents=True, exist_ok=True)
            if stack := self.stacks.pop(attempt, ""):
                write_whole(folder.path / STACK, stack.encode())
            folder.write_solution(solution)
        if loss.retry:
            self.log(JournalEvent.LOST, attempt, detail=str(loss.loss))
        else:
            self.settle(settled(attempt, solution, folder), worker=None)

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
                text = _how(self.end)
                return StopReason.SESSION_LOST, Failure(kind="worker_lost", message=text)

    def log(
        self,
        event: JournalEvent,
        attempt: Attempt | None = None,
        *,
        worker: int | None = None,
        detail: str = "",
        digest: str | None = None,
    ) -> None:
        """Add a line to the journal."""
        self.run.log(
            JournalLine(
                event=event,
                at=utc_now(),
                problem_id=attempt.problem_id if attempt else None,
                sample=attempt.sample if attempt else None,
                attempt=attempt.attempt if attempt else None,
                worker=worker,
                detail=detail,
                digest=digest,
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


def _how(end: Died | None) -> str:
    if end is not None and end.why:
        return end.why
    code = end.exitcode if end else None
    if code is None:
        return "its worker process ended in an unknown way"
    if code < 0:
        name = signal.Signals(-code).name
        return f"its worker process ended by signal {-code} ({name})"
    return f"its worker process ended with exit code {code}"
