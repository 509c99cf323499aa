"""Ordinary cells: names, variables, output, tracebacks, figures, seeds."""

from dataclasses import replace

import pytest

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import SessionSpec
from scisolve_batch.executor.output import CUT_MARKER
from scisolve_batch.records import CellStatus, SessionState


def test_a_cell_finds_the_scientific_names_ready(session):
    cell = session.run(
        "print(np is numpy, scipy.integrate.quad(lambda x: x, 0, 2)[0], math.pi, plt.__name__)"
    )
    assert cell.ok
    assert cell.stdout == "True 2.0 3.141592653589793 matplotlib.pyplot\n"


def test_variables_survive_between_cells_and_failures(session):
    session.run("x = 41")
    assert session.run("x += 1; 1/0").status is CellStatus.ERROR
    cell = session.run("print(x)")
    assert (cell.index, cell.stdout, cell.state) == (3, "42\n", SessionState.KEPT)


def test_the_record_of_an_ordinary_cell_is_complete(session):
    cell = session.run("x = sum(i * i for i in range(300000))")
    assert (cell.note, cell.traceback, cell.stack, cell.alarms) == ("", "", "", 0)
    assert (cell.threads, cell.snapshot, cell.integrity) == (1, "taken", True)
    assert 0 < cell.cpu_s <= cell.wall_s + 0.05
    assert cell.peak_memory_mb > 50


def test_cells_live_in_a_real_main_module(session):
    code = (
        "import sys, pickle\n"
        "def f(): return 7\n"
        "print(__name__, sys.modules['__main__'].f is f, pickle.loads(pickle.dumps(f))())"
    )
    assert session.run(code).stdout == "__main__ True 7\n"


def test_functions_of_a_cell_run_in_a_process_pool(session):
    session.run("def square(x): return x * x")
    cell = session.run(
        "import multiprocessing\nwith multiprocessing.Pool(2) as p: print(p.map(square, range(4)))"
    )
    assert cell.stdout == "[0, 1, 4, 9]\n", cell


def test_no_module_of_the_trusted_side_is_in_the_process(session):
    cell = session.run(
        "import sys\n"
        "print(sorted(m for m in sys.modules if m.startswith('scisolve_batch')))\n"
        "print([m for m in ('pydantic', 'anthropic', 'click', 'yaml', 'pandas') if m in sys.modules])\n"
        "try:\n    import scisolve_batch.records\nexcept ImportError as e: print('refused')"
    )
    ours, others, refused = cell.stdout.splitlines()
    allowed = "boot capture child figures guard identity isolation landlock libraries linux prepared seccomp snapshot template tracebacks wire"
    names = {name.removeprefix("scisolve_batch.executor.") for name in eval(ours)}
    assert names <= {"scisolve_batch", "scisolve_batch.executor", *allowed.split()}
    assert (others, refused) == ("[]", "refused")


# ---- output --------------------------------------------------------------------------


def test_everything_that_writes_on_a_descriptor_is_captured_and_kept_apart(session):
    cell = session.run(
        "import os, sys, subprocess, ctypes, warnings, logging\n"
        "print('print')\n"
        "os.write(1, b'write\\n')\n"
        "ctypes.CDLL(None).puts(b'puts')\n"
        "subprocess.run(['echo', 'echo'])\n"
        "print('to stderr', file=sys.stderr)\n"
        "warnings.warn('careful')\n"
        "logging.warning('logged')\n"
        "os.write(1, b'\\xff and ')\n"
        "print('\\ud800 tail', end='')"
    )
    assert cell.stdout == "print\nwrite\nputs\necho\n\\xff and \\ud800 tail"
    lines = cell.stderr.splitlines()
    assert lines[0] == "to stderr"
    assert lines[-1] == "WARNING:root:logged"
    assert any("UserWarning: careful" in line for line in lines)


def test_c_output_keeps_its_place_among_prints(session):
    code = (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "print(1)\nlibc.printf(b'2\\n')\nprint(3)\nlibc.printf(b'4\\n')"
    )
    assert session.run(code).stdout == "1\n2\n3\n4\n"


def test_huge_output_is_counted_and_bounded(open_session, limits):
    session = open_session(limits=replace(limits, cell_s=20, wall_s=20, output_bytes=1000))
    cell = session.run(
        "import os\nblock = (b'word ' * 200 + b'\\n') * 1000\n"
        "for _ in range(200): os.write(1, block)"
    )
    assert cell.ok
    assert cell.stdout.endswith(CUT_MARKER)
    kept = len(cell.stdout) - len(CUT_MARKER)
    # os.write to a pipe may write less than it was given; what arrived is what is counted.
    assert kept <= 1001 < cell.stdout_dropped
    assert kept + cell.stdout_dropped > 10_000_000


def test_both_streams_at_once_do_not_deadlock(open_session, limits):
    session = open_session(limits=replace(limits, cell_s=20, wall_s=20, output_bytes=100))
    cell = session.run(
        "import sys\nfor _ in range(3000):\n    print('o' * 999)\n    print('e' * 999, file=sys.stderr)"
    )
    assert cell.ok
    assert cell.stdout_dropped > 2_900_000 < cell.stderr_dropped


def test_a_left_over_child_neither_holds_up_nor_reaches_the_next_cell(session):
    first = session.run("import subprocess; subprocess.Popen('sleep 0.3; echo late', shell=True)")
    assert first.wall_s < 0.3
    second = session.run("import time; time.sleep(0.5); print('second')")
    assert second.stdout == "second\n"


