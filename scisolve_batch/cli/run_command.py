"""`scisolve-batch run`: a suite in, a run directory and a report out."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from scisolve_batch.batch.event_lines import EventLines
from scisolve_batch.batch.progress import Progress, open_progress
from scisolve_batch.batch.reselect import KINDS, Which, ids_of
from scisolve_batch.batch.runner import RunOutcome, resume_run, run_suite
from scisolve_batch.cli import EXIT_INTERRUPTED
from scisolve_batch.cli.dry_run import describe_plan
from scisolve_batch.cli.options import SELECTION, selection_options, settings_options
from scisolve_batch.cli.preflight import prepare
from scisolve_batch.errors import RunDirError, UsageError
from scisolve_batch.report import (
    Summary,
    build_report,
    github_summary,
    render_summary,
    summarize,
    write_junit,
)
from scisolve_batch.rundir import MANIFEST, RunDir
from scisolve_batch.settings import ENV_PREFIX, merge_settings
from scisolve_batch.suite import Suite, bundled_names, load_suite, select

ECONOMY_JOBS = 32
"""Problems that advance together when requests are asked in batches, unless --jobs says it."""
JOBS_VARIABLE = ENV_PREFIX + "JOBS"


@click.command("run", short_help="Run a suite of problems and report on it.")
@click.argument("suite", metavar="SUITE", required=False)
@settings_options
@click.option("-j", "--jobs", type=int, metavar="N", help="Worker processes.  [default: 2]")
@click.option("--samples", type=int, metavar="K", help="Repeats of each problem.  [default: 1]")
@click.option(
    "--max-attempts",
    type=int,
    metavar="N",
    help="Attempts at a problem that the machinery loses.  [default: 1]",
)
@click.option(
    "--economy/--no-economy",
    default=None,
    help="Ask in batches: half the price, answers within hours.  [-j default: 32]",
)
@click.option("--max-usd", type=float, metavar="USD", help="Most that the run may spend.")
@click.option("--max-problem-usd", type=float, metavar="USD", help="Most for one problem.")
@selection_options
@click.option("--unpinned", is_flag=True, help="Run a suite that differs from its lock.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Run directory; an existing one of the same run is continued.  [default: runs/...]",
)
@click.option("--resume", type=click.Path(path_type=Path), help="Continue this run directory.")
@click.option("--allow-changes", is_flag=True, help="Continue although something changed.")
@click.option(
    "--backend",
    metavar="ENGINE",
    help="Run problems on other machines: parsl:CONFIG.py or dask:ADDRESS.",
)
@click.option(
    "--report",
    "report_dir",
    type=click.Path(path_type=Path),
    help="Report directory.  [default: reports/<run>]",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option(
    "--fail-under", type=float, metavar="RATE", help="Exit 0 from this grounded rate (0 to 1) on."
)
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(["ungrounded", "incorrect", "unfinished", "error"]),
    help="Exit 1 only for these.  [default: unfinished and ungrounded]",
)
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write JUnit XML.")
@click.option("--dry-run", is_flag=True, help="Only say what would be run, and what it costs.")
@click.option(
    "--from",
    "recorded",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="With --dry-run: expect what problems took in this run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one a line.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    suite: str | None,
    unpinned: bool,
    out: Path | None,
    resume: Path | None,
    allow_changes: bool,
    backend: str | None,
    report_dir: Path | None,
    no_report: bool,
    fail_under: float | None,
    fail_on: tuple[str, ...],
    junit: Path | None,
    dry_run: bool,
    recorded: tuple[Path, ...],
    only: tuple[Which, ...],
    of: Path | None,
    as_json: bool,
    quiet: bool,
    **flags: Any,
) -> None:
    """Run every problem of SUITE, a file like suites/core.yaml or the name of a bundled suite.

    Writes a run directory that is complete at every moment, and a report: Parquet tables for
    pandas, and a summary.
    """
    if fail_under is not None and not 0 <= fail_under <= 1:
        raise UsageError(f"--fail-under: must be between 0 and 1 (got {fail_under:g})")
    selection = {name: flags.pop(name) for name in SELECTION}
    if flags["economy"] and backend is not None:
        raise UsageError("--economy gathers the requests of one machine; leave out --backend")
    stage = Stage(quiet=quiet, as_json=as_json)
    if resume is not None:
        if suite is not None or out is not None or only or of is not None:
            raise UsageError("--resume takes suite and folder from the run; leave out the others")
        before = RunDir.read(resume).manifest
        settings = merge_settings(flags, environ={}, base=before)
        prepare(settings)
        with stage.open():
            outcome = resume_run(
                resume,
                settings=settings,
                progress=stage.at(resume),
                allow_changes=allow_changes,
                backend=backend,
            )
    else:
        if suite is None:
            names = ", ".join(bundled_names())
            raise UsageError(f"name a suite: a file, or one of {names}; or --resume RUN")
        loaded = load_suite(suite, unpinned=unpinned)
        if flags["economy"] and flags["jobs"] is None and not os.environ.get(JOBS_VARIABLE):
            flags["jobs"] = ECONOMY_JOBS
        settings = merge_settings(flags, environ=os.environ, limits=loaded.limits)
        chosen = select(again(loaded, only=only, of=of), **selection, seed=settings.seed)
        if dry_run:
            describe_plan(chosen.problems, settings=settings, recorded=recorded)
            return
        prepare(settings)
        with stage.open(), run_folder(out, chosen.ref.id) as folder:
            if (folder / MANIFEST).exists():
                outcome = resume_run(
                    folder,
                    settings=settings,
                    progress=stage.at(folder),
                    problems=chosen.problems,
                    allow_changes=allow_changes,
                    backend=backend,
                )
            else:
                outcome = run_suite(
                    chosen.problems,
                    suite=chosen.ref,
                    settings=settings,
                    out=folder,
                    progress=stage.at(folder),
                    backend=backend,
                )
    if junit is not None:
        write_junit(outcome.path, junit)
    finish(
        ctx,
        outcome,
        fail_on=fail_on,
        report_dir=None if no_report else report_dir or Path("reports") / outcome.path.name,
        fail_under=fail_under,
        stage=stage,
    )


class Stage:
    """Where a run is seen: by people on standard error, with --json by programs on the other one.

    Args:
        quiet: people see nothing.
        as_json: programs see events.
    """

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._quiet, self._as_json = quiet, as_json
        self.events: EventLines | None = None
        self.path: Path | None = None

    def at(self, path: Path) -> Callable[[int], Progress]:
        """What makes the display of a run, once it is known how much there is to do."""

        def begin(total: int) -> Progress:
            self.path = path
            display = open_progress(total, quiet=self._quiet)
            if not self._as_json:
                return display
            self.events = EventLines(sys.stdout, display)
            self.events.begin_run(total, path=path)
            return self.events

        return begin

    @contextmanager
    def open(self) -> Iterator[None]:
        """While the run goes on: whatever cuts it short, the last line says how to continue it."""
        try:
            yield
        except KeyboardInterrupt:
            if self.path is None or not (self.path / MANIFEST).exists():
                raise
            click.echo(f"interrupted; go on with:\n  {resuming(self.path)}", err=True)
            raise click.exceptions.Exit(EXIT_INTERRUPTED) from None


def resuming(path: Path) -> str:
    """The command that continues a run."""
    return f"scisolve-batch run --resume {shlex.quote(str(path))}"


def again(suite: Suite, *, only: tuple[Which, ...], of: Path | None) -> Suite:
    """The problems of a suite that are to be run again after an earlier run; without one, all."""
    if of is None and not only:
        return suite
    if of is None:
        raise UsageError("--only: name the earlier run with --of RUN")
    if not only:
        raise UsageError(f"--of {of}: say which of its problems with --only ({', '.join(KINDS)})")
    wanted = ids_of(of, only)
    absent = sorted(set(wanted) - {problem.id for problem in suite.problems})
    if absent:
        raise UsageError(
            f"--of {of}: its problem {absent[0]} is not in the suite `{suite.ref.id}`; name the "
            f"suite of that run, `{RunDir.read(of).manifest.suite.id}`"
        )
    return select(suite, ids=wanted)


@contextmanager
def run_folder(out: Path | None, name: str) -> Iterator[Path]:
    """The folder of a run: the one asked for, or a new one in `runs` that nobody else can take.

    A new one is named by UTC time and the suite's id, with a number when that is taken. It is made
    here, and removed again when nothing was written into it.

    Raises:
        RunDirError: it cannot be made.
    """
    if out is not None:
        yield out
        return
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    path = _make_new(Path("runs") / f"{stamp}-{name}")
    try:
        yield path
    finally:
        with suppress(OSError):  # it is not empty
            path.rmdir()


def _make_new(base: Path) -> Path:
    path, number = base, 1
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        while True:
            with suppress(FileExistsError):
                path.mkdir()
                return path
            number += 1
            path = base.with_name(f"{base.name}-{number}")
    except OSError as error:
        raise RunDirError(f"{base}: cannot be made: {error.strerror or error}") from error


def finish(
    ctx: click.Context,
    outcome: RunOutcome,
    *,
    report_dir: Path | None,
    fail_under: float | None,
    fail_on: tuple[str, ...],
    stage: Stage,
) -> None:
    """Report on a run that ended, and choose the exit code."""
    summary = summarize(RunDir.read(outcome.path))
    if stage.events is not None:
        stage.events.end_run(
            path=outcome.path,
            unfinished=outcome.unfinished,
            summary=summary.model_dump(mode="json"),
        )
    else:
        click.echo(render_summary(summary))
    sys.stdout.flush()
    if step_summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(step_summary).open("a", encoding="utf-8") as file:
            file.write(github_summary(summary))
    if report_dir is not None:
        build_report(outcome.path, report_dir)
        click.echo(f"report: {report_dir}/report.html", err=True)
    click.echo(f"run: {outcome.path}", err=True)
    if outcome.unfinished:
        if outcome.fatal is not None:
            click.echo(f"scisolve-batch: stopped early: {outcome.fatal}", err=True)
        if outcome.out_of_money:
            click.echo("stopped early: the cap on money is near; --max-usd raises it", err=True)
        click.echo(
            f"{outcome.unfinished} of {summary.ledger.planned} are left; go on with:\n"
            f"  {resuming(outcome.path)}",
            err=True,
        )
        if outcome.fatal is not None:
            ctx.exit(2)
        ctx.exit(1 if outcome.out_of_money else EXIT_INTERRUPTED)
    if fail_on:
        ctx.exit(1 if any(_counts(summary)[kind] for kind in fail_on) else 0)
    needed = (1.0 if fail_under is None else fail_under) * summary.ledger.planned
    ctx.exit(0 if summary.ledger.grounded >= needed else 1)


def _counts(summary: Summary) -> dict[str, int]:
    """How many samples there are of each kind that `--fail-on` can name."""
    wrong = summary.crossed.grounded_wrong + summary.crossed.ungrounded_wrong
    return {
        "ungrounded": summary.ledger.finished - summary.ledger.grounded,
        "incorrect": wrong,
        "unfinished": summary.ledger.unfinished,
        "error": summary.ledger.missing,
    }
