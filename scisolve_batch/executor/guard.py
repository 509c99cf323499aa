"""The process above a session: starts it, reports each end exactly, and leaves nothing behind.

It runs no model code, so what it says over its socket to the trusted side can be believed. When
that side, the template or the session's life ends, it ends everything that descends from it.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from scisolve_batch.executor import child, isolation, libraries, linux, prepared, wire

Role = Callable[[], Any]
"""What a process does next. A forked process returns its role, so that its parent's frames go."""

SWEEP_S = 5.0
"""A process that survives SIGKILL this long waits for the kernel, not for us."""


def wake_on_child_exit() -> socket.socket:
    """Make a socket that becomes readable whenever a child of this process ends."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)  # noqa: FBT003
    writer.setblocking(False)  # noqa: FBT003
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer.detach(), warn_on_full_buffer=False)
    return reader


def forget_child_exits() -> None:
    """Undo `wake_on_child_exit` in a forked process."""
    fd = signal.set_wakeup_fd(-1)
    if fd >= 0:
        os.close(fd)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def guard_by_fork(
    channel: socket.socket,
    *,
    layers: isolation.Layers,
    nested: bool,
    ready: prepared.Prepared | None,
) -> Role:
    """Be a guard forked from the template: fork the session; returns each one's role.

    Args:
        channel: socket to the template; it brings one order, and its end is ours.
        layers: what was found to work here.
        nested: this is the first process of a pid namespace of its own.
        ready: what the template made for its sessions.
    """
    if nested:
        # A private /dev/shm is bounded by the default memory of a session.
        isolation.enter_session_namespaces(
            private_memory_mb=512, count_apart=not isolation.drops_root(layers)
        )
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    os.setsid()
    line, far_line = wire.pair()
    lease, held = os.pipe()
    pid = os.fork()
    if pid == 0:
        channel.close()
        line.close()
        os.close(held)
        os.close(lease)
        return lambda: _session(far_line, layers=layers, ready=ready)
    far_line.close()
    guard = Guard(channel, line=line, lease=lease, pid=pid, nested=nested)
    return guard.watch


def guard_by_exec(channel: socket.socket) -> Role:
    """Be a guard of its own, without a template: the session is a new interpreter."""
    if linux.AVAILABLE:
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    line, far_line = wire.pair()
    lease, _held = os.pipe()  # the other end lives as long as this process
    command = [sys.executable, "-P", "-B", *sys.argv[:1], "session", str(far_line.fileno())]
    process = subprocess.Popen(command, pass_fds=[far_line.fileno()], stdin=subprocess.DEVNULL)
    far_line.close()
    guard = Guard(channel, line=line, lease=lease, pid=process.pid, nested=False)
    return guard.watch


def session_by_exec(line: socket.socket) -> Role:
    """Be a session in an interpreter of its own."""
    layers = isolation.standing_layers()
    confinement = ("landlock", "seccomp", "capabilities")
    if linux.AVAILABLE:
        layers |= isolation.probe_confinement()
    else:
        layers |= {name: isolation.unavailable("Linux only") for name in confinement}
    reason = "sessions are interpreters of their own"
    for name in ("user_namespace", *isolation.NAMESPACES, "session_namespaces"):
        layers[name] = isolation.switched_off(reason)
    return lambda: _session(line, layers=layers, ready=None)


def _session(
    line: socket.socket, *, layers: isolation.Layers, ready: prepared.Prepared | None
) -> None:
    """Wait for the order, then become the session; a bare interpreter loads libraries first."""
    if os.getpgid(0) != os.getpid():
        os.setpgid(0, 0)  # the group that a kill ends
    inbox = wire.Inbox(line, limit=wire.ORDER_BYTES)
    if ready is not None:
        ready.take_over()
    try:
        frame = inbox.receive()
    except wire.Closed:
        os._exit(0)
    inbox.close()
    ctl, diagnostics, lease = frame.fds
    order = frame.message
    if ready is None:
        libraries.preload(order["preload"])
        layers["unprivileged_identity"] = isolation.probe_identity(order["ids"], flags=0)
        ready = prepared.Prepared()
        ready.take_over()
    for name in order["layers_off"]:
        if name in layers:
            layers[name] = isolation.switched_off()
    child.become(
        socket.socket(fileno=ctl),
        order,
        ready=ready,
        layers=layers,
        diagnostics=diagnostics,
        lease=lease,
    )


class Guard:
    """Watches one session.

    Args:
        channel: socket to whoever started this process; brings the order.
        line: socket to the session, for the order.
        lease: descriptor to hand down; it ends with this process.
        pid: the session's process.
        nested: this process is the first of its pid namespace, so all ends with it.
    """

    def __init__(
        self, channel: socket.socket, *, line: socket.socket, lease: int, pid: int, nested: bool
    ) -> None:
        self.channel = wire.Inbox(channel, limit=wire.ORDER_BYTES)
        self.line, self.lease, self.nested = line, lease, nested
        self.session = pid
        self.known = {pid}
        self.leash: wire.Inbox | None = None

    def watch(self) -> None:
        """Pass on the order, then report and obey until the end. Does not return."""
        wake = wake_on_child_exit()
        try:
            order = self.channel.receive()
            ctl, leash, diagnostics = order.fds
            wire.send(self.line, order.message, fds=(ctl, diagnostics, self.lease))
            self.line.close()
            for fd in (ctl, diagnostics, self.lease):
                os.close(fd)
            self.leash = wire.Inbox(socket.socket(fileno=leash), limit=wire.ANSWER_BYTES)
            wire.send(self.leash.sock, {"op": "started", "pid": self.session})
            self._loop(wake)
        except (wire.Closed, wire.Broken):
            pass  # the trusted side or the template is gone
        self._sweep()
        os._exit(0)

    def _loop(self, wake: socket.socket) -> None:
        assert self.leash is not None
        poll = select.poll()
        for sock in (wake, self.leash.sock, self.channel.sock):
            poll.register(sock, select.POLLIN)
        while True:
            self._reap()
            for fd, _ in poll.poll():
                if fd == wake.fileno():
                    wake.recv(4096)
                elif fd == self.channel.sock.fileno():
                    self.channel.fill()
                else:
                    self.leash.fill()
            while frame := self.leash.pop():
                self._obey(frame.message)

    def _obey(self, message: Mapping[str, Any]) -> None:
        """Take an undo point under guard: from now on its end is reported too."""
        assert self.leash is not None
        if message.get("op") == "adopt":
            self.known.add(int(message["pid"]))
            wire.send(self.leash.sock, {"op": "adopted"})

    def _reap(self) -> None:
        """Collect every ended child; report those that are or were the session."""
        while True:
            try:
                pid = self._next_ended()
            except ChildProcessError:
                return
            if not pid:
                return

    def _next_ended(self) -> int:
        if hasattr(os, "waitid"):
            # Look first: while the ended process is not collected, its group number is its own.
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return 0
            if ended.si_pid in self.known:
                kill_group(ended.si_pid)
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if pid in self.known:
            kill_group(pid)
            self.known.discard(pid)
            report = {
                "op": "ended",
                "pid": pid,
                "code": os.waitstatus_to_exitcode(status),
                "cpu_s": usage.ru_utime + usage.ru_stime,
                "peak_kib": usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1),
            }
            if self.leash is not None:
                wire.send(self.leash.sock, report)
        return pid

    def _sweep(self) -> None:
        """End everything that descends from here, however it tried to get away."""
        if self.nested:
            return  # the kernel ends a namespace with its first process
        for pid in self.known:
            kill_group(pid)
        deadline = time.monotonic() + SWEEP_S
        while linux.AVAILABLE and time.monotonic() < deadline:
            for pid in linux.descendants(os.getpid()):
                kill(pid)
            try:
                os.waitpid(-1, 0)
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return


def kill(pid: int) -> None:
    """Send SIGKILL to a process that may be gone."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def kill_group(pid: int) -> None:
    """Send SIGKILL to a process group that may be gone."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
