"""Run recorded cells again in fresh sessions and compare what they print.

Numbers count as the same within the digits they were printed with, except for the last one;
times, addresses and paths are not compared, and it is said where. Of the run nothing is changed:
the results are a file of their own beside its records.
"""

from __future__ import annotations

import hashlib
import platform
import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation, Overflow
from pathlib import Path
from queue import SimpleQueue

from pydantic import ValidationError

from scisolve_batch.errors import ScisolveError, SessionError
from scisolve_batch.executor.base import ExecutionLimits, Session, SessionSource, SessionSpec
from scisolve_batch.executor.launch import Template, TemplateOptions
from scisolve_batch.files import encode_record, write_whole
from scisolve_batch.problemdir import SOLUTION, ProblemDir
from scisolve_batch.records import (
    Cell,
    CellReplay,
    Limits,
    PlannedProblem,
    Problem,
    Replay,
    ReplayVerdict,
    SampleReplay,
)
from scisolve_batch.rundir import RunDir

REPLAY = "replay.json"

_VOLATILE = re.compile(
    r"0x[0-9a-fA-F]{4,}"  # addresses
    r"|/[\w.\-/]+"  # paths
    r"|(?<!\d)\d++(?:\.\d++)?(?:e-?\d++)?\s?(?:ns|us|µs|ms|s|sec|seconds)\b"  # times
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


DOUBLE_NOISE = Decimal("1e-15")
"""Relative difference of two doubles a few units in the last place apart."""


# ---- two outputs ---------------------------------------------------------------------


def compare_outputs(before: str, now: str) -> tuple[str, str]:
    """Compare two outputs.

    Returns:
        The first difference, empty when they are the same; and what was left out of the
        comparison, empty when nothing was.
    """
    lines_before, lines_now = before.splitlines(), now.splitlines()
    left_out = ""
    for number, (old, new) in enumerate(zip(lines_before, lines_now, strict=False), 1):
        if _same_numbers(old, new):
            continue
        if not _same_numbers(_VOLATILE.sub("*", old), _VOLATILE.sub("*", new)):
            return f"line {number}: {old.strip()[:60]!r} -> {new.strip()[:60]!r}", ""
        left_out = left_out or f"times, addresses or paths in line {number} were not compared"
    if len(lines_before) != len(lines_now):
        return f"{len(lines_before)} lines -> {len(lines_now)} lines", ""
    return "", left_out


def same_output(before: str, now: str) -> str:
    """Compare two outputs; the empty string when they are the same, else the first difference."""
    return compare_outputs(before, now)[0]


def _same_numbers(old: str, new: str) -> bool:
    """The same words, and numbers that are equal within print precision."""
    if old == new:
        return True
    if _NUMBER.sub("#", old) != _NUMBER.sub("#", new):
        return False
    pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    return all(_same_number(a, b) for a, b in pairs)


def _same_number(a: str, b: str) -> bool:
    """Equal within one unit of the last digit that is printed.

    The longer of the two has it: `0.3` may be short for `0.30000`, but it says no less. A double
    has no more than 16 digits that mean anything, whatever was printed.
    """
    if a == b:
        return True
    if "." not in a + b and "e" not in (a + b).lower():
        return int(a) == int(b) if max(len(a), len(b)) < 4000 else False
    try:
        one, two = Decimal(a), Decimal(b)
        unit = Decimal(1).scaleb(min(_exponent(one), _exponent(two)))
        return abs(one - two) <= max(unit, DOUBLE_NOISE * abs(one))
    except (InvalidOperation, Overflow):
        return False  # exponents beyond any float, and not the same text


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


# ---- one problem ---------------------------------------------------------------------


def replay_problem(
    folder: ProblemDir, problem: Problem, *, source: SessionSource, limits: Limits, seed: int
) -> list[CellReplay]:
    """Run every recorded cell of a problem again, in order, in one fresh session.

    Args:
        folder: the recorded problem.
        problem: the problem, for its data files and limits.
        source: where the session comes from.
        limits: the run's limits.
        seed: the recorded seed.

    Raises:
        RunDirError: a data file of the problem is gone.
    """
    recorded = folder.read_cells()
    own = limits.model_copy(update=problem.limits.model_dump(exclude_none=True))
    with tempfile.TemporaryDirectory(prefix="replay-") as place:
        again = ProblemDir(Path(place))
        again.prepare(problem)
        spec = SessionSpec(
            workdir=again.work,
            figures=again.figures,
            seed=seed,
            limits=ExecutionLimits(
                cell_s=own.cell_s,
                memory_mb=own.memory_mb,
                output_bytes=own.output_kb * 1024,
            ),
        )
        try:
            session = source.open(spec)
        except SessionError as error:
            return [_not_run(cell, error) for cell in recorded]
        try:
            return _run_again(session, recorded)
        finally:
            session.close()


def _run_again(session: Session, recorded: Sequence[Cell]) -> list[CellReplay]:
    results: list[CellReplay] = []
    try:
        for cell in recorded:
            now = session.run(cell.code)
            if now.status is not cell.status:
                detail, note = f"{cell.status.value} -> {now.status.value}", ""
            else:
                detail, note = compare_outputs(cell.stdout, now.stdout)
            verdict = ReplayVerdict.DIFFERS if detail else ReplayVerdict.REPRODUCED
            results.append(CellReplay(cell=cell.index, verdict=verdict, detail=detail or note))
    except SessionError as error:
        results += [_not_run(cell, error) for cell in recorded[len(results) :]]
    return results


def _not_run(cell: Cell, why: object) -> CellReplay:
    return CellReplay(cell=cell.index, verdict=ReplayVerdict.NOT_RUN, detail=str(why))


# ---- a run ---------------------------------------------------------------------------


def replay_run(
    run: RunDir,
    *,
    ids: Collection[str] = (),
    workers: int = 2,
    options: TemplateOptions | None = None,
) -> Iterator[SampleReplay]:
    """Run the recorded cells of a run again, several samples at a time.

    Each worker has sessions of its own, and each session is a process; the results come in the
    order of the plan. At the end they are written to `replay.json` in the run directory, where
    results of samples that were not run again stay.

    Args:
        run: the run.
        ids: only these problems; none means all.
        workers: samples that run at once.
        options: how sessions are started; none means as in the recorded run.

    Raises:
        SessionError: no session can be had on this machine.
        RunDirError: the results cannot be written.
    """
    manifest = run.manifest
    options = options or TemplateOptions(
        isolation=manifest.isolation_mode, preload=manifest.preload
    )
    chosen = [each for each in manifest.planned if not ids or each.problem_id in ids]
    chosen = [each for each in chosen if _record_digest(run, each)]
    problems = {problem.id: problem for problem in manifest.problems}
    done: list[SampleReplay] = []
    with ExitStack() as stack:
        template = stack.enter_context(Template.start(options))
        sources: SimpleQueue[SessionSource] = SimpleQueue()
        for _ in range(min(workers, len(chosen))):
            sources.put(stack.enter_context(template.connect()))
        pool = ThreadPoolExecutor(max_workers=max(1, workers))
        # Should this end early, ended sessions let the threads go, and nothing new is begun.
        stack.callback(pool.shutdown, wait=True)
        stack.callback(template.close)
        stack.callback(pool.shutdown, wait=False, cancel_futures=True)
        futures: list[Future[SampleReplay]] = [
            pool.submit(
                _replay_sample,
                run,
                each,
                problem=problems.get(each.problem_id) or Problem(id=each.problem_id, statement=""),
                sources=sources,
            )
            for each in chosen
        ]
        try:
            for future in futures:
                done.append(future.result())
                yield done[-1]
        finally:  # also when whoever asked has seen enough
            if done:
                _save(run, done, dict(template.versions))


def _replay_sample(
    run: RunDir, planned: PlannedProblem, *, problem: Problem, sources: SimpleQueue[SessionSource]
) -> SampleReplay:
    folder = run.problem(planned.problem_id, planned.sample)
    record = _record_digest(run, planned)
    source = sources.get()
    try:
        solution = folder.read_solution()
        cells = replay_problem(
            folder,
            problem,
            source=source,
            limits=run.manifest.limits,
            seed=solution.seed if solution else 0,
        )
    except (ScisolveError, OSError, ValueError) as error:  # a torn record, a lost data file
        cells = _all_not_run(folder, error)
    finally:
        sources.put(source)
    return SampleReplay(
        problem_id=planned.problem_id, sample=planned.sample, record=record, cells=tuple(cells)
    )


def _all_not_run(folder: ProblemDir, why: object) -> list[CellReplay]:
    names = sorted(path.stem for path in folder.cells.glob("*.json"))
    return [
        CellReplay(cell=int(name), verdict=ReplayVerdict.NOT_RUN, detail=str(why))
        for name in names
        if name.isdecimal()
    ]


def _record_digest(run: RunDir, planned: PlannedProblem) -> str:
    """SHA-256 of a sample's record; empty when it has none."""
    try:
        data = (run.problem(planned.problem_id, planned.sample).path / SOLUTION).read_bytes()
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest()


def _save(run: RunDir, done: Sequence[SampleReplay], versions: dict[str, str]) -> None:
    known = {(each.problem_id, each.sample): each for each in read_replay(run).samples}
    known.update({(each.problem_id, each.sample): each for each in done})
    order = [(each.problem_id, each.sample) for each in run.manifest.planned]
    replay = Replay(
        at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        versions=versions,
        samples=tuple(known[key] for key in order if key in known),
    )
    write_whole(run.path / REPLAY, encode_record(replay.model_dump(mode="json")))


def read_replay(run: RunDir) -> Replay:
    """What running the run again came to; without results when it never was, or is unreadable."""
    try:
        return Replay.model_validate_json((run.path / REPLAY).read_bytes())
    except (OSError, ValidationError):
        return Replay(at="")
