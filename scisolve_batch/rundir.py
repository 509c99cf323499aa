"""The run directory: complete at every moment, and all that reports, resume and re-checks read.

Files appear whole (written beside, then renamed); lists grow by whole lines, and a torn last
line is ignored. Each problem's folder has one writer. It does not decide what is worth writing.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from scisolve_batch.errors import RunDirError
from scisolve_batch.records import (
    FORMAT,
    Cell,
    JournalEvent,
    JournalLine,
    Manifest,
    PlannedProblem,
    Problem,
    RunStatus,
    Solution,
)

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
SOLUTION = "solution.json"
TRANSCRIPT = "transcript.jsonl"
STATUS = "status.json"

_CELL_TEXT = {"code", "stdout", "stderr"}  # these have files of their own


def encode_json(data: Any, *, indent: int | None = None) -> bytes:
    """JSON in UTF-8. A lone surrogate, which UTF-8 cannot hold, is written as its escape.

    Raises:
        ValueError: a number is not finite; JSON has no word for it.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "backslashreplace")


def encode_record(data: Any) -> bytes:
    """JSON of a record for people to read, with a line end.

    A number that is not finite is written as a string, which reading turns back; a lone surrogate
    as its escape.
    """
    try:
        return to_json(data, indent=1, inf_nan_mode="strings") + b"\n"
    except PydanticSerializationError:
        return to_json(_escape_surrogates(data), indent=1, inf_nan_mode="strings") + b"\n"


def _escape_surrogates(data: Any) -> Any:
    match data:
        case str():
            return data.encode("utf-8", "backslashreplace").decode("utf-8")
        case dict():
            return {key: _escape_surrogates(item) for key, item in data.items()}
        case list() | tuple():
            return [_escape_surrogates(item) for item in data]
    return data


