"""A whole batch: the template, the run directory, the scheduler and the pool put together.

`run_suite` and `resume_run` return when every planned problem has its record or the run was
stopped. What was settled stays settled, whatever ends the run.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from scisolve_batch.batch.backends import open_engine
from scisolve_batch.batch.carrier import Carrier
from scisolve_batch.batch.courier import Courier
from scisolve_batch.batch.engine_pool import EnginePool
from scisolve_batch.batch.errand import revoke_claims
from scisolve_batch.batch.mail import Mail
from scisolve_batch.batch.models import make_opener
from scisolve_batch.batch.pool import Pool, Workers
from scisolve_batch.batch.progress import Progress
from scisolve_batch.batch.resume import differences, plan_rest, settle_unsaid, spent_so_far
from scisolve_batch.batch.scheduler import Attempt, Scheduler
from scisolve_batch.batch.spending import Purse
from scisolve_batch.batch.stops import stop_signals
from scisolve_batch.batch.templates import TemplateKeeper, template_options
from scisolve_batch.batch.watch import Watch
from scisolve_batch.batch.worker import OpenModel, utc_now
from scisolve_batch.errors import RunDirError
from scisolve_batch.model import RateControl, load_sdk, require_credentials, split_model
from scisolve_batch.records import (
    Limits,
    Manifest,
    PlannedProblem,
    Problem,
    Settings,
    SuiteRef,
)
from scisolve_batch.rundir import RunDir

DEADLINE_GRACE_S = 60.0
"""Seconds beyond a problem's own limits after which its worker is given up."""

