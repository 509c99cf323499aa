"""Each planned sample of a run with whatever its folder holds. Reading never raises."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scisolve_batch.records import PlannedProblem, Problem, Solution, StopReason
from scisolve_batch.report.decoding import decode_solution, validate_solution
from scisolve_batch.rundir import SOLUTION, ProblemDir, RunDir, folder_name

LOST = frozenset({StopReason.MODEL_ERROR, StopReason.SESSION_LOST, StopReason.INTERRUPTED})
"""Ends that say nothing about the solver: the service, the machine or a person ended the work."""

NOT_RUN = "not_run"
UNREADABLE = "unreadable"
SCRIPTED = "scripted"

BATCH_SAMPLES = 2_000
"""Samples that are turned into columns together."""
BATCH_BYTES = 64_000_000
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


@dataclass(slots=True)
class Texts:
    """What the files of one cell hold; none for a file that cannot be read or was not asked for."""

    code: str | None = None
    stdout: str | None = None
    stderr: str | None = None


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
    texts: list[Texts] = field(default_factory=list)
    """The texts of all cells, one after the other."""
    size: int = 0
    """Bytes that were read."""

    def add(
        self, planned: PlannedProblem, problem: Problem, solution: Solution | None, trouble: str
    ) -> None:
        """Add a sample."""
        self.planned.append(planned)
        self.problems.append(problem)
        self.solutions.append(solution)
        self.troubles.append(trouble)

    @property
    def full(self) -> bool:
        """It is time for the next one."""
        return len(self.planned) >= BATCH_SAMPLES or self.size >= BATCH_BYTES


def read_batches(run: RunDir, *, texts: bool) -> Iterator[Batch]:
    """Every planned sample in the order of the plan, in batches of bounded size; at least one.

    Args:
        run: the run.
        texts: also read the code and the output of the cells.
    """
    problems = {problem.id: problem for problem in run.manifest.problems}
    batch = Batch()
    with _Reader.open(run.path / "problems") as reader:
        for planned in run.manifest.planned:
            problem = problems.get(planned.problem_id) or bare_problem(planned.problem_id)
            name = folder_name(planned.problem_id, planned.sample)
            data, trouble = reader.record(f"{name}/{SOLUTION}")
            solution, trouble = (None, trouble) if data is None else decode_solution(data)
            batch.add(planned, problem, solution, trouble)
            batch.size += len(data or b"")
            for cell in solution.cells if solution else ():
                found = reader.texts(f"{name}/cells/{cell.index:02d}") if texts else Texts()
                batch.texts.append(found)
                batch.size += len(found.code or "") + len(found.stdout or "")
                batch.size += len(found.stderr or "")
            if batch.full:
                yield batch
                batch = Batch()
    yield batch


def bare_problem(name: str) -> Problem:
    """Stands for a problem that the manifest does not hold."""
    return Problem(id=name, statement="")


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

    def texts(self, stem: str) -> Texts:
        """The texts of a cell."""
        return Texts(self._text(stem + ".py"), self._text(stem + ".out"), self._text(stem + ".err"))

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
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as error:
        return None, f"cannot be read: {error.strerror or error}"
    return validate_solution(data)


def read_text(path: Path) -> str | None:
    """A file as text, or None when it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def read_results(run: RunDir) -> Iterator[Result]:
    """Every planned sample with its validated record, in the order of the plan."""
    problems = {problem.id: problem for problem in run.manifest.problems}
    for planned in run.manifest.planned:
        problem = problems.get(planned.problem_id) or bare_problem(planned.problem_id)
        folder = run.problem(planned.problem_id, planned.sample)
        solution, trouble = read_solution(folder)
        yield Result(planned, problem, solution, folder, trouble)
