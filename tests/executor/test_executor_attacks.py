"""Hostile cells: what each layer closes, alone and together, as root and as an ordinary user."""

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import Template, TemplateOptions, isolation, selftest

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


def in_force(template, name):
    return template.isolation["layers"].get(name, {}).get("state") == "in_force"


def needs(template, *names):
    """Skip only where the probe says that the machine does not give a layer."""
    for name in names:
        layer = template.isolation["layers"][name]
        if layer["state"] != "in_force":
            pytest.skip(f"{name}: {layer['reason']}")


# What must not work, and the layers of which any one closes it.
ATTACKS = {
    "internet socket": (
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
        ["seccomp"],
    ),
    "name lookup": ("import socket; socket.getaddrinfo('example.org', 80)", ["seccomp"]),
    "write outside": ("open(OUTSIDE + '/evil', 'w')", ["landlock"]),
    "write to tmp": ("open('/tmp/evil_scisolve', 'w')", ["landlock"]),
    "read another run": ("print(open(OUTSIDE + '/secret').read())", ["landlock"]),
    "list another run": ("import os; print(os.listdir(OUTSIDE))", ["landlock"]),
    "link out": ("import os; os.symlink(OUTSIDE, 'l'); open('l/evil', 'w')", ["landlock"]),
    "hard link in": ("import os; os.link(OUTSIDE + '/secret', 'stolen')", ["landlock"]),
    "read the shadow file": ("open('/etc/shadow').read()", ["landlock"]),
    "remove outside": ("import os; os.remove(OUTSIDE + '/secret')", ["landlock"]),
    "change the interpreter": ("open(np.__file__, 'a')", ["landlock"]),
    "signal the starter": ("import os; os.kill(STARTER, 0)", ["pid_namespace", "landlock"]),
    "memory of the starter": (
        "open(f'/proc/{STARTER}/mem', 'rb')",
        ["pid_namespace", "landlock", "capabilities"],
    ),
    "environment of the template": (
        "import os\nhits = 0\n"
        "for p in os.listdir('/proc'):\n"
        "    if p.isdigit() and int(p) != os.getpid():\n"
        "        try: hits += bool(open(f'/proc/{p}/environ', 'rb').read())\n"
        "        except OSError: pass\n"
        "if not hits: raise OSError('nothing readable')",
        ["landlock"],
    ),
    "trace": (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(0x4206, os.getppid(), 0, 0) != 0: raise OSError(ctypes.get_errno(), 'no')",
        ["seccomp"],
    ),
    "new user namespace": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.unshare(0x10000000) != 0: raise OSError(ctypes.get_errno(), 'no')",
        ["seccomp"],
    ),
    "mount": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.mount(b'tmpfs', b'/mnt', b'tmpfs', 0, None) != 0: raise OSError('no')",
        ["seccomp"],
    ),
    "become another user": ("import os; os.setuid(12345)", ["capabilities"]),
    "raise a limit": (
        "import resource as r; r.setrlimit(r.RLIMIT_DATA, (2**40, 2**40))",
        ["capabilities"],
    ),
    "signal everybody": ("import os; os.kill(1, 0); os.kill(1, 15); raise OSError('harmless')", []),
}


@linux_only
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_fails_inside_the_cell(template, session, tmp_path, name):
    code, layers = ATTACKS[name]
    if layers and not any(in_force(template, layer) for layer in layers):
        needs(template, *layers)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("of another run")
    cell = session.run(f"OUTSIDE = {str(outside)!r}; STARTER = {os.getpid()}\n{code}")
    assert cell.status.value == "error", cell
    assert "rror" in cell.traceback.splitlines()[-1]
    assert [p.name for p in outside.iterdir()] == ["secret"]
    assert not Path("/tmp/evil_scisolve").exists()
    assert session.run("print(1)").stdout == "1\n"


@linux_only
def test_killing_everything_reaches_only_the_session(template, open_session):
    """Never without a pid namespace: it would reach the whole machine."""
    needs(template, "pid_namespace", "session_namespaces")
    bystander = open_session()
    bystander.run("v = 1")
    session = open_session()
    session.run("v = 2")
    cell = session.run("import os, time\nos.kill(-1, 9)\ntime.sleep(0.1); print('alive')")
    assert session.run("print('v' in globals())").status.value == "ok", cell
    assert bystander.run("print(v)").stdout == "1\n"


