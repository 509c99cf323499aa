"""Runs that ask a service, over loopback: its faults, its money, its key, its recordings."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from processes import descendants, wait_for
from scripts import GOOD, after
from service import KEY, service

MODEL = "anthropic:claude-haiku-5-5"


def records(run):
    return {
        path.parent.name: json.loads(path.read_text())
        for path in run.glob("problems/*/solution.json")
    }


def everything_in(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_service_with_faults_is_asked_again_and_the_run_is_whole_priced_and_replayable(
    command, write_suite, tmp_path
):
    suite = write_suite({f"p{n}": GOOD for n in range(3)})
    with service(faults=["overloaded", "cut", "drop"], fault_rate=0.15) as server:
        ended = command(
            "run", suite, "--model", MODEL, "-j", "2", "--no-report", "--out", "r", "--record", "tapes",
            env=server.env, timeout=120,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = records(tmp_path / "r")
    assert len(found) == 3 and all(one["stop_reason"] == "finished" for one in found.values())
    requests = sum(turn["attempts"] for one in found.values() for turn in one["turns"])
    assert requests == server.count > 9
    one = found["p0"]
    # 3 replies of 1000 tokens read at 0.10 $/M and 200 written at 0.50 $/M
    assert one["cost_usd"] == pytest.approx(3 * (1000 * 0.10 + 200 * 0.50) / 1e6)
    assert one["usage"]["output_tokens"] == 600
    assert one["turns"][0]["request_id"].startswith("req_")

    planned = command("run", suite, "--model", MODEL, "--dry-run", "--from", "r", "--samples", "10")
    assert planned.returncode == 0, planned.stderr
    assert "expected tokens: 108,000 (95 % between 108,000 and 108,000)" in planned.stdout
    assert "expected cost: 0.02 USD" in planned.stdout  # 30 problems of 0.0006 USD

    played = command(
        "run", suite, "--model", "replay:tapes", "-j", "2", "--out", "again", "--no-report"
    )
    assert played.returncode == 0, played.stdout + played.stderr
    again = records(tmp_path / "again")
    for name, before in found.items():
        for part in ("answer", "values", "grounding", "verification", "usage", "stop_reason"):
            assert again[name][part] == before[part]


@pytest.mark.slow
def test_no_cell_finds_the_key_and_no_file_holds_it(command, write_suite, tmp_path):
    hunt = (
        "import os, glob\nprint(dict(os.environ))\n"
        "for path in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try:\n        print(open(path).read())\n"
        "    except OSError as error:\n        print(error)"
    )
    with service(script=after(hunt)) as server:
        ended = command(
            "run",
            write_suite({"hunt": GOOD}),
            "--model",
            MODEL,
            "--no-report",
            "--out",
            "r",
            env=server.env,
        )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "PATH" in (tmp_path / "r/problems/hunt/cells/01.out").read_text()
    assert KEY.encode() not in everything_in(tmp_path)
    assert KEY not in ended.stdout + ended.stderr


@pytest.mark.slow
def test_a_key_that_is_refused_stops_the_run_with_exit_code_2(command, write_suite, tmp_path):
    suite = write_suite({f"p{n}": GOOD for n in range(6)})
    with service(refuse_all=(401, "authentication_error")) as server:
        ended = command(
            "run", suite, "--model", MODEL, "-j", "1", "--no-report", "--out", "r", env=server.env
        )
    assert ended.returncode == 2, ended.stderr
    assert "stopped early" in ended.stderr and "--resume r" in ended.stderr
    assert server.count == 1, "one refusal is enough"
    assert KEY not in ended.stderr + ended.stdout
    with service() as server:
        resumed = command("run", "--resume", "r", "-j", "2", env=server.env)
    assert resumed.returncode == 0, resumed.stderr


@pytest.mark.slow
def test_a_cap_on_money_stops_the_run_before_it_is_passed(command, write_suite, tmp_path):
    suite = write_suite({f"p{n}": GOOD for n in range(8)})
    with service() as server:
        ended = command(
            "run", suite, "--model", MODEL, "-j", "1", "--max-usd", "0.004", "--no-report", "--out", "r",
            env=server.env,
        )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    costs = [one["cost_usd"] for one in records(tmp_path / "r").values()]
    assert sum(cost or 0.0 for cost in costs) <= 0.004
    assert command("run", suite, "--model", "mystery-9", "--max-usd", "1").returncode == 2


@pytest.mark.slow
def test_two_hundred_problems_with_a_tenth_of_faults_lose_nothing(command, write_suite, tmp_path):
    suite = write_suite({f"p{n:03d}": GOOD for n in range(200)})
    faults = ["overloaded", "rate_limit", "cut", "drop"]
    with service(faults=faults, fault_rate=0.1) as server:
        ended = command(
            "run", suite, "--model", MODEL, "-j", "32", "--no-report", "--out", "r", "--max-attempts", "3",
            env=server.env, timeout=600,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    assert "planned 200 = finished 200 + unfinished 0" in ended.stdout
    assert len(records(tmp_path / "r")) == 200


WAIT = (
    "import os, time\nopen('here', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.05)"
)


def memory_of(pid):
    """Everything a process can write to, piece by piece."""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights = line.split()[:2]
            if not rights.startswith("rw"):
                continue
            start, end = (int(one, 16) for one in span.split("-"))
            try:
                memory.seek(start)
                yield memory.read(end - start)
            except (OSError, OverflowError, ValueError):
                continue  # [vvar] and the like


def holds_key(pid):
    """Whether the key stands in a process's memory or environment; None when it just ended."""
    try:
        if KEY.encode() in Path(f"/proc/{pid}/environ").read_bytes():
            return True
        return any(KEY.encode() in piece for piece in memory_of(pid))
    except (FileNotFoundError, ProcessLookupError):
        return None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may read the memory of all processes")
