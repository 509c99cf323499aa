"""The session's own process: runs cells one after another and answers for them.

Nothing it says is trusted: output is what the trusted side reads from the cell's pipes, time
and memory are read from outside, and it can be killed at any instant.
"""

from __future__ import annotations

import faulthandler
import fcntl
import gc
import linecache
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from scisolve_batch.executor import (
    figures,
    isolation,
    libraries,
    linux,
    prepared,
    snapshot,
    tracebacks,
    wire,
)

BROKEN = 70
"""Exit code of a session that a cell left unable to answer (EX_SOFTWARE of sysexits.h)."""
PAUSE_S = 0.05
"""How long a session waits for its end before it takes an undo point."""
AGAIN_S = 0.1
"""The alarm repeats after this many seconds, for code that swallowed it."""

# Bound before model code can replace them.
_exit, _getpid, _getpgid = os._exit, os.getpid, os.getpgid
_signal, _setitimer, _perf_counter = signal.signal, signal.setitimer, time.perf_counter
_monotonic, _poll = time.monotonic, select.poll
_active_count = threading.active_count
_REAL, _PROF = signal.ITIMER_REAL, signal.ITIMER_PROF

_WARM_UP = """
def warm_up():
    for i in range(3):
        print('%g' % i, [i], {'a': i})
    try:
        1 / 0
    except ZeroDivisionError:
        pass
warm_up()
del warm_up
"""


