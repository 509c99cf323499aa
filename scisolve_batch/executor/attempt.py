"""Runs one cell on a session's process: orders, watches, ends it when it must, gathers evidence."""

from __future__ import annotations

import re
import secrets
import select
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scisolve_batch.executor import wire
from scisolve_batch.executor.base import SessionSpec
from scisolve_batch.executor.output import Capture
from scisolve_batch.executor.process import End, Process
from scisolve_batch.executor.watch import Watch
from scisolve_batch.records import CellStatus

_LOOK_S = 0.05
"""How often the processor clock is read while a cell runs."""
_STATUSES = {
    "ok": CellStatus.OK,
    "error": CellStatus.ERROR,
    "exit": CellStatus.EXIT,
    "memory": CellStatus.MEMORY,
    "soft_timeout": CellStatus.SOFT_TIMEOUT,
}
_FIGURE = re.compile(r"fig_\d{3,6}\.png")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOrder:
    """A cell to run.

    Attributes:
        index: its number.
        code: its code.
        first_figure: number of the first figure it may save; None closes figures unsaved.
    """

    index: int
    code: str
    first_figure: int | None


@dataclass(slots=True)
class Outcome:
    """Everything that is known after a cell.

    Attributes:
        answered: the session lives and waits for the next cell.
        reason: why the process was killed, in words; empty when it was not.
        end: how the process ended, when it did.
        over: the measured seconds and the limit that was passed, for the note.
        The other fields are those of `records.Cell`.
    """

    status: CellStatus = CellStatus.OK
    answered: bool = False
    reason: str = ""
    end: End | None = None
    stdout: str = ""
    stderr: str = ""
    stdout_dropped: int = 0
    stderr_dropped: int = 0
    traceback: str = ""
    wall_s: float = 0.0
    cpu_s: float | None = None
    peak_kib: int | None = None
    alarms: int = 0
    stack: str = ""
    snapshot: str = ""
    threads: int | None = None
    figures: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    violations: list[str] = field(default_factory=list)


