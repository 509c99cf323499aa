"""One problem from its folder to its record, and what a worker says about it.

Whatever happens to a problem, `run_problem` leaves a `solution.json` and returns it.
"""

from __future__ import annotations

import hashlib
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import gmtime, strftime
from typing import NamedTuple, Protocol

from scisolve_batch.agent import events
from scisolve_batch.agent.loop import solve
from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.errors import ModelError, ScisolveError, SessionError
from scisolve_batch.executor.base import ExecutionLimits, Session, SessionSource, SessionSpec
from scisolve_batch.model import split_model
from scisolve_batch.model.base import Model
from scisolve_batch.model.budget import Allowance, Cap, Spend
from scisolve_batch.model.prices import BATCH_DIVISOR
from scisolve_batch.model.waves import Letter, Post
from scisolve_batch.problemdir import ProblemDir, Transcript
from scisolve_batch.records import (
    Failure,
    Limits,
    Problem,
    Settings,
    Solution,
    StopReason,
    Usage,
)

STACK = "stack.txt"
"""Where a worker that was killed at its deadline says what it was doing."""


class OpenModel(Protocol):
    """Makes the model that works on a problem."""

    def __call__(
        self,
        problem: Problem,
        *,
        sample: int,
        on_throttle: Callable[[ModelError], object] | None,
        hold_until: Callable[[], float] | None,
        post: Post | None,
    ) -> Model:
        """Make it.

        Args:
            problem: the problem.
            sample: the planned repeat, from 1.
            on_throttle: to be called when the service says that it is asked too much.
            hold_until: the monotonic time before which nothing shall be asked.
            post: takes requests that are asked in batches, and brings their answers.

        Raises:
            ScisolveError: there is none for this problem.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A problem with everything a worker needs to know about it."""

    attempt: Attempt
    problem: Problem
    folder: Path
    seed: int
    cap: Cap = Cap()


class Order(NamedTuple):
    """A job as it is sent to a worker, which has the problems."""

    attempt: Attempt
    folder: str
    seed: int
    cap: Cap


# ---- what a worker says --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker waits for a problem."""


@dataclass(frozen=True, slots=True)
class Replied:
    """A reply came, after this many seconds of waiting for the service, and cost this much."""

    wait_s: float
    spend: Spend


@dataclass(frozen=True, slots=True)
class Throttled:
    """The service is asked too much: the kind of its complaint, and the wait it wants."""

    kind: str
    retry_after_s: float | None


@dataclass(frozen=True, slots=True)
class Asked:
    """The problem has a request for the next batch, and waits for its answer."""

    letter: Letter


@dataclass(frozen=True, slots=True)
class Queued:
    """The problem waited this many seconds for a machine; this time is not its own."""

    wait_s: float


class Settled(NamedTuple):
    """The problem's record is on disk. Small, whatever the record's size."""

    attempt: Attempt
    stop_reason: StopReason
    failure: Failure | None
    grounded: bool
    verified: bool
    correct: bool | None
    ungrounded: tuple[str, ...]
    usage: Usage
    duration_s: float
    digest: str


Said = Ready | Queued | Replied | Throttled | Asked | Settled


def settled(attempt: Attempt, solution: Solution, folder: ProblemDir) -> Settled:
    """What the parent needs to know about a record that is on disk."""
    return Settled(
        attempt=attempt,
        stop_reason=solution.stop_reason,
        failure=solution.failure,
        grounded=solution.grounded,
        verified=solution.verified,
        correct=solution.correct,
        ungrounded=solution.ungrounded,
        usage=solution.usage,
        duration_s=solution.duration_s,
        digest=folder.digest(),
    )


# ---- one problem ---------------------------------------------------------------------


