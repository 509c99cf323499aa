"""`scisolve-batch doctor`: every promise is tried, and a broken one is an exit code."""

import json

import pytest

from scisolve_batch.executor import doctor
from scisolve_batch.records import Cell, CellStatus, SessionState


@pytest.mark.slow
def test_every_promise_is_tried_and_kept_here(command):
    ended = command("doctor", "--json", timeout=120)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    broken = [item for item in found if item["required"] and not item["held"]]
    assert ended.returncode == 0, broken
    promises = {item["promise"] for item in found}
    assert {trial.promise for trial in doctor.TRIALS} <= promises
    assert len(promises) == len(found) > 18


class BrokenSession:
    """Lets everything pass: limits are never enforced."""

    def run(self, code):
        return Cell(index=1, code=code, stdout="2\n", status=CellStatus.OK)

    def close(self):
        pass


class BrokenSource:
    def open(self, spec):
        return BrokenSession()


@pytest.mark.parametrize("trial", doctor.TRIALS, ids=lambda trial: trial.promise)
def test_a_session_without_limits_keeps_no_promise(trial):
    assert not doctor._try(trial, BrokenSource()).held


def test_a_lost_session_breaks_the_promise_that_its_cell_kept():
    class Dying(BrokenSession):
        def run(self, code):
            return Cell(index=1, status=CellStatus.CRASH, state=SessionState.LOST)

    class Source:
        def open(self, spec):
            return Dying()

    (crash,) = [trial for trial in doctor.TRIALS if trial.promise.startswith("a crash")]
    assert not doctor._try(crash, Source()).held


def test_an_open_area_is_a_broken_promise_and_a_missing_layer_is_not():
    isolation = {
        "closed": {"network": False, "files": True, "key": True, "signals": True},
        "tested": {"connect_tcp": {"closed": False, "how": "connected"}},
        "layers": {"landlock": {"state": "unavailable", "why": "ENOSYS"}},
    }
    found = {item.promise: item for item in doctor._isolation_findings(isolation)}
    network = found["a cell reaches no network"]
    assert network.required and not network.held and "connect_tcp" in network.measured
    layer = found["layer: landlock"]
    assert not layer.required and not layer.held and "ENOSYS" in layer.measured
