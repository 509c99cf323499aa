"""Pages of memory that a worker shares with the run: what its problem waits for, and how long all wait.

Each side looks when it has a use for it; until then a change costs no message and wakes nobody.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from time import monotonic, time

_TIME = struct.Struct("<d")
_HEAD = struct.Struct("<IHd")  # checksum, length of the text, since when
_LONGEST = 120


class Board:
    """One line that one process writes and others read. Made before the writer is forked off."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, _HEAD.size + _LONGEST)

    def write(self, doing: str) -> None:
        """Say what is being waited for from now on."""
        text = doing.encode("utf-8", "replace")[:_LONGEST]
        body = struct.pack("<Hd", len(text), time()) + text
        self._page[: len(body) + 4] = struct.pack("<I", zlib.crc32(body)) + body

    def read(self) -> tuple[str, float] | None:
        """What is being waited for, and since when (seconds since 1970).

        None when nothing was written yet, or when a line is being written at this very moment.
        """
        page = self._page[:]
        checksum, length, since = _HEAD.unpack_from(page)
        body = page[4 : _HEAD.size + length]
        if length == 0 or length > _LONGEST or zlib.crc32(body) != checksum:
            return None
        return body[_HEAD.size - 4 :].decode("utf-8", "replace"), since

    def close(self) -> None:
        """Give the page back."""
        self._page.close()


class Hold:
    """Until when nobody shall ask the service. One process writes it, all others read it."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, _TIME.size)

    def write(self, until: float) -> None:
        """Let nobody ask before this reading of the monotonic clock, which all processes share."""
        self._page[:] = _TIME.pack(until)

    def read(self) -> float:
        """The reading of the monotonic clock before which nobody shall ask."""
        until: float = _TIME.unpack(self._page[:])[0]
        return until

    def watch(self, board: Board) -> float:
        """The same, and say on a board whether this is what is waited for."""
        until = self.read()
        board.write("rate limit" if until > monotonic() else "model")
        return until

    def close(self) -> None:
        """Give the page back."""
        self._page.close()
