"""Landlock: a process gives up, for good, every file outside a few trees, and TCP.

Works for ordinary users, without namespaces, from Linux 5.13 on; the newer the kernel the more it
covers (landlock(7)). It does not cover reading a file's metadata, nor sockets other than TCP.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from scisolve_batch.executor import linux

# The same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets, signals


def version() -> int:
    """Ask for the kernel's Landlock version; 0 when there is none."""
    try:
        return linux.syscall(
            _CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)
        )
    except OSError:
        return 0


def handled_rights(abi: int) -> int:
    """Give the file rights that a version of Landlock knows, as a bit mask."""
    count = {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)
    return (1 << count) - 1


def restrict(*, readable: Iterable[str], writable: Iterable[str]) -> dict[str, object]:
    """Confine this process: read and execute below `readable`, everything below `writable`.

    Paths that do not exist are left out. Returns what is covered, for the record.

    Raises:
        OSError: the kernel has no Landlock or refused.
    """
    abi = version()
    if not abi:
        raise OSError(38, "this kernel offers no Landlock")
    rights = handled_rights(abi)
    tcp, scopes = (_TCP if abi >= 4 else 0), (_SCOPES if abi >= 6 else 0)
    attributes = struct.pack("QQQ", rights, tcp, scopes)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = linux.syscall(
        _CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    try:
        for paths, mask in ((readable, _READ), (writable, rights)):
            for path in paths:
                _allow(ruleset, path, mask=mask & rights)
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        linux.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return {"abi": abi, "files": True, "tcp": bool(tcp), "signals": bool(scopes)}


def _allow(ruleset: int, path: str, *, mask: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - the path is a plain string here
            mask &= _ON_FILES
        rule = struct.pack("<Qi", mask, fd)
        linux.syscall(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.c_char_p(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(fd)
