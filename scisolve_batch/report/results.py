"""Each planned sample of a run with whatever its folder holds. Reading never raises."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from scisolve_batch.problemdir import SOLUTION, ProblemDir, folder_name
from scisolve_batch.records import (
    Cell,
    PlannedProblem,
    Problem,
    SampleReplay,
    Solution,
    StopReason,
)
from scisolve_batch.replay import read_replay
from scisolve_batch.report.decoding import decode_solution, validate_solution
from scisolve_batch.rundir import RunDir

LOST = frozenset({StopReason.MODEL_ERROR, StopReason.SESSION_LOST, StopReason.INTERRUPTED})
"""Ends that say nothing about the solver: the service, the machine or a person ended the work."""

NOT_RUN = "not_run"
UNREADABLE = "unreadable"
SCRIPTED = "scripted"

BATCH_SAMPLES = 200
"""Samples that are read together: few enough to stay in the processor's caches."""
BATCH_BYTES = 16_000_000
"""Bytes of records and texts after which a batch is closed early."""


@dataclass(frozen=True)
class Result:
    """One planned sample with whatever is known about it."""

    planned: PlannedProblem
    """The line of the plan."""
    problem: Problem
    """The problem, or a bare one when the manifest does not hold it."""
    solution: Solution | None
    """Its record, none while there is none that can be read."""
    folder: ProblemDir
    """Where it was worked on."""
    trouble: str = ""
    """Why the record cannot be read."""

    @cached_property
    def missing(self) -> bool:
        """The result says nothing about the solver."""
        return self.solution is None or self.solution.stop_reason in LOST

    @cached_property
    def correct(self) -> bool | None:
        """All certified values are met; none when nothing is certified or the result is missing."""
        if self.missing or self.solution is None:
            return None
        if not self.solution.finished:
            return False if self.problem.values else None
        return self.solution.grade.correct


class Texts(NamedTuple):
    """What the files of one cell hold; none for a file that cannot be read or was not asked for."""

    code: str | None = None
    stdout: str | None = None
    stderr: str | None = None


_NO_TEXTS = Texts()


@dataclass(slots=True)
class Batch:
    """Samples read together, side by side: lists of the same length."""

    planned: list[PlannedProblem] = field(default_factory=list)
    """The lines of the plan."""
    problems: list[Problem] = field(default_factory=list)
    """Their problems, or bare ones when the manifest does not hold them."""
    solutions: list[Solution | None] = field(default_factory=list)
    """Their records, as `decode_solution` gives them."""
    troubles: list[str] = field(default_factory=list)
    """Why a record cannot be read."""
    replays: list[SampleReplay | None] = field(default_factory=list)
    """What running their cells again came to."""
    texts: list[Texts] = field(default_factory=list)
    """The texts of all cells, one after the other."""
    size: int = 0
    """Bytes that were read."""


def read_batches(run: RunDir, *, texts: bool) -> Iterator[Batch]:
    """Every planned sample in the order of the plan, in batches of bounded size; at least one.

    Args:
        run: the run.
        texts: also read the code and the output of the cells.
    """
    problems = {problem.id: problem for problem in run.manifest.problems}
    replays = {(each.problem_id, each.sample): each for each in read_replay(run).samples}
    batch, left = Batch(), BATCH_SAMPLES
    with _Reader.open(run.path / "problems") as reader:
        for planned in run.manifest.planned:
            if not left or batch.size >= BATCH_BYTES:
                yield batch
                batch, left = Batch(), BATCH_SAMPLES
            left -= 1
            name = folder_name(planned.problem_id, planned.sample)
            data, trouble = reader.record(f"{name}/{SOLUTION}")
            solution, trouble = (None, trouble) if data is None else decode_solution(data)
            batch.planned.append(planned)
            batch.problems.append(problems.get(planned.problem_id) or bare_problem(planned))
            batch.solutions.append(solution)
            batch.troubles.append(trouble)
            again = replays.get((planned.problem_id, planned.sample)) if replays else None
            batch.replays.append(again if again and again.record == _sha256(data) else None)
            if solution is not None:
                batch.size += len(data or b"")
                if texts:
                    batch.size += reader.cells(f"{name}/cells", solution.cells, batch.texts)
                else:
                    batch.texts += [_NO_TEXTS] * len(solution.cells)
    yield batch


def _sha256(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


def bare_problem(planned: PlannedProblem) -> Problem:
    """Stands for a problem that the manifest does not hold."""
    return Problem(id=planned.problem_id, statement="")


@dataclass(slots=True)
class _Reader:
    """Reads files below a folder by their relative names, which spares the walk from the root."""

    folder: int | None
    """Descriptor of the folder, none when it is not there."""

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[_Reader]:
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            yield cls(None)
            return
        try:
            yield cls(folder)
        finally:
            os.close(folder)

    def record(self, name: str) -> tuple[bytes | None, str]:
        """A file's bytes, or why it cannot be read; neither when it is not there."""
        try:
            return self._bytes(name), ""
        except (FileNotFoundError, NotADirectoryError):
            return None, ""
        except OSError as error:
            return None, f"cannot be read: {error.strerror or error}"

    def cells(self, folder: str, cells: Iterable[Cell], found: list[Texts]) -> int:
        """Add the texts of cells to a list; their length."""
        size = 0
        for cell in cells:
            stem = f"{folder}/{cell.index:02d}"
            texts = Texts(*(self._text(stem + suffix) for suffix in (".py", ".out", ".err")))
            size += sum(len(text) for text in texts if text)
            found.append(texts)
        return size

    def _text(self, name: str) -> str | None:
        try:
            return self._bytes(name).decode("utf-8", "replace")
        except OSError:
            return None

    def _bytes(self, name: str) -> bytes:
        if self.folder is None or "\0" in name:
            raise FileNotFoundError(name)
        descriptor = os.open(name, os.O_RDONLY, dir_fd=self.folder)
        try:
            data = os.read(descriptor, 65_536)
            if len(data) < 65_536:
                return data  # a regular file ends where a read falls short
            parts = [data]
            while parts[-1]:
                parts.append(os.read(descriptor, 1_048_576))
            return b"".join(parts)
        finally:
            os.close(descriptor)


def read_solution(folder: ProblemDir) -> tuple[Solution | None, str]:
    """The validated record of a sample, or why it cannot be read. It does not raise."""
    try:
        data = (folder.path / SOLUTION).read_bytes()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # no file has a null in its name
        return None, ""
    except OSError as error:
        return None, f"cannot be read: {error.strerror or error}"
    return validate_solution(data)


def read_text(path: Path) -> str | None:
    """A file as text, or None when it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def read_results(run: RunDir) -> Iterator[Result]:
    """Every planned sample with its validated record, in the order of the plan."""
    problems = {problem.id: problem for problem in run.manifest.problems}
    for planned in run.manifest.planned:
        problem = problems.get(planned.problem_id) or bare_problem(planned)
        folder = run.problem(planned.problem_id, planned.sample)
        solution, trouble = read_solution(folder)
        yield Result(planned, problem, solution, folder, trouble)
