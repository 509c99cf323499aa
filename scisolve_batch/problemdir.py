"""The folder of one problem: its record, transcript, cells and figures. It has one writer.

The record `solution.json` is written last and durably. It does not decide what is worth writing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from scisolve_batch.errors import RunDirError
from scisolve_batch.files import (
    encode_json,
    encode_record,
    open_to_append,
    read_lines,
    unwritable,
    write_all,
    write_plain,
    write_whole,
)
from scisolve_batch.records import Cell, Problem, Solution

SOLUTION = "solution.json"
TRANSCRIPT = "transcript.jsonl"
_CELLS, _FIGURES, _WORK = "cells", "figures", "work"

_CELL_TEXT = {"code", "stdout", "stderr"}  # these have files of their own


def folder_name(problem_id: str, sample: int = 1) -> str:
    """Name of a problem's folder: its id, and `.s2` for the second sample."""
    return problem_id if sample == 1 else f"{problem_id}.s{sample}"


@dataclass(frozen=True, slots=True)
class ProblemDir:
    """The folder of one problem. One process writes it; anybody may read it."""

    path: Path

    @property
    def cells(self) -> Path:
        """Folder of the cells' code and output."""
        return self.path / _CELLS

    @property
    def figures(self) -> Path:
        """Folder of the saved figures."""
        return self.path / _FIGURES

    @property
    def work(self) -> Path:
        """The session's working folder, with the problem's data files."""
        return self.path / _WORK

    # -- writing --

    def prepare(self, problem: Problem) -> None:
        """Make the folders and put the data files in place.

        Raises:
            RunDirError: a folder or a data file cannot be written.
        """
        try:
            _make_folder(f"{self.path}")
            for name in (_CELLS, _FIGURES, _WORK):
                _make_folder(f"{self.path}/{name}")
            for data in problem.data:
                target = self.work / data.file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(data.path, target)
        except OSError as error:
            raise RunDirError(f"{self.path}: cannot be prepared: {error}") from error

    def set_aside(self, attempt: int) -> None:
        """Keep an earlier attempt beside the next one, as `<name>.a<attempt>`."""
        if not os.path.lexists(self.path):
            return
        aside = self.path.with_name(f"{self.path.name}.a{attempt}")
        if aside.exists():
            shutil.rmtree(aside)
        self.path.rename(aside)

    def open_transcript(self) -> Transcript:
        """The transcript, to be added to."""
        return Transcript(f"{self.path}/{TRANSCRIPT}")

    def write_cell(self, cell: Cell) -> None:
        """Write a cell's code, output and record; the record last, so that it stands for all."""
        path = f"{self.path}/{_CELLS}/{cell.index:02d}"
        for suffix, text in ((".py", cell.code), (".out", cell.stdout), (".err", cell.stderr)):
            write_plain(path + suffix, text.encode("utf-8", "backslashreplace"))
        write_whole(f"{path}.json", encode_record(_cell_meta(cell)))

    def write_solution(self, solution: Solution) -> None:
        """Write the record of the problem, durably."""
        data = solution.model_dump(mode="json", exclude={"cells"})
        data["cells"] = [_cell_meta(cell) for cell in solution.cells]
        write_whole(f"{self.path}/{SOLUTION}", encode_record(data), durable=True)

    def digest(self) -> str:
        """SHA-256 over the names and bytes of all evidence; the working folder is not evidence."""
        folder = str(self.path)
        found = hashlib.sha256()
        for name in sorted(_files_below(folder, leave_out=_WORK), key=lambda name: name.split("/")):
            found.update(f"{name} {hash_file(f'{folder}/{name}')}\n".encode())
        return found.hexdigest()

    # -- reading --

    def read_solution(self) -> Solution | None:
        """The record of the problem, or None when there is none yet.

        Raises:
            RunDirError: the file is not such a record.
        """
        path = self.path / SOLUTION
        try:
            return Solution.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise RunDirError(f"{path}: not a solution record: {first_fault(error)}") from error

    def read_cells(self) -> tuple[Cell, ...]:
        """Every cell that was recorded, with code and output, in order."""
        found = []
        for path in sorted(self.cells.glob("*.json")):
            meta = json.loads(path.read_bytes())
            texts = {
                name: path.with_suffix(suffix).read_bytes().decode("utf-8", "replace")
                for name, suffix in (("code", ".py"), ("stdout", ".out"), ("stderr", ".err"))
            }
            found.append(Cell.model_validate({**meta, **texts}))
        return tuple(sorted(found, key=lambda cell: cell.index))

    def read_transcript(self) -> list[dict[str, Any]]:
        """Every message, in order."""
        return list(read_lines(self.path / TRANSCRIPT))


@dataclass(slots=True)
class Transcript:
    """The messages of one problem, each on disk as soon as it is added."""

    path: str
    _fd: int = -1

    def add(self, message: dict[str, Any]) -> None:
        """Add a message.

        Raises:
            RunDirError: it cannot be written.
        """
        try:
            if self._fd < 0:
                self._fd = open_to_append(self.path)
            write_all(self._fd, encode_json(message) + b"\n")
        except OSError as error:
            raise unwritable(self.path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _make_folder(path: str) -> None:
    try:
        os.mkdir(path)  # noqa: PTH102 - in bulk
    except OSError:  # it is there, or what it stands in is not
        os.makedirs(path, exist_ok=True)  # noqa: PTH103 - in bulk


def _cell_meta(cell: Cell) -> dict[str, Any]:
    return cell.model_dump(mode="json", exclude=_CELL_TEXT)


def _files_below(folder: str, before: str = "", *, leave_out: str = "") -> Iterator[str]:
    """Every file below a folder, as its path within, with `/` on every system."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != leave_out:
                    yield from _files_below(entry.path, f"{before}{entry.name}/")
            elif entry.is_file():
                yield before + entry.name


def hash_file(path: Path | str) -> str:
    """SHA-256 of a file's bytes.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - in bulk
        return hash_bytes(file.read())


def hash_bytes(data: bytes) -> str:
    """SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def first_fault(error: ValidationError) -> str:
    """What is wrong with a record that was read, in one line."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