def derive_seed(seed: int, problem: Problem, *, sample: int) -> int:
    """Seed of a session: the problem's own, or one derived from the run's, for each sample."""
    if problem.seed is not None:
        return problem.seed + sample - 1
    digest = hashlib.sha256(f"{seed}:{problem.id}:{sample}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def utc_now() -> str:
    """The time, ISO 8601 in UTC."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())


def _always() -> None:
    """Everything may be written."""


def run_problem(
    job: Job,
    *,
    settings: Settings,
    source: SessionSource,
    open_model: OpenModel,
    observe: events.Observer = events.ignore,
    on_throttle: Callable[[ModelError], object] | None = None,
    hold_until: Callable[[], float] | None = None,
    post: Post | None = None,
    admit: Callable[[], object] = _always,
) -> Solution:
    """Solve one problem in its folder and leave its record there.

    Args:
        job: the problem and its folder.
        settings: how problems are run.
        source: where sessions come from.
        open_model: makes the model.
        observe: hears each event, after it is on disk.
        on_throttle: hears when the service says that it is asked too much.
        hold_until: the monotonic time before which the service shall not be asked.
        post: takes requests that are asked in batches, and brings their answers.
        admit: is called before anything is written; what it raises ends the work without a record,
            unless it is an `Exception`.
    """
    folder = ProblemDir(job.folder)
    started_at = utc_now()

    try:
        folder.prepare(job.problem)
        with folder.open_transcript() as transcript:
            solution = _solve(
                job,
                folder,
                settings=settings,
                source=source,
                model=partial(
                    open_model,
                    job.problem,
                    sample=job.attempt.sample,
                    on_throttle=on_throttle,
                    hold_until=hold_until,
                    post=post,
                ),
                listen=_keep(folder, transcript, observe=observe, admit=admit),
            )
    except SessionError as error:
        solution = _failed(job, settings, StopReason.SESSION_LOST, "session", str(error))
    except ModelError as error:
        solution = _failed(job, settings, StopReason.MODEL_ERROR, error.kind, error.what)
    except ScisolveError as error:
        solution = _failed(job, settings, StopReason.MODEL_ERROR, "setup", str(error))
    except Exception:  # noqa: BLE001 - the problem's border: a fault of ours costs one problem
        solution = _failed(
            job, settings, StopReason.SESSION_LOST, "harness", traceback.format_exc(limit=20)
        )
    solution = solution.model_copy(
        update={
            "sample": job.attempt.sample,
            "attempt": job.attempt.attempt,
            "seed": job.seed,
            "started_at": started_at,
        }
    )
    admit()
    folder.write_solution(solution)
    return solution


def _keep(
    folder: ProblemDir,
    transcript: Transcript,
    *,
    observe: events.Observer,
    admit: Callable[[], object],
) -> events.Observer:
    """Put each event on disk before anybody hears of it."""

    def listen(event: events.Event) -> None:
        admit()
        match event:
            case events.MessageAdded(message):
                transcript.add(message)
            case events.CellFinished(cell):
                folder.write_cell(cell)
        observe(event)

    return listen


def _solve(
    job: Job,
    folder: ProblemDir,
    *,
    settings: Settings,
    source: SessionSource,
    model: Callable[[], Model],
    listen: events.Observer,
) -> Solution:
    own = job.problem.limits.model_dump(exclude_none=True)
    limits = settings.limits.model_copy(update=own)
    spec = SessionSpec(
        workdir=folder.work,
        figures=folder.figures,
        seed=job.seed,
        limits=execution_limits(limits),
    )
    asked = model()
    live = split_model(settings.model)[0] == "anthropic"
    try:
        with _closing(source.open(spec)) as session:
            solution = solve(
                job.problem,
                model=asked,
                session=session,
                limits=limits,
                grounding=settings.grounding,
                strict_names=settings.strict_names,
                rerun=Rerunner(source, spec, job.problem),
                allowance=Allowance(
                    job.cap, asked.name, divisor=BATCH_DIVISOR if settings.economy else 1
                )
                if live
                else None,
                observe=listen,
            )
            return solution.model_copy(update={"isolation": session.layers})
    finally:
        asked.close()


@contextmanager
def _closing(session: Session) -> Iterator[Session]:
    try:
        yield session
    finally:
        session.close()


def execution_limits(limits: Limits) -> ExecutionLimits:
    """The part of the limits that a session enforces."""
    return ExecutionLimits(
        cell_s=limits.cell_s,
        memory_mb=limits.memory_mb,
        output_bytes=limits.output_kb * 1024,
    )


@dataclass(frozen=True, slots=True)
class Rerunner:
    """Runs cells again in a fresh session with the same seed and data files."""

    source: SessionSource
    spec: SessionSpec
    problem: Problem

    def __call__(self, codes: Sequence[str]) -> list[str] | None:
        """What each cell prints this time, or None when one does not succeed."""
        with tempfile.TemporaryDirectory(prefix="rerun-", dir=self.spec.workdir.parent) as folder:
            again = ProblemDir(Path(folder))
            again.prepare(self.problem)
            spec = SessionSpec(
                workdir=again.work,
                figures=again.figures,
                seed=self.spec.seed,
                limits=self.spec.limits,
            )
            try:
                with _closing(self.source.open(spec)) as session:
                    outputs = []
                    for code in codes:
                        cell = session.run(code)
                        if not cell.ok:
                            return None
                        outputs.append(cell.stdout)
                    return outputs
            except SessionError:
                return None


def _failed(job: Job, settings: Settings, reason: StopReason, kind: str, message: str) -> Solution:
    return lost_solution(
        job.problem,
        settings.model,
        ProblemDir(job.folder),
        reason=reason,
        failure=Failure(kind=kind, message=message),
    )


def lost_solution(
    problem: Problem, model: str, folder: ProblemDir, *, reason: StopReason, failure: Failure
) -> Solution:
    """The record of an attempt that ended without one: what is on disk, and the failure."""
    try:
        cells = folder.read_cells()
    except (OSError, ValueError):
        cells = ()
    return Solution(
        problem_id=problem.id,
        problem_digest=problem.digest,
        model=model,
        stop_reason=reason,
        failure=failure,
        cells=cells,
        cell_s=sum(cell.wall_s for cell in cells),
    )
