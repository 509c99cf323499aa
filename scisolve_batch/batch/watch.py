"""What a run is doing right now: for `status.json`, and for the display.

A worker writes on its board what it waits for; it is read here when somebody may look.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from time import monotonic, time

from scisolve_batch.batch.pool import Workers
from scisolve_batch.batch.progress import Progress
from scisolve_batch.batch.scheduler import Attempt, Scheduler
from scisolve_batch.records import RunningProblem, RunStatus
from scisolve_batch.rundir import RunDir

STATUS_EVERY_S = 0.5
"""Changes of `status.json` are at least this far apart."""
STATUS_AT_LEAST_S = 5.0
"""Without any change it is written again after this time, to show that the run lives."""
PULSE_EVERY_S = 1.0
"""How often the display hears what is being waited for."""


@dataclass(slots=True)
class Watch:
    """The problems that are being worked on, and who hears of them.

    Attributes:
        total: samples that this part of the run set out to settle.
        running: what each worker has, by its number.
    """

    run: RunDir
    pool: Workers
    scheduler: Scheduler
    display: Progress
    total: int
    running: dict[int, RunningProblem] = field(default_factory=dict)
    _status_due: float = 0.0
    _pulse_due: float = 0.0
    _last: RunStatus | None = None

    def begin(self, worker: int, attempt: Attempt, *, at: float) -> None:
        """A worker was given a problem at this time (seconds since 1970)."""
        self.running[worker] = RunningProblem(
            problem_id=attempt.problem_id,
            sample=attempt.sample,
            attempt=attempt.attempt,
            worker=worker,
            pid=self.pool.pid(worker),
            doing="start",
            since=at,
            started=at,
        )
        self.display.begun(self.running[worker])

    def end(self, worker: int) -> bool:
        """A worker has its problem no more; False when it had none."""
        return self.running.pop(worker, None) is not None

    def due(self) -> float:
        """The monotonic time at which something is to be shown."""
        return min(self._pulse_due, self._status_due)

    def show(self) -> None:
        """Write `status.json` when something changed, and give the display its pulse."""
        now = monotonic()
        if now >= self._status_due or self.scheduler.done:
            self._status_due = now + STATUS_EVERY_S
            self._write_status()
        if now >= self._pulse_due:
            self._pulse_due = now + PULSE_EVERY_S
            self.display.pulse(tuple(self.running.values()))

    def _write_status(self) -> None:
        """Write what the run is doing, unless that was written not long ago."""
        for worker, before in self.running.items():
            if (line := self.pool.doing(worker)) and line[1] >= before.started:
                update = {"doing": line[0], "since": line[1]}
                self.running[worker] = before.model_copy(update=update)
        status = RunStatus(
            at=time(),
            pid=os.getpid(),
            total=self.total,
            settled=len(self.scheduler.settled),
            waiting=self.scheduler.waiting_count,
            stopping=self.scheduler.stopping,
            running=tuple(self.running.values()),
        )
        last = self._last
        if (
            last is not None
            and status.at < last.at + STATUS_AT_LEAST_S
            and status.model_copy(update={"at": last.at}) == last
        ):
            return
        self._last = status
        self.run.write_status(status)
