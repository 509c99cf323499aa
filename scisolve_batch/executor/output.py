"""Reads a cell's output from its pipes, and cuts it so that no number is cut.

Memory is bounded whatever a cell writes: the first bytes are kept, the rest is counted.
"""

from __future__ import annotations

import fcntl
import os
import re

CUT_MARKER = "[output cut here: the limit on kept output was reached]\n"
"""Stands where output was dropped. It contains no digit, so nothing can be read into it."""

_CHUNK = 256 * 1024
_LINE_SEARCH = 8 * 1024
_F_GETPIPE_SZ = getattr(fcntl, "F_GETPIPE_SZ", 1032)

# What may follow a blank inside one number: digit groups (`1 234 567`), powers and products
# (`3 x 10^5`), uncertainties and parts (`1.5 +/- 0.2`, `1 + 2j`), exponents, percent signs.
_CONTINUES = re.compile(rb"\s*(?:\d{3}(?!\d)|\d{1,3}$|[-+*/^%.,eE(]|x\s|[\x80-\xff]|$)")
_JOINS = re.compile(rb"(?:[-+*/^(~\x80-\xff]|(?:^|\s)x)\s*$")
_BLANK = re.compile(rb"[ \t]")


def find_cut(kept: bytes) -> int:
    """Find the last place in the kept output before which every number is whole.

    The end of a line within the last 8 KiB, else the last blank that does not stand inside a
    number; without one, nothing that holds a digit is kept.
    """
    line = kept.rfind(b"\n", max(0, len(kept) - _LINE_SEARCH))
    if line >= 0:
        return line + 1
    for blank in reversed(list(_BLANK.finditer(kept))):
        start = blank.start()
        before = kept[max(0, start - 16) : start]
        if _JOINS.search(before):
            continue
        if not before.rstrip()[-1:].isdigit() or not _CONTINUES.match(kept, start):
            return start + 1
    line = kept.rfind(b"\n")
    if line >= 0:
        return line + 1
    return 0 if re.search(rb"\d", kept) else _last_whole_character(kept)


def _last_whole_character(data: bytes) -> int:
    """Find the end of the last complete UTF-8 character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:  # a first byte
            length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if length == back else len(data) - back
    return len(data)


class Capture:
    """One of a cell's two output streams, on the reading side.

    Args:
        limit: bytes that are kept.
    """

    def __init__(self, limit: int) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.limit = limit
        self.open = True
        self._kept = bytearray()
        self._seen = 0

    def hand_over(self) -> None:
        """Close our copy of the writing end, once the session has its own."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def read(self) -> int:
        """Read once what is there; returns the bytes read, 0 when there was nothing."""
        try:
            data = os.read(self.reader, _CHUNK)
        except BlockingIOError:
            return 0
        if not data:
            self.open = False
            return 0
        self._seen += len(data)
        room = self.limit - len(self._kept)
        if room > 0:
            self._kept += data[:room]
        return len(data)

    def drain(self) -> None:
        """Read what the pipe holds: at most its capacity, so that no writer can hold us up."""
        try:
            left = fcntl.fcntl(self.reader, _F_GETPIPE_SZ)
        except OSError:
            left = 64 * 1024
        while left > 0 and (count := self.read()):
            left -= count

    def finish(self) -> tuple[str, int]:
        """Close the stream; returns the text and the number of bytes that were dropped."""
        self.close()
        kept = bytes(self._kept)
        if self._seen == len(kept):
            return kept.decode("utf-8", "backslashreplace"), 0
        cut = find_cut(kept)
        text = kept[:cut].decode("utf-8", "backslashreplace")
        if text and not text.endswith("\n"):
            text += "\n"
        return text + CUT_MARKER, self._seen - cut

    def close(self) -> None:
        """Close both ends; may be called twice."""
        self.hand_over()
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1
            self.open = False
