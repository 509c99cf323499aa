"""What the rest of the house knows about running code.

A session is one persistent Python process. Whatever its code does, `run` returns a `Cell`;
the only exception that leaves a session is `SessionError`, when no process can be had at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from scisolve_batch.records import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLimits:
    """What a session may use.

    Processor time is the first limit, because a session that waits for its turn on a busy
    machine has done nothing wrong; the clock is the ceiling for code that sleeps or hangs.

    Attributes:
        cell_s: processor seconds after which a cell is interrupted (soft limit).
        memory_mb: memory of the session's process, in MiB; None means no limit.
        output_bytes: bytes of stdout, and of stderr, that are kept of one cell.
        wall_s: seconds on the clock after which a cell is interrupted; None derives them.
        grace_s: seconds between a soft limit and the kill; None derives them.
        processes: processes of a session, the cell's own and undo points included.
        open_files: open descriptors of a process.
        file_mb: size of a single file, in MiB.
        disk_mb: size of the working folder, in MiB.
        snapshot_mb: largest private memory of a session of which an undo point is taken, in
            MiB; 0 takes none.
        replay_s: seconds that rebuilding lost variables may take.
        figures_s: processor seconds that saving a cell's figures may take.
    """

    cell_s: float = 30.0
    memory_mb: int | None = 2048
    output_bytes: int = 64 * 1024
    wall_s: float | None = None
    grace_s: float | None = None
    processes: int = 64
    open_files: int = 256
    file_mb: int = 256
    disk_mb: int = 1024
    snapshot_mb: int = 1024
    replay_s: float = 120.0
    figures_s: float = 10.0

    @property
    def wall_ceiling_s(self) -> float:
        """Seconds on the clock after which a cell is interrupted."""
        return self.wall_s if self.wall_s is not None else max(4 * self.cell_s, self.cell_s + 30)

    @property
    def cpu_kill_s(self) -> float:
        """Processor seconds after which a cell is killed."""
        grace = self.grace_s if self.grace_s is not None else max(1.0, self.cell_s / 4)
        return self.cell_s + grace

    @property
    def wall_kill_s(self) -> float:
        """Seconds on the clock after which a cell is killed."""
        return self.wall_ceiling_s + (self.grace_s if self.grace_s is not None else 2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """Where and how a session runs.

    Attributes:
        workdir: the session's working folder; it exists, and is the only place meant for writing.
        figures: existing folder that receives `fig_001.png`, `fig_002.png`, ...
        seed: seed of NumPy's and `random`'s global generators.
        limits: what the session may use.
    """

    workdir: Path
    figures: Path
    seed: int = 0
    limits: ExecutionLimits = ExecutionLimits()


class Session(Protocol):
    """One persistent executor process.

    Attributes:
        layers: names of the isolation layers that were in force when it was opened.
    """

    layers: tuple[str, ...]

    def run(self, code: str) -> Cell:
        """Run a cell and wait for its end. Cells are numbered from 1.

        Raises:
            SessionError: the process is gone and no other could be started.
        """
        ...

    def close(self) -> None:
        """End the process and everything it started. May be called twice."""
        ...


class SessionSource(Protocol):
    """Something that starts sessions: the template process, or a connection to it."""

    def open(self, spec: SessionSpec) -> Session:
        """Start a session.

        Raises:
            SessionError: no process could be started.
        """
        ...

    def close(self) -> None:
        """End every session that was opened here."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
