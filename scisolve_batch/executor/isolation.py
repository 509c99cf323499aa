"""The layers that keep model code apart, probed in throw-away processes before they are used.

A namespace may be granted and the next step refused, which would leave a half-entered process;
so each layer is first tried in a child that ends. What is in force is recorded per layer with
the kernel's reason where it is not; whether it holds is for the self-test to say.
"""

from __future__ import annotations

import functools
import os
import resource
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scisolve_batch.executor import identity, landlock, linux, seccomp

Layers = dict[str, dict[str, Any]]
"""Per layer `{"state": "in_force" | "unavailable" | "off", "reason": ...}`."""

NAMESPACES = {
    "network_namespace": linux.CLONE_NEWNET,
    "ipc_namespace": linux.CLONE_NEWIPC,
    "uts_namespace": linux.CLONE_NEWUTS,
    "mount_namespace": linux.CLONE_NEWNS,
    "pid_namespace": linux.CLONE_NEWPID,
}
"""Namespaces of the template; each session gets pid and mount namespaces of its own in them."""

SWITCHABLE = (
    "namespaces",
    "session_namespaces",
    "landlock",
    "seccomp",
    "capabilities",
    "unprivileged_identity",
)
"""Layers that can be left out by name, for tests and for hosts where one of them hurts."""

_READABLE = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/opt",
    "/nix/store",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/mime.types",
    "/etc/fonts",
    "/etc/alternatives",
    "/etc/matplotlibrc",
    "/dev/urandom",
    "/dev/random",
)
_WRITABLE = ("/dev/null", "/dev/zero", "/dev/full", "/dev/shm")  # noqa: S108 - a private mount


def probe(trial: Callable[[], None]) -> str:
    """Try something in a throw-away child; returns the reason why it failed, empty when it works.

    The child ends either way, so that nothing is entered by half here.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        reason = "ended early"
        try:
            trial()
            reason = ""
        except OSError as error:
            reason = error.strerror or str(error)
        finally:
            os.write(writer, (reason or "+").encode())
            os._exit(0)
    os.close(writer)
    answer = b""
    while piece := os.read(reader, 4096):
        answer += piece
    os.close(reader)
    os.waitpid(pid, 0)
    if answer == b"+":
        return ""
    return answer.decode(errors="replace") or "the probe died"


def in_force(**details: object) -> dict[str, Any]:
    """Record a layer that holds."""
    return {"state": "in_force", **details}


def unavailable(reason: str) -> dict[str, Any]:
    """Record a layer that this machine does not give."""
    return {"state": "unavailable", "reason": reason}


def switched_off(reason: str = "switched off") -> dict[str, Any]:
    """Record a layer that was not asked for."""
    return {"state": "off", "reason": reason}


def holds(layers: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    """Tell whether a layer is in force."""
    return layers.get(name, {}).get("state") == "in_force"


def in_force_of(layers: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Name the layers that are in force, in order."""
    return tuple(sorted(name for name in layers if holds(layers, name)))


# ---- the template's own namespaces ------------------------------------------------------


def enter_namespaces(flags: int, *, ids: int | None) -> None:
    """Enter a new user namespace and others; with `ids` it also knows that block of numbers."""
    if ids is None:
        linux.enter_user_namespace(flags)
    else:
        identity.enter_user_namespace_with_ids(flags, first=ids)


def _enter_and_mount(flags: int) -> None:
    linux.enter_user_namespace(flags)
    if flags & linux.CLONE_NEWPID:
        pid = os.fork()
        if pid == 0:
            try:
                mount_proc()
            except OSError as error:
                os._exit(error.errno or 1)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            raise OSError(code, f"mount proc: {os.strerror(code)}")


def mount_proc() -> None:
    """Mount the process list of this pid namespace."""
    linux.mount("proc", "/proc", flags=linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)


def probe_namespaces() -> tuple[int, Layers]:
    """Find the namespaces that this user may enter; returns their flags and the record."""
    layers: Layers = {}
    reason = probe(linux.enter_user_namespace)
    if reason:
        names = ("user_namespace", *NAMESPACES)
        return 0, {name: unavailable(reason) for name in names}
    layers["user_namespace"] = in_force()
    flags = 0
    for name, flag in NAMESPACES.items():
        # A pid namespace is of use only with a process list of its own, hence with mounts.
        needed = flag | (linux.CLONE_NEWNS if flag == linux.CLONE_NEWPID else 0)
        reason = probe(lambda needed=needed: _enter_and_mount(needed))  # type: ignore[misc]
        layers[name] = unavailable(reason) if reason else in_force()
        if not reason:
            flags |= flag
    if flags and (reason := probe(lambda: _enter_and_mount(flags))):
        return 0, {name: unavailable(f"all at once: {reason}") for name in layers}
    return flags, layers


def probe_identity(ids: int | None, *, flags: int) -> dict[str, Any]:
    """Find whether sessions can be somebody who is nobody else.

    Args:
        ids: first of the numbers that were found unused; None for an ordinary user.
        flags: the namespaces that are entered before.
    """
    if os.getuid() != 0:
        return in_force(uid=os.getuid(), reason="the run was not started by root")
    if ids is None:
        return unavailable("no unused user numbers")

    def trial() -> None:
        if flags:
            enter_namespaces(flags & ~linux.CLONE_NEWPID, ids=ids)
        paths = libraries()
        closed = next(filter(None, map(identity.closed_folder, paths)), "")
        if closed and flags & linux.CLONE_NEWNS:
            identity.open_way(paths)
        elif closed:
            raise OSError(13, f"another user cannot read the interpreter below {closed}")
        identity.become(ids)
        for path in paths:
            if os.path.exists(path) and not os.access(path, os.R_OK):  # noqa: PTH110
                raise OSError(13, f"another user cannot read {path}")
        if not os.access(os.__file__, os.R_OK):
            raise OSError(13, f"another user cannot read {os.__file__}")

    reason = probe(trial)
    return unavailable(reason) if reason else in_force(ids=[ids, ids + identity.COUNT - 1])


