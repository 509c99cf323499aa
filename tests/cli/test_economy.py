"""Runs that ask in batches, over loopback: waves, half price, failures by class, resuming."""

import json
import signal

import pytest
from processes import wait_for
from scripts import GOOD
from service import KEY, Batches, service

MODEL = "anthropic:claude-haiku-5-5"
FAST = {"SCISOLVE_BATCH_POLL_S": "0.02"}


def records(run):
    return {
        path.parent.name: json.loads(path.read_text())
        for path in run.glob("problems/*/solution.json")
    }


def economy(suite, *more):
    return ("run", suite, "--model", MODEL, "--economy", "--no-report", "--out", "r", *more)


@pytest.mark.slow
def test_all_problems_advance_in_waves_one_batch_a_turn_at_half_the_price(
    command, write_suite, tmp_path
):
    suite = write_suite({f"p{n}": GOOD for n in range(3)})
    with service(batches=Batches(cut=1)) as server:
        ended = command(*economy(suite), env=server.env | FAST)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    batches = server.batches.taken
    assert [len(one["lines"]) for one in batches.values()] == [3, 3, 3]
    assert len({name for name, _ in server.batches.asked}) == 9
    assert server.count == 0, "nothing is asked outside of batches"
    assert "asked in batches at half the price" in ended.stderr
    assert "batch msgbatch_01: 3 requests" in ended.stderr
    one = records(tmp_path / "r")["p0"]
    # half of 3 replies of 1000 tokens read at 0.10 $/M and 200 written at 0.50 $/M
    assert one["cost_usd"] == pytest.approx(3 * (1000 * 0.10 + 200 * 0.50) / 1e6 / 2)
    assert [turn["batch"] for turn in one["turns"]] == list(batches)
    assert one["wait_s"] > 0.0
    assert KEY.encode() not in b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )


def in_journal(run, event):
    """How often something happened, as the journal has it."""
    path = run / "journal.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return sum(json.loads(line)["event"] == event for line in lines if line.endswith("}"))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "interrupt"])
def test_a_run_that_ended_early_goes_on_with_what_it_paid_for(
    start, command, write_suite, tmp_path, how
):
    suite = write_suite({f"p{n}": GOOD for n in range(3)})
    with service(batches=Batches(stuck=2)) as server:
        run = start(*economy(suite), env=server.env | FAST)
        wait_for(lambda: in_journal(tmp_path / "r", "batch") == 2, seconds=60)
        assert command("status", "r").stdout.count("waiting for: batch") == 3
        if how == "kill":
            run.kill()
        else:
            run.send_signal(signal.SIGTERM)  # as a second Ctrl-C
        run.communicate(timeout=60)
        server.batches.stuck = None
        resumed = command("run", "--resume", "r", "--no-report", env=server.env | FAST)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "fetching 1 batches that were asked before" in resumed.stderr
    asked = [(name[:2], json.dumps(params["messages"])) for name, params in server.batches.asked]
    assert len(set(asked)) == len(asked) == 9, "no turn of any problem is paid twice"
    found = records(tmp_path / "r")
    costs = [one["cost_usd"] or 0.0 for name, one in found.items()]
    assert sum(costs) == pytest.approx(9 * (1000 * 0.10 + 200 * 0.50) / 1e6 / 2)
    assert command("verify", "r").returncode == 0


@pytest.mark.slow
def test_failures_within_batches_are_asked_again_and_the_ledger_adds_up(
    command, write_suite, tmp_path
):
    def errored(kind):
        error = {"type": "error", "error": {"type": kind, "message": "no"}}
        return {"type": "errored", "error": error}

    fates = [
        None,
        {"type": "expired"},
        errored("overloaded_error"),
        errored("invalid_request_error"),
    ]
    suite = write_suite({f"p{n}": GOOD for n in range(4)})
    with service(batches=Batches(fates=fates, lost=1)) as server:
        ended = command(*economy(suite), env=server.env | FAST)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "planned 4 = finished 3 + unfinished 1" in ended.stdout
    kinds = sorted(
        (one["failure"] or {}).get("kind", "") for one in records(tmp_path / "r").values()
    )
    assert kinds == ["", "", "", "invalid"]
    turns = [turn for one in records(tmp_path / "r").values() for turn in one["turns"]]
    assert sum(turn["attempts"] for turn in turns) + 1 == len(server.batches.asked) == 12
    assert sorted(turn["errors"] for turn in turns if turn["errors"]) == [["overloaded"]] * 2


@pytest.mark.slow
def test_a_key_that_is_refused_or_a_canceled_batch_stops_the_run_and_it_goes_on_later(
    command, write_suite, tmp_path
):
    suite = write_suite({"a": GOOD, "b": GOOD})
    with service(batches=Batches(refuse=(401, "authentication_error"))) as server:
        ended = command(*economy(suite), env=server.env | FAST)
        assert ended.returncode == 2 and "--resume r" in ended.stderr, ended.stderr
        assert KEY not in ended.stderr
        server.batches.refuse, server.batches.fates = None, [{"type": "canceled"}]
        ended = command("run", "--resume", "r", "--no-report", env=server.env | FAST)
        assert ended.returncode == 2 and "was canceled" in ended.stderr, ended.stderr
        ended = command("run", "--resume", "r", "--no-report", env=server.env | FAST)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_a_cap_on_money_is_kept_at_half_the_price(command, write_suite, tmp_path):
    suite = write_suite({f"p{n}": GOOD for n in range(8)})
    with service() as server:
        ended = command(*economy(suite, "-j", "1", "--max-usd", "0.0015"), env=server.env | FAST)
    assert ended.returncode == 1, ended.stderr
    costs = [one["cost_usd"] or 0.0 for one in records(tmp_path / "r").values()]
    assert 0.0 < sum(costs) <= 0.0015


def test_what_cannot_be_asked_in_batches_is_refused_before_anything_is_started(
    call_here, write_suite, monkeypatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    suite = write_suite({"a": GOOD})
    for more, words in [
        (("--economy",), "--economy needs a live model"),
        (("--economy", "--model", MODEL, "--record", "tapes"), "leave out --record"),
        (("--economy", "--model", MODEL, "--backend", "dask:x"), "leave out --backend"),
    ]:
        code, _, err = call_here("run", suite, *more)
        assert code == 2 and words in err, err


def test_a_dry_run_expects_half_the_price(call_here, write_suite):
    code, out, _ = call_here(
        "run", write_suite({"a": GOOD}), "--model", MODEL, "--economy", "--dry-run"
    )
    assert code == 0 and "asked in batches, at half the price" in out
    assert "on 32 workers" in out