def test_no_process_that_runs_cells_has_the_key_in_its_memory(start, write_suite, tmp_path):
    suite = write_suite({"a": GOOD})
    with service(script=after(WAIT)) as server:
        run = start("run", suite, "--model", MODEL, "--no-report", "--out", "r", env=server.env)
        wait_for(lambda: list(tmp_path.glob("r/problems/a/**/here")))
        (here,) = tmp_path.glob("r/problems/a/**/here")
        below = descendants(run.pid)
        executors = [pid for pid in below if runs_cells(pid)]
        assert len(executors) >= 3, "the template, the session and its undo point or a spare"
        assert not any(holds_key(pid) for pid in executors)
        others = [run.pid, *(pid for pid in below if pid not in executors)]
        assert any(holds_key(pid) for pid in others), "the search finds the key where it is"
        here.with_name("go").touch()
        out, err = run.communicate(timeout=60)
    assert run.returncode == 0, out + err
    assert KEY.encode() not in everything_in(tmp_path)


def runs_cells(pid):
    try:
        return b"executor/boot.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_with_whole_conversations(
    start, command, write_suite, tmp_path
):
    suite = write_suite(dict.fromkeys("abc", GOOD))
    with service(script=after(WAIT)) as server:
        run = start(
            "run", suite, "--model", MODEL, "-j", "1", "--no-report", "--out", "r", env=server.env
        )
        wait_for(lambda: list(tmp_path.glob("r/problems/a/**/here")))
        for _ in range(2):  # the second cancels what runs
            os.kill(run.pid, signal.SIGINT)
            time.sleep(0.3)
        _, err = run.communicate(timeout=60)
        assert run.returncode == 130, err
    stopped = records(tmp_path / "r")["a"]
    assert stopped["stop_reason"] == "interrupted"
    assert stopped["cost_usd"] > 0, "what was paid for before the stop counts"
    with service() as server:
        resumed = command("run", "--resume", "r", "-j", "1", "--no-report", env=server.env)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert set(records(tmp_path / "r")) == {"a", "a.a1", "b", "c"}, (
        "the stopped attempt is kept beside"
    )
    assert server.orphans == 0, "every call that was sent back had its result, and one only"


@pytest.mark.slow
def test_a_wait_that_is_asked_of_one_worker_holds_all_and_status_says_so(
    start, command, write_suite, tmp_path
):
    suite = write_suite({"a": GOOD, "b": GOOD})
    with service(script=after(WAIT), throttle_s=100) as server:
        run = start(
            "run", suite, "--model", MODEL, "-j", "2", "--no-report", "--out", "r", env=server.env
        )
        (here,) = wait_for(lambda: list(tmp_path.glob("r/problems/*/**/here")), seconds=60)
        journal = tmp_path / "r" / "journal.jsonl"
        wait_for(lambda: '"rate"' in journal.read_text(), seconds=60)
        before = server.count
        here.with_name("go").touch()  # the worker that was not throttled wants to ask again
        wait_for(
            lambda: command("status", "r").stdout.count("waiting for: rate limit") == 2, seconds=60
        )
        assert server.count == before == 2
        run.kill()
        run.communicate(timeout=60)
