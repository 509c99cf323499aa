"""Tries the isolation out from a real session: what is reported closed was tried and failed.

The session has run no model code when it is asked, so its account can be believed; where this
side can see the result itself (a connection, a file), it looks. What is not tried is not claimed.
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from scisolve_batch.errors import SessionError
from scisolve_batch.executor.base import ExecutionLimits, SessionSpec
from scisolve_batch.executor.source import Source

AREAS = {
    "network": ("connect_tcp", "send_udp", "connect_abstract_socket"),
    "files": ("write_outside", "read_other_run", "follow_link_out"),
    "key": ("read_starter_environment", "read_starter_memory", "secrets_in_environment"),
    "signals": ("signal_starter",),
}
"""What must be closed, and the attempts that are made on it."""

# Each attempt returns when it succeeds and raises when it is stopped.
_PROBE = """
import json, os, socket, re
facts = json.loads(FACTS)

def connect_tcp():
    with socket.create_connection(("127.0.0.1", facts["tcp"]), timeout=2): pass

def send_udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: s.sendto(b"x", ("127.0.0.1", facts["udp"]))

def connect_abstract_socket():
    if not facts["abstract"]: raise OSError("no such thing here")
    with socket.socket(socket.AF_UNIX) as s: s.connect(chr(0) + facts["abstract"])

def write_outside():
    with open(facts["outside"] + "/written", "w") as f: f.write("x")

def read_other_run():
    with open(facts["outside"] + "/secret") as f: f.read()

def follow_link_out():
    os.symlink(facts["outside"], "way_out")
    with open("way_out/linked", "w") as f: f.write("x")

def starter():
    path = "/proc/%d/stat" % facts["pid"]
    if facts["started"]:
        with open(path) as f:
            if f.read().rsplit(")", 1)[1].split()[19] != facts["started"]: raise OSError("another process has this number here")
    return "/proc/%d" % facts["pid"]

def read_starter_environment():
    with open(starter() + "/environ", "rb") as f: f.read(1)

def read_starter_memory():
    with open(starter() + "/mem", "rb") as f: pass

def secrets_in_environment():
    secret = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|ANTHROPIC|AWS_|OPENAI", re.I)
    if not any(secret.search(name) for name in os.environ): raise OSError("none found")

def signal_starter():
    if facts["started"]: starter()
    os.kill(facts["pid"], 0)

found = {}
for attempt in (connect_tcp, send_udp, connect_abstract_socket, write_outside, read_other_run, follow_link_out,
                read_starter_environment, read_starter_memory, secrets_in_environment, signal_starter):
    try:
        attempt()
        found[attempt.__name__] = ""
    except BaseException as error:
        found[attempt.__name__] = type(error).__name__ + ": " + str(getattr(error, "strerror", None) or error)
print(json.dumps(found))
"""


def try_isolation(source: Source) -> dict[str, Any]:
    """Run every attempt from a session of this source.

    Returns `tested` (per attempt, whether it was stopped and how), `closed` (per area) and the
    `layers` and `versions` that the session reported.

    Raises:
        SessionError: the session could not run the attempts.
    """
    with ExitStack() as stack:
        inside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scisolve-in-")))
        outside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scisolve-out-")))
        (outside / "secret").write_text("x")
        tcp = stack.enter_context(socket.socket())
        tcp.bind(("127.0.0.1", 0))
        tcp.listen(1)
        tcp.setblocking(False)  # noqa: FBT003
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)  # noqa: FBT003
        abstract, name = _abstract_socket(), f"scisolve-{os.getpid()}-{tcp.getsockname()[1]}"
        if abstract is not None:
            stack.enter_context(abstract)
            abstract.bind("\0" + name)
            abstract.listen(1)
        facts = {
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "abstract": name if abstract is not None else "",
            "outside": str(outside),
            "pid": os.getpid(),
            "started": _start_time(os.getpid()),
        }
        found, layers, versions = _ask(source, inside, facts)
        seen = {
            "connect_tcp": _arrived(tcp),
            "send_udp": _arrived(udp, datagram=True),
            "write_outside": (outside / "written").exists(),
            "follow_link_out": (outside / "linked").exists(),
        }
    tested = {
        attempt: {"closed": bool(how) and not seen.get(attempt, False), "how": how or "succeeded"}
        for attempt, how in found.items()
    }
    closed = {
        area: all(tested[attempt]["closed"] for attempt in attempts)
        for area, attempts in AREAS.items()
    }
    return {"tested": tested, "closed": closed, "layers": layers, "versions": versions}


def _ask(
    source: Source, inside: Path, facts: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, Any], dict[str, str]]:
    """Let a session make the attempts; returns how each was stopped, layers and versions."""
    workdir, figures = inside / "work", inside / "figures"
    workdir.mkdir()
    figures.mkdir()
    limits = ExecutionLimits(cell_s=20, snapshot_mb=0)
    session = source.open(SessionSpec(workdir=workdir, figures=figures, limits=limits))
    try:
        cell = session.run(_PROBE.replace("FACTS", repr(json.dumps(facts))))
        layers, versions = dict(session.process.layers), dict(session.process.versions)
    finally:
        session.close()
    try:
        found = json.loads(cell.stdout)
    except ValueError:
        found = None
    wanted = {attempt for attempts in AREAS.values() for attempt in attempts}
    if not cell.ok or not isinstance(found, dict) or set(found) != wanted:
        raise SessionError(
            f"the isolation could not be tested: the test ended with {cell.status.value}. "
            f"{cell.note or cell.traceback or cell.stderr}".strip()
        )
    return found, layers, versions


def _abstract_socket() -> socket.socket | None:
    """Make a socket for a name outside of the file system; Linux only."""
    return socket.socket(socket.AF_UNIX) if os.uname().sysname == "Linux" else None


def _start_time(pid: int) -> str:
    """Read when a process started, in kernel ticks: the same number may be another process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return ""
    return text.rsplit(")", 1)[1].split()[19]


def _arrived(sock: socket.socket, *, datagram: bool = False) -> bool:
    """Tell whether anything came in."""
    try:
        if datagram:
            sock.recv(16)
        else:
            sock.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def refuse_if_open(isolation: Mapping[str, Any]) -> None:
    """End the start of a run whose sessions are not closed in.

    Raises:
        SessionError: some area is open; the message names it, and which layer is missing and why.
    """
    areas = [area for area, closed in isolation["closed"].items() if not closed]
    if not areas:
        return
    missing = [
        f"{name} ({layer.get('reason', layer['state'])})"
        for name, layer in isolation["layers"].items()
        if layer["state"] != "in_force"
    ]
    raise SessionError(
        f"isolation is required, but sessions here are open to: {', '.join(areas)}. "
        f"Layers not in force: {', '.join(missing) or 'none'}. "
        "See docs/isolation.md, or run with --isolation auto and accept what the report says."
    )
