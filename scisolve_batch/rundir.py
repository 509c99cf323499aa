"""The run directory: complete at every moment, and all that reports, resume and re-checks read.

Files appear whole (written beside, then renamed); lists grow by whole lines, and a torn last
line is ignored. Each problem's folder has one writer. It does not decide what is worth writing.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pydantic import ValidationError

from scisolve_batch.errors import RunDirError
from scisolve_batch.files import (
    dump_record,
    encode_json,
    read_lines,
    unwritable,
    write_all,
    write_whole,
)
from scisolve_batch.problemdir import ProblemDir, first_fault, folder_name, hash_bytes, hash_file
from scisolve_batch.records import (
    FORMAT,
    JournalEvent,
    JournalLine,
    Manifest,
    PlannedProblem,
    RunStatus,
    Solution,
)

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
STATUS = "status.json"
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(slots=True)
class RunDir:
    """A run directory. Opened to read, or by the one process that writes it."""

    path: Path
    manifest: Manifest
    _journal: IO[bytes] | None = None
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
        # From here on it can go on.
        write_whole(path / MANIFEST, dump_record(manifest), durable=True)
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
        write_whole(path / MANIFEST, dump_record(manifest), durable=True)
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
            raise RunDirError(f"{file}: not a manifest: {first_fault(error)}") from error
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
        self._journal = lock
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
        if self._journal is None:
            raise RunDirError(f"{self.path}: was opened to be read")
        if not os.path.exists(f"{self.path}/{MANIFEST}"):  # noqa: PTH110 - in bulk
            raise RunDirError(f"{self.path}: the run directory was removed while the run went on")
        content = line.model_dump(mode="json", exclude={"chain"})
        chain = _chained(self._chain, content)
        # What was only begun is begun again; a later line that must not be lost takes it along.
        durable = line.event is not JournalEvent.DISPATCHED
        data = encode_json({**content, "chain": chain}) + b"\n"
        try:
            write_all(self._journal.fileno(), data)
            if durable:
                os.fsync(self._journal.fileno())
        except OSError as error:
            raise unwritable(self.path / JOURNAL, error) from error
        self._chain = chain

    def manifest_digest(self) -> str:
        """SHA-256 of the manifest's file."""
        return hash_file(self.path / MANIFEST)

    def journal(self) -> list[JournalLine]:
        """Every line of the journal."""
        return [JournalLine.model_validate(line) for line in read_lines(self.path / JOURNAL)]

    def rate_history(self) -> list[JournalLine]:
        """When and why the number of problems that may run at once was changed."""
        found = []
        for line in read_lines(self.path / JOURNAL):
            if isinstance(line, dict) and line.get("event") == JournalEvent.RATE:
                with suppress(ValueError):  # a foreign line; `verify` names it
                    found.append(JournalLine.model_validate(line))
        return found

    def write_status(self, status: RunStatus) -> None:
        """Say what the run is doing right now."""
        write_whole(self.path / STATUS, dump_record(status))

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
        if self._journal is not None:
            self._journal.close()
            self._journal = None

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
    data = _CANONICAL.encode(content).encode()
    return hash_bytes(chain.encode() + data)
