"""Nothing is left behind: not after closing, not after SIGKILL of parent, worker, template or guard."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from processes import alive, descendants, wait_for

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import SessionSpec, Template, TemplateOptions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# A run: a parent, a worker with three sessions (one restored, one busy, one that left processes).
RUN = """
import multiprocessing, pathlib, sys, tempfile, threading, time
from scisolve_batch.executor import *

def work(source, folder):
    limits = ExecutionLimits(cell_s=60, wall_s=60)
    sessions = [source.open(SessionSpec(workdir=folder, figures=folder, limits=limits)) for _ in range(3)]
    sessions[0].run("v = 1"); sessions[0].run("import os; os.abort()")
    sessions[1].run("import subprocess; subprocess.Popen(['sleep', '300'])\\n"
                    "subprocess.Popen(['setsid', 'sleep', '301'], start_new_session=True)")
    threading.Thread(target=sessions[2].run, args=("while True: pass",), daemon=True).start()
    time.sleep(0.2)
    print("ready", flush=True)
    time.sleep(300)

with tempfile.TemporaryDirectory() as folder:
    template = Template.start(TemplateOptions(self_test=False, preload=(), layers_off=tuple(sys.argv[1:])))
    source = template.connect()
    worker = multiprocessing.get_context("fork").Process(target=work, args=(source, pathlib.Path(folder)))
    worker.start()
    print(template.pid, worker.pid, flush=True)
    worker.join()
    print("worker ended", flush=True)
    time.sleep(300)
"""


@pytest.fixture(params=[(), ("namespaces",)], ids=["namespaces", "plain"])
def run(request):
    """A run of its own, with and without pid namespaces."""
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(RUN), *request.param],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        template, worker = map(int, parent.stdout.readline().split())
        assert parent.stdout.readline() == "ready\n"
        below = descendants(template)
        assert len(alive(below)) >= 8
        yield parent, template, worker, below
    finally:
        left = [parent.pid, *descendants(parent.pid)]
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        parent.wait()
        parent.stdout.close()


def test_killing_the_parent_ends_sessions_although_the_worker_lives(run):
    parent, template, worker, below = run
    parent.kill()
    parent.wait()
    try:
        wait_for(lambda: not alive([template, *below]))
        assert alive([worker])
    finally:
        os.kill(worker, signal.SIGKILL)


def test_killing_the_worker_leaves_nothing_of_its_sessions(run):
    parent, template, worker, _ = run
    os.kill(worker, signal.SIGKILL)
    assert parent.stdout.readline() == "worker ended\n"

    def only_the_template_and_spares():
        return len(alive(descendants(template))) <= 4

    # The parent still holds its end of the connection: the worker's life is the lease.
    wait_for(only_the_template_and_spares)
    assert alive([template])


def test_killing_the_template_leaves_nothing(run):
    _, template, _, below = run
    inner = descendants(template)[:1]
    os.kill(template, signal.SIGKILL)
    wait_for(lambda: not alive([*inner, *below]))


# ---- within one process --------------------------------------------------------------


def _guard_of(session):
    stat = Path(f"/proc/{session.process.pid}/stat").read_text()
    return int(stat.rsplit(")", 1)[1].split()[1])


def test_closing_a_session_ends_everything_it_started(template, open_session):
    session = open_session()
    session.run(
        "import subprocess\nsubprocess.Popen(['sleep', '300'])\n"
        "subprocess.Popen(['sleep', '301'], start_new_session=True)"
    )
    session.process.wait_undo()
    started = set(alive(descendants(_guard_of(session))))
    assert len(started) >= 3  # two programs and the undo point
    session.close()
    wait_for(lambda: not alive(started))


def test_a_killed_guard_takes_its_session_along(template, open_session, limits):
    session = open_session()
    session.run("v = 1")
    guard = _guard_of(session)
    below = descendants(guard)
    os.kill(guard, signal.SIGKILL)
    wait_for(lambda: not alive(below))
    cell = session.run("print(v)")
    assert cell.status.value == "crash"
    assert cell.state.value == "replayed"
    assert session.run("print(v)").stdout == "1\n"


def _open_and_count(source, folder, results):
    session = source.open(SessionSpec(workdir=folder, figures=folder))
    results.put(session.run("print(6 * 7)").stdout)
    session.close()
    source.close()


def test_a_source_made_here_works_in_a_forked_worker(template, tmp_path):
    context = multiprocessing.get_context("fork")
    source = template.connect()
    results = context.SimpleQueue()
    worker = context.Process(target=_open_and_count, args=(source, tmp_path, results))
    worker.start()
    source.close()
    worker.join(30)
    assert worker.exitcode == 0
    assert results.get() == "42\n"
    results.close()


def test_without_its_template_a_session_cannot_be_renewed(tmp_path, limits):
    options = TemplateOptions(self_test=False, preload=(), spares=0, layers_off=("namespaces",))
    with Template.start(options) as template, template.connect() as source:
        session = source.open(SessionSpec(workdir=tmp_path, figures=tmp_path, limits=limits))
        session.run("v = 1")
        os.kill(template.pid, signal.SIGKILL)
        wait_for(lambda: not alive([session.process.pid]))
        cell = session.run("print(v)")
        assert (cell.status.value, cell.state.value) == ("crash", "lost")
        assert "no new process could be started" in cell.note
        with pytest.raises(SessionError, match="the template is gone"):
            session.run("1")
        with pytest.raises(SessionError, match="the template is gone"):
            template.connect()


# ---- soak ----------------------------------------------------------------------------


def _soak(template, source, folder, rounds):
    def measure():
        return len(list(Path("/proc/self/fd").iterdir())), len(alive(descendants(template.pid)))

    def one(number):
        with source.open(SessionSpec(workdir=folder, figures=folder, seed=number)) as session:
            assert session.run(f"v = {number}; print(v)").stdout == f"{number}\n"
            if number % 10 == 0:
                assert session.run("import os; os.abort()").state.value == "restored"
                assert session.run("print(v)").stdout == f"{number}\n"

    one(0)
    base = wait_for(lambda: measure() if measure()[1] else None)
    for number in range(1, rounds):
        one(number)
    wait_for(lambda: measure()[0] <= base[0] and measure()[1] <= base[1])


def test_eighty_sessions_leave_counts_as_they_were(tmp_path):
    """In a template without libraries, whose processes are quick to fork."""
    options = TemplateOptions(self_test=False, preload=(), cpu_slots=0)
    with Template.start(options) as template, template.connect() as source:
        _soak(template, source, tmp_path, 80)


@pytest.mark.slow
def test_a_thousand_sessions_leave_counts_as_they_were(template, source, tmp_path):
    _soak(template, source, tmp_path, 1000)