class Alarm:
    """Raises `CellTimeout` in the cell when its time is over, again and again until it ends."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.armed = False
        self.rings = 0
        self.words: dict[int, str] = {}

    def start(self, *, cpu_s: float, wall_s: float) -> None:
        """Watch processor time and the clock."""
        self.words = {
            signal.SIGPROF: f"the cell used up its {cpu_s:g} s of processor time",
            signal.SIGALRM: f"the cell used up its {wall_s:g} s on the clock",
        }
        self.rings = 0
        _signal(signal.SIGPROF, self.ring)
        _signal(signal.SIGALRM, self.ring)
        self.armed = True
        _setitimer(_PROF, cpu_s, AGAIN_S)
        _setitimer(_REAL, wall_s, AGAIN_S)

    def stop(self) -> None:
        """Stop watching."""
        self.armed = False
        _setitimer(_PROF, 0)
        _setitimer(_REAL, 0)

    def ring(self, number: int, _frame: object) -> None:
        """Handle the signal: raise in whatever Python code runs now."""
        if not self.armed or _getpid() != self.child.pid:
            return
        self.rings += 1
        self.child.say({"op": "alarm", "rings": self.rings})
        self.child.streams.flush()  # or a line without its end is lost in a kill
        raise tracebacks.CellTimeout(self.words[number])


class Child:
    """One session, as seen from within.

    Args:
        sock: socket to the trusted side.
        order: workdir, figures, seed and limits of the session.
        ready: what was made before the order came.
        diagnostics: descriptor that receives the Python stack when SIGUSR1 comes.
        lease: descriptor that ends with the session's guard.
        layers: what keeps this process apart, for the record.
    """

    def __init__(
        self,
        sock: socket.socket,
        order: wire.Message,
        *,
        ready: prepared.Prepared,
        diagnostics: int,
        lease: int,
        layers: isolation.Layers,
    ) -> None:
        self.layers = layers
        self.inbox = wire.Inbox(sock, limit=wire.ORDER_BYTES)
        self.order, self.diagnostics, self.lease = order, diagnostics, lease
        self.pid = _getpid()
        self.forking = False
        self.index = 0
        os.register_at_fork(after_in_child=self._leave_socket)
        self.names, self.lent = vars(ready.main), ready.lent
        self.streams = ready.streams
        prepared.seed_generators(int(order["seed"]))
        self.alarm = Alarm(self)
        self._watch_signals()

    def _watch_signals(self) -> None:
        faulthandler.register(signal.SIGUSR1, file=self.diagnostics, all_threads=True, chain=False)
        _signal(signal.SIGINT, signal.default_int_handler)

    def _leave_socket(self) -> None:
        """A process that the cell forks must neither answer for the session nor take its orders."""
        if not self.forking:
            try:
                self.inbox.sock.close()
            except OSError:
                return

    def say(self, message: wire.Message, fds: tuple[int, ...] = ()) -> None:
        """Send a message; end when nobody listens."""
        try:
            wire.send(self.inbox.sock, message, fds=fds)
        except wire.Closed:
            _exit(0)

    def serve(self) -> None:
        """Take orders until the trusted side is gone."""
        self.say({"op": "ready", "layers": self.layers, "versions": libraries.versions()})
        while True:
            try:
                frame = self.inbox.receive()
            except wire.Closed:
                _exit(0)
            message = frame.message
            if message["op"] == "cell":
                self.run(message, frame.fds)
            elif message["op"] == "settle":
                self.settle(message)

    # ---- a cell ----------------------------------------------------------------------

    def run(self, order: wire.Message, fds: list[int]) -> None:
        """Run a cell, save its figures and answer."""
        self.index = order["cell"]
        self._watch_signals()
        self.streams.attach(fds[0], fds[1])
        answer: wire.Message = {"op": "done", "nonce": order["nonce"], "status": "ok"}
        answer |= self._execute(order["code"], f"<cell {self.index}>", order=order)
        replaced = self._put_back()
        if _getpid() != self.pid:  # a fork that fell through to here
            self.streams.flush()
            _exit(0)
        replaced += answer.pop("replaced", [])
        answer["figures"], problems = self._keep_figures(order)
        if replaced:
            problems.append(f"what the cell replaced was put back: {', '.join(replaced[:10])}")
        answer["problems"] = problems
        self.streams.flush()
        self.streams.detach()  # before the answer: an open pipe then means that it is none of ours
        usage = resource.getrusage(resource.RUSAGE_SELF)
        answer["alarms"] = self.alarm.rings
        answer["threads"] = _active_count()
        answer["cpu_total_s"] = usage.ru_utime + usage.ru_stime
        answer["peak_kib"] = usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)
        self.say(answer)

    def _execute(self, source: str, name: str, *, order: wire.Message) -> wire.Message:
        alarm = self.alarm
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        try:
            try:
                code = compile(source, name, "exec", dont_inherit=True)
                alarm.start(cpu_s=order["cpu_s"], wall_s=order["wall_s"])
                exec(code, self.names)  # noqa: S102 - this is what the process is for
            finally:
                alarm.armed = False  # no call before this: the alarm could come in between
        except BaseException as error:  # noqa: BLE001 - the border to model code
            alarm.armed = False
            answer = {"replaced": self._put_back()}
            return answer | {
                "status": tracebacks.status(error),
                "traceback": tracebacks.tell(error),
            }
        finally:
            alarm.stop()
        return {}

    def _put_back(self) -> list[str]:
        """Put back what the cell replaced in shared modules; returns the names.

        Only syntax here: any function may have been replaced.
        """
        replaced = []
        for full_name, names, name, value in self.lent:
            if name not in names or names[name] is not value:
                names[name] = value
                replaced += [full_name]
        return replaced

    def _keep_figures(self, order: wire.Message) -> tuple[list[str], list[str]]:
        """Save and close what the cell drew, within a time of its own."""
        try:
            drawn = figures.open_figures()
            if not drawn:
                return [], []
            if order["figure"] is None:
                return [], []
            self.say({"op": "figures"})
            seconds = order["figures_s"]
            self.alarm.start(cpu_s=seconds, wall_s=4 * seconds)
            try:
                return figures.save_figures(
                    drawn, folder=self.order["figures"], first=order["figure"]
                )
            finally:
                rings, self.alarm.armed = self.alarm.rings, False
                self.alarm.stop()
                self.alarm.rings -= rings
        except BaseException as error:  # noqa: BLE001 - drawing runs code of the cell
            return [], [f"figures were not saved: {figures.describe(error)}"]
        finally:
            with suppress(BaseException):  # the cell may have replaced pyplot
                figures.close_figures()

    # ---- undo points -----------------------------------------------------------------

    def settle(self, order: wire.Message) -> None:
        """Confirm that the cell is over, then take the undo point while the model thinks."""
        reason = snapshot.reason_to_skip(order["snapshot_mb"])
        self.say({"op": "settled", "token": order["token"], "snapshot": reason or "taken"})
        if reason:
            return
        in_a_hurry = self._pause()
        names = snapshot.thread_names()
        self.forking = True
        try:
            sock, copied = snapshot.freeze(flush=self.streams.flush)
        except OSError as error:
            self.forking = False
            self.say({"op": "snapshot", "cell": self.index, "failed": figures.describe(error)})
            return
        self.forking = False
        if copied:
            self._sleep(sock)
            return
        if not in_a_hurry:
            self._warm_up()
        with sock:
            message = {"op": "snapshot", "cell": self.index, "threads": names}
            self.say(message, fds=(sock.fileno(),))

    def _pause(self) -> bool:
        """Wait a moment before the copy is made: after its last cell a session needs none.

        True when the next cell is waiting for it already.
        """
        deadline = _monotonic() + PAUSE_S
        poll = _poll()
        poll.register(self.inbox.sock, select.POLLIN)
        try:
            while (frame := self.inbox.pop()) is None:
                left = deadline - _monotonic()
                if left <= 0 or not poll.poll(1000 * left):
                    return False
                self.inbox.fill()
        except wire.Closed:
            _exit(0)
        frame.close()
        return True

    def _sleep(self, sock: Any) -> None:
        """Be the undo point; return as the session, when that time comes."""
        self.inbox.sock.close()
        self.inbox = wire.Inbox(sock, limit=wire.ORDER_BYTES)
        self.pid = _getpid()
        self.say({"op": "frozen", "cell": self.index, "pid": self.pid})
        snapshot.sleep_until_needed(self.inbox, lease=self.lease)
        snapshot.use_one_openmp_thread()
        self.say({"op": "active", "cell": self.index})

    def _warm_up(self) -> None:
        """Touch what an ordinary cell touches, so that the next one need not copy those pages."""
        order = {"cpu_s": 100.0, "wall_s": 100.0}
        with suppress(BaseException):  # whatever the cell before left behind
            for _ in range(2):
                self._watch_signals()
                self._execute(_WARM_UP, "<warm up>", order=order)
                self._put_back()
                figures.open_figures()
                self.streams.flush()
                resource.getrusage(resource.RUSAGE_SELF)
                snapshot.reason_to_skip(1)
        linecache.cache.pop("<warm up>", None)


def become(
    sock: Any,
    order: wire.Message,
    *,
    ready: prepared.Prepared,
    layers: isolation.Layers,
    diagnostics: int,
    lease: int,
) -> None:
    """Turn this process into a session: confine it, then serve until the end. Does not return."""
    try:
        sock = _move_up(sock)
        layers = isolation.take_identity(order, layers)
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of identity clears it
        if select.select([lease], [], [], 0)[0]:
            _exit(0)  # the guard died before the signal was asked for
        os.chdir(order["workdir"])
        os.environ["HOME"] = os.environ["TMPDIR"] = order["workdir"]
        for name in ("workdir", "figures"):
            if not os.access(order[name], os.W_OK | os.X_OK):
                raise PermissionError(13, f"not writable: {order[name]}")
        isolation.confine(order, layers)
        if linux.AVAILABLE:
            linux.prctl(linux.PR_SET_DUMPABLE, 1)  # its own /proc/self is its to read
        child = Child(
            sock,
            order,
            ready=ready,
            diagnostics=diagnostics,
            lease=lease,
            layers=layers,
        )
    except OSError as error:
        wire.send(sock, {"op": "refused", "reason": str(error)})
        _exit(0)
    gc.enable()
    try:
        child.serve()
    except BaseException:  # noqa: BLE001 - the cell broke what this process stands on
        _exit(BROKEN)


def _move_up(sock: Any) -> Any:
    """Move the socket to a high number, out of reach of loops that close the low ones."""
    highest = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 256)
    number = fcntl.fcntl(sock.fileno(), fcntl.F_DUPFD_CLOEXEC, highest - 16)
    sock.close()
    return socket.socket(fileno=number)
