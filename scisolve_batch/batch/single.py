"""One problem in this very process, with the same run directory as a batch of one."""

from __future__ import annotations

from pathlib import Path

from scisolve_batch.agent import events
from scisolve_batch.batch.models import make_opener
from scisolve_batch.batch.runner import describe_platform
from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.batch.templates import template_options
from scisolve_batch.batch.worker import (
    Job,
    OpenModel,
    derive_seed,
    lost_solution,
    run_problem,
    utc_now,
)
from scisolve_batch.executor import Template
from scisolve_batch.records import (
    Failure,
    JournalEvent,
    JournalLine,
    Manifest,
    PlannedProblem,
    Problem,
    Settings,
    Solution,
    StopReason,
    SuiteRef,
)
from scisolve_batch.rundir import RunDir


def solve_one(
    problem: Problem,
    *,
    settings: Settings,
    out: Path,
    open_model: OpenModel | None = None,
    observe: events.Observer = events.ignore,
) -> Solution:
    """Solve one problem and leave a run directory.

    Args:
        problem: what is asked.
        settings: how.
        out: the run directory to make.
        open_model: makes the model; by default as `settings.model` says.
        observe: hears each event, after it is on disk.

    Raises:
        RunDirError: the run directory cannot be written.
        SessionError: no executor can be started on this machine.
        KeyboardInterrupt: it was interrupted; the record says so.
    """
    with Template.start(template_options(settings)) as template:
        manifest = Manifest(
            **dict(settings.model_copy(update={"jobs": 1})),
            run_id=out.name,
            created_at=utc_now(),
            suite=SuiteRef(id="single", digest=problem.digest, title="one problem"),
            planned=(PlannedProblem(problem_id=problem.id, digest=problem.digest),),
            problems=(problem,),
            versions=template.versions,
            platform=describe_platform(),
            isolation=template.isolation,
        )
        attempt = Attempt(problem.id)

        def line(event: JournalEvent, digest: str | None = None) -> JournalLine:
            return JournalLine(
                event=event,
                at=utc_now(),
                problem_id=problem.id,
                sample=1,
                attempt=1,
                digest=digest,
            )

        with RunDir.create(out, manifest) as run, template.connect() as source:
            folder = run.problem(problem.id)
            started = JournalLine(
                event=JournalEvent.STARTED, at=utc_now(), digest=run.manifest_digest()
            )
            run.log(started)
            run.log(line(JournalEvent.DISPATCHED))
            try:
                solution = run_problem(
                    Job(
                        attempt=attempt,
                        problem=problem,
                        folder=folder.path,
                        seed=derive_seed(settings.seed, problem, sample=1),
                    ),
                    settings=settings,
                    source=source,
                    open_model=open_model or make_opener(settings),
                    observe=observe,
                )
            except KeyboardInterrupt:
                failure = Failure(kind="stopped", message="interrupted by the user")
                folder.write_solution(
                    lost_solution(
                        problem,
                        settings.model,
                        folder,
                        reason=StopReason.INTERRUPTED,
                        failure=failure,
                    )
                )
                run.log(line(JournalEvent.SETTLED, folder.digest()))
                raise
            run.log(line(JournalEvent.SETTLED, folder.digest()))
            return solution
