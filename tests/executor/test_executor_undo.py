"""What comes back after a kill: variables and library state, from the copy or by running again."""

import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from scisolve_batch.executor import linux, snapshot
from scisolve_batch.records import CellStatus, SessionState

KILL = "\nimport os\nos.kill(os.getpid(), 9)"

# name: (cells before, what the killed cell does first, what must print "ok" afterwards)
STATE = {
    "numbers": (["x = 41", "x += 1"], "x = 0", "assert x == 42"),
    "linear algebra": (
        ["a = np.random.default_rng(0).random((200, 200)); b = a @ a", "c = np.linalg.svd(a)[1]"],
        "a @ a",
        "assert np.allclose(a @ a, b) and np.allclose(np.linalg.svd(a)[1], c)",
    ),
    "fft with workers": (
        ["import scipy.fft as F\nz = np.ones((8, 512)); f = F.fft(z, workers=2)"],
        "F.fft(z, workers=2)",
        "assert np.allclose(F.fft(z, workers=2), f)",
    ),
    "solvers": (
        ["s = scipy.integrate.solve_ivp(lambda t, y: -y, (0, 5), [1.0]).y[0, -1]"],
        "scipy.optimize.minimize(lambda x: x[0] ** 2, [3.0])",
        "assert scipy.integrate.solve_ivp(lambda t, y: -y, (0, 5), [1.0]).y[0, -1] == s",
    ),
    "generators and closures": (
        [
            "def g():\n    i = 0\n    while True:\n        yield i; i += 1\n"
            "G = g(); next(G); f = lambda z: z + next(G)",
            "v = f(10)",
        ],
        "f(0); f(0)",
        "assert (v, f(10)) == (11, 12)",
    ),
    "random streams": (
        [
            "import random\nrng = np.random.default_rng(5); np.random.seed(3); random.seed(1)",
            "import copy\ntwin = copy.deepcopy(rng), np.random.get_state(), random.getstate()",
        ],
        "rng.random(), np.random.rand(), random.random()",
        "assert rng.random() == twin[0].random()\n"
        "assert (np.random.get_state()[1] == twin[1][1]).all() and random.getstate() == twin[2]",
    ),
    "database": (
        ["import sqlite3\ndb = sqlite3.connect(':memory:'); db.execute('create table t(x)')"],
        "db.execute('insert into t values(1)')",
        "assert db.execute('select count(*) from t').fetchone() == (0,)",
    ),
    "frames and tables": (
        [
            "import pandas as pd, pyarrow as pa\nd = pd.DataFrame({'k': list('abab'), 'v': range(4)})",
            "t = pa.table({'v': [1, 2, 3]}); m = d.groupby('k').v.sum()",
        ],
        "d['v'] = 0; t = None",
        "assert (d.groupby('k').v.sum() == m).all() and t.column('v').to_pylist() == [1, 2, 3]",
    ),
    "scikit-learn": (
        [
            "sk = pytest_import('sklearn.linear_model')\nX = np.arange(20.0).reshape(-1, 1)\n"
            "fit = sk.LinearRegression().fit(X, 3 * X[:, 0])",
        ],
        "fit.coef_[:] = 0",
        "assert np.allclose(sk.LinearRegression().fit(X, 3 * X[:, 0]).coef_, fit.coef_)",
    ),
    "numba": (
        [
            "nb = pytest_import('numba')\n@nb.njit\ndef total(n):\n    s = 0.0\n"
            "    for i in range(n): s += i\n    return s\nfirst = total(10)",
        ],
        "total = None",
        "assert total(10) == first == 45",
    ),
    "event loop": (
        [
            "import asyncio\nloop = asyncio.new_event_loop(); loop.run_until_complete(asyncio.sleep(0))"
        ],
        "loop.run_until_complete(asyncio.sleep(0))",
        "assert loop.run_until_complete(asyncio.sleep(0, 7)) == 7",
    ),
    "process pool in a cell": (
        [
            "import multiprocessing as mp\ndef sq(x): return x * x\nwith mp.Pool(2) as p: p.map(sq, [1])"
        ],
        "x = 1",
        "with mp.Pool(2) as p: assert p.map(sq, [2]) == [4]",
    ),
}


@pytest.mark.parametrize("name", STATE)
def test_state_is_whole_after_a_kill(open_session, limits, name):
    before, doomed, check = STATE[name]
    for module in re.findall(r"pytest_import\('([\w.]+)'\)", before[0]):
        pytest.importorskip(module)
        before = [
            before[0].replace("pytest_import", "__import__('importlib').import_module"),
            *before[1:],
        ]
    session = open_session(limits=replace(limits, cell_s=5, wall_s=10))
    for code in before:
        cell = session.run(code)
        assert (cell.status, cell.snapshot) == (CellStatus.OK, "taken"), cell
    killed = session.run(doomed + KILL)
    assert (killed.status, killed.state) == (CellStatus.CRASH, SessionState.RESTORED), killed
    assert session.run(check + "\nprint('ok')").stdout == "ok\n"


