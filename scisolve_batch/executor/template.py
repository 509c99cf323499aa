"""The template: exec'd once per run, imports the scientific stack, forks sessions, runs no cell.

Its environment and memory never held a key. It has one thread, or it does not serve. Every
connection is leased: when the worker behind it dies, in whatever way, its sessions end.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
from collections.abc import Mapping
from typing import Any

from scisolve_batch.executor import guard, isolation, libraries, linux, prepared, wire
from scisolve_batch.executor.guard import Role


def start_role(kind: str, fd: int) -> Role | None:
    """Become what the command line names; `fd` is the socket to whoever started this."""
    sock = socket.socket(fileno=fd)
    sock.set_inheritable(False)
    if kind == "template":
        return Template(sock).serve
    if kind == "guard":
        return guard.guard_by_exec(sock)
    return guard.session_by_exec(sock)


def _become_first_process(root: Connection) -> None:
    """Go on as the first process of the new pid namespace; the old one only waits for it."""
    pid = os.fork()
    if pid:
        root.close()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os._exit(code if code >= 0 else 128 - code)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    isolation.mount_proc()


class Connection:
    """One worker: its socket, its life, and the guards that it owns."""

    def __init__(self, sock: socket.socket) -> None:
        self.inbox = wire.Inbox(sock, limit=wire.ORDER_BYTES)
        self.owner: int | None = None
        self.guards: set[int] = set()

    def close(self) -> None:
        """Close what belongs to the worker."""
        self.inbox.close()
        if self.owner is not None:
            os.close(self.owner)


class Template:
    """The server.

    Args:
        sock: socket to the process that started the run.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.root = Connection(sock)
        self.connections: dict[int, Connection] = {sock.fileno(): self.root}
        self.owners: dict[int, Connection] = {}
        self.channels: dict[int, socket.socket] = {}
        self.spares: list[int] = []
        self.alive: set[int] = set()
        """Guards that were not collected yet."""
        self.layers: isolation.Layers = {}
        self.nested = False
        self.ready: prepared.Prepared | None = None
        self.own_pid_namespace = -1
        self.poll = select.poll()
        self.poll.register(sock, select.POLLIN)

    # ---- start -----------------------------------------------------------------------

    def serve(self) -> Role | None:
        """Start up, report, and serve until the run ends; in a forked process, its role."""
        options = self.root.inbox.receive()
        self._lease(self.root, options.fds)
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        self._isolate(options.message)
        libraries.preload(options.message["preload"])
        threads = linux.count_threads()
        self.ready = prepared.Prepared()
        gc.collect()
        gc.freeze()
        self.wake = guard.wake_on_child_exit()
        self.poll.register(self.wake, select.POLLIN)
        self.wanted_spares = int(options.message["spares"])
        up = {
            "op": "up",
            "versions": libraries.versions(),
            "layers": self.layers,
            "threads": threads,
            "pid": os.getpid(),
        }
        wire.send(self.root.inbox.sock, up)
        if threads != 1:
            os._exit(1)  # a fork would copy locks that other threads hold
        try:
            return self._loop()
        except wire.Closed:
            self._end()
            return None

    def _isolate(self, options: Mapping[str, Any]) -> None:
        """Find what works, enter the namespaces and become unreadable."""
        off = set(options["layers_off"])
        if "namespaces" in off:
            names = ("user_namespace", *isolation.NAMESPACES)
            self.layers = {name: isolation.switched_off() for name in names}
            flags = 0
        else:
            flags, self.layers = isolation.probe_namespaces()
        ids = options.get("ids")
        name = "unprivileged_identity"
        self.layers[name] = isolation.switched_off()
        if name not in off:
            self.layers[name] = isolation.probe_identity(ids, flags=flags)
        if flags:
            mapped = ids if isolation.drops_root(self.layers) else None
            isolation.enter_namespaces(flags, ids=mapped)
            if flags & linux.CLONE_NEWPID:
                _become_first_process(self.root)
        linux.prctl(linux.PR_SET_DUMPABLE, 0)  # after the id maps, which need it
        self._probe_session_namespaces(flags, off)
        self.layers |= isolation.probe_confinement()
        for name in off & self.layers.keys():
            self.layers[name] = isolation.switched_off()
        self.layers |= isolation.standing_layers()

    def _probe_session_namespaces(self, flags: int, off: set[str]) -> None:
        name = "session_namespaces"
        if name in off or "namespaces" in off:
            self.layers[name] = isolation.switched_off()
            return
        if not flags & linux.CLONE_NEWPID:
            self.layers[name] = isolation.unavailable("no pid namespace to nest them in")
            return
        self.own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        reason = isolation.probe(self._try_session_namespaces)
        self.nested = not reason
        self.layers[name] = isolation.unavailable(reason) if reason else isolation.in_force()

    def _try_session_namespaces(self) -> None:
        linux.unshare(linux.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            try:
                isolation.enter_session_namespaces(private_memory_mb=16)
                second = os.fork()
                if second == 0:
                    os._exit(0)
                os.waitpid(second, 0)
            except OSError as error:
                os._exit(error.errno or 1)
            os._exit(0)
        linux.setns(self.own_pid_namespace, linux.CLONE_NEWPID)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            raise OSError(code, os.strerror(code))

    # ---- serve -----------------------------------------------------------------------

    def _loop(self) -> Role | None:
        while True:
            short = len(self.spares) < self.wanted_spares
            ready = self.poll.poll(0 if short else None)
            if not ready and short:  # only in idle moments
                if role := self._add_spare():
                    return role
                continue
            for fd, _ in ready:
                if fd == self.wake.fileno():
                    self.wake.recv(4096)
                    self._reap()
                elif fd in self.owners:
                    self._drop(self.owners[fd])
                elif fd in self.connections and (role := self._read(self.connections[fd])):
                    return role

    def _read(self, connection: Connection) -> Role | None:
        """Take one worker's orders."""
        try:
            connection.inbox.fill()
            while frame := connection.inbox.pop():
                op = frame.message.get("op")
                if op == "connect":
                    self._connect(frame)
                elif op == "claim":
                    self._lease(connection, frame.fds)
                elif op == "open":
                    if role := self._open(connection, frame):
                        return role
                else:
                    frame.close()
        except (wire.Closed, wire.Broken):
            self._drop(connection)
        return None

    def _connect(self, frame: wire.Frame) -> None:
        connection = Connection(socket.socket(fileno=frame.fds.pop()))
        self.connections[connection.inbox.sock.fileno()] = connection
        self.poll.register(connection.inbox.sock, select.POLLIN)
        wire.send(self.root.inbox.sock, {"op": "connected"})

    def _lease(self, connection: Connection, fds: list[int]) -> None:
        """Tie a connection to the life of its worker: descriptors may leak, a life does not."""
        if connection.owner is not None:
            self.poll.unregister(connection.owner)
            self.owners.pop(connection.owner)
            os.close(connection.owner)
            connection.owner = None
        if fds:
            connection.owner = fds.pop()
            self.owners[connection.owner] = connection
            self.poll.register(connection.owner, select.POLLIN)

    def _open(self, connection: Connection, frame: wire.Frame) -> Role | None:
        """Hand an order to a waiting guard, or to a new one."""
        reason = "no process could be had"
        for _ in range(3):
            if not self.spares:
                try:
                    if role := self._add_spare():
                        frame.close()
                        return role
                except OSError as error:
                    reason = f"fork: {error}"
                    break
            pid = self.spares.pop(0)
            try:
                wire.send(self.channels[pid], frame.message, fds=frame.fds)
            except (wire.Closed, KeyError):
                continue  # that one had died while it waited
            connection.guards.add(pid)
            frame.close()
            wire.send(connection.inbox.sock, {"op": "opened"})
            return None
        frame.close()
        wire.send(connection.inbox.sock, {"op": "failed", "reason": reason})
        return None

    def _add_spare(self) -> Role | None:
        """Fork a guard with its session; the forked process gets its role back."""
        ours, theirs = wire.pair()
        if self.nested:
            linux.unshare(linux.CLONE_NEWPID)
        try:
            pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            self._stay_in_own_namespace()
            raise
        if pid == 0:
            ours.close()
            self._leave()
            return guard.guard_by_fork(
                theirs, layers=self.layers, nested=self.nested, ready=self.ready
            )
        self._stay_in_own_namespace()
        theirs.close()
        self.alive.add(pid)
        self.channels[pid] = ours
        self.spares.append(pid)
        return None

    def _stay_in_own_namespace(self) -> None:
        """After `unshare` only the next child is in the new namespace, and then no other can be."""
        if self.nested:
            linux.setns(self.own_pid_namespace, linux.CLONE_NEWPID)

    def _leave(self) -> None:
        """Close, in a forked process, everything that is the template's."""
        guard.forget_child_exits()
        self.wake.close()
        for connection in self.connections.values():
            connection.close()
        for channel in self.channels.values():
            channel.close()
        if self.own_pid_namespace >= 0:
            os.close(self.own_pid_namespace)

    def _drop(self, connection: Connection) -> None:
        """A worker is gone: end its sessions. Without the first one the run is over."""
        if connection is self.root:
            raise wire.Closed("the run is over")
        for pid in connection.guards:
            if channel := self.channels.pop(pid, None):
                channel.close()  # the guard sees it and sweeps
        self.poll.unregister(connection.inbox.sock)
        self.connections.pop(connection.inbox.sock.fileno())
        self._lease(connection, [])
        connection.close()

    def _reap(self) -> None:
        """Collect ended children; what a killed guard left behind came to us and ends too."""
        killed = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid:
                killed = killed or os.WIFSIGNALED(status)
                self._forget(pid)
            elif killed:
                killed = False
                for stray in set(linux.direct_children(os.getpid())) - self.alive:
                    guard.kill(stray)
            else:
                return

    def _forget(self, pid: int) -> None:
        self.alive.discard(pid)
        if channel := self.channels.pop(pid, None):
            channel.close()
        if pid in self.spares:
            self.spares.remove(pid)
        for connection in self.connections.values():
            connection.guards.discard(pid)

    def _end(self) -> None:
        """End every guard and wait for them."""
        for channel in self.channels.values():
            channel.close()
        signal.alarm(int(guard.SWEEP_S) + 2)
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            os._exit(0)
