"""The session's standard streams: two descriptors per cell, and nothing that a cell closes stays closed.

Everything that writes on descriptor 1 or 2 is caught: print, C code, child processes. Between
cells both lead to /dev/null, so what a left-over child process writes goes nowhere.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TextIO

from scisolve_batch.executor import linux

# Bound before model code can replace them.
_dup2, _close = os.dup2, os.close
_FileIO, _BufferedWriter, _TextIOWrapper = io.FileIO, io.BufferedWriter, io.TextIOWrapper


def open_stream(fd: int) -> TextIO:
    """Make a text stream over a descriptor that writes at each line and never fails to encode."""
    raw = _BufferedWriter(_FileIO(fd, "w", closefd=False), 64 * 1024)
    return _TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)


class Streams:
    """Standard input, output and error of a session."""

    def __init__(self) -> None:
        self._null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._in: TextIO = sys.stdin
        self._out: TextIO = sys.stdout
        self._err: TextIO = sys.stderr
        self._renew()

    def begin(self) -> None:
        """Lead the process's own streams to nowhere."""
        self.detach()
        _dup2(self._null, 0)
        linux.line_buffer_c_stdout()

    def _renew(self) -> None:
        self._in = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor
        self._out, self._err = open_stream(1), open_stream(2)

    def attach(self, out: int, err: int) -> None:
        """Lead descriptors 1 and 2 into a cell's pipes, which become ours."""
        _dup2(out, 1)
        _dup2(err, 2)
        _close(out)
        _close(err)
        _dup2(self._null, 0)
        if self._in.closed or self._out.closed or self._err.closed:
            self._renew()
        sys.stdin = sys.__stdin__ = self._in  # type: ignore[misc, assignment]
        sys.stdout = sys.__stdout__ = self._out  # type: ignore[misc, assignment]
        sys.stderr = sys.__stderr__ = self._err  # type: ignore[misc, assignment]

    def flush(self) -> None:
        """Write out everything that waits in a buffer, of Python and of C."""
        for stream in (sys.stdout, sys.stderr, self._out, self._err):
            with suppress(BaseException):  # a cell may put anything there
                stream.flush()
        linux.flush_c_streams()

    def detach(self) -> None:
        """Lead descriptors 1 and 2 to nowhere."""
        _dup2(self._null, 1)
        _dup2(self._null, 2)