def test_without_a_kill_threads_and_pools_live_on_across_cells(session):
    session.run(
        "import threading, time\ncount = [0]\n"
        "def work():\n    while True: count[0] += 1; time.sleep(0.002)\n"
        "threading.Thread(target=work, daemon=True, name='counter').start()\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(1); pool.submit(int).result()"
    )
    cell = session.run(
        "a = count[0]; time.sleep(0.05); print(count[0] > a, pool.submit(str, 3).result())"
    )
    assert cell.stdout == "True 3\n"
    assert cell.threads == 3


def test_threads_that_a_restored_session_lacks_are_named(session):
    session.run(
        "import threading, time\n"
        "t = threading.Thread(target=time.sleep, args=(60,), daemon=True, name='ticker'); t.start()"
    )
    cell = session.run("x = 1" + KILL)
    assert cell.state is SessionState.RESTORED
    assert "These threads are gone: ticker." in cell.note
    assert session.run("print(t.is_alive())").stdout == "False\n"


def test_files_are_not_rolled_back(session):
    session.run("open('log', 'w').write('kept')")
    assert "files are not rolled back" in session.run("open('log', 'a').write(' too')" + KILL).note
    assert session.run("print(open('log').read())").stdout == "kept too\n"


# ---- policy and replay ---------------------------------------------------------------


def test_a_large_session_is_not_copied_and_says_so(open_session, limits):
    session = open_session(limits=replace(limits, cell_s=5, wall_s=10, snapshot_mb=200))
    assert session.run("small = 1").snapshot == "taken"
    cell = session.run("a = np.ones(20 << 20)")
    assert cell.snapshot.startswith("skipped: size, the session holds ")
    assert "of 200 MiB at most" in cell.snapshot
    assert session.run("del a").snapshot == "taken"


def test_variables_are_rebuilt_by_running_again_when_there_is_no_copy(open_session, limits):
    session = open_session(limits=replace(limits, snapshot_mb=0))
    assert session.run("v = 20; print('v')").snapshot == "skipped: switched off"
    session.run("v += 1; 1/0")
    cell = session.run("v = 0" + KILL)
    assert (cell.status, cell.state) == (CellStatus.CRASH, SessionState.REPLAYED)
    assert "printed the same as before" in cell.note
    assert session.run("print(2 * v)").stdout == "42\n"


def test_figures_are_not_saved_again_when_cells_run_again(open_session, limits):
    session = open_session(limits=replace(limits, snapshot_mb=0))
    assert session.run("plt.plot([1])").figures == ("fig_001.png",)
    assert session.run(KILL).state is SessionState.REPLAYED
    assert session.run("plt.plot([2])").figures == ("fig_002.png",)
    assert len(list(session.spec.figures.iterdir())) == 2


@pytest.mark.parametrize(
    "code", ["import time; print(time.time_ns())", "print(np.random.default_rng().random())"]
)
def test_a_cell_that_prints_something_else_is_named(open_session, limits, code):
    session = open_session(limits=replace(limits, snapshot_mb=0))
    session.run("v = 1")
    session.run(code)
    cell = session.run(KILL)
    assert cell.state is SessionState.REPLAY_DIFFERS
    assert "cell 2 printed something else than before" in cell.note
    assert session.run("print(v)").stdout == "1\n"


def test_a_cell_that_was_cut_off_is_left_out_and_named(open_session, limits):
    session = open_session(limits=replace(limits, snapshot_mb=0, cell_s=0.2, wall_s=5))
    session.run("v = 1")
    session.run("v = 2\nwhile True: pass")
    cell = session.run(KILL)
    assert cell.state is SessionState.REPLAY_DIFFERS
    assert "cell 2 was left out" in cell.note


def test_variables_are_lost_when_a_cell_cannot_run_again(open_session, limits):
    session = open_session(limits=replace(limits, snapshot_mb=0))
    session.run("v = 1")
    session.run("import os\nos.mkdir('once')")
    session.run("open('once/again', 'x')")
    cell = session.run(KILL)
    assert cell.state is SessionState.LOST
    assert "All variables are lost (cell 2 ended with error when it ran again)" in cell.note
    after = session.run("print('v' in globals(), np.pi > 3)")
    assert after.stdout == "False True\n"
    assert session.run("w = 5" + KILL).state is SessionState.REPLAYED


def test_running_again_has_a_budget(open_session, limits):
    session = open_session(limits=replace(limits, snapshot_mb=0, wall_s=5, replay_s=0.3))
    for _ in range(3):
        session.run("import time; time.sleep(0.2)")
    cell = session.run(KILL)
    assert cell.state is SessionState.LOST
    assert "took more than 0.3 s" in cell.note or "ran again" in cell.note