@pytest.mark.parametrize(
    "damage",
    [
        "import sys; sys.stdout.close()",
        "import os; os.close(1); os.close(2)",
        "import sys; sys.stdout = sys.stderr = None",
        "import sys, io; sys.stdout = io.StringIO(); print('hidden')",
        "import sys; sys.stdin.close()",
        "import builtins\nbuiltins.print = builtins.len = builtins.isinstance = None",
        "import os, json, socket\nos.fork = json.dumps = socket.socketpair = os.dup2 = None",
        "import traceback, linecache, gc\ntraceback.format_exception = linecache.cache = None",
    ],
)
def test_what_a_cell_breaks_is_whole_again_in_the_next(session, damage):
    session.run("v = 5")
    damaged = session.run(damage)
    cell = session.run("print(len([v]), v)")
    assert (cell.stdout, cell.status) == ("1 5\n", CellStatus.OK), damaged
    assert damaged.state is SessionState.KEPT


def test_standard_input_is_empty(session):
    cell = session.run("input('name? ')")
    assert cell.status is CellStatus.ERROR
    assert "EOFError" in cell.traceback


# ---- tracebacks ----------------------------------------------------------------------


def test_a_traceback_starts_at_the_cell_and_shows_its_lines(session):
    session.run("def f(x):\n    return 1 / x")
    cell = session.run("y = 0\nf(y)")
    lines = cell.traceback.splitlines()
    assert lines[1] == '  File "<cell 2>", line 2, in <module>'
    assert lines[2] == "    f(y)"
    assert '  File "<cell 1>", line 2, in f' in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert "child.py" not in cell.traceback


def test_a_chained_traceback_shows_no_frame_of_ours(session):
    cell = session.run(
        "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('x') from e"
    )
    assert "direct cause" in cell.traceback
    assert "child.py" not in cell.traceback


def test_a_syntax_error_points_into_the_cell(session):
    cell = session.run("x = 1\ny = = 2")
    assert cell.status is CellStatus.ERROR
    assert '"<cell 1>", line 2' in cell.traceback
    assert "y = = 2" in cell.traceback


def test_an_exception_that_cannot_be_described_is_still_an_error(session):
    code = "class Evil(BaseException):\n    def __str__(self): raise self\n    __repr__ = __str__\nraise Evil"
    cell = session.run(code)
    assert cell.status is CellStatus.ERROR
    assert "Evil" in cell.traceback


def test_a_long_traceback_is_cut_in_the_middle(session):
    cell = session.run("raise ValueError('x' * 100000)")
    assert len(cell.traceback) < 21_000
    assert "[... traceback cut ...]" in cell.traceback


# ---- figures -------------------------------------------------------------------------


def test_figures_are_saved_numbered_across_cells_and_closed(session):
    first = session.run("plt.plot([1, 2]); plt.figure(); plt.plot([3])")
    second = session.run("print(plt.get_fignums()); plt.plot([2]); 1/0")
    assert first.figures == ("fig_001.png", "fig_002.png")
    assert second.stdout == "[]\n"
    assert second.status is CellStatus.ERROR
    assert second.figures == ("fig_003.png",)
    folder = session.spec.figures
    assert all((folder / name).read_bytes()[:4] == b"\x89PNG" for name in first.figures)


def test_a_figure_that_cannot_be_saved_is_said_and_does_not_fail_the_cell(session):
    cell = session.run("plt.figure(); plt.title(r'$\\frac{$')\nplt.figure(); plt.plot([1])")
    assert cell.ok
    assert cell.figures == ("fig_001.png",)
    assert cell.note.startswith("Figure 1 was not saved: ")


def test_a_figure_that_takes_too_long_is_given_up(open_session, limits):
    session = open_session(limits=replace(limits, figures_s=0.2))
    cell = session.run(
        "from matplotlib.figure import Figure\n"
        "def endless(*a, **k):\n    while True: pass\n"
        "f = plt.figure(); f.draw = endless"
    )
    assert cell.ok
    assert cell.figures == ()
    assert "CellTimeout" in cell.note
    assert session.run("print(1)").stdout == "1\n"


def test_plt_show_is_silent(session):
    cell = session.run("plt.plot([1]); plt.show()")
    assert (cell.stderr, cell.figures) == ("", ("fig_001.png",))


# ---- seeds and folders ---------------------------------------------------------------


def test_both_generators_follow_the_seed(open_session):
    code = "import random; print(np.random.rand(), random.random())"
    same = {open_session(seed=2**40 + 5).run(code).stdout for _ in range(2)}
    other = open_session(seed=6).run(code).stdout
    assert len(same) == 1
    assert other not in same


def test_the_order_of_sets_is_the_same_in_every_session(open_session):
    code = "print([*{'alpha', 'beta', 'gamma', 'delta'}], hash('x'))"
    assert len({open_session().run(code).stdout for _ in range(2)}) == 1


def test_files_belong_into_the_working_folder(session):
    cell = session.run(
        "import os, tempfile\nnp.savez('a.npz', x=1); plt.plot([1]); plt.savefig('f.png')\n"
        "with tempfile.NamedTemporaryFile() as t: print(os.path.dirname(t.name) == os.getcwd())"
    )
    assert cell.stdout == "True\n", cell
    assert {p.name for p in session.spec.workdir.iterdir()} >= {"a.npz", "f.png"}


def test_a_missing_folder_is_named(source, tmp_path):
    with pytest.raises(SessionError, match=r"needs an existing folder: .*nowhere"):
        source.open(SessionSpec(workdir=tmp_path / "nowhere", figures=tmp_path))


def test_a_closed_session_says_so(open_session):
    session = open_session()
    session.close()
    session.close()
    with pytest.raises(SessionError, match="the session is closed"):
        session.run("1")
