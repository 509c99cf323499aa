"""Runs that ask in batches, over loopback: waves, half price, failures by class, resuming."""

import json

import pytest
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
    assert "batch msgbatch_01: 3 requests" in ended.stderr
    one = records(tmp_path / "r")["p0"]
    # half of 3 replies of 1000 tokens read at 0.10 $/M and 200 written at 0.50 $/M
    assert one["cost_usd"] == pytest.approx(3 * (1000 * 0.10 + 200 * 0.50) / 1e6 / 2)
    assert [turn["batch"] for turn in one["turns"]] == list(batches)
    assert one["wait_s"] > 0.0
    assert KEY.encode() not in b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )
