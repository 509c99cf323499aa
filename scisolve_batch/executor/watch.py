"""Limits that the kernel does not keep for us: processes, memory and files of a whole session.

A look costs about a tenth of a millisecond and is taken a few times a second while a cell runs;
what grows faster than that is caught late, not never.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from scisolve_batch.executor import linux
from scisolve_batch.executor.base import SessionSpec
from scisolve_batch.executor.process import Process

EVERY_S = 0.2
MOST_FILES = 20_000
"""More files than this in the working folder are too many to count, hence too many."""


class Watch:
    """Looks after one cell.

    Args:
        process: the session's process.
        spec: the session's folders and limits.
    """

    def __init__(self, process: Process, spec: SessionSpec) -> None:
        self.process, self.spec = process, spec
        self._next = time.monotonic() + EVERY_S

    def look(self) -> str:
        """Say which limit is passed, when it is time to look; empty when none is."""
        now = time.monotonic()
        if now < self._next:
            return ""
        reason = self._look_at_processes() or self._look_at_files()
        self._next = time.monotonic() + max(EVERY_S, 10 * (time.monotonic() - now))
        return reason

    def _look_at_processes(self) -> str:
        if not linux.AVAILABLE or self.process.pid <= 1:
            return ""
        pids = linux.descendants(self.process.pid)
        limits = self.spec.limits
        if len(pids) >= limits.processes:
            return f"{len(pids) + 1} processes of {limits.processes} at most"
        if limits.memory_mb is None or not pids:
            return ""
        # A forked process begins with its parent's pages; only what it holds beyond them counts.
        own = linux.status_kib(self.process.pid, "RssAnon") or 0
        extra = sum(max(0, (linux.status_kib(pid, "RssAnon") or 0) - own) for pid in pids)
        held = (own + extra) // 1024
        if held > limits.memory_mb:
            return f"{held} MiB in all its processes, of {limits.memory_mb} MiB at most"
        return ""

    def _look_at_files(self) -> str:
        used, count = measure_folder(self.spec.workdir)
        limit = self.spec.limits.disk_mb
        if count > MOST_FILES:
            return f"more than {MOST_FILES} files in the working folder"
        if used > limit << 20:
            return f"{used >> 20} MiB in the working folder, of {limit} MiB at most"
        return ""


def measure_folder(folder: Path) -> tuple[int, int]:
    """Add up what a folder takes on disk; returns bytes and the number of files.

    Links are not followed, and counting stops once it is clear that there are too many files.
    """
    used = count = 0
    todo = [str(folder)]
    while todo and count <= MOST_FILES:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    else:
                        used += entry.stat(follow_symlinks=False).st_blocks * 512
                    if count > MOST_FILES:
                        break
        except OSError:
            continue  # it went away while we looked
    return used, count
