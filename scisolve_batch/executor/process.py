"""The trusted side's hold on one session: sockets, pid, undo point, end report.

Nothing that comes from the session is believed beyond its form; who sent it, how the process
ended and what time it used come from the kernel or from the guard.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import linux, wire

READY_S = 60.0
"""A new process that is not ready by then never will be."""
END_S = 10.0
"""A killed process that has not ended by then waits for the kernel, not for us."""


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended, as the guard above it saw.

    Attributes:
        code: exit code, or minus the number of the signal; None when nobody saw it.
        cpu_s: processor time of the process and of its children that it waited for, in seconds.
        peak_kib: largest resident size, in KiB.
    """

    code: int | None = None
    cpu_s: float | None = None
    peak_kib: int | None = None


@dataclass(frozen=True, slots=True)
class Undo:
    """A frozen copy of the session.

    Attributes:
        cell: the last cell that the copy has run.
        sock: private socket to it; closing it ends the copy.
        threads: names of the Python threads that the copy does not have.
    """

    cell: int
    sock: socket.socket
    threads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Starter:
    """A guard that was started from here, without a template.

    Attributes:
        process: the guard.
        channel: its lease: when this socket closes, it ends.
    """

    process: subprocess.Popen[bytes]
    channel: socket.socket

    def close(self) -> None:
        """Let the guard end and collect it."""
        self.channel.close()
        try:
            self.process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Process:
    """One session process with the guard above it.

    Args:
        ctl: socket to the session, which tells the sender of each message where it can.
        leash: socket to the guard; its end ends everything.
        diagnostics: reading end of the pipe for Python stacks.
        starter: the guard's process, when this process started it.
    """

    def __init__(
        self,
        ctl: socket.socket,
        leash: socket.socket,
        *,
        diagnostics: int,
        starter: Starter | None = None,
    ) -> None:
        self.ctl = wire.Inbox(ctl, limit=wire.ANSWER_BYTES)
        self.leash = wire.Inbox(leash, limit=wire.ANSWER_BYTES)
        self.diagnostics, self.starter = diagnostics, starter
        os.set_blocking(diagnostics, False)
        self.pid, self.local_pid, self.pidfd = 0, 0, -1
        self.layers: dict[str, Any] = {}
        self.versions: dict[str, str] = {}
        self.end: End | None = None
        self.undo: Undo | None = None
        self.undo_expected = False
        self.undo_failure = ""
        self.violations: list[str] = []
        self._ends: dict[int, End] = {}
        self._adopted = False
        self._leash_closed = False

    # ---- start and hand-over ---------------------------------------------------------

    def wait_ready(self) -> None:
        """Wait until the session takes cells.

        Raises:
            SessionError: it refused, ended or stayed silent.
        """
        message = self._await(("ready", "refused"), seconds=READY_S)
        if message is None or message["op"] == "refused":
            reason = self._why_silent() if message is None else str(message.get("reason"))
            raise SessionError(
                f"a session could not start: {reason}. "
                "Check the working folder, or try --isolation off to see whether a layer is at fault."
            )
        self.layers, self.versions = dict(message["layers"]), dict(message["versions"])
        deadline = time.monotonic() + READY_S
        while not self.local_pid and not self._leash_closed and time.monotonic() < deadline:
            self._listen_to_guard(wait_s=1.0)
        self.pid = self.ctl.peer or self.local_pid
        self.pidfd = open_pidfd(self.pid)

    def _why_silent(self) -> str:
        if not self.wait_end(0.2):
            return f"it did not answer within {READY_S:g} s"
        code = self.end.code if self.end else None
        return "it ended before it was ready" + ("" if code is None else f" (exit code {code})")

    def activate(self, undo: Undo, *, token: str, snapshot_mb: int) -> str | None:
        """Let the frozen copy take over; returns what became of the next undo point.

        None when the copy does not answer, and then this process is of no use any more.
        """
        self.undo = None
        self.ctl.close()
        self.ctl = wire.Inbox(undo.sock, limit=wire.ANSWER_BYTES)
        self._close_pidfd()
        frozen = self._await(("frozen",), seconds=END_S)
        if frozen is None or not isinstance(frozen.get("pid"), int):
            return None
        self.local_pid = frozen["pid"]
        self.pid = self.ctl.peer or self.local_pid
        if self.pid <= 1:
            return None
        self.pidfd = open_pidfd(self.pid)
        self.end = None
        self._adopted = False
        try:
            wire.send(self.leash.sock, {"op": "adopt", "pid": self.local_pid})
            deadline = time.monotonic() + END_S
            while not self._adopted and time.monotonic() < deadline and not self._leash_closed:
                self._listen_to_guard(wait_s=0.5)
            wire.send(self.ctl.sock, {"op": "activate"})
            active = self._await(("active",), seconds=END_S)
            if active is None or active.get("cell") != undo.cell:
                return None
            wire.send(self.ctl.sock, {"op": "settle", "token": token, "snapshot_mb": snapshot_mb})
        except wire.Closed:
            return None
        settled = self._await(("settled",), seconds=END_S)
        if settled is None or settled.get("token") != token:
            return None
        return self.note_settled(settled)

    def wait_undo(self) -> None:
        """Wait until the undo point that is being taken is in hand, so that a cell can start."""
        if self.undo_expected:
            with suppress(wire.Closed):  # then there is no cell to start either
                wire.send(self.ctl.sock, {"op": "hurry"})
            self._await((), seconds=END_S, until_undone=True)

    def note_settled(self, message: wire.Message) -> str:
        """Take down what the session says about its next undo point."""
        snapshot = str(message.get("snapshot", ""))[:200]
        self.undo_expected = snapshot == "taken"
        self.undo_failure = ""
        if not self.undo_expected:
            self.drop_undo()  # it is older than the last cell now
        return snapshot

    def _await(
        self, wanted: Container[object], *, seconds: float, until_undone: bool = False
    ) -> wire.Message | None:
        """Wait for a message of the session, or for its undo point, listening to the guard too."""
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self.ctl.sock, select.POLLIN)
        poll.register(self.leash.sock, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            try:
                while frame := self.ctl.pop():
                    if frame.message.get("op") in wanted:
                        frame.close()
                        return frame.message
                    self.take_snapshot_or_complain(frame)
                if until_undone and not self.undo_expected:
                    return None
                for fd, _ in poll.poll(1000 * left + 1):
                    if fd == self.ctl.sock.fileno():
                        self.ctl.fill(wait=False)
                    elif self._leash_closed or not self._listen_to_guard():
                        return None
            except (wire.Closed, wire.Broken):
                return None
        return None

    # ---- what comes in ---------------------------------------------------------------

    def take_snapshot_or_complain(self, frame: wire.Frame) -> None:
        """Keep a new undo point that is due; anything else that comes unasked is a violation."""
        message = frame.message
        due = self.undo_expected and message.get("op") == "snapshot"
        if due and len(frame.fds) == 1 and isinstance(message.get("cell"), int):
            self.undo_expected = False
            self.drop_undo()
            names = message.get("threads")
            threads = tuple(str(name)[:100] for name in names) if isinstance(names, list) else ()
            sock = socket.socket(fileno=frame.fds.pop())
            self.undo = Undo(message["cell"], sock, threads[:50])
        elif due and "failed" in message:
            self.undo_expected = False
            self.undo_failure = str(message["failed"])[:200]
            self.drop_undo()
        else:
            self.violations.append(f"an unasked message: {str(message.get('op'))[:40]!r}")
        frame.close()

    def catch_up(self) -> None:
        """Read what the ended session had sent, so that the last undo point is not missed."""
        try:
            while self.ctl.fill(wait=False):
                pass
        except wire.Closed:
            pass
        try:
            while self.undo_expected and (frame := self.ctl.pop()):
                self.take_snapshot_or_complain(frame)
        except wire.Broken:
            return

    def _listen_to_guard(self, *, wait_s: float = 0.0) -> bool:
        """Read the guard's reports; False once it is gone."""
        try:
            if wait_s and not select.select([self.leash.sock], [], [], wait_s)[0]:
                return True
            self.leash.fill(wait=False)
            while frame := self.leash.pop():
                self._note_report(frame.message)
        except (wire.Closed, wire.Broken):
            self._leash_closed = True
        return not self._leash_closed

    def _note_report(self, message: wire.Message) -> None:
        op = message.get("op")
        if op == "started":
            self.local_pid = int(message["pid"])
        elif op == "adopted":
            self._adopted = True
        elif op == "ended":
            end = End(int(message["code"]), float(message["cpu_s"]), int(message["peak_kib"]))
            self._ends[int(message["pid"])] = end

    def has_ended(self) -> bool:
        """Tell whether the session's process is over; `end` then says how."""
        if self.end is None:
            self._listen_to_guard()
            if self.local_pid in self._ends:
                self.end = self._ends.pop(self.local_pid)
            elif self._leash_closed:
                self.end = End()
        return self.end is not None

    def wait_end(self, seconds: float) -> bool:
        """Wait for the end of the session's process."""
        deadline = time.monotonic() + seconds
        while not self.has_ended():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            select.select([self.leash.sock], [], [], left)
        return True

    def watch_list(self) -> list[socket.socket]:
        """Give the sockets to wait on while a cell runs."""
        return [self.ctl.sock] if self._leash_closed else [self.ctl.sock, self.leash.sock]

    # ---- signals and clocks ----------------------------------------------------------

    def signal(self, number: int) -> None:
        """Send a signal to the session's process and to nothing else."""
        try:
            if self.pidfd >= 0:
                signal.pidfd_send_signal(self.pidfd, number)
            elif self.pid > 1 and self.end is None:
                os.kill(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def kill(self) -> None:
        """End the session's process; the guard ends its group with it."""
        if not self.has_ended():
            self.signal(signal.SIGKILL)
            if not self.wait_end(END_S):
                self.end = End()

    def read_stack(self, *, seconds: float = 1.0) -> str:
        """Ask for the Python stack, which arrives even when no Python code can run."""
        while self._read_diagnostics():
            pass
        self.signal(signal.SIGUSR1)
        text, wait = b"", seconds
        while len(text) < 64 * 1024 and select.select([self.diagnostics], [], [], wait)[0]:
            piece = self._read_diagnostics()
            if not piece:
                break
            text += piece
            wait = 0.02  # the rest of it follows at once
        return text.decode("utf-8", "replace")

    def _read_diagnostics(self) -> bytes:
        try:
            return os.read(self.diagnostics, 64 * 1024)
        except BlockingIOError:
            return b""

    def cpu_s(self) -> float | None:
        """Read the processor time of the session's process, in seconds."""
        if not linux.AVAILABLE or self.pid <= 1:
            return None
        try:
            return time.clock_gettime((~self.pid << 3) | 2)  # CPUCLOCK_SCHED, whole process
        except OSError:
            return None

    def peak_kib(self) -> int | None:
        """Read the largest resident size so far, in KiB."""
        return linux.status_kib(self.pid, "VmHWM") if linux.AVAILABLE and self.pid > 1 else None

    # ---- end -------------------------------------------------------------------------

    def drop_undo(self) -> None:
        """End the undo point."""
        if self.undo is not None:
            self.undo.sock.close()
            self.undo = None

    def _close_pidfd(self) -> None:
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1

    def close(self) -> None:
        """End the session and everything that descends from it. May be called twice."""
        if self.diagnostics < 0:
            return
        self.signal(signal.SIGKILL)
        try:
            self.leash.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._leash_closed = True
        deadline = time.monotonic() + END_S
        while not self._leash_closed and time.monotonic() < deadline:
            self._listen_to_guard(wait_s=0.5)
        self.drop_undo()
        self.ctl.close()
        self.leash.close()
        self._close_pidfd()
        os.close(self.diagnostics)
        self.diagnostics = -1
        if self.starter is not None:
            self.starter.close()


def open_pidfd(pid: int) -> int:
    """Open a handle on a process that stays its own even when the number is used again."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1