def test_a_restored_session_that_hangs_at_once_is_rebuilt(open_session, limits):
    """Libraries with threads of their own may hang after a fork; the copy would hang again."""
    session = open_session(limits=replace(limits, cell_s=0.2, wall_s=0.4, grace_s=0.1))
    session.run("import os\nborn = os.getpid(); v = 1")
    assert session.run(KILL).state is SessionState.RESTORED
    hang = "import time\nwhile os.getpid() != born:\n    try: time.sleep(1)\n    except BaseException: pass"
    cell = session.run(hang)
    assert (cell.status, cell.state) == (CellStatus.HARD_TIMEOUT, SessionState.REPLAYED)
    assert session.run("print(v, os.getpid() == born)").stdout == "1 True\n"


def test_a_session_that_kills_its_own_copy_is_rebuilt(session):
    session.run("v = 1")
    session.process.wait_undo()
    session.process.undo.sock.shutdown(socket.SHUT_RDWR)  # the copy ends
    cell = session.run(KILL)
    assert cell.state is SessionState.REPLAYED
    assert session.run("print(v)").stdout == "1\n"


WAIT_FOR_ANY = """
try:
    print(os.waitpid(-1, 0))
except ChildProcessError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_code_that_waits_for_all_its_children_never_waits_for_the_copy(session, threads):
    session.run("import os, threading, time")
    if threads > 1:
        session.run("threading.Thread(target=time.sleep, args=(60,), daemon=True).start()")
    session.process.wait_undo()
    cell = session.run(WAIT_FOR_ANY)
    assert (cell.status, cell.stdout) == (CellStatus.OK, "ChildProcessError\n")
    child = session.run("pid = os.fork() or os._exit(7)\nprint(os.wait()[1] >> 8)")
    assert child.stdout == "7\n"
    assert session.run(KILL).state is SessionState.RESTORED
    assert session.run(WAIT_FOR_ANY).stdout == "ChildProcessError\n"


@pytest.mark.parametrize(
    "broken",
    [
        "import ctypes\nfor name in dir(ctypes):\n    setattr(ctypes, name, None)",
        "import os\nos.WNOHANG = os.uname = None",
        "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "import os\nos.register_at_fork(before=lambda: 1 / 0, after_in_child=lambda: 1 / 0)",
    ],
    ids=["ctypes", "os", "ignored ends", "hooks at fork"],
)
def test_the_copy_is_taken_whatever_a_cell_did_to_what_it_needs(session, broken):
    session.run("v = 1")
    session.run(broken)
    assert session.run("w = 2").state is SessionState.KEPT
    assert session.run(KILL).state is SessionState.RESTORED
    assert session.run("print(v, w)").stdout == "1 2\n"


def test_earlier_copies_are_collected(session):
    for n in range(6):
        session.run(f"v = {n}")
        session.process.wait_undo()
    # The last one sleeps, the one before it may be ending; each later cell collects what has ended.
    deadline = time.monotonic() + 20
    while len(linux.direct_children(session.process.pid)) > 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        session.run("v = 6")
        session.process.wait_undo()


def test_an_unannounced_fork_knows_its_own_number():
    """What libc keeps of the thread is right in the copy: raise() and abort() address it."""
    assert bool(linux.find_lone_thread()) == (linux.count_threads() == 1)
    code = (
        "import ctypes, os; from scisolve_batch.executor import linux;"
        "pid = linux.fork_unannounced(linux.find_lone_thread());"
        "pid or ctypes.CDLL(None).abort();"
        "print(-os.waitstatus_to_exitcode(os.waitpid(pid, linux.WAIT_FOR_ALL)[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(int(signal.SIGABRT))


# ---- when a copy is not taken ---------------------------------------------------------


@pytest.mark.parametrize(
    ("size_mb", "free_mb", "reason"),
    [
        (100, 8000, ""),
        (100, 1223, "skipped: memory is short, 1223 MiB are free"),
        (100, 1224, ""),
        (2000, 64_000, "skipped: size, the session holds 2000 MiB of 1024 MiB at most"),
        (None, 64_000, "skipped: this system does not tell its memory"),
        (100, None, "skipped: this system does not tell its memory"),
    ],
)
def test_a_copy_needs_room_for_a_rewrite_of_everything(monkeypatch, size_mb, free_mb, reason):
    def kib(megabytes):
        return None if megabytes is None else megabytes * 1024

    monkeypatch.setattr(linux, "status_kib", lambda pid, name: kib(size_mb))
    monkeypatch.setattr(linux, "available_kib", lambda: kib(free_mb))
    assert snapshot.reason_to_skip(1024) == reason
    assert snapshot.reason_to_skip(0) == "skipped: switched off"
