"""A system-call filter: no sockets but local ones, no tracing, no namespaces, no mounts.

A hand-assembled classic BPF program (seccomp(2), linux/filter.h), so that no library is needed.
Tables for x86-64 and aarch64; on any other processor the layer says that it is unavailable.
"""

from __future__ import annotations

import ctypes
import os
import struct

from scisolve_batch.executor import linux

_SET_MODE_FILTER = 1

_EPERM, _EACCES, _ENOSYS = 1, 13, 38
_AF_UNIX = 1
_NEW_NAMESPACES = 0x7E02_0000  # every CLONE_NEW* flag that clone() takes

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _KILL, _ERRNO = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
_X32_BIT = 0x4000_0000

# fmt: off
_X86_64 = {
    "socket": 41, "clone": 56, "clone3": 435, "seccomp": 317,
    "ptrace": 101, "mount": 165, "umount2": 166, "pivot_root": 155, "setns": 308, "unshare": 272,
    "bpf": 321, "keyctl": 250, "add_key": 248, "request_key": 249, "perf_event_open": 298,
    "userfaultfd": 323, "process_vm_readv": 310, "process_vm_writev": 311, "io_uring_setup": 425,
    "io_uring_enter": 426, "io_uring_register": 427, "kexec_load": 246, "init_module": 175,
    "finit_module": 313, "delete_module": 176, "reboot": 169, "swapon": 167, "swapoff": 168,
    "open_by_handle_at": 304, "pidfd_getfd": 438, "kcmp": 312, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsmount": 432, "mount_setattr": 442, "acct": 163,
    "settimeofday": 164, "clock_settime": 227,
}
_AARCH64 = {
    "socket": 198, "clone": 220, "clone3": 435, "seccomp": 277,
    "ptrace": 117, "mount": 40, "umount2": 39, "pivot_root": 41, "setns": 268, "unshare": 97,
    "bpf": 280, "keyctl": 219, "add_key": 217, "request_key": 218, "perf_event_open": 241,
    "userfaultfd": 282, "process_vm_readv": 270, "process_vm_writev": 271, "io_uring_setup": 425,
    "io_uring_enter": 426, "io_uring_register": 427, "kexec_load": 104, "init_module": 105,
    "finit_module": 273, "delete_module": 106, "reboot": 142, "swapon": 224, "swapoff": 225,
    "open_by_handle_at": 265, "pidfd_getfd": 438, "kcmp": 272, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsmount": 432, "mount_setattr": 442, "acct": 89,
    "settimeofday": 170, "clock_settime": 112,
}
# fmt: on
_TABLES = {"x86_64": (_X86_64, 0xC000_003E), "aarch64": (_AARCH64, 0xC000_00B7)}
_SPECIAL = frozenset({"socket", "clone", "clone3", "seccomp"})


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def assemble(machine: str) -> bytes:
    """Write the filter for a processor.

    Raises:
        KeyError: there is no table for it.
    """
    table, architecture = _TABLES[machine]
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, architecture, yes=1),
        _step(_RETURN, _KILL),  # 32-bit calls have other numbers
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        program += [
            _step(_JUMP_GREATER_EQUAL, _X32_BIT, no=1),
            _step(_RETURN, _KILL),
        ]
    for name, number in table.items():
        if name not in _SPECIAL:
            program += [
                _step(_JUMP_EQUAL, number, no=1),
                _step(_RETURN, _ERRNO | _EPERM),
            ]
    program += [
        # socket(domain, ...): AF_UNIX only. This also covers what Landlock's TCP rules leave open.
        _step(_JUMP_EQUAL, table["socket"], no=3),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_JUMP_EQUAL, _AF_UNIX, yes=1),
        _step(_RETURN, _ERRNO | _EACCES),
        # A filter cannot look behind the pointer that clone3 takes; libc falls back to clone.
        # The jump before may have loaded an argument over the number.
        _step(_LOAD, _NUMBER),
        _step(_JUMP_EQUAL, table["clone3"], no=1),
        _step(_RETURN, _ERRNO | _ENOSYS),
        _step(_JUMP_EQUAL, table["clone"], no=3),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_JUMP_SET, _NEW_NAMESPACES, no=1),
        _step(_RETURN, _ERRNO | _EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(program)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def restrict() -> None:
    """Put the filter over this process and everything that it starts, for good.

    Raises:
        OSError: there is no table for this processor, or the kernel refused.
    """
    machine = os.uname().machine
    if machine not in _TABLES:
        raise OSError(_ENOSYS, f"no system-call table for {machine}")
    code = assemble(machine)
    program = _Program(len(code) // 8, code)
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.syscall(
        _TABLES[machine][0]["seccomp"],
        ctypes.c_uint(_SET_MODE_FILTER),
        ctypes.c_uint(0),
        ctypes.byref(program),
    )
