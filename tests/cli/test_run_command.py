"""`scisolve-batch run` as a user meets it: files, tables, exit codes, stops and losses."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from processes import alive, descendants, wait_for
from scripts import GOOD, after, changed

from scisolve_batch.cli import run_command
from scisolve_batch.cli.run_command import run_folder
from scisolve_batch.errors import RunDirError


def only(path, pattern):
    (found,) = list(Path(path).glob(pattern))
    return found


def record(tmp_path, problem_id):
    return json.loads(only(tmp_path, f"runs/*/problems/{problem_id}/solution.json").read_text())


def test_a_good_suite_leaves_a_run_a_report_and_exit_code_0(command, write_suite, tmp_path):
    ended = command("run", write_suite({"one": GOOD, "two": GOOD}), "-j", 2)
    assert ended.returncode == 0, ended.stderr
    assert "planned 2 = finished 2 + unfinished 0" in ended.stdout
    assert ended.stderr.count("model: scripted") == 1
    assert "[2/2]" in ended.stderr
    run, report = only(tmp_path, "runs/*"), only(tmp_path, "reports/*")
    assert run.name == report.name
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["model"] == "scripted" and manifest["suite"]["pin"] == "none"
    assert manifest["versions"]["numpy"]
    folder = run / "problems" / "one"
    layers = manifest["isolation"]["layers"]
    held = [name for name in sorted(layers) if layers[name]["state"] == "in_force"]
    assert json.loads((folder / "solution.json").read_text())["isolation"] == held
    assert (folder / "cells" / "01.py").read_text() == GOOD[0]["run_python"]
    assert (folder / "cells" / "01.out").read_text() == "x = 1.4142135623730951\n"
    lines = (folder / "transcript.jsonl").read_text().splitlines()
    roles = [json.loads(line)["role"] for line in lines]
    assert roles == ["user", "assistant"] * 3 + ["user"]
    solutions = pd.read_parquet(report / "solutions.parquet")
    assert sorted(solutions.problem_id) == ["one", "two"]
    assert solutions.grounded.all() and solutions.correct.all() and solutions.verified.all()
    for name in ("literals", "cells", "values"):
        assert len(pd.read_parquet(report / f"{name}.parquet")) > 0
    assert json.loads((report / "summary.json").read_text())["ledger"]["planned"] == 2


def test_one_changed_digit_is_refused_then_recorded_and_ends_with_exit_code_1(
    command, write_suite, tmp_path
):
    suite = write_suite({"good": GOOD, "sly": changed("x = 1.42421356")})
    ended = command("run", suite, "--json")
    assert ended.returncode == 1, ended.stderr
    found = record(tmp_path, "sly")
    assert found["stop_reason"] == "finished" and len(found["refusals"]) == 2
    assert "1.42421356" in found["refusals"][0]
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["event"] for one in events if "problem_id" not in one] == [
        "run_started",
        "run_ended",
    ]
    assert events[0]["total"] == 2 and events[-1]["left"] == 0
    by_kind = {(one["event"], one["problem_id"]): one for one in events[1:-1]}
    assert by_kind.keys() == {
        (kind, name) for kind in ("started", "finished") for name in ("good", "sly")
    }
    assert by_kind["finished", "good"]["grounded"] and by_kind["finished", "good"]["correct"]
    assert by_kind["finished", "sly"]["ungrounded"] == ["1.42421356"]
    summary = events[-1]["summary"]["ledger"]
    assert (summary["planned"], summary["grounded"]) == (2, 1)
    literals = pd.read_parquet(only(tmp_path, "reports/*") / "literals.parquet")
    assert "1.42421356" in set(literals[literals.verdict == "ungrounded"].text)
    assert command("run", suite, "--fail-under", "0.5", "--no-report").returncode == 0


def test_each_kind_of_misbehaviour_has_its_own_status_and_no_neighbour_notices(
    command, write_suite, tmp_path
):
    swallow = (
        "while True:\n    try:\n        while True:\n            str(1)\n    except:\n        pass"
    )
    cells = {
        "endless": ("while True: pass", "soft_timeout"),
        "swallow": (swallow, None),
        "leaves": ("import os; os._exit(0)", "crash"),
        "segfault": ("import ctypes; ctypes.string_at(0)", "crash"),
        "flood": ("for n in range(200): print('x' * 1_000_000)", "ok"),
        "exits": ("raise SystemExit(3)", "exit"),
        "closes": ("import sys; sys.stdout.close()", "ok"),
        "replaces": ("import builtins; builtins.print = None; builtins.len = None", "ok"),
    }
    scripts = {name: after(code) for name, (code, _) in cells.items()}
    scripts["replaces"][1]["run_python"] = (
        "import sys\nx = np.sqrt(2.0)\nsys.stdout.write(f'x = {x}\\n')"
    )
    scripts["replaces"][2]["run_python"] = "import sys\nsys.stdout.write(f'{x**2}\\n')"
    suite = write_suite({**scripts, "quiet": GOOD})
    ended = command("run", suite, "--cell-timeout", "1", "-j", "3", "--no-report", timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for name, (_, status) in cells.items():
        first = record(tmp_path, name)["cells"][0]
        if status is None:
            assert first["status"] in ("cpu_limit", "hard_timeout")
        else:
            assert first["status"] == status, name
    flood = record(tmp_path, "flood")["cells"][0]
    assert flood["stdout_dropped"] > 199_000_000
    assert record(tmp_path, "quiet")["cells"][0]["status"] == "ok"


def test_a_killed_worker_costs_one_recorded_problem_and_leaves_no_process(
    start, write_suite, tmp_path
):
    slow = after("import time; print('slow', flush=True); time.sleep(2.0)")
    process = start(
        "run", write_suite({"a": slow, "b": slow, "c": GOOD, "d": GOOD}), "-j", "2", "--no-report"
    )

    def running():
        for path in tmp_path.glob("runs/*/status.json"):
            items = json.loads(path.read_text())["running"]
            busy = [item for item in items if item["doing"].startswith("cell")]
            if busy:
                return busy
        return None

    victim = wait_for(running)[0]
    everybody = descendants(process.pid)
    os.kill(victim["pid"], signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    lost = record(tmp_path, victim["problem_id"])
    assert lost["stop_reason"] == "session_lost"
    assert lost["failure"]["kind"] == "worker_lost" and "SIGKILL" in lost["failure"]["message"]
    others = {"a", "b", "c", "d"} - {victim["problem_id"]}
    assert all(record(tmp_path, name)["stop_reason"] == "finished" for name in others)
    assert "planned 4 = finished 3 + unfinished 1" in out
    wait_for(lambda: not alive(everybody))


def test_ctrl_c_finishes_what_runs_and_the_run_can_be_continued(
    start, command, write_suite, tmp_path
):
    slow = after("import time; time.sleep(1.0)")
    suite = write_suite(dict.fromkeys("abcdef", slow))
    process = start("run", suite, "-j", "1", "--out", "stopped", "--no-report")
    wait_for(lambda: list(tmp_path.glob("stopped/problems/a/cells/01.json")))
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    last = err.strip().splitlines()[-1].strip()
    assert last == "scisolve-batch run --resume stopped"
    done = {path.parent.name for path in tmp_path.glob("stopped/problems/*/solution.json")}
    assert "a" in done and len(done) < 6
    stamps = {name: (tmp_path / f"stopped/problems/{name}/solution.json").stat().st_mtime_ns
              for name in done}  # fmt: skip
    state = command("status", "stopped")
    assert state.returncode == 1 and "left unfinished" in state.stdout

    resumed = command("run", "--resume", "stopped", "-j", "3", "--no-report")
    assert resumed.returncode == 0, resumed.stderr
    assert "planned 6 = finished 6 + unfinished 0" in resumed.stdout
    for name, stamp in stamps.items():
        path = tmp_path / f"stopped/problems/{name}/solution.json"
        assert path.stat().st_mtime_ns == stamp, "a settled problem is not run again"
    assert command("status", "stopped").returncode == 0
    again = command("run", suite, "--out", "stopped", "--no-report")
    assert again.returncode == 0 and "finished 6" in again.stdout


@pytest.mark.slow
def test_a_second_ctrl_c_ends_what_runs_and_records_it_as_interrupted(start, write_suite, tmp_path):
    slow = after("import time; time.sleep(30)")
    process = start(
        "run", write_suite({"a": slow, "b": slow}), "-j", "1", "--out", "cut", "--no-report"
    )
    wait_for(lambda: list(tmp_path.glob("cut/problems/a/transcript.jsonl")))
    everybody = descendants(process.pid)
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    found = json.loads((tmp_path / "cut/problems/a/solution.json").read_text())
    assert found["stop_reason"] == "interrupted"
    wait_for(lambda: not alive(everybody))


@pytest.mark.slow
def test_a_changed_suite_or_setting_is_not_continued_silently(command, write_suite, tmp_path):
    suite = write_suite({"a": GOOD})
    assert command("run", suite, "--out", "r", "--no-report").returncode == 0
    other = command("run", "--resume", "r", "--max-turns", "9", "--seed", "4")
    assert other.returncode == 2
    assert "max_turns: 12 -> 9" in other.stderr and "seed: 0 -> 4" in other.stderr
    assert "--allow-changes" in other.stderr
    bigger = write_suite({"a": GOOD, "b": GOOD})
    grown = command("run", bigger, "--out", "r")
    assert grown.returncode == 2 and "b: new in the suite" in grown.stderr
    allowed = command("run", bigger, "--out", "r", "--allow-changes", "--no-report")
    assert allowed.returncode == 0, allowed.stderr
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert "b: new in the suite" in manifest["changes"][0]


@pytest.mark.slow
def test_a_suite_that_differs_from_its_lock_is_refused_unless_unpinned(
    command, write_suite, tmp_path
):
    suite = write_suite({"a": GOOD})
    assert command("suite", "lock", suite).returncode == 0
    assert "pinned" in command("suite", "check", suite).stdout
    suite.write_text(suite.read_text().replace("positive root", "positive root,"))
    refused = command("run", suite)
    assert refused.returncode == 2 and "--unpinned" in refused.stderr and "a" in refused.stderr
    assert not (tmp_path / "runs").exists()
    ended = command("run", suite, "--unpinned", "--no-report")
    assert ended.returncode == 0, ended.stderr
    assert (
        json.loads(only(tmp_path, "runs/*/manifest.json").read_text())["suite"]["pin"] == "unpinned"
    )


@pytest.mark.slow
def test_samples_are_run_and_kept_apart(command, write_suite, tmp_path):
    seeded = after("print('draw', np.random.random())")
    ended = command("run", write_suite({"a": seeded}), "--samples", "2", "--no-report")
    assert ended.returncode == 0, ended.stderr
    assert "planned 2" in ended.stdout
    outputs = [
        only(tmp_path, f"runs/*/problems/{name}/cells/01.out").read_text() for name in ("a", "a.s2")
    ]
    assert outputs[0] != outputs[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "name a suite: a file, or one of"),
        (["run", "absent.yaml"], "absent.yaml"),
        (["rnu"], "did you mean run?"),
        (["run", "core", "--jobs", "0"], "--jobs"),
        (["run", "core", "--jobs", "many"], "'--jobs'"),
        (["run", "core", "--fail-under", "7"], "--fail-under: must be between 0 and 1"),
        (["run", "core", "--id", "lotka-voltera*"], "did you mean"),
        (["run", "core", "--model", "anthropic:claude-haiku-5-5"], "ANTHROPIC_API_KEY"),
        (["run", "core", "--model", "oracle:x"], "unknown model"),
        (["run", "core", "--grounding", "vibes"], "vibes"),
        (["run", "--resume", "nowhere"], "not a run directory"),
        (["run", "core", "--resume", "nowhere"], "leave out the others"),
        (["solve", "What is 1+1?"], "--model anthropic:NAME"),
        (["solve", "  "], "the problem is empty"),
        (["solve", "x", "--model", "claude-haiku-5-5"], "ANTHROPIC_API_KEY"),
        (["solve", "x", "--model", "scripted:absent.yaml"], "absent.yaml"),
        (["report", "nowhere"], "not a run directory"),
        (["status", "nowhere"], "not a run directory"),
    ],
)
def test_a_wrong_call_gets_one_message_exit_code_2_and_writes_nothing(
    call_here, tmp_path, arguments, message
):
    code, out, err = call_here(*arguments)
    assert code == 2, out + err
    assert message in err
    assert "Traceback" not in err and not out
    assert not list(tmp_path.iterdir())


def test_a_dry_run_says_what_would_happen_and_writes_nothing(call_here, tmp_path):
    code, out, _ = call_here("run", "smoke", "--dry-run", "--samples", "2", "-j", "4")
    assert code == 0
    assert "15 problems, 2 samples each: 30 in all, by scripted on 4 workers" in out
    assert "nothing is spent" in out and "told apart" in out
    code, out, _ = call_here("run", "smoke", "--dry-run", "--model", "claude-haiku-5-5")
    assert code == 0 and "expected cost: unknown; --from RUN" in out
    assert not list(tmp_path.iterdir())


class Noon(datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 12, 1, 12, 0, 0, tzinfo=tz)


def test_runs_that_begin_in_the_same_second_get_folders_of_their_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_command, "datetime", Noon)
    with run_folder(None, "core") as first, run_folder(None, "core") as second:
        (first / "manifest.json").touch()
        names = sorted(path.name for path in (tmp_path / "runs").iterdir())
        assert names == ["2026-12-01T12-00-00Z-core", "2026-12-01T12-00-00Z-core-2"]
        assert (first.name, second.name) == tuple(names)
    assert first.exists() and not second.exists(), "a folder that stayed empty is removed"


def test_a_new_folder_that_cannot_be_made_is_one_message(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("runs").touch()
    with pytest.raises(RunDirError, match="cannot be made: File exists"), run_folder(None, "core"):
        pytest.fail("there is no such folder")


def test_two_runs_at_once_without_out_both_end_well(command, write_suite, tmp_path):
    suite = write_suite({"one": GOOD})
    with ThreadPoolExecutor(2) as threads:
        ended = list(threads.map(lambda _: command("run", suite, "-j", 1), range(2)))
    assert [run.returncode for run in ended] == [0, 0], ended
    assert len(list(tmp_path.glob("runs/*/problems/one/solution.json"))) == 2