SPAWN_NOTE = (
    "sessions are interpreters of their own here, because this system cannot fork them: each takes "
    "seconds to start, has fewer layers of isolation, and gets lost variables back by running its "
    "cells again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How a run ended.

    Attributes:
        path: the run directory.
        unfinished: planned samples without a final record; 0 unless the run was stopped.
        fatal: why no problem could go on, when the service said so.
        out_of_money: nothing more was started because the run's cap was near.
    """

    path: Path
    unfinished: int
    fatal: str | None
    out_of_money: bool = False


def plan(problems: Sequence[Problem], *, samples: int) -> tuple[PlannedProblem, ...]:
    """Every sample of every problem: all first samples, then all second ones, and so on."""
    return tuple(
        PlannedProblem(problem_id=problem.id, sample=sample, digest=problem.digest)
        for sample in range(1, samples + 1)
        for problem in problems
    )


def run_suite(
    problems: Sequence[Problem],
    *,
    suite: SuiteRef,
    settings: Settings,
    out: Path,
    progress: Callable[[int], Progress],
    open_model: OpenModel | None = None,
    backend: str | None = None,
) -> RunOutcome:
    """Run every problem of a suite and leave a run directory.

    Args:
        problems: what to run, in order.
        suite: what they are part of.
        settings: how they are run.
        out: the run directory to make.
        progress: makes the display, given the number of planned problems.
        open_model: makes the models; by default as `settings.model` says.
        backend: the engine that carries problems to other machines; None works here.

    Raises:
        UsageError: the engine cannot be used.
        RunDirError: the run directory cannot be written.
        SessionError: no executor can be started on this machine.
    """
    planned = plan(problems, samples=settings.samples)
    with TemplateKeeper(template_options(settings)) as keeper:
        manifest = Manifest(
            **dict(settings),
            run_id=out.name,
            created_at=utc_now(),
            suite=suite,
            planned=planned,
            problems=tuple(problems),
            versions=keeper.template.versions,
            platform=describe_platform(),
            isolation=keeper.template.isolation,
        )
        with RunDir.create(out, manifest) as run:
            attempts = [Attempt(item.problem_id, item.sample) for item in planned]
            return _work_through(
                run, attempts, settings=settings, keeper=keeper,
                progress=progress, open_model=open_model, backend=backend,
            )  # fmt: skip


def resume_run(
    path: Path,
    *,
    settings: Settings,
    progress: Callable[[int], Progress],
    problems: Sequence[Problem] | None = None,
    allow_changes: bool = False,
    open_model: OpenModel | None = None,
    backend: str | None = None,
) -> RunOutcome:
    """Go on with a run: what has its record stays, everything else is run.

    Args:
        path: the run directory.
        settings: how the rest is run.
        progress: makes the display, given the number of problems that are left.
        problems: the suite as it is now; None takes the run's own copy.
        allow_changes: go on even if suite or settings are not what they were.
        open_model: makes the models; by default as `settings.model` says.
        backend: the engine that carries problems to other machines; None works here.

    Raises:
        UsageError: the engine cannot be used.
        RunDirError: it is no run directory, another process works on it, or something changed.
        SessionError: no executor can be started on this machine.
    """
    before = RunDir.read(path).manifest
    planned = None if problems is None else plan(problems, samples=settings.samples)
    changes = differences(before, settings, planned=planned)
    if changes and not allow_changes:
        raise RunDirError(
            f"{path}: what is asked for now is not what this run began with:\n  "
            + "\n  ".join(changes)
            + "\nStart a new run, or add --allow-changes to go on all the same."
        )
    changed = {
        **dict(settings),
        "planned": planned or before.planned,
        "problems": before.problems if problems is None else tuple(problems),
        "changes": (*before.changes, *(f"{utc_now()} {change}" for change in changes)),
    }
    with (
        RunDir.reopen(path, before.model_copy(update=changed)) as run,
        TemplateKeeper(template_options(settings)) as keeper,
    ):
        settle_unsaid(run)
        return _work_through(
            run, plan_rest(run), settings=settings, keeper=keeper,
            progress=progress, open_model=open_model, backend=backend,
        )  # fmt: skip


def _work_through(
    run: RunDir,
    attempts: Sequence[Attempt],
    *,
    settings: Settings,
    keeper: TemplateKeeper,
    progress: Callable[[int], Progress],
    open_model: OpenModel | None,
    backend: str | None,
) -> RunOutcome:
    problems = run.manifest.problems
    by_id = {problem.id: problem for problem in problems}
    if split_model(settings.model)[0] == "anthropic" and not settings.economy:
        load_sdk()  # once here, instead of once in every worker that is forked off
    revoke_claims(run.path)
    opener = open_model or make_opener(settings)
    engine = open_engine(backend) if backend else None
    display = progress(len(attempts))
    if keeper.template.method == "spawn":
        display.say(SPAWN_NOTE)
    with stop_signals() as stops, ExitStack() as stack:
        pool: Workers
        mail: Mail | None = None
        if engine is not None:
            pool = EnginePool(engine, settings, run.path, wake=(stops.wake,))
        elif settings.economy:
            mail = _open_mail(run, settings, say=display.say, stack=stack)
            wake = (stops.wake, mail.courier.pipe)
            pool = Pool(keeper.connect, settings, opener, problems=by_id, wake=wake)
        else:
            pool = Pool(keeper.connect, settings, opener, problems=by_id, wake=(stops.wake,))
        scheduler = Scheduler(
            attempts,
            jobs=settings.jobs,
            timeout=_deadline(settings.limits, problems),
            max_attempts=settings.max_attempts,
        )
        carrier = Carrier(
            run=run,
            settings=settings,
            problems=by_id,
            display=display,
            stops=stops,
            purse=Purse(settings, spent_so_far(run)),
            rate=RateControl(settings.jobs),
            scheduler=scheduler,
            pool=pool,
            watch=Watch(run, pool, scheduler, display, total=len(attempts)),
            mail=mail,
        )
        try:
            carrier.run_to_end()
        finally:
            pool.close()
            display.close()
            if engine is not None:
                engine.close()
    return RunOutcome(
        path=run.path,
        unfinished=len(attempts) - carrier.final,
        fatal=carrier.fatal,
        out_of_money=carrier.out_of_money,
    )


def _open_mail(
    run: RunDir, settings: Settings, *, say: Callable[[str], None], stack: ExitStack
) -> Mail:
    """What gathers requests into batches, with what an earlier part of the run asked."""
    credentials = require_credentials(base_url=settings.base_url)
    courier = stack.enter_context(Courier(credentials))
    mail = Mail(run, courier, say, most_active=max(2, os.cpu_count() or 1))
    mail.recover()
    return mail


def _deadline(limits: Limits, problems: Sequence[Problem]) -> float:
    """Seconds after which a worker has certainly outlived its problem's own limits."""
    problem_s = max([limits.problem_s, *(p.limits.problem_s or 0.0 for p in problems)])
    cell_s = max([limits.cell_s, *(p.limits.cell_s or 0.0 for p in problems)])
    return problem_s + 2 * max(4 * cell_s, cell_s + 30.0) + DEADLINE_GRACE_S


def describe_platform() -> str:
    """Operating system, its release and the processor's architecture."""
    return f"{platform.system()} {platform.release()} {platform.machine()}"
