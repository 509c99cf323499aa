"""Where a worker gets its sessions from: a connection to the template, or new interpreters.

A source is made in the process that starts the run and may be handed to one forked worker; the
sessions belong to the process that opened them and end with it.
"""

from __future__ import annotations

import functools
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import identity, linux, wire
from scisolve_batch.executor.base import SessionSpec
from scisolve_batch.executor.process import READY_S, Process, Starter, open_pidfd
from scisolve_batch.executor.session import PersistentSession
from scisolve_batch.executor.slots import Slots

BOOT = Path(__file__).with_name("boot.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How interpreters for model code are started.

    Attributes:
        python: the interpreter.
        environment: the whole environment; it never held a key.
        layers_off: isolation layers to leave out.
        preload: modules that are ready in every session; None means the default ones.
        ids: first of a block of user numbers that nobody has; None for an ordinary user.
        opens_ways: a session can make folders reachable that root keeps to itself.
    """

    python: str
    environment: dict[str, str]
    layers_off: tuple[str, ...] = ()
    preload: tuple[str, ...] | None = None
    ids: int | None = None
    opens_ways: bool = False

    def command(self, kind: str, fd: int) -> list[str]:
        """Write the command line of a process that becomes `kind` and talks over `fd`.

        `-P` keeps the script's folder off the path; `-I` would also ignore the hash seed that
        makes the order of sets the same in every session.
        """
        return [self.python, "-P", "-B", str(BOOT), kind, str(fd)]


@dataclass(frozen=True, slots=True, eq=False)
class Loan:
    """Whose a session's folders are while it lives.

    Attributes:
        number: the unprivileged user number that has them; 0 when they were not lent.
        reason: why not, in words.
        owner: whose they are before and afterwards.
        folders: the folders.
    """

    number: int = 0
    reason: str = ""
    owner: int = 0
    folders: tuple[str, ...] = ()


def protect_this_process() -> None:
    """Close this process's environment and memory to every other process of the same user."""
    linux.prctl(linux.PR_SET_DUMPABLE, 0)


class Source:
    """Starts sessions; what is common to both kinds.

    Args:
        launch: how interpreters are started.
        slots: processor slots of the run.
    """

    def __init__(self, launch: Launch, slots: Slots) -> None:
        self.launch, self.slots = launch, slots
        self._sessions: list[PersistentSession] = []
        self._loans: list[Loan] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def open(self, spec: SessionSpec) -> PersistentSession:
        """Start a session.

        Raises:
            SessionError: no process could be started.
        """
        if self._owner != os.getpid():  # handed over by fork: the lock and list start anew
            self._owner = os.getpid()
            self._lock, self._sessions, self._loans = threading.Lock(), [], []
        protect_this_process()
        for folder in (spec.workdir, spec.figures):
            if not folder.is_dir():
                raise SessionError(f"a session needs an existing folder: {folder}")
        loan = self._lend(spec)
        try:
            session = PersistentSession(
                spec,
                start=functools.partial(self._start, loan=loan),
                slot=self._slot,
                release=functools.partial(self._give_back, loan),
            )
        except BaseException:
            self._give_back(loan)
            raise
        self._sessions = [s for s in self._sessions if not s.closed] + [session]
        return session

    def _lend(self, spec: SessionSpec) -> Loan:
        """Give a session's folders to an unprivileged number, when sessions here have one."""
        if self.launch.ids is None:
            return Loan(reason="switched off or not possible here")
        folders = tuple(str(path.resolve()) for path in (spec.workdir, spec.figures))
        closed = (
            ""
            if self.launch.opens_ways
            else next(filter(None, map(identity.closed_folder, folders)), "")
        )
        if closed:
            return Loan(reason=f"another user cannot reach folders below {closed}")
        number = self.launch.ids + secrets.randbelow(identity.COUNT)
        for other in self._loans:
            if set(folders) & set(other.folders):
                number = other.number  # two sessions on one folder both have to write there
        loan = Loan(number=number, owner=os.getuid(), folders=folders)
        self._loans.append(loan)
        try:
            identity.hand_over(folders, before=loan.owner, after=number)
        except OSError as error:
            self._give_back(loan)
            return Loan(reason=f"folders cannot be lent: {error.strerror}")
        return loan

    def _give_back(self, loan: Loan) -> None:
        """Take a session's folders back, with all that was made in them."""
        if loan not in self._loans:
            return
        self._loans.remove(loan)
        still = {folder for other in self._loans for folder in other.folders}
        present = [f for f in loan.folders if f not in still and os.path.isdir(f)]  # noqa: PTH112
        with suppress(OSError):  # somebody takes them away at this moment
            identity.hand_over(present, before=loan.number, after=loan.owner)

    def _slot(self) -> AbstractContextManager[None]:
        return self.slots.hold()

    def _start(self, spec: SessionSpec, *, loan: Loan) -> Process:
        """Start a session's process and wait until it is ready."""
        ctl, far_ctl = wire.pair(credentials=True)
        leash, far_leash = wire.pair()
        diagnostics, far_diagnostics = os.pipe()
        starter: Starter | None = None
        try:
            fds = (far_ctl.fileno(), far_leash.fileno(), far_diagnostics)
            starter = self._send_order(self._order(spec, loan), fds)
        except BaseException:
            for sock in (ctl, leash):
                sock.close()
            os.close(diagnostics)
            raise
        finally:
            far_ctl.close()
            far_leash.close()
            os.close(far_diagnostics)
        process = Process(ctl, leash, diagnostics=diagnostics, starter=starter)
        try:
            process.wait_ready()
        except BaseException:
            process.close()
            raise
        return process

    def _order(self, spec: SessionSpec, loan: Loan) -> wire.Message:
        return {
            "op": "open",
            "workdir": str(spec.workdir.resolve()),
            "figures": str(spec.figures.resolve()),
            "seed": spec.seed,
            "limits": asdict(spec.limits),
            "layers_off": list(self.launch.layers_off),
            "preload": self.launch.preload,
            "ids": self.launch.ids,
            "identity": loan.number,
            "identity_reason": loan.reason,
        }

    def _send_order(self, order: wire.Message, fds: tuple[int, ...]) -> Starter | None:
        """Give the order to whoever starts the process."""
        raise NotImplementedError

    def close(self) -> None:
        """End every session that was opened here."""
        sessions, self._sessions = self._sessions, []
        if self._owner == os.getpid():
            for session in sessions:
                session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class TemplateConnection(Source):
    """Sessions forked from the template.

    Args:
        sock: this worker's own socket to the template.
    """

    def __init__(self, sock: socket.socket, *, launch: Launch, slots: Slots) -> None:
        super().__init__(launch, slots)
        self._inbox = wire.Inbox(sock, limit=wire.ANSWER_BYTES)
        self._claimed_by = 0

    def _send_order(self, order: wire.Message, fds: tuple[int, ...]) -> None:
        with self._lock:
            try:
                self._claim()
                wire.send(self._inbox.sock, order, fds=fds)
                self._inbox.sock.settimeout(READY_S)
                answer = self._inbox.receive().message
            except (wire.Closed, wire.Broken) as error:
                raise SessionError(
                    f"the template is gone ({error}); no session can be started any more"
                ) from error
        if answer.get("op") != "opened":
            raise SessionError(f"no session could be started: {answer.get('reason')}")

    def _claim(self) -> None:
        """Tie the connection to this process's life; its descriptors may be open elsewhere too."""
        if self._claimed_by == os.getpid():
            return
        pidfd = open_pidfd(os.getpid())
        if pidfd >= 0:
            wire.send(self._inbox.sock, {"op": "claim"}, fds=(pidfd,))
            os.close(pidfd)
        self._claimed_by = os.getpid()

    def close(self) -> None:
        """End every session that this process opened here, and close its end."""
        super().close()
        self._inbox.close()


class InterpreterSource(Source):
    """Sessions in interpreters of their own: slower to start, at home on every system."""

    def _send_order(self, order: wire.Message, fds: tuple[int, ...]) -> Starter:
        channel, far_channel = wire.pair()
        try:
            guard = subprocess.Popen(
                self.launch.command("guard", far_channel.fileno()),
                env=self.launch.environment,
                pass_fds=(far_channel.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            channel.close()
            raise SessionError(f"no interpreter could be started: {error}") from error
        finally:
            far_channel.close()
        try:
            wire.send(channel, order, fds=fds)
        except wire.Closed as error:
            Starter(guard, channel).close()
            raise SessionError(f"the new interpreter ended at once: {error}") from error
        return Starter(guard, channel)


class TemplateProcess:
    """The template's process, from outside.

    Args:
        launch: how to start it.
        options: what it is told at the start.
        timeout_s: seconds that starting may take.
    """

    def __init__(self, launch: Launch, options: dict[str, Any], *, timeout_s: float) -> None:
        sock, far = wire.pair()
        self._inbox = wire.Inbox(sock, limit=wire.ANSWER_BYTES)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        try:
            self._process = subprocess.Popen(
                launch.command("template", far.fileno()),
                env=launch.environment,
                pass_fds=(far.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for the run, which ends this in order
            )
        except OSError as error:
            sock.close()
            self._errors.close()
            raise SessionError(f"cannot start {launch.python}: {error}") from error
        finally:
            far.close()
        try:
            self.report = self._start(options, timeout_s)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process that this one started."""
        return self._process.pid

    def _start(self, options: dict[str, Any], timeout_s: float) -> wire.Message:
        pidfd = open_pidfd(os.getpid())
        try:
            fds = (pidfd,) if pidfd >= 0 else ()
            wire.send(self._inbox.sock, options, fds=fds)
            self._inbox.sock.settimeout(timeout_s)
            report = self._inbox.receive().message
        except (wire.Closed, wire.Broken) as error:
            raise SessionError(self._why(error)) from error
        finally:
            if pidfd >= 0:
                os.close(pidfd)
        if report["threads"] != 1:
            raise SessionError(
                f"the template has {report['threads']} threads after its imports and cannot fork "
                "safely. Some imported library starts threads: look for sitecustomize or .pth "
                "files, or use method='spawn'."
            )
        return report

    def _why(self, error: Exception) -> str:
        time.sleep(0.05)  # its last words may be on their way
        self._errors.seek(0)
        words = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
        tail = words.splitlines()[-1] if words else str(error)
        return (
            f"the template process did not start: {tail}. Check that this interpreter can import "
            f"numpy, scipy and matplotlib with an empty environment: {sys.executable}"
        )

    def connect(self) -> socket.socket:
        """Ask for one more connection.

        Raises:
            SessionError: the template is gone.
        """
        sock, far = wire.pair()
        try:
            wire.send(self._inbox.sock, {"op": "connect"}, fds=(far.fileno(),))
            self._inbox.receive()
        except (wire.Closed, wire.Broken) as error:
            sock.close()
            raise SessionError(f"the template is gone ({error})") from error
        finally:
            far.close()
        return sock

    def close(self) -> None:
        """End the template and with it every session."""
        self._inbox.close()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()
