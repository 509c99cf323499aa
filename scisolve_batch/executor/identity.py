"""An unprivileged identity for sessions of a run that root starts.

A session's number belongs to nobody; its folders are lent to that number while it lives and given
back when it ends. A folder that root keeps to itself is covered, in the session's own mounts, by
an empty one that shows only what the session needs.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterable

from scisolve_batch.executor import linux

COUNT = 256
"""Numbers that the sessions of a run share."""

_BLOCKS = range(61_440, 65_280, COUNT)
"""Where a free block is looked for: numbers that systems hand out for a moment, never for good."""

_NUMBERS = range(_BLOCKS.start, _BLOCKS.stop)


def find_unused_ids() -> int:
    """Find a block of `COUNT` numbers that no user, group or process has; returns the first.

    Raises:
        OSError: there is no such block.
    """
    taken = {user.pw_uid for user in pwd.getpwall()} | {group.gr_gid for group in grp.getgrall()}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names, not paths
        if name.isdigit():
            try:
                taken.add(os.stat(f"/proc/{name}").st_uid)  # noqa: PTH116
            except OSError:
                continue
    for first in _BLOCKS:
        if taken.isdisjoint(range(first, first + COUNT)):
            return first
    raise OSError(17, f"no unused user numbers from {_BLOCKS.start} to {_BLOCKS.stop}")


def enter_user_namespace_with_ids(extra: int, *, first: int) -> None:
    """Enter a new user namespace (and others) that knows root and the block of numbers.

    Only a process outside may write such a map, so one is forked that waits for the entry.

    Raises:
        OSError: the kernel or a security module refused some step.
    """
    text = f"0 0 1\n{first} {first} {COUNT}\n"
    inside = os.getpid()
    entered, enter = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(enter)
            if os.read(entered, 1):
                for name in ("uid_map", "gid_map"):
                    with open(f"/proc/{inside}/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
                        file.write(text)
                code = 0
        except OSError as error:
            code = error.errno or 1
        finally:
            os._exit(code)
    os.close(entered)
    try:
        linux.unshare(linux.CLONE_NEWUSER | extra & ~linux.CLONE_NEWPID)
        os.write(enter, b"+")
    finally:
        os.close(enter)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, f"map of user numbers: {os.strerror(code)}")
    if extra & linux.CLONE_NEWPID:
        linux.unshare(linux.CLONE_NEWPID)


def become(number: int) -> None:
    """Give up root for good.

    The kernel forgets the signal at the parent's death and makes the process unreadable; both
    are for the caller to ask for again.

    Raises:
        OSError: the kernel refused.
    """
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)


# ---- the way to folders below one that root keeps to itself -------------------------------


def closed_folder(path: str) -> str:
    """Find the outermost folder on the way to a path that only its owner may pass; empty if none."""
    real = os.path.realpath(path)
    parent = "/"
    for part in real.split("/")[1:-1]:
        parent = os.path.join(parent, part)  # noqa: PTH118
        try:
            if not os.stat(parent).st_mode & stat.S_IXOTH:  # noqa: PTH116
                return parent
        except OSError:
            return parent
    return ""


def open_way(paths: Iterable[str]) -> None:
    """Make paths reachable for everybody, in this process's own mount namespace.

    Each folder that keeps them closed is covered by an empty one in which only they appear.

    Raises:
        OSError: a mount was refused.
    """
    wanted = sorted({p for path in paths for p in (os.path.abspath(path), os.path.realpath(path))})  # noqa: PTH100
    found: list[tuple[str, str, int]] = []
    for path in wanted:
        cover = closed_folder(path)
        if cover and not any(_is_below(path, shown) for _, shown, _ in found):
            try:
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # a folder of libraries that does not exist
            found.append((cover, path, fd))
    for cover in sorted({cover for cover, _, _ in found}):
        flags = linux.MS_NOSUID | linux.MS_NODEV
        linux.mount("tmpfs", cover, flags=flags, options="size=1m,mode=0755")
    for _, path, fd in found:
        is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
        os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        if not is_folder:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
        linux.bind(f"/proc/self/fd/{fd}", path)
        os.close(fd)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


# ---- folders, on the trusted side ---------------------------------------------------------


def hand_over(folders: Iterable[str], *, before: int, after: int) -> None:
    """Make a number the owner of folders and of all in them that belongs to another one.

    What a session that was killed with its worker left behind belongs to its number still, and
    goes along. Links are not followed, and a file that also has a name elsewhere is left alone.

    Raises:
        OSError: this process may not give files away.
    """
    for folder in folders:
        _give(folder, None, before=before, after=after)
        for _, names, files, fd in os.fwalk(folder, follow_symlinks=False):
            for name in (*names, *files):
                _give(name, fd, before=before, after=after)


def _give(name: str, folder: int | None, *, before: int, after: int) -> None:
    info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    elsewhere = info.st_nlink > 1 and not stat.S_ISDIR(info.st_mode)
    # What a session linked twice is all its own; what it was given may be a file of somebody.
    of_a_session = info.st_uid in _NUMBERS
    if (info.st_uid == before and not elsewhere) or of_a_session:
        os.chown(name, after, after, dir_fd=folder, follow_symlinks=False)
