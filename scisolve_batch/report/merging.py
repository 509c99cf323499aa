"""Several run directories as one: a run directory of links, which every reader takes for any other.

Parts of one suite, run with the same settings, are put together by the digests of their problems. What
two of them claim to have run is refused, and nothing is chosen.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from scisolve_batch.errors import RunDirError, UsageError
from scisolve_batch.problemdir import folder_name
from scisolve_batch.records import Manifest, PlannedProblem
from scisolve_batch.rundir import RunDir
from scisolve_batch.settings import FREE_SETTINGS, describe_differences

MOST_NAMED = 5
"""Conflicts that are named in a message; the others are counted."""


def merge_runs(paths: Sequence[Path | str], out: Path | str) -> Path:
    """Make one run directory of links to several.

    Args:
        paths: run directories, of parts of one suite.
        out: the folder to make. One that was made like this before is made again.

    Returns:
        The folder. It is there for readers; a run cannot go on in it.

    Raises:
        RunDirError: a path is no run directory, or the folder cannot be made.
        UsageError: the runs differ in suite or settings, or two of them have the same sample.
    """
    runs = [RunDir.read(path) for path in paths]
    for other in runs[1:]:
        _refuse_difference(runs[0], other)
    _refuse_conflicts(runs)
    view = Path(out)
    try:
        _clear(view)
        (view / "problems").mkdir(parents=True)
        for run in runs:
            for planned in run.manifest.planned:
                name = folder_name(planned.problem_id, planned.sample)
                folder = run.path.resolve() / "problems" / name
                if folder.is_dir():
                    (view / "problems" / name).symlink_to(
                        os.path.relpath(folder, (view / "problems").resolve())
                    )
    except OSError as error:
        raise RunDirError(f"{view}: cannot be made: {error.strerror or error}") from error
    RunDir.reopen(view, _joined(runs, view)).close()
    return view


def _joined(runs: Sequence[RunDir], view: Path) -> Manifest:
    first = runs[0].manifest
    problems = {problem.id: problem for run in runs for problem in run.manifest.problems}
    parts = ", ".join(run.manifest.run_id for run in runs)
    changes = [change for run in runs for change in run.manifest.changes]
    return first.model_copy(
        update={
            "run_id": view.resolve().parent.name,
            "created_at": min(run.manifest.created_at for run in runs),
            "planned": tuple(one for run in runs for one in run.manifest.planned),
            "problems": tuple(problems.values()),
            "changes": (*changes, f"put together from {parts}"),
        }
    )


def _clear(view: Path) -> None:
    """Remove an earlier view, and nothing that anybody ran."""
    if not view.exists():
        return
    folders = list((view / "problems").iterdir()) if (view / "problems").is_dir() else [view]
    if any(not folder.is_symlink() for folder in folders):
        raise RunDirError(f"{view}: is no view of other runs; choose another --out")
    shutil.rmtree(view)


def _refuse_difference(first: RunDir, other: RunDir) -> None:
    one, two = first.manifest, other.manifest
    found = describe_differences(one, two, free=FREE_SETTINGS)
    if (one.suite.id, one.suite.digest) != (two.suite.id, two.suite.digest):
        found.insert(0, f"suite: {one.suite.id} -> {two.suite.id}, or other content")
    if found:
        raise UsageError(
            f"{first.path} and {other.path} are not parts of one run:\n  "
            + "\n  ".join(found)
            + "\nCompare them with `scisolve-batch compare`, or load both with `load_report`."
        )


def _refuse_conflicts(runs: Sequence[RunDir]) -> None:
    seen: dict[tuple[str, int], RunDir] = {}
    digests: dict[str, tuple[str, RunDir]] = {}
    faults: list[str] = []
    for run in runs:
        for planned in run.manifest.planned:
            digest, elsewhere = digests.setdefault(planned.problem_id, (planned.digest, run))
            if digest != planned.digest:
                faults.append(
                    f"{planned.problem_id} is not the same problem in {elsewhere.path} and {run.path}"
                )
                continue
            before = seen.setdefault((planned.digest or planned.problem_id, planned.sample), run)
            if before is not run:
                faults.append(f"{_name(planned)} is in {before.path} and in {run.path}")
    if faults:
        rest = len(faults) - MOST_NAMED
        named = [*faults[:MOST_NAMED], *([f"and {rest} more"] if rest > 0 else [])]
        raise UsageError("the runs overlap; leave out one of them:\n  " + "\n  ".join(named))


def _name(planned: PlannedProblem) -> str:
    sample = "" if planned.sample == 1 else f" (sample {planned.sample})"
    return planned.problem_id + sample