def write_whole(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write a file so that it is seen whole or not at all.

    Args:
        path: where; an existing file is replaced.
        data: the bytes.
        durable: also survive a loss of power.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _write(beside, data, os.O_TRUNC, durable=durable)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RunDirError(f"{path}: cannot be written: {error.strerror or error}") from error


def _append(path: Path, data: bytes, *, durable: bool = False) -> None:
    try:
        _write(path, data, os.O_APPEND, durable=durable)
    except OSError as error:
        raise RunDirError(f"{path}: cannot be written: {error.strerror or error}") from error


def _write(path: Path, data: bytes, how: int, *, durable: bool) -> None:
    """Write straight to the descriptor: these files are many and small."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | how, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def _read_lines(path: Path) -> Iterator[Any]:
    """Each whole line of a JSON-lines file. A process can die in the middle of the last one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for line in data.split(b"\n")[:-1]:
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _dump(record: BaseModel) -> bytes:
    return encode_record(record.model_dump(mode="json"))


def _cell_meta(cell: Cell) -> dict[str, Any]:
    return cell.model_dump(mode="json", exclude=_CELL_TEXT)


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
        return self.path / "cells"

    @property
    def figures(self) -> Path:
        """Folder of the saved figures."""
        return self.path / "figures"

    @property
    def work(self) -> Path:
        """The session's working folder, with the problem's data files."""
        return self.path / "work"

    # -- writing --

    def prepare(self, problem: Problem) -> None:
        """Make the folders and put the data files in place.

        Raises:
            RunDirError: a folder or a data file cannot be written.
        """
        try:
            for folder in (self.cells, self.figures, self.work):
                folder.mkdir(parents=True, exist_ok=True)
            for data in problem.data:
                target = self.work / data.file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(data.path, target)
        except OSError as error:
            raise RunDirError(f"{self.path}: cannot be prepared: {error}") from error

    def set_aside(self, attempt: int) -> None:
        """Keep an earlier attempt beside the next one, as `<name>.a<attempt>`."""
        if not self.path.exists():
            return
        aside = self.path.with_name(f"{self.path.name}.a{attempt}")
        if aside.exists():
            shutil.rmtree(aside)
        self.path.rename(aside)

    def append_message(self, message: dict[str, Any]) -> None:
        """Add a message to the transcript."""
        _append(self.path / TRANSCRIPT, encode_json(message) + b"\n")

    def write_cell(self, cell: Cell) -> None:
        """Write a cell's code, output and record; the record last, so that it stands for all."""
        record = self.cells / f"{cell.index:02d}.json"
        for suffix, text in ((".py", cell.code), (".out", cell.stdout), (".err", cell.stderr)):
            path = record.with_suffix(suffix)
            try:
                _write(path, text.encode("utf-8", "backslashreplace"), os.O_TRUNC, durable=False)
            except OSError as error:
                what = error.strerror or error
                raise RunDirError(f"{path}: cannot be written: {what}") from error
        write_whole(record, encode_record(_cell_meta(cell)))

    def write_solution(self, solution: Solution) -> None:
        """Write the record of the problem, durably."""
        data = solution.model_dump(mode="json", exclude={"cells"})
        data["cells"] = [_cell_meta(cell) for cell in solution.cells]
        write_whole(self.path / SOLUTION, encode_record(data), durable=True)

    def digest(self) -> str:
        """SHA-256 over the names and bytes of all evidence; the working folder is not evidence."""
        names = [name for name in _files_below(str(self.path)) if not name.startswith("work/")]
        found = hashlib.sha256()
        for name in sorted(names, key=lambda name: name.split("/")):
            with open(f"{self.path}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - in bulk
                found.update(f"{name} {_sha256(file.read())}\n".encode())
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
            raise RunDirError(f"{path}: not a solution record: {_first(error)}") from error

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
        return list(_read_lines(self.path / TRANSCRIPT))


@dataclass(slots=True)
class RunDir:
    """A run directory. Opened to read, or by the one process that writes it."""

    path: Path
    manifest: Manifest
    _lock: IO[bytes] | None = None
    _chain: str = ""

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> Self:
        """Make a new run directory and write its manifest.

        Raises:
            RunDirError: it exists and is not empty, or cannot be written.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise RunDirError(f"{path}: is not empty; choose another --out")
            (path / "problems").mkdir()
        except OSError as error:
            raise RunDirError(f"{path}: cannot be made: {error.strerror or error}") from error
        run = cls(path, manifest)
        write_whole(path / MANIFEST, _dump(manifest), durable=True)  # from here on it can go on
        run._claim()
        return run

    @classmethod
    def reopen(cls, path: Path, manifest: Manifest) -> Self:
        """Open an existing run directory to write on.

        Args:
            path: the run directory.
            manifest: its manifest from now on.

        Raises:
            RunDirError: another process is working on it, or it cannot be written.
        """
        run = cls(path, manifest)
        run._claim()
        write_whole(path / MANIFEST, _dump(manifest), durable=True)
        return run

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Open a run directory for reading.

        Raises:
            RunDirError: it is not a run directory, or of a newer format.
        """
        path = Path(path)
        file = path / MANIFEST
        try:
            manifest = Manifest.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            raise RunDirError(
                f"{path}: not a run directory (it has no {MANIFEST}); name a folder that "
                "`scisolve-batch run` or `solve` wrote"
            ) from None
        except OSError as error:
            raise RunDirError(f"{file}: cannot be read: {error.strerror or error}") from error
        except ValidationError as error:
            raise RunDirError(f"{file}: not a manifest: {_first(error)}") from error
        if manifest.format > FORMAT:
            raise RunDirError(
                f"{file}: written in format {manifest.format}, and this version reads up to "
                f"{FORMAT}; update scisolve-batch"
            )
        return cls(path, manifest)

    def _claim(self) -> None:
        lock = (self.path / JOURNAL).open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise RunDirError(
                f"{self.path}: another process is working on this run; wait for it to end"
            ) from None
        self._lock = lock
        data = (self.path / JOURNAL).read_bytes()
        if data and not data.endswith(b"\n"):
            lock.write(b"\n")  # a torn line must not swallow the next one
            lock.flush()
        self._chain = next((line.chain or "" for line in reversed(self.journal())), "")

    def problem(self, problem_id: str, sample: int = 1) -> ProblemDir:
        """The folder of one sample of one problem."""
        return ProblemDir(self.path / "problems" / folder_name(problem_id, sample))

    def log(self, line: JournalLine) -> None:
        """Add a line to the journal, durably, chained to the one before.

        Raises:
            RunDirError: it cannot be written, or the run directory was removed meanwhile.
        """
        if not (self.path / MANIFEST).exists():
            raise RunDirError(f"{self.path}: the run directory was removed while the run went on")
        content = line.model_dump(mode="json", exclude={"chain"})
        chain = _chained(self._chain, content)
        # What was only begun is begun again; a later line that must not be lost takes it along.
        durable = line.event is not JournalEvent.DISPATCHED
        data = encode_json({**content, "chain": chain}) + b"\n"
        _append(self.path / JOURNAL, data, durable=durable)
        self._chain = chain

    def manifest_digest(self) -> str:
        """SHA-256 of the manifest's file."""
        return _sha256((self.path / MANIFEST).read_bytes())

    def journal(self) -> list[JournalLine]:
        """Every line of the journal."""
        return [JournalLine.model_validate(line) for line in _read_lines(self.path / JOURNAL)]

    def rate_history(self) -> list[JournalLine]:
        """When and why the number of problems that may run at once was changed."""
        found = []
        for line in _read_lines(self.path / JOURNAL):
            if isinstance(line, dict) and line.get("event") == JournalEvent.RATE:
                with suppress(ValueError):  # a foreign line; `verify` names it
                    found.append(JournalLine.model_validate(line))
        return found

    def write_status(self, status: RunStatus) -> None:
        """Say what the run is doing right now."""
        write_whole(self.path / STATUS, _dump(status))

    def read_status(self) -> RunStatus | None:
        """What the run said last about itself, or None when it never did."""
        try:
            return RunStatus.model_validate_json((self.path / STATUS).read_bytes())
        except FileNotFoundError:
            return None

    def is_live(self) -> bool:
        """Whether some process is working on this run."""
        try:
            with (self.path / JOURNAL).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def solutions(self) -> Iterator[tuple[PlannedProblem, Solution | None]]:
        """Every planned sample with its record, or None while there is none."""
        for planned in self.manifest.planned:
            yield planned, self.problem(planned.problem_id, planned.sample).read_solution()

    def close(self) -> None:
        """Let another process work on the run."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def link(chain: str, line: JournalLine) -> str:
    """The chain's next link: SHA-256 over the last one and a line's content."""
    return _chained(chain, line.model_dump(mode="json", exclude={"chain"}))


def _chained(chain: str, content: dict[str, Any]) -> str:
    data = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return _sha256(chain.encode() + data)


def _files_below(folder: str, before: str = "") -> Iterator[str]:
    """Every file below a folder, as its path within, with `/` on every system."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(entry.path, f"{before}{entry.name}/")
            elif entry.is_file():
                yield before + entry.name


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
