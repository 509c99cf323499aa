"""The trusted side of a session: runs cells and, when one takes its process down, undoes it.

Undo goes the first way that works: the frozen copy taken after the last cell, a new process
that runs the earlier cells again, an empty new process. Which one it was is in the record.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Self

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import isolation, notes
from scisolve_batch.executor.attempt import Attempt, CellOrder, Outcome
from scisolve_batch.executor.base import SessionSpec
from scisolve_batch.executor.process import Process
from scisolve_batch.records import Cell, CellStatus, SessionState

_RERUN = frozenset({CellStatus.OK, CellStatus.ERROR, CellStatus.EXIT})
"""Cells that are run again to rebuild variables: those that came to their own end."""


@dataclass(frozen=True, slots=True)
class Past:
    """A cell whose effects are in the session's variables."""

    index: int
    code: str
    status: CellStatus
    stdout: str


@dataclass(frozen=True, slots=True)
class Recovery:
    """How the variables came back, or did not."""

    state: SessionState
    detail: str = ""
    threads_gone: tuple[str, ...] = ()
    snapshot: str = ""


class PersistentSession:
    """A session of cells in one process, or in what replaces it.

    Args:
        spec: folders, seed and limits.
        start: starts a process for the session.
        slot: gives a processor slot to hold while a cell runs.
        release: called once when the session has ended.
    """

    def __init__(
        self,
        spec: SessionSpec,
        *,
        start: Callable[[SessionSpec], Process],
        slot: Callable[[], AbstractContextManager[None]],
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self.spec = spec
        self._start, self._slot, self._release = start, slot, release
        self._process: Process | None = start(spec)
        self.layers = isolation.in_force_of(self._process.layers)
        self._past: list[Past] = []
        self._index = self._figures = 0
        self._just_restored = False
        self._violated = False
        self._closed = False

    @property
    def closed(self) -> bool:
        """The session was closed."""
        return self._closed

    @property
    def process(self) -> Process:
        """The present process.

        Raises:
            SessionError: there is none.
        """
        if self._process is None:
            raise SessionError("the session has no process")
        return self._process

    def run(self, code: str) -> Cell:
        """Run a cell and wait for its end. Cells are numbered from 1.

        Raises:
            SessionError: the process is gone and no other could be started, or the session
                was closed.
        """
        if self._closed:
            raise SessionError("the session is closed; open another one to run more cells")
        if self._process is None:
            self._process = self._start(self.spec)
        self._index += 1
        order = CellOrder(index=self._index, code=code, first_figure=self._figures + 1)
        with self._slot():
            outcome = Attempt(self._process, order, spec=self.spec).run()
            recovery = self._recover(outcome)
        self._violated = self._violated or bool(outcome.violations)
        self._figures += len(outcome.figures)
        if recovery.state is SessionState.KEPT:
            self._past.append(Past(order.index, code, outcome.status, outcome.stdout))
        return self._record(order, outcome, recovery)

    def _record(self, order: CellOrder, outcome: Outcome, recovery: Recovery) -> Cell:
        note = notes.explain(
            outcome,
            index=order.index,
            limits=self.spec.limits,
            state=recovery.state,
            rebuilt=recovery.detail,
            threads_gone=recovery.threads_gone,
        )
        return Cell(
            index=order.index,
            code=order.code,
            stdout=outcome.stdout,
            stderr=outcome.stderr,
            traceback=outcome.traceback,
            status=outcome.status,
            state=recovery.state,
            note=note,
            wall_s=round(outcome.wall_s, 6),
            cpu_s=None if outcome.cpu_s is None else round(outcome.cpu_s, 6),
            peak_memory_mb=None if outcome.peak_kib is None else round(outcome.peak_kib / 1024, 1),
            stdout_dropped=outcome.stdout_dropped,
            stderr_dropped=outcome.stderr_dropped,
            alarms=outcome.alarms,
            stack=outcome.stack,
            snapshot=recovery.snapshot or outcome.snapshot,
            threads=outcome.threads,
            integrity=not self._violated,
            figures=outcome.figures,
        )

    # ---- undo ------------------------------------------------------------------------

    def _recover(self, outcome: Outcome) -> Recovery:
        """Bring the variables back after a cell that took them along."""
        process = self.process
        if outcome.answered and outcome.status is CellStatus.MEMORY and self._can_restore():
            # A session that filled its memory cannot even import; go back to before it did.
            process.kill()
            process.catch_up()
        elif outcome.answered:
            self._just_restored = False
            return Recovery(SessionState.KEPT)
        again = self._just_restored and outcome.status in {
            CellStatus.HARD_TIMEOUT,
            CellStatus.CPU_LIMIT,
        }
        if not again and (recovery := self._restore()):
            self._just_restored = True
            return recovery
        self._just_restored = False
        return self._rebuild()

    def _can_restore(self) -> bool:
        return not self._past or self._undo_is_current()

    def _undo_is_current(self) -> bool:
        undo = self.process.undo
        return undo is not None and bool(self._past) and undo.cell == self._past[-1].index

    def _restore(self) -> Recovery | None:
        """Wake the frozen copy, if it is the one from just before the cell."""
        undo = self.process.undo
        if undo is None or not self._undo_is_current():
            return None
        snapshot = self.process.activate(
            undo, token=secrets.token_hex(8), snapshot_mb=self.spec.limits.snapshot_mb
        )
        if snapshot is None:
            return None
        return Recovery(SessionState.RESTORED, threads_gone=undo.threads, snapshot=snapshot)

    def _rebuild(self) -> Recovery:
        """Start a new process and run the earlier cells in it."""
        failure = self.process.undo_failure
        if not self._renew():
            self._past.clear()
            return Recovery(SessionState.LOST, "no new process could be started")
        if not self._past:  # the state before the first cell is that of every new process
            return Recovery(SessionState.RESTORED)
        differs = ""
        limits = self.spec.limits
        deadline = time.monotonic() + limits.replay_s
        for past in self._past:
            if past.status not in _RERUN:
                differs = differs or f"cell {past.index} was left out, because it had been cut off"
                continue
            left = deadline - time.monotonic()
            if left <= 0:
                return self._give_up(f"running them again took more than {limits.replay_s:g} s")
            spec = replace(
                self.spec,
                limits=replace(limits, wall_s=min(limits.wall_ceiling_s, max(left, 0.1))),
            )
            order = CellOrder(index=past.index, code=past.code, first_figure=None)
            outcome = Attempt(self.process, order, spec=spec).run()
            if not outcome.answered or outcome.status is not past.status:
                how = outcome.status.value.replace("_", " ")
                return self._give_up(f"cell {past.index} ended with {how} when it ran again")
            if outcome.stdout != past.stdout:
                differs = differs or f"cell {past.index} printed something else than before"
        state = SessionState.REPLAY_DIFFERS if differs else SessionState.REPLAYED
        if self._past[-1].status not in _RERUN:
            self.process.drop_undo()
        return Recovery(state, differs or failure)

    def _give_up(self, reason: str) -> Recovery:
        self._past.clear()
        if self._renew():
            return Recovery(SessionState.LOST, reason)
        return Recovery(SessionState.LOST, f"{reason}, and no new process could be started")

    def _renew(self) -> bool:
        """Replace the process by a new one."""
        self.process.close()
        self._process = None
        try:
            self._process = self._start(self.spec)
        except SessionError:
            return False
        return True

    # ---- end -------------------------------------------------------------------------

    def close(self) -> None:
        """End the process and everything it started. May be called twice."""
        if self._process is not None:
            self._process.close()
            self._process = None
        if not self._closed:
            self._closed = True
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
