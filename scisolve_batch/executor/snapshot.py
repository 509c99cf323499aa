"""Undo points: a frozen fork of the session, taken after a cell, that sleeps until it is needed.

The running session never changes process, so threads, pools and descriptors stay whole on the
ordinary way; what fork() cannot copy is missing only after a kill, where all would be lost
otherwise. File contents and offsets are shared with the copy and are not rolled back.
"""

from __future__ import annotations

import ctypes
import os
import random
import select
import socket
import sys
import warnings
from collections.abc import Callable

from scisolve_batch.executor import linux, wire

# Bound before model code can replace them.
_fork, _waitpid, _exit, _setpgid, _getpid = os.fork, os.waitpid, os._exit, os.setpgid, os.getpid
_getstate, _setstate = random.getstate, random.setstate
_WAIT = os.WNOHANG | linux.WAIT_FOR_ALL

_copies: list[int] = []
"""Copies of this process that are its children and were not collected yet."""

RESERVE_KIB = 1 << 20
"""Memory, in KiB, that must stay free beside twice the session's own: a rewrite doubles it."""


def reason_to_skip(limit_mb: int) -> str:
    """Say why no copy of this process should be taken now; empty when nothing speaks against it."""
    if limit_mb <= 0:
        return "skipped: switched off"
    size = linux.status_kib("self", "RssAnon")
    free = linux.available_kib()
    if size is None or free is None:
        return "skipped: this system does not tell its memory"
    if size > limit_mb * 1024:
        return f"skipped: size, the session holds {size // 1024} MiB of {limit_mb} MiB at most"
    if free < 2 * size + RESERVE_KIB:
        return f"skipped: memory is short, {free // 1024} MiB are free"
    return ""


def freeze(*, flush: Callable[[], None]) -> tuple[socket.socket, bool]:
    """Fork a copy of this process that code which waits for all its children never waits for.

    Returns twice: in the session with the socket's outer end, which leads to the copy, and False;
    in the copy with the inner end and True. With one thread the copy is a child whose end nothing
    announces; else it descends through a process that ends at once, which costs a second fork.

    Raises:
        OSError: no process could be had.
    """
    _collect_copies()
    ours, theirs = wire.pair(credentials=True)
    flush()
    state = _getstate()  # the standard library reseeds `random` in a forked process
    try:
        if thread := linux.find_lone_thread():
            copy = linux.fork_unannounced(thread)
            if copy == 0:
                _copies.clear()
                _setstate(state)
                _set_group(0)
                ours.close()
                return theirs, True
            _copies.append(copy)
            _set_group(copy)
            theirs.close()
            return ours, False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads, 3.12 on
            between = _fork()
            if between == 0:
                try:
                    copy = _fork()
                except OSError:
                    _exit(1)
                if copy:
                    _set_group(copy)
                    _exit(0)
                _setstate(state)
                _set_group(0)
                ours.close()
                return theirs, True
    except OSError:
        ours.close()
        theirs.close()
        raise
    theirs.close()
    try:
        failed = _waitpid(between, 0)[1] != 0
    except ChildProcessError:  # the cell ignores SIGCHLD
        failed = False
    if failed:
        ours.close()
        raise OSError(11, "no process could be had")
    return ours, False


def _collect_copies() -> None:
    """Let go of earlier copies that have ended; nobody else can wait for them."""
    for pid in list(_copies):
        try:
            if _waitpid(pid, _WAIT)[0]:
                _copies.remove(pid)
        except ChildProcessError:
            _copies.remove(pid)


def _set_group(pid: int) -> None:
    """Give the copy a group of its own; done from both sides, whichever runs first."""
    try:
        _setpgid(pid, pid)
    except OSError:
        return


def sleep_until_needed(inbox: wire.Inbox, *, lease: int) -> None:
    """Wait, frozen, for the order to take over; end when nobody can give it any more.

    Args:
        inbox: the private socket to the trusted side.
        lease: a descriptor that ends with the session's guard; a closed one is ignored.
    """
    poll = select.poll()
    poll.register(inbox.sock, select.POLLIN)
    poll.register(lease, select.POLLIN)
    while (frame := inbox.pop()) is None:
        for fd, event in poll.poll():
            if fd == lease and event & select.POLLNVAL:
                poll.unregister(lease)
            elif fd == lease:
                _exit(0)
            else:
                try:
                    inbox.fill()
                except wire.Closed:
                    _exit(0)
    if frame.message.get("op") != "activate":
        _exit(0)
    linux.prctl(linux.PR_SET_PDEATHSIG, 9)
    poll = select.poll()
    poll.register(lease, select.POLLIN)
    if any(
        event & ~select.POLLNVAL for _, event in poll.poll(0)
    ):  # it died before the signal was set
        _exit(0)


def use_one_openmp_thread() -> None:
    """Keep loaded OpenMP libraries from waiting for threads that fork() did not copy.

    GNU OpenMP would hang in the next parallel region; with one thread it never enters one.
    """
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:  # noqa: PTH123
            paths = {line.split()[-1] for line in file if "/" in line}
    except OSError:
        return
    for path in paths:
        if any(word in path for word in ("libgomp", "libiomp", "libomp")):
            try:
                library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
                library.omp_set_num_threads(1)
            except (OSError, AttributeError):
                continue


def thread_names() -> list[str]:
    """Name the Python threads that a copy of this process would not have."""
    threading = sys.modules.get("threading")
    if threading is None:
        return []
    main = threading.main_thread()
    return [str(t.name)[:100] for t in threading.enumerate() if t is not main][:50]
