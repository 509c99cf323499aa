"""Disks that are full or vanish: one clear message, and everything settled is still there."""

import json
import resource
import shutil
import subprocess
import sys

from processes import wait_for
from scripts import GOOD, after


def test_a_full_disk_ends_the_run_with_a_message_and_it_can_go_on_later(
    write_suite, command, tmp_path
):
    suite = write_suite(dict.fromkeys("abc", GOOD))
    limit = 14_000  # bytes that a file may have: the journal passes it on the way
    ended = subprocess.run(
        [sys.executable, "-m", "scisolve_batch", "run", str(suite), "--out", "r", "--no-report",
         "--samples", "12"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert "cannot be written: File too large" in ended.stderr
    assert "Traceback" not in ended.stderr
    kept = {
        path.parent.name: path.read_bytes() for path in tmp_path.glob("r/problems/*/solution.json")
    }
    assert kept and all(json.loads(data)["stop_reason"] == "finished" for data in kept.values())
    again = command("run", "--resume", "r", "--no-report", "--quiet")
    assert again.returncode == 0, again.stderr
    assert "planned 36 = finished 36" in again.stdout
    for name, data in kept.items():
        assert (tmp_path / "r/problems" / name / "solution.json").read_bytes() == data


def test_a_run_directory_that_vanishes_ends_the_run_with_a_message(start, write_suite, tmp_path):
    slow = after("import time; time.sleep(0.5)")
    process = start("run", write_suite(dict.fromkeys("abc", slow)), "-j", "1", "--out", "r")
    wait_for(lambda: list(tmp_path.glob("r/problems/a/cells")))
    shutil.rmtree(tmp_path / "r")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Traceback" not in err and "the run directory was removed" in err
