"""`scisolve-batch run --only KIND --of RUN`: what an earlier run left to be done better."""

import json

import pytest
from scripts import GOOD, changed

from scisolve_batch.batch.reselect import ids_of
from scisolve_batch.errors import RunDirError, UsageError


def reporting(expression, text):
    """A grounded and checked report of another number than the root of 2."""
    finish = GOOD[-1]["finish_solution"]
    finish = {**finish, "answer": f"x = {text}", "values": [{"name": "x", "value": text}]}
    cell = {"run_python": f"x = {expression}\nprint('x =', x)"}
    return [cell, GOOD[1], {"finish_solution": finish}]


SCRIPTS = {
    "good": GOOD,
    "invented": changed("x = 1.42421356"),
    "mute": [{"text": "I give up."}, {"text": "Still."}],
    "wrong": reporting("np.sqrt(3.0)", "1.7320508"),
}


@pytest.fixture
def earlier(command, write_suite, tmp_path):
    suite = write_suite(SCRIPTS)
    ended = command("run", suite, "--out", "first", "--no-report", "--quiet")
    assert ended.returncode == 1, ended.stderr
    return suite, tmp_path / "first"


def planned(folder):
    plan = json.loads((folder / "manifest.json").read_text())["planned"]
    return [one["problem_id"] for one in plan]


def test_problems_of_an_earlier_run_are_chosen_by_what_became_of_them(
    earlier, command, write_suite, tmp_path
):
    suite, run = earlier
    assert ids_of(run, ["unfinished"]) == ["mute"]
    assert ids_of(run, ["ungrounded"]) == ["invented"]
    assert ids_of(run, ["incorrect"]) == ["wrong"]
    assert ids_of(run, ["incorrect", "unfinished"]) == ["mute", "wrong"]
    assert ids_of(run, ["failed"]) == ["invented", "mute", "wrong"]
    (run / "problems" / "good" / "solution.json").unlink()
    (run / "problems" / "wrong" / "solution.json").write_text("{}")
    assert ids_of(run, ["unfinished"]) == ["good", "mute", "wrong"]

    flags = ["--only", "unfinished", "--only", "ungrounded", "--of", run, "--id", "!good"]
    command("run", suite, *flags, "--out", "second", "--no-report", "--quiet")
    assert planned(tmp_path / "second") == ["invented", "mute", "wrong"]
    ended = command("run", suite, "--only", "incorrect", "--of", run, "--dry-run")
    assert ended.returncode == 2
    assert f"no problem of {run} is incorrect; there is nothing to run" in ended.stderr

    other = write_suite({"fine": GOOD}, name="other")
    ended = command("run", other, "--only", "unfinished", "--of", run)
    assert ended.returncode == 2
    said = "its problem good is not in the suite `other`; name the suite of that run, `small`"
    assert said in ended.stderr


def test_a_choice_needs_both_the_run_and_the_kind(call_here, write_suite, tmp_path):
    suite = write_suite({"good": GOOD})
    code, _, err = call_here("run", suite, "--only", "incorrect")
    assert code == 2 and "--only: name the earlier run with --of RUN" in err
    code, _, err = call_here("run", suite, "--of", "first")
    assert (
        code == 2 and "say which of its problems with --only (failed, unfinished, ungrounded" in err
    )
    code, _, err = call_here("run", suite, "--only", "incorrect", "--of", tmp_path)
    assert code == 2 and "not a run directory" in err
    code, _, err = call_here("run", "--resume", tmp_path, "--only", "incorrect", "--of", tmp_path)
    assert code == 2 and "--resume takes suite and folder from the run" in err
    with pytest.raises(RunDirError):
        ids_of(tmp_path, ["incorrect"])


def test_nothing_of_a_kind_is_an_error_that_says_so(command, write_suite, tmp_path):
    suite = write_suite({"good": GOOD})
    assert command("run", suite, "--out", "r", "--no-report", "--quiet").returncode == 0
    with pytest.raises(UsageError, match="is unfinished or incorrect; there is nothing to run"):
        ids_of(tmp_path / "r", ["unfinished", "incorrect"])
