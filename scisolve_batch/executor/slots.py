"""Processor slots: as many cells run at once as there are processors, whoever starts them.

A slot is a locked file, so the death of its holder, however sudden, gives it back.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.001, 0.02


class Slots:
    """A number of slots, shared by all processes that know the folder.

    Args:
        folder: an existing folder; one small file per slot is made in it.
        count: number of slots; 0 means that nobody ever waits.
    """

    def __init__(self, folder: Path, *, count: int) -> None:
        self.on_wait: Callable[[bool], object] | None = None
        """Hears True when a cell has to wait for a slot, and False when it has one."""
        self.paths = tuple(folder / f"slot_{number}" for number in range(count))
        for path in self.paths:
            path.touch()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Wait for a slot and hold it."""
        fd = self._wait()
        try:
            yield
        finally:
            if fd is not None:
                os.close(fd)

    def _wait(self) -> int | None:
        wait = _FIRST_WAIT_S
        try:
            while self.paths:
                for path in self.paths:
                    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                    try:
                        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except OSError:
                        os.close(fd)
                        continue
                    return fd
                if wait == _FIRST_WAIT_S and self.on_wait is not None:
                    self.on_wait(True)  # noqa: FBT003 - one fact
                time.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT_S)
        except FileNotFoundError:
            return None  # the run that counted them is over
        finally:
            if wait > _FIRST_WAIT_S and self.on_wait is not None:
                self.on_wait(False)  # noqa: FBT003
        return None
