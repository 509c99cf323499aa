"""Sessions in interpreters of their own: the fallback where no template can fork."""

import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace

import pytest
from processes import alive, descendants, wait_for

from scisolve_batch.executor import SessionSpec, Template, TemplateOptions
from scisolve_batch.executor.slots import Slots
from scisolve_batch.executor.source import InterpreterSource
from scisolve_batch.records import CellStatus, SessionState

PRELOAD = ("numpy", "scipy", "matplotlib.pyplot")
"""Less than the default: each interpreter of this file loads it anew."""


@pytest.fixture(scope="module")
def spawning():
    with Template.start(TemplateOptions(method="spawn", cpu_slots=0, preload=PRELOAD)) as template:
        yield template


@pytest.fixture(scope="module")
def spawned(spawning, tmp_path_factory, limits):
    """One interpreter for the whole module: each costs seconds of imports."""
    folder = tmp_path_factory.mktemp("spawn")
    with spawning.connect() as source, ExitStack() as stack:
        spec = SessionSpec(
            workdir=folder, figures=folder, seed=3, limits=replace(limits, cell_s=0.4)
        )
        yield stack.enter_context(source.open(spec))


def test_the_record_names_the_method_versions_and_layers(spawning):
    assert spawning.pid is None
    assert spawning.isolation["method"] == "spawn"
    assert set(spawning.versions) == {"python", "numpy", "scipy", "matplotlib"}
    assert "resource_limits" in spawning.isolation["layers"]
    assert set(spawning.isolation["closed"]) == {"network", "files", "key", "signals"}


def test_a_spawned_session_does_what_a_forked_one_does(spawned):
    first = spawned.run("v = 41; print(np.pi, scipy.__name__, math.e); plt.plot([1])")
    assert (first.status, first.stdout) == (
        CellStatus.OK,
        "3.141592653589793 scipy 2.718281828459045\n",
    )
    assert first.figures == ("fig_001.png",)
    soft = spawned.run("v += 1\nwhile True: pass")
    assert (soft.status, soft.state) == (CellStatus.SOFT_TIMEOUT, SessionState.KEPT)
    crash = spawned.run("import os; os.abort()")
    assert crash.status is CellStatus.CRASH
    assert "SIGABRT" in crash.note
    assert crash.state in {SessionState.RESTORED, SessionState.REPLAY_DIFFERS}
    assert spawned.run("print(v >= 41)").stdout == "True\n"


def test_closing_ends_the_guard_and_everything_below(spawning, tmp_path, limits):
    launch = replace(spawning.connect().launch, preload=())
    with InterpreterSource(launch, Slots(tmp_path, count=0)) as source:
        session = source.open(SessionSpec(workdir=tmp_path, figures=tmp_path, limits=limits))
        session.run("import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)")
        guard = session.process.starter.process.pid
        started = {guard, *descendants(guard)}
        assert len(alive(started)) >= 3
    wait_for(lambda: not alive(started))


WORKER = """
import pathlib, sys, time
from scisolve_batch.executor import *
folder = pathlib.Path(sys.argv[1])
template = Template(TemplateOptions(method="spawn", preload=()))
session = template.connect().open(SessionSpec(workdir=folder, figures=folder))
session.run("import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)")
print("ready", flush=True)
session.run("while True: pass")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killing_the_worker_leaves_nothing(tmp_path):
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert worker.stdout.readline() == "ready\n"
        below = descendants(worker.pid)
        assert len(alive(below)) >= 3
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
    wait_for(lambda: not alive(below))
