"""Frames between the trusted side and processes that run model code.

A frame is a length, a JSON object and at most a few descriptors; never a pickle. The kernel
names the sender of each piece, and pieces from anyone but the expected process are thrown away
and counted. What a frame says is not to be trusted, only who sent it and how long it may be.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections import deque
from collections.abc import Sequence
from typing import Any

ANSWER_BYTES = 256 * 1024
"""Largest frame that the trusted side reads from a session."""

ORDER_BYTES = 64 * 1024 * 1024
"""Largest frame that a session reads from the trusted side; it carries a cell's code."""

Message = dict[str, Any]

# Model code may replace functions of these modules later; the names here are bound before.
_LENGTH = struct.Struct("<I")
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode
_close = os.close

_SCM_CREDENTIALS = 2  # linux/socket.h; Python names it from 3.12 on
_CREDENTIALS = struct.Struct("iII")
_MAX_FDS = 8
_ANCILLARY = socket.CMSG_SPACE(_MAX_FDS * 4) + socket.CMSG_SPACE(_CREDENTIALS.size)
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_CHUNK = 64 * 1024


class Closed(Exception):
    """The other end is gone."""


class Broken(Exception):
    """The other end sent something that is no frame."""


class Frame:
    """One message with the descriptors that came along."""

    __slots__ = ("fds", "message")

    def __init__(self, message: Message, fds: list[int]) -> None:
        self.message, self.fds = message, fds

    def close(self) -> None:
        """Close the descriptors of a frame that nobody wants."""
        while self.fds:
            _close(self.fds.pop())


def pair(*, credentials: bool = False) -> tuple[socket.socket, socket.socket]:
    """Make two connected sockets; with `credentials` the first one learns who sends.

    The option has to be set before the first byte is sent, or the sender arrives as pid 0.
    """
    mine, theirs = socket.socketpair()
    if credentials and hasattr(socket, "SO_PASSCRED"):
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return mine, theirs


def send(sock: socket.socket, message: Message, *, fds: Sequence[int] = ()) -> None:
    """Send one frame, waiting until it is written.

    Raises:
        Closed: the other end is gone.
    """
    body = _encode(message | {"fds": len(fds)} if fds else message).encode()
    data = _LENGTH.pack(len(body)) + body
    try:
        if fds:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))
            data = data[sock.sendmsg([data], [rights]) :]
        if data:  # writing nothing fails too, once the other end has read all and closed
            sock.sendall(data)
    except OSError as error:
        raise Closed(str(error)) from error


class Inbox:
    """Reads frames from a socket, piece by piece.

    Args:
        sock: a stream socket.
        limit: largest frame, in bytes.
        peer: pid that every byte must come from; None accepts (and learns) the first sender.
    """

    def __init__(self, sock: socket.socket, *, limit: int, peer: int | None = None) -> None:
        self.sock, self.limit, self.peer = sock, limit, peer
        self.strangers = 0
        """Pieces that came from another process than the expected one."""
        self._data = bytearray()
        self._fds: deque[int] = deque()

    def fill(self, *, wait: bool = True) -> bool:
        """Read what is there; tell whether there was anything.

        Raises:
            Closed: the other end is gone.
        """
        flags = _CLOEXEC if wait else _CLOEXEC | socket.MSG_DONTWAIT
        try:
            data, ancillary, _, _ = self.sock.recvmsg(_CHUNK, _ANCILLARY, flags)
        except BlockingIOError:
            return False
        except OSError as error:
            raise Closed(str(error)) from error
        fds, sender = _read_ancillary(ancillary)
        if not data:
            raise Closed("end of file")
        if self.peer is None:
            self.peer = sender
        if sender != self.peer:
            self.strangers += 1
            for fd in fds:
                _close(fd)
            return True
        self._data += data
        self._fds.extend(fds)
        return True

    def pop(self) -> Frame | None:
        """Take the next whole frame out of what was read.

        Raises:
            Broken: the bytes are no frame, or the frame is larger than the limit.
        """
        head = _LENGTH.size
        if len(self._data) < head:
            return None
        (length,) = _LENGTH.unpack_from(self._data)
        if length > self.limit:
            raise Broken(f"a frame of more than {self.limit} bytes")
        if len(self._data) < head + length:
            return None
        body = bytes(self._data[head : head + length])
        del self._data[: head + length]
        try:
            message = _decode(body.decode())
        except (ValueError, RecursionError) as error:
            raise Broken(f"a frame that is no JSON: {error}") from error
        if not isinstance(message, dict):
            raise Broken("a frame that is no JSON object")
        wanted = message.get("fds", 0)
        if not isinstance(wanted, int) or not 0 <= wanted <= len(self._fds):
            raise Broken("a frame without its descriptors")
        return Frame(message, [self._fds.popleft() for _ in range(wanted)])

    def receive(self) -> Frame:
        """Wait for the next frame.

        Raises:
            Closed: the other end is gone.
            Broken: what came is no frame.
        """
        while (frame := self.pop()) is None:
            self.fill()
        return frame

    def close(self) -> None:
        """Close the socket and every descriptor that nobody took."""
        while self._fds:
            _close(self._fds.popleft())
        self.sock.close()


def _read_ancillary(ancillary: list[tuple[int, int, bytes]]) -> tuple[list[int], int | None]:
    """Take descriptors and the sender's pid out of a message's ancillary data."""
    fds = array.array("i")
    sender = None
    for level, kind, data in ancillary:
        if level != socket.SOL_SOCKET:
            continue
        if kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        elif kind == _SCM_CREDENTIALS and len(data) >= _CREDENTIALS.size:
            sender = _CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0]
    for fd in fds:
        os.set_inheritable(fd, False)  # noqa: FBT003
    return list(fds), sender
