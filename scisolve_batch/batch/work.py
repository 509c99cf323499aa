"""The process that works on problems, one at a time, so that its death costs one problem."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

from scisolve_batch.agent import events
from scisolve_batch.batch.board import Board, Hold
from scisolve_batch.batch.worker import (
    Asked,
    Job,
    OpenModel,
    Ready,
    Replied,
    Said,
    Throttled,
    run_problem,
    settled,
)
from scisolve_batch.errors import ModelError, RunDirError
from scisolve_batch.executor import linux
from scisolve_batch.executor.base import SessionSource
from scisolve_batch.executor.source import Source
from scisolve_batch.model.waves import Letter, Post, Response
from scisolve_batch.problemdir import ProblemDir
from scisolve_batch.records import Problem, Settings

GARBAGE_AFTER = 20_000
"""New objects after which circular garbage is looked for: a problem leaves little of it."""


def work(
    pipe: Connection,
    *,
    source: SessionSource,
    settings: Settings,
    open_model: OpenModel,
    problems: Mapping[str, Problem],
    board: Board,
    hold: Hold,
    stack: IO[bytes],
    others: Sequence[Connection],
    parent: int,
) -> None:
    """Body of a worker process: problems come in over the pipe until None does.

    Args:
        pipe: to the parent.
        source: this worker's sessions.
        settings: how problems are run.
        open_model: makes models.
        problems: every problem that may be ordered, by id.
        board: where it is said what is being waited for.
        hold: until when nobody shall ask the service.
        stack: receives this process's Python stack when SIGUSR1 comes.
        others: the parent's ends of all pipes; a forked process holds copies of them.
        parent: the parent's process id; without it there is nobody to work for.
    """
    leave_the_terminal(others, parent=parent)
    gc.freeze()  # what came from the parent stays; looking at it over and over would copy it
    gc.set_threshold(GARBAGE_AFTER)
    faulthandler.register(signal.SIGUSR1, file=stack, all_threads=True, chain=False)

    def say(message: Said) -> None:
        pipe.send(message)

    # The parent may be gone at any time; then there is nobody to work for. When the disk is full or
    # the run directory gone, the parent meets the same fault and says so.
    with suppress(BrokenPipeError, EOFError, ConnectionResetError, RunDirError, OSError), source:
        say(Ready())
        while (order := pipe.recv()) is not None:
            job = Job(
                attempt=order.attempt,
                problem=problems[order.attempt.problem_id],
                folder=Path(order.folder),
                seed=order.seed,
                cap=order.cap,
            )
            board.write("start")
            watch_slots(source, board)
            solution = run_problem(
                job,
                settings=settings,
                source=source,
                open_model=open_model,
                observe=_narrate(board, say),
                on_throttle=_complain(board, say),
                hold_until=partial(hold.watch, board),
                post=_poster(board, pipe) if settings.economy else None,
            )
            say(settled(job.attempt, solution, ProblemDir(job.folder)))


def watch_slots(source: SessionSource, board: Board) -> None:
    """Say on the board when a cell waits for a processor, and go on with what it was doing."""
    if not isinstance(source, Source):
        return
    before = [""]

    def waits(waiting: bool) -> None:  # noqa: FBT001 - called with one fact
        if waiting:
            before[0] = (board.read() or ("cell", 0.0))[0]
        board.write("slot" if waiting else before[0])

    source.slots.on_wait = waits


def _narrate(board: Board, say: Callable[[Said], None]) -> events.Observer:
    """Say on the board what is waited for, and to the parent what it has to act upon."""

    def observe(event: events.Event) -> None:
        match event:
            case events.TurnStarted():
                board.write("model")
            case events.TurnFinished(turn, _, spend) if turn.wait_s > 0 or spend.tokens:
                say(Replied(turn.wait_s, spend))
            case events.CellStarted(index):
                board.write(f"cell {index}")
            case events.CellFinished():
                board.write("check")

    return observe


def _complain(board: Board, say: Callable[[Said], None]) -> Callable[[ModelError], None]:
    """Pass on that the service is asked too much; its next try is a wait of another kind."""

    def throttled(error: ModelError) -> None:
        board.write("rate limit")
        say(Throttled(error.kind, error.retry_after_s))

    return throttled


def _poster(board: Board, pipe: Connection) -> Post:
    """Hand requests to the parent, which gathers them, and wait for their answers."""

    def post(letter: Letter) -> Response:
        board.write("batch")
        try:
            pipe.send(Asked(letter))
            answer: Response = pipe.recv()
        except (EOFError, OSError):
            raise SystemExit from None  # the run is gone, so this attempt must leave no record
        return answer

    return post


def leave_the_terminal(others: Sequence[Connection], *, parent: int) -> None:
    """For a forked process: Ctrl-C is the parent's to hear; and end when the parent does.

    Args:
        others: the parent's ends of pipes, of which the process holds copies.
        parent: the parent's process id.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:
        other.close()
    os.setpgid(0, 0)
    if sys.platform == "linux":
        # A worker that outlives the run could write into a folder that another run goes on with.
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
