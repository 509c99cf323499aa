"""The third Ctrl-C, and terminals that want no colour."""

import os
import pty
import re
import signal
import sys

from processes import alive, descendants
from scripts import GOOD, after

from scisolve_batch.batch.progress import Silence
from scisolve_batch.cli import run_command


class Impatient(Silence):
    """Presses Ctrl-C when the first problem begins, and twice more when the run says it heard."""

    def begun(self, running):
        os.kill(os.getpid(), signal.SIGINT)

    def say(self, text):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_third_ctrl_c_waits_for_nothing_and_says_how_to_go_on(
    call_here, command, write_suite, tmp_path, monkeypatch
):
    suite = write_suite({"a": after("import time; time.sleep(60)"), "b": GOOD})
    monkeypatch.setattr(run_command, "open_progress", lambda total, quiet: Impatient())
    code, _, err = call_here("run", suite, "-j", "1", "--out", "cut", "--no-report")
    assert code == 130
    assert err.strip().splitlines()[-1].strip() == "scisolve-batch run --resume cut"
    assert not alive(descendants(os.getpid()))
    assert not (tmp_path / "cut/problems/a/solution.json").exists()


def test_no_color_reaches_the_bar_of_a_terminal(write_suite, tmp_path):
    suite = write_suite({"a": GOOD})
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ["NO_COLOR"] = "1"
        command = [sys.executable, "-m", "scisolve_batch", "run", str(suite), "--no-report"]
        os.execv(sys.executable, command)
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:
        pass  # the terminal's end
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, shown.decode()
    assert b"1/1" in shown
    assert not re.search(rb"\x1b\[[0-9;]*m", shown)
