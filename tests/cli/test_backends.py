"""Runs over real engines on this machine: what they lose is recorded once and retried by our rule."""

import json
import os
import signal

import pytest
from engines import dask, write_parsl_config
from processes import wait_for
from scripts import GOOD, after


def until(path):
    """A script whose first cell waits until a file is there."""
    return after(f"import os, time\nwhile not os.path.exists({str(path)!r}):\n    time.sleep(0.1)")


def journal(run):
    return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]


def begun(run):
    """The process that works on problem `a`, once it runs a cell."""
    for path in run.glob("claims/a.*"):
        try:
            line = json.loads(path.read_text())
        except ValueError:
            continue
        if line["doing"].startswith("cell"):
            return line["pid"]
    return None


def check_one_loss(run, process, *, why):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "planned 4 = finished 4 + unfinished 0" in out
    lines = journal(run)
    lost = [line for line in lines if line["event"] == "lost"]
    assert [(line["problem_id"], line["attempt"]) for line in lost] == [("a", 1)]
    settled = [line["problem_id"] for line in lines if line["event"] == "settled"]
    assert sorted(settled) == list("abcd")
    earlier = json.loads((run / "problems/a.a1/solution.json").read_text())
    assert earlier["failure"]["kind"] == "worker_lost" and why in earlier["failure"]["message"]
    assert json.loads((run / "problems/a/solution.json").read_text())["attempt"] == 2
    assert not (run / "claims").exists()


@pytest.mark.slow
def test_a_killed_dask_worker_costs_one_attempt_that_is_made_again(
    start, write_suite, command, tmp_path
):
    pytest.importorskip("distributed")
    suite = write_suite({"a": until(tmp_path / "go"), "b": GOOD, "c": GOOD, "d": GOOD})
    with dask(tmp_path) as address:
        process = start("run", suite, "--backend", f"dask:{address}", "--out", "r", "--no-report",
                        "--max-attempts", "2", "--isolation", "off")  # fmt: skip
        pid = wait_for(lambda: begun(tmp_path / "r"), seconds=120)
        state = command("status", "r")
        assert "waiting for: cell" in state.stdout and " on " in state.stdout
        os.kill(pid, signal.SIGKILL)
        (tmp_path / "go").touch()
        check_one_loss(tmp_path / "r", process, why="KilledWorker")
    assert command("verify", "r").returncode == 0


@pytest.mark.slow
def test_a_killed_parsl_worker_costs_one_attempt_that_is_made_again(
    start, write_suite, command, tmp_path
):
    pytest.importorskip("parsl")
    suite = write_suite({"a": until(tmp_path / "go"), "b": GOOD, "c": GOOD, "d": GOOD})
    config = write_parsl_config(tmp_path)
    process = start("run", suite, "--backend", f"parsl:{config}", "--out", "r", "--no-report",
                    "--max-attempts", "2", "--isolation", "off")  # fmt: skip
    pid = wait_for(lambda: begun(tmp_path / "r"), seconds=120)
    os.kill(pid, signal.SIGKILL)
    (tmp_path / "go").touch()
    check_one_loss(tmp_path / "r", process, why="WorkerLost")
    assert command("verify", "r").returncode == 0


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_and_its_errands_stop(start, write_suite, command, tmp_path):
    distributed = pytest.importorskip("distributed")
    suite = write_suite({"a": until(tmp_path / "go"), "b": GOOD})
    with dask(tmp_path, workers=1) as address:
        first = start("run", suite, "--backend", f"dask:{address}", "--out", "r", "--no-report",
                      "--isolation", "off")  # fmt: skip
        wait_for(lambda: begun(tmp_path / "r"), seconds=120)
        first.kill()
        first.communicate()
        again = start("run", "--resume", "r", "--no-report", "--quiet")
        wait_for((tmp_path / "r/problems/a.a1").is_dir, seconds=60)
        (tmp_path / "go").touch()  # for both of them
        _, err = again.communicate(timeout=120)
        assert again.returncode == 0, err
        client = distributed.Client(address)
        wait_for(lambda: not any(client.processing().values()), seconds=60)
        client.close()
    assert command("verify", "r").returncode == 0
    assert not (tmp_path / "r/problems/a.a1/solution.json").exists(), "it lost its claim"


@pytest.mark.slow
def test_an_engine_that_repeats_problems_is_refused(write_suite, command, tmp_path):
    suite = write_suite({"a": GOOD})
    pytest.importorskip("parsl")
    config = write_parsl_config(tmp_path, retries=1)
    ended = command("run", suite, "--backend", f"parsl:{config}", "--out", "r")
    assert ended.returncode == 2 and "retries is 1; set it to 0" in ended.stderr
    pytest.importorskip("distributed")
    with dask(tmp_path, allowed_failures=3, workers=0) as address:
        ended = command("run", suite, "--backend", f"dask:{address}", "--out", "q")
    assert ended.returncode == 2
    assert "starts a lost task up to 3 times again" in ended.stderr
    assert "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0" in ended.stderr
