"""One problem on some other machine, for an engine that carries it there.

An errand writes its problem's own folder on storage that all machines share. It runs once, however
often an engine sends it; and it stops before its next write when the run has given up on it.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import time

from scisolve_batch.agent import events
from scisolve_batch.batch.models import make_opener
from scisolve_batch.batch.templates import TemplateKeeper, template_options
from scisolve_batch.batch.worker import Job, Settled, run_problem, settled
from scisolve_batch.errors import RunDirError
from scisolve_batch.executor.base import SessionSource
from scisolve_batch.files import write_whole
from scisolve_batch.model.budget import Spend
from scisolve_batch.model.prices import NANO
from scisolve_batch.problemdir import ProblemDir
from scisolve_batch.records import Settings, Solution

CLAIMS = "claims"
"""Folder of a run directory that says which attempt of each problem is the one that counts."""


class Superseded(BaseException):
    """The run has given up on this errand. No `Exception`, so that no border records it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right of one attempt to write its problem's folder.

    Attributes:
        folder: the run's folder of claims.
        name: name of the problem's folder.
        token: names this attempt among all that any part of the run ever made.
    """

    folder: Path
    name: str
    token: str

    @property
    def _begun(self) -> Path:
        return self.folder / f"{self.name}.{self.token}"

    def grant(self) -> None:
        """Make this attempt the one that counts. Every earlier one loses its right.

        Raises:
            RunDirError: it cannot be written.
        """
        self.folder.mkdir(exist_ok=True)
        write_whole(self.folder / self.name, self.token.encode())

    def revoke(self) -> None:
        """Take the right away."""
        (self.folder / self.name).unlink(missing_ok=True)

    def begin(self) -> bool:
        """Say that the attempt begins; False when that was said before, by whomever."""
        try:
            fd = os.open(self._begun, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC)
        except FileExistsError:
            return False
        os.close(fd)
        return True

    def check(self) -> None:
        """Go on only while this attempt counts.

        Raises:
            Superseded: it does not any more.
        """
        try:
            current = (self.folder / self.name).read_text(encoding="utf-8")
        except OSError:
            current = ""
        if current != self.token:
            raise Superseded(self.name)

    def tell(self, doing: str) -> None:
        """Say what is being waited for, and where."""
        line = {"doing": doing, "since": time(), "host": socket.gethostname(), "pid": os.getpid()}
        with suppress(RunDirError):  # nobody depends on it
            write_whole(self._begun, json.dumps(line).encode())

    def has_begun(self) -> bool:
        """Whether somebody began the attempt."""
        return self._begun.exists()

    def heard(self) -> tuple[str, float] | None:
        """What is being waited for on that machine, and since when by its clock."""
        try:
            line = json.loads(self._begun.read_bytes())
            return f"{line['doing']} on {line['host']}", float(line["since"])
        except (OSError, ValueError, KeyError, TypeError):
            return None


def revoke_claims(run: Path) -> None:
    """Take every claim of a run away: what still runs of it somewhere will stop."""
    with suppress(FileNotFoundError):
        for path in (run / CLAIMS).iterdir():
            path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Everything that another machine needs to know. It holds no key."""

    job: Job
    settings: Settings
    claim: Claim
    folder: str
    """Working folder; relative paths of the settings start here, on every machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What comes back: that the record is on disk, what it cost, and how long was waited."""

    settled: Settled
    spend: Spend
    wait_s: float


@dataclass(slots=True)
class _Here:
    """The template of this process, one for all its errands of the same kind."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    keepers: dict[str, TemplateKeeper] = field(default_factory=dict)

    def keeper(self, settings: Settings) -> TemplateKeeper:
        """The template that suits these settings."""
        options = template_options(settings)
        key = f"{os.getpid()} {options}"
        if key not in self.keepers:
            self.keepers[key] = TemplateKeeper(options)
            atexit.register(self.keepers[key].template.close)
        return self.keepers[key]


_HERE = _Here()


def run_errand(errand: Errand) -> Answer | None:
    """Run one problem, unless that was begun before. Called by engines, in their processes.

    Returns:
        What became of it; None when the run does not want to know any more.

    Raises:
        RunDirError: this errand was begun before and left no record; or the run directory is not
            on this machine.
        SessionError: no session can be had here.
    """
    claim, folder = errand.claim, ProblemDir(errand.job.folder)
    if not claim.folder.is_dir():
        raise RunDirError(
            f"{claim.folder.parent}: not to be found on {socket.gethostname()}; the run directory "
            "has to be on storage that all machines share, under the same path"
        )
    if not claim.begin():
        solution = folder.read_solution()
        if solution is None:
            raise RunDirError(f"{claim.name}: the engine sent it twice; it is not run twice")
        return _answer(errand, solution)
    try:
        claim.check()
        os.chdir(errand.folder)
        with _session_source(errand) as source:
            solution = run_problem(
                errand.job,
                settings=errand.settings,
                source=source,
                open_model=make_opener(errand.settings),
                observe=_narrate(claim),
                on_throttle=lambda _: claim.tell("rate limit"),
                admit=claim.check,
            )
    except Superseded:
        return None
    return _answer(errand, solution)


@contextmanager
def _session_source(errand: Errand) -> Iterator[SessionSource]:
    with _HERE.lock:
        source = _HERE.keeper(errand.settings).connect()
    with source:
        yield source


def _answer(errand: Errand, solution: Solution) -> Answer:
    nano = round((solution.cost_usd or 0.0) * NANO)
    return Answer(
        settled=settled(errand.job.attempt, solution, ProblemDir(errand.job.folder)),
        spend=Spend(solution.usage.total, nano),
        wait_s=solution.wait_s,
    )


def _narrate(claim: Claim) -> events.Observer:
    def observe(event: events.Event) -> None:
        match event:
            case events.TurnStarted():
                claim.tell("model")
            case events.CellStarted(index):
                claim.tell(f"cell {index}")
            case events.CellFinished():
                claim.tell("check")

    return observe