def drops_root(layers: Mapping[str, Mapping[str, Any]]) -> bool:
    """Tell whether sessions start as root and give that up."""
    return "ids" in layers.get("unprivileged_identity", {})


def take_identity(order: Mapping[str, Any], layers: Layers) -> Layers:
    """Become who the order says; returns the layers of this session.

    Raises:
        OSError: a step that worked in the probe was refused now.
    """
    if not drops_root(layers):
        return layers
    nested = holds(layers, "session_namespaces")
    number = order.get("identity")
    if number:
        if nested:
            identity.open_way([*libraries(), order["workdir"], order["figures"]])
        identity.become(number)
    if nested:
        linux.prctl(linux.PR_SET_DUMPABLE, 1)
        linux.enter_user_namespace()
    mine = in_force(uid=number) if number else unavailable(order.get("identity_reason", "not lent"))
    return layers | {"unprivileged_identity": mine}


def enter_session_namespaces(*, private_memory_mb: int, count_apart: bool = True) -> None:
    """Give the first process of a new pid namespace its own mounts and its own user count.

    The nested user namespace makes the limit on processes count per session. Without
    `count_apart` the session enters it itself, after it has given up being root.

    Raises:
        OSError: a step was refused.
    """
    linux.unshare(linux.CLONE_NEWNS)
    mount_proc()
    linux.mount(
        "tmpfs",
        "/dev/shm",  # noqa: S108 - this is the private file system itself
        flags=linux.MS_NOSUID | linux.MS_NODEV,
        options=f"size={private_memory_mb}m,mode=1777",
    )
    if count_apart:
        linux.prctl(linux.PR_SET_DUMPABLE, 1)
        linux.enter_user_namespace()
        linux.prctl(linux.PR_SET_DUMPABLE, 0)


# ---- the session ------------------------------------------------------------------------


def probe_confinement() -> Layers:
    """Find which of the layers that a session puts on itself work here."""
    layers: Layers = {}
    abi = landlock.version()
    libraries()
    reason = probe(lambda: landlock_session([], writable=[]))
    layers["landlock"] = unavailable(reason) if reason else in_force(abi=abi)
    reason = probe(seccomp.restrict)
    layers["seccomp"] = unavailable(reason) if reason else in_force()
    reason = probe(linux.drop_capabilities)
    layers["capabilities"] = unavailable(reason) if reason else in_force()
    return layers


def standing_layers() -> Layers:
    """Record what needs no probe, because a session cannot be started without it."""
    layers: Layers = {
        "scrubbed_environment": in_force(names=sorted(os.environ)),
        "resource_limits": in_force(),
    }
    for name in ("no_new_privileges", "guard_not_dumpable"):
        layers[name] = in_force() if linux.AVAILABLE else unavailable("Linux only")
    return layers


@functools.cache
def libraries() -> tuple[str, ...]:
    """List the folders that the interpreter loads code from. Forked processes find it ready."""
    paths = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    paths |= {path for path in sys.path if path}
    paths |= {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths |= set(site.getsitepackages())
    paths.add(os.path.realpath(sys.executable))
    return tuple(sorted(paths))


def landlock_session(readable: Iterable[str], *, writable: Iterable[str]) -> None:
    """Leave this process its libraries, some system files and the paths that are named."""
    landlock.restrict(
        readable=[*_READABLE, *libraries(), *readable], writable=[*_WRITABLE, *writable]
    )


def set_resource_limits(limits: Mapping[str, Any], *, count_processes: bool) -> None:
    """Bound this process by what the kernel offers; values are those of `ExecutionLimits`."""
    mib = 1 << 20
    wanted: dict[str, int | None] = {
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": limits.get("open_files"),
        "RLIMIT_FSIZE": _scaled(limits.get("file_mb"), mib),
        # Address space counts what is only reserved, so data is the limit that is felt.
        "RLIMIT_DATA": _scaled(limits.get("memory_mb"), mib),
        "RLIMIT_AS": _scaled(limits.get("memory_mb"), mib, extra=1 << 30),
    }
    if count_processes:
        wanted["RLIMIT_NPROC"] = limits.get("processes")
    for name, value in wanted.items():
        if value is None:
            continue
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)  # noqa: PLW2901 - the kernel's ceiling
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            continue


def _scaled(value: int | None, unit: int, *, extra: int = 0) -> int | None:
    return None if value is None else value * unit + extra


def confine(order: Mapping[str, Any], layers: Mapping[str, Mapping[str, Any]]) -> None:
    """Put every layer that was found to work over this session's process, for good.

    Raises:
        OSError: a layer that worked in the probe was refused now.
    """
    set_resource_limits(order["limits"], count_processes=holds(layers, "session_namespaces"))
    if not linux.AVAILABLE:
        return
    if holds(layers, "landlock"):
        landlock_session([], writable=[order["workdir"], order["figures"]])
    if holds(layers, "capabilities"):
        linux.drop_capabilities()
    if holds(layers, "no_new_privileges"):
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    if holds(layers, "seccomp"):
        seccomp.restrict()
