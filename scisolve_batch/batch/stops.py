"""Ctrl-C and SIGTERM as something to wait for, instead of something that strikes anywhere."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType


class StopLevel(IntEnum):
    """How urgently a run is asked to stop."""

    NONE = 0
    DRAIN = 1  # finish what runs, start nothing
    CANCEL = 2  # end what runs now


@dataclass(slots=True)
class Stops:
    """Requests to stop, as they came in.

    Attributes:
        wake: becomes readable with each request.
    """

    wake: socket.socket
    interrupts: int = 0
    terminated: bool = False

    @property
    def level(self) -> StopLevel:
        """The most urgent request so far."""
        if self.terminated or self.interrupts > 1:
            return StopLevel.CANCEL
        return StopLevel.DRAIN if self.interrupts else StopLevel.NONE

    def hear(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a handler
        """Count a signal. The third Ctrl-C waits for nothing any more.

        Raises:
            KeyboardInterrupt: it is the third.
        """
        if number == signal.SIGTERM:
            self.terminated = True
            return
        self.interrupts += 1
        if self.interrupts > 2:
            raise KeyboardInterrupt

    def drain(self) -> None:
        """Empty `wake`."""
        while True:
            try:
                if not self.wake.recv(4096):
                    return
            except BlockingIOError:
                return


@contextmanager
def stop_signals() -> Iterator[Stops]:
    """Listen for SIGINT and SIGTERM; the handlers that were there come back afterwards."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)  # noqa: FBT003 - the standard library's signature
    writer.setblocking(False)  # noqa: FBT003
    stops = Stops(reader)
    before = {
        number: signal.signal(number, stops.hear) for number in (signal.SIGINT, signal.SIGTERM)
    }
    fd_before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield stops
    finally:
        signal.set_wakeup_fd(fd_before)
        for number, handler in before.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()
