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

    Attributes:
        cell_s: seconds after which a cell is interrupted (soft limit).
        memory_mb: memory of the session's process, in MiB; None means no limit.
        output_bytes: bytes of stdout, and of stderr, that are kept of one cell.
    """

    cell_s: float = 30.0
    memory_mb: int | None = 2048
    output_bytes: int = 64 * 1024


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
    """One persistent executor process."""

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