@linux_only
def test_abstract_sockets_of_others_are_out_of_reach(template, session):
    if not in_force(template, "network_namespace"):
        needs(template, "landlock")
    with socket.socket(socket.AF_UNIX) as server:
        name = f"\0scisolve-test-{os.getpid()}"
        server.bind(name)
        server.listen()
        cell = session.run(f"import socket\nsocket.socket(socket.AF_UNIX).connect({name!r})")
    assert cell.status.value == "error"


def test_a_setuid_program_gains_nothing(session):
    cell = session.run(
        "import subprocess\n"
        "print(subprocess.run(['grep', 'NoNewPrivs', '/proc/self/status'], "
        "capture_output=True, text=True).stdout.split())"
    )
    assert cell.stdout == "['NoNewPrivs:', '1']\n"


def test_sessions_never_hold_a_key(monkeypatch, tmp_path, limits):
    """The key is in the starter's environment and memory, in no process below the template."""
    secret = "sk-" + "canary-" * 3
    for name in ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_TOKEN", "PYTHONPATH"):
        monkeypatch.setenv(name, secret)
    options = TemplateOptions(isolation="off", self_test=False, preload=("numpy",), spares=0)
    with Template.start(options) as template, template.connect() as source:
        from scisolve_batch.executor import SessionSpec

        session = source.open(SessionSpec(workdir=tmp_path, figures=tmp_path, limits=limits))
        cell = session.run(
            "import os\nmine = bytes(reversed(b" + repr(secret[::-1]) + "))\n"
            "print(sorted(os.environ))\n"
            "print(mine in open('/proc/self/environ', 'rb').read())"
        )
        names, found = cell.stdout.splitlines()
        assert found == "False"
        assert not {"ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_TOKEN", "PYTHONPATH"} & set(
            eval(names)
        )
        seen = [_environ(pid) for pid in _tree(template.pid)]
        assert any(seen)
        assert not any(secret.encode() in environ for environ in seen)
        session.close()


def _environ(pid):
    """The environment of a process; nothing when it has just ended, as a spare may."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _tree(pid):
    from scisolve_batch.executor import linux

    return [pid, *linux.descendants(pid)]


# ---- one layer alone ------------------------------------------------------------------


SHARED = {
    "namespaces": (
        "user_namespace", "network_namespace", "ipc_namespace", "uts_namespace", "mount_namespace",
        "pid_namespace", "session_namespaces",
    ),
}  # fmt: skip
"""Layers that one name leaves out together."""


@linux_only
@pytest.mark.parametrize("layer", isolation.SWITCHABLE)
def test_a_layer_that_is_left_out_is_off_and_the_others_stand(layer):
    """And what the self-test then finds open is told, never hidden by the layers' names."""
    options = TemplateOptions(preload=(), spares=0, layers_off=(layer,))
    with Template.start(options) as template:
        found = template.isolation
    together = SHARED.get(layer, (layer,))
    left_out = {name for name, one in found["layers"].items() if one["state"] == "off"}
    assert left_out and left_out <= set(together)
    assert set(found["closed"]) == {"network", "files", "key", "signals"}
    for name, tests in selftest.AREAS.items():
        assert found["closed"][name] == all(found["tested"][one]["closed"] for one in tests)


@linux_only
def test_without_any_layer_the_self_test_finds_the_network_and_files_open():
    options = TemplateOptions(isolation="off", preload=(), spares=0)
    with Template.start(options) as template:
        closed = template.isolation["closed"]
    assert closed["network"] is False and closed["files"] is False


# ---- the record ----------------------------------------------------------------------


def test_the_record_tells_layers_and_what_was_tried(template):
    record = template.isolation
    assert (record["mode"], record["method"]) == ("auto", "fork")
    assert set(record["closed"]) == {"network", "files", "key", "signals"}
    for layer in record["layers"].values():
        assert layer["state"] in {"in_force", "unavailable", "off"}
        assert layer["state"] == "in_force" or layer["reason"]
    for attempts in selftest.AREAS.values():
        assert all(record["tested"][name]["how"] for name in attempts)
    assert set(template.versions) == {"python", "numpy", "scipy", "matplotlib"}