class Attempt:
    """One run of one cell.

    Args:
        process: the session's process.
        order: the cell.
        spec: the session's folders and limits.
    """

    def __init__(self, process: Process, order: CellOrder, *, spec: SessionSpec) -> None:
        self.process, self.order, self.spec = process, order, spec
        self.out = Capture(spec.limits.output_bytes)
        self.err = Capture(spec.limits.output_bytes)
        self.outcome = Outcome()
        self.nonce, self.token = secrets.token_hex(8), secrets.token_hex(8)
        self.answer: wire.Message | None = None
        self.settled = False
        self.extra_s = 0.0

    def run(self) -> Outcome:
        """Run the cell and wait for its end, whatever that is."""
        outcome, process = self.outcome, self.process
        strangers = process.ctl.strangers
        process.wait_undo()
        started = time.monotonic()
        self.first_cpu_s = process.cpu_s()
        self.last_cpu_s = self.first_cpu_s
        try:
            try:
                self._send()
                self._watch(started)
            except wire.Closed:
                self._note_lost_socket()
            except wire.Broken as error:
                outcome.status, outcome.reason = CellStatus.PROTOCOL, str(error)
            outcome.wall_s = time.monotonic() - started
            if not self.settled:
                self._end_process()
            else:
                self._read_answer()
            for stream in (self.out, self.err):
                stream.drain()
            outcome.stdout, outcome.stdout_dropped = self.out.finish()
            outcome.stderr, outcome.stderr_dropped = self.err.finish()
        finally:
            self.out.close()
            self.err.close()
        if process.ctl.strangers > strangers:
            process.violations.append("a message from another process than the session's")
        outcome.violations, process.violations = process.violations, []
        return outcome

    def _send(self) -> None:
        limits = self.spec.limits
        message = {
            "op": "cell",
            "cell": self.order.index,
            "nonce": self.nonce,
            "code": self.order.code,
            "cpu_s": limits.cell_s,
            "wall_s": limits.wall_ceiling_s,
            "figure": self.order.first_figure,
            "figures_s": limits.figures_s,
        }
        wire.send(self.process.ctl.sock, message, fds=(self.out.writer, self.err.writer))
        self.out.hand_over()
        self.err.hand_over()

    # ---- while it runs ---------------------------------------------------------------

    def _watch(self, started: float) -> None:
        poll = select.poll()
        for sock in self.process.watch_list():
            poll.register(sock, select.POLLIN)
        streams = {stream.reader: stream for stream in (self.out, self.err)}
        for fd in streams:
            poll.register(fd, select.POLLIN)
        watch = Watch(self.process, self.spec)
        while not self.settled:
            if self._out_of_time(time.monotonic() - started):
                return
            if reason := watch.look():
                self.outcome.status, self.outcome.reason = CellStatus.RESOURCE_LIMIT, reason
                return
            for fd, _ in poll.poll(1000 * _LOOK_S):
                if (stream := streams.get(fd)) is not None:
                    stream.read()
                    if not stream.open:
                        poll.unregister(fd)
                elif fd == self.process.ctl.sock.fileno():
                    self.process.ctl.fill(wait=False)
                    self._take_messages()
                elif self.process.has_ended():
                    self._take_last_words()
                    return

    def _out_of_time(self, wall_s: float) -> bool:
        """Look at both clocks from outside."""
        limits, outcome = self.spec.limits, self.outcome
        now = self.process.cpu_s()
        if now is not None:
            self.last_cpu_s = now
        if self.first_cpu_s is not None and self.last_cpu_s is not None:
            used = self.last_cpu_s - self.first_cpu_s
            if used > limits.cpu_kill_s + self.extra_s:
                outcome.status = CellStatus.CPU_LIMIT
                outcome.reason = f"{used:.3g} s of processor time"
                return True
        if wall_s > limits.wall_kill_s + 4 * self.extra_s:
            outcome.status = CellStatus.HARD_TIMEOUT
            outcome.reason = f"{wall_s:.3g} s on the clock"
            return True
        return False

    def _take_messages(self) -> None:
        while not self.settled and (frame := self.process.ctl.pop()):
            message = frame.message
            op = message.get("op")
            if op == "alarm" and isinstance(message.get("rings"), int):
                self.outcome.alarms = message["rings"]
            elif op == "figures" and not self.extra_s:
                self.extra_s = self.spec.limits.figures_s
            elif op == "done" and self.answer is None and message.get("nonce") == self.nonce:
                self.answer = message
                self.last_cpu_s = self.process.cpu_s()
                settle = {
                    "op": "settle",
                    "token": self.token,
                    "snapshot_mb": self.spec.limits.snapshot_mb,
                }
                wire.send(self.process.ctl.sock, settle)
            elif op == "settled" and self.answer and message.get("token") == self.token:
                self.outcome.snapshot = self.process.note_settled(message)
                self.settled = True
            elif op in {"done", "settled"}:
                self.process.violations.append("a forged or second answer")
                if op == "done" and message.get("nonce") == self.nonce:
                    self.answer = message  # the session's own comes last
            else:
                self.process.take_snapshot_or_complain(frame)
            frame.close()

    def _take_last_words(self) -> None:
        """Read what an ended process had sent."""
        self.outcome.status = CellStatus.CRASH
        try:
            while self.process.ctl.fill(wait=False):
                self._take_messages()
        except (wire.Closed, wire.Broken):
            return

    def _note_lost_socket(self) -> None:
        """The session's end of the socket is closed: it ended, or closed what it should not."""
        self.outcome.status = CellStatus.CRASH
        if not self.process.wait_end(0.5):
            self.outcome.reason = "its connection was closed or its program was replaced"

    # ---- afterwards ------------------------------------------------------------------

    def _end_process(self) -> None:
        """Kill what is left and take down how it ended."""
        outcome, process = self.outcome, self.process
        self.settled = False
        if self.answer is not None:
            process.violations.append("an answer before the end of the cell")
        if outcome.status in (CellStatus.HARD_TIMEOUT, CellStatus.CPU_LIMIT):
            outcome.stack = process.read_stack()
        outcome.peak_kib = process.peak_kib()
        process.kill()
        process.catch_up()
        outcome.end = process.end
        if self.first_cpu_s is not None and self.last_cpu_s is not None:
            outcome.cpu_s = self.last_cpu_s - self.first_cpu_s
        if process.end is not None:
            if process.end.cpu_s is not None and self.first_cpu_s is not None:
                outcome.cpu_s = max(outcome.cpu_s or 0.0, process.end.cpu_s - self.first_cpu_s)
            outcome.peak_kib = process.end.peak_kib or outcome.peak_kib

    def _read_answer(self) -> None:
        """Take over what the session says about the cell, as far as it has the right form."""
        assert self.answer is not None
        answer, outcome = self.answer, self.outcome
        status = _STATUSES.get(str(answer.get("status")))
        if status is None:
            outcome.status, outcome.reason = CellStatus.PROTOCOL, "an answer without a status"
            self._end_process()
            return
        outcome.answered, outcome.status = True, status
        outcome.traceback = str(answer.get("traceback", ""))
        outcome.threads = _whole_number(answer.get("threads"))
        outcome.alarms = max(outcome.alarms, _whole_number(answer.get("alarms")) or 0)
        outcome.figures = self._existing_figures(answer.get("figures"))
        problems = answer.get("problems")
        if isinstance(problems, list):
            outcome.problems = tuple(str(text)[:500] for text in problems[:20])
        if self.last_cpu_s is not None and self.first_cpu_s is not None:
            outcome.cpu_s = self.last_cpu_s - self.first_cpu_s
        outcome.peak_kib = self.process.peak_kib() or _whole_number(answer.get("peak_kib"))

    def _existing_figures(self, names: Any) -> tuple[str, ...]:
        """Keep the names that are ours and lead to a file."""
        if not isinstance(names, list):
            return ()
        folder: Path = self.spec.figures
        return tuple(
            name
            for name in names
            if isinstance(name, str)
            and _FIGURE.fullmatch(name)
            and (folder / name).is_file()
            and not (folder / name).is_symlink()
        )


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
