"""The few Linux calls that the standard library lacks, by ctypes.

Each returns nothing and raises `OSError` with the kernel's reason, except `prctl`, which is
used for requests that cannot fail on a kernel that knows them. Nothing here works elsewhere.
"""

from __future__ import annotations

import ctypes
import os
import sys

AVAILABLE = sys.platform == "linux"

_libc = ctypes.CDLL(None, use_errno=True)
_with_gil = ctypes.PyDLL(None)
"""The same library; its calls do not let other threads run meanwhile."""

# Bound before model code can replace them.
_int, _long, _ulong, _pointer = ctypes.c_int, ctypes.c_long, ctypes.c_ulong, ctypes.c_void_p
_addressof = ctypes.addressof
_before_fork = ctypes.pythonapi.PyOS_BeforeFork
_after_fork_in_parent = ctypes.pythonapi.PyOS_AfterFork_Parent
_after_fork_in_child = ctypes.pythonapi.PyOS_AfterFork_Child

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_TID_ADDRESS = 40
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC = 4096, 16384

# NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off, all locked: uid 0 gains nothing by exec (capabilities(7)).
_LOCKED_SECUREBITS = 0x2F
_CAPABILITY_VERSION_3 = 0x2008_0522


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, first: int = 0) -> int:
    """Set a property of this process; returns the kernel's answer, -1 when it refuses."""
    if not AVAILABLE:
        return -1
    arguments = [_ulong(first)] + [_ulong(0)] * 3
    return int(_libc.prctl(_int(option), *arguments))


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by number.

    Raises:
        OSError: the kernel refused.
    """
    return _check(int(_libc.syscall(ctypes.c_long(number), *arguments)), f"system call {number}")


def unshare(flags: int) -> None:
    """Leave the namespaces of `flags` for new ones."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(fd: int, kind: int) -> None:
    """Enter the namespace behind a descriptor."""
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def mount(kind: str, target: str, *, flags: int, options: str = "") -> None:
    """Mount a new file system of a kind on `target`."""
    data = options.encode() if options else None
    result = _libc.mount(kind.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data)
    _check(result, f"mount {kind} on {target}")


def bind(source: str, target: str) -> None:
    """Show a file or folder, with all that is mounted below it, in a second place."""
    flags = ctypes.c_ulong(_MS_BIND | _MS_REC)
    _check(_libc.mount(source.encode(), target.encode(), None, flags, None), f"bind {target}")


def flush_c_streams() -> None:
    """Write out what C code left in its own buffers."""
    _libc.fflush(None)


def line_buffer_c_stdout() -> None:
    """Make C's stdout write at each line; else printf text comes after later prints."""
    line_buffered = 1  # _IOLBF of glibc, musl and macOS
    name = "stdout" if AVAILABLE else "__stdoutp"
    stream = ctypes.c_void_p.in_dll(_libc, name)
    _libc.setvbuf(stream, None, line_buffered, ctypes.c_size_t(0))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def drop_capabilities() -> None:
    """Empty every capability set for good; nothing changes for an ordinary user.

    Raises:
        OSError: the kernel refused.
    """
    for capability in range(64):
        if prctl(PR_CAPBSET_READ, capability) < 0:
            break
        prctl(PR_CAPBSET_DROP, capability)
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    prctl(PR_SET_SECUREBITS, _LOCKED_SECUREBITS)
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    nothing = (_CapabilityData * 2)()
    _check(_libc.capset(ctypes.byref(header), nothing), "capset")


def enter_user_namespace(extra: int = 0) -> None:
    """Enter a new user namespace (and others) in which this user keeps its number.

    A process that may not be dumped cannot write its own maps, so that flag comes later.

    Raises:
        OSError: the kernel or a security module refused some step.
    """
    user, group = os.getuid(), os.getgid()
    unshare(CLONE_NEWUSER | extra)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        fd = os.open(f"/proc/self/{name}", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)


# clone(2): the kernel writes the thread's number where libc keeps it, as libc's own fork() asks.
_CLONE = {"x86_64": 56, "aarch64": 220}.get(os.uname().machine, 0) if AVAILABLE else 0
_CLONE_CHILD_SETTID, _CLONE_CHILD_CLEARTID = 0x0100_0000, 0x0020_0000
WAIT_FOR_ALL = 0x4000_0000  # __WALL of wait(2): children that no signal announces, too


def find_lone_thread() -> int:
    """Find where libc keeps the number of this process's only thread.

    0 when it has others, which a fork would not copy, or when this system does not tell.
    """
    if not _CLONE or count_threads() != 1:
        return 0
    address = _ulong(0)
    return address.value if prctl(PR_GET_TID_ADDRESS, _addressof(address)) == 0 else 0


def fork_unannounced(lone_thread: int) -> int:
    """Fork a child whose end sends no signal, so that wait() and waitpid() never see it.

    Libraries' own handlers at fork are not run, Python's are.

    Args:
        lone_thread: what `find_lone_thread` found just now.

    Raises:
        OSError: no process could be had.
    """
    place, nothing = _pointer(lone_thread), _pointer(None)
    # The last two arguments stand in another order on aarch64.
    tail = (place, nothing) if _CLONE == 56 else (nothing, place)
    flags = _ulong(_CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID)
    _before_fork()
    pid = int(_with_gil.syscall(_long(_CLONE), flags, nothing, nothing, *tail))
    if pid == 0:
        _after_fork_in_child()
        return 0
    _after_fork_in_parent()
    if pid < 0:
        raise OSError(11, "no process could be had")
    return pid


def count_threads() -> int:
    """Count the threads of this process."""
    with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 - pathlib is slow to touch here
        return int(file.read().rsplit(b")", 1)[1].split()[17])


def direct_children(pid: int) -> list[int]:
    """List the children of a process; empty when it is gone.

    The kernel's list per thread when it keeps one, else a walk over all processes.
    """
    try:
        children: list[int] = []
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                children += [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return _children_by_walk(pid) if os.path.isdir(f"/proc/{pid}") else []  # noqa: PTH112
    except (OSError, ValueError):
        return []
    return children


def _children_by_walk(pid: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                parent = int(file.read().rsplit(b")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == pid:
            found.append(int(name))
    return found


def descendants(pid: int) -> list[int]:
    """List everything that a process started, directly or not, as far as it is still its."""
    found: list[int] = []
    todo = [pid]
    while todo:
        children = direct_children(todo.pop())
        found += children
        todo += children
    return found


def status_kib(pid: int | str, field: str) -> int | None:
    """Read a memory field of `/proc/PID/status`, in KiB; None when there is none."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
            text = file.read()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(field.encode() + b":"):
            return int(line.split()[1])
    return None


def available_kib() -> int | None:
    """Read how much memory the machine can still give, in KiB."""
    try:
        with open("/proc/meminfo", "rb") as file:  # noqa: PTH123
            for line in file:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1])
    except OSError:
        return None
    return None