@linux_only
def test_switched_off_isolation_is_recorded_as_open():
    with Template.start(TemplateOptions(isolation="off", preload=(), spares=0)) as template:
        record = template.isolation
    assert record["closed"]["files"] is False
    assert record["tested"]["write_outside"] == {"closed": False, "how": "succeeded"}
    assert record["layers"]["landlock"] == {"state": "off", "reason": "switched off"}
    with pytest.raises(SessionError) as refusal:
        selftest.refuse_if_open(record)
    assert "sessions here are open to: " in str(refusal.value)
    assert "landlock (switched off)" in str(refusal.value)


def test_required_isolation_refuses_to_start_without_its_layers():
    options = TemplateOptions(
        isolation="require", preload=(), layers_off=("landlock", "namespaces", "seccomp"), spares=0
    )
    with pytest.raises(SessionError, match="isolation is required, but sessions here are open to"):
        Template.start(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"isolation": "maybe"}, "unknown isolation 'maybe': use one of auto, require, off"),
        ({"method": "thread"}, "unknown method 'thread': use one of fork, spawn"),
        ({"python": "/nowhere/python"}, "cannot start /nowhere/python"),
        ({"python": "/bin/false"}, "the template process did not start"),
    ],
)
def test_a_template_that_cannot_start_says_why(options, message):
    with pytest.raises(SessionError) as error:
        Template.start(TemplateOptions(**options))
    assert message in str(error.value)


# ---- as an ordinary user -------------------------------------------------------------

AS_USER = """
import ctypes, json, os, shutil, sys, tempfile, pathlib
from scisolve_batch.executor import *
from scisolve_batch.executor import launch, selftest, session, source
os.chdir("/")
folder = tempfile.mkdtemp(prefix="scisolve-user-")
os.chown(folder, 54321, 54321)
os.setgroups([]); os.setgid(54321); os.setuid(54321)
os.environ.update(HOME=folder, TMPDIR=folder)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
tempfile.tempdir = None
work, figures = pathlib.Path(folder, "w"), pathlib.Path(folder, "f")
work.mkdir(); figures.mkdir()
with Template.start(TemplateOptions(preload=(), python=sys.argv[1])) as template, template.connect() as source:
    limits = ExecutionLimits(cell_s=5, wall_s=10, processes=24)
    with source.open(SessionSpec(workdir=work, figures=figures, limits=limits)) as session:
        session.run("v = 5")
        crash = session.run("import os; os.abort()")
        after = session.run("import os; print(v, os.getuid())")
        bomb = session.run("k = 0\\ntry:\\n    while k < 99:\\n        if not os.fork(): import time; time.sleep(9); os._exit(0)\\n        k += 1\\nexcept OSError: print(k)")
    print(json.dumps([template.isolation, crash.state, after.stdout, bomb.stdout, bomb.status]))
shutil.rmtree(folder)
"""


def _interpreter_for_everybody():
    """An interpreter that another user can run; this one may lie in somebody's home folder."""
    code = "import ctypes, sys; sys.exit(sys.version_info < (3, 11))"
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            run = subprocess.run(
                [python, "-c", code],
                user=54321,
                group=54321,
                extra_groups=[],
                capture_output=True,
                check=False,
            )
        except OSError:
            continue
        if run.returncode == 0:
            return python
    return None


@linux_only
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_is_as_closed_in():
    python = _interpreter_for_everybody()
    if python is None:
        pytest.skip("no Python 3.11 or later here that an ordinary user may run")
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(AS_USER), python],
        capture_output=True,
        check=False,
        text=True,
        timeout=90,
    )
    assert result.returncode == 0, result.stderr
    import json

    record, state, output, bomb, status = json.loads(result.stdout)
    assert (state, output) == ("restored", "5 54321\n")
    assert all(record["closed"].values()), record
    if record["layers"]["session_namespaces"]["state"] == "in_force":
        assert int(bomb) < 24  # counted by the kernel, for this session alone
    else:
        assert status == "resource_limit"


@linux_only
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_that_a_session_may_not_write_is_named(template, source, tmp_path):
    """In its user namespace even root writes only what belongs to its own number."""
    needs(template, "user_namespace")
    from scisolve_batch.executor import SessionSpec

    work = tmp_path / "work"
    work.mkdir(mode=0o755)
    os.chown(work, 54321, 54321)
    with pytest.raises(SessionError, match=r"a session could not start: .*not writable: .*work"):
        source.open(SessionSpec(workdir=work, figures=tmp_path))
