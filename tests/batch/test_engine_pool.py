"""Places in an engine as workers, and errands that run once and stop when they are given up."""

import threading
from concurrent.futures import Future

import pytest

from scisolve_batch.batch import errand as errands
from scisolve_batch.batch.backends import open_engine
from scisolve_batch.batch.engine_pool import EnginePool
from scisolve_batch.batch.errand import CLAIMS, Claim, Superseded, revoke_claims, run_errand
from scisolve_batch.batch.pool import Died
from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.batch.worker import Job, Queued, Ready
from scisolve_batch.errors import RunDirError, UsageError
from scisolve_batch.records import Problem, Settings

SETTINGS = Settings()


def problem(name):
    return Problem(id=name, statement="The root of 2?", digest="0" * 64)


class Engine:
    """Keeps what is handed in until a test decides what becomes of it."""

    def __init__(self):
        self.handed = []

    def submit(self, errand):
        future = Future()
        self.handed.append((errand, future))
        return future

    def close(self):
        pass


def job(tmp_path, name="p"):
    return Job(
        attempt=Attempt(name), problem=problem(name), folder=tmp_path / "problems" / name, seed=1
    )


@pytest.fixture
def pool(tmp_path):
    pool = EnginePool(Engine(), SETTINGS, tmp_path)
    yield pool
    pool.close()


def test_a_place_is_ready_at_once_and_ends_when_it_is_let_go(pool):
    pool.start(0)
    assert pool.listen(0) == [(0, Ready())]
    pool.send(0, None)
    assert pool.listen(0) == [(0, Died(0))]


def test_an_errand_that_the_engine_loses_is_a_worker_that_died(pool, tmp_path):
    pool.send(0, job(tmp_path))
    (_, future) = pool.engine.handed[0]
    threading.Thread(target=future.set_exception, args=[RuntimeError("node down")]).start()
    ((worker, died),) = pool.listen(20.0)  # woken up from the other thread
    assert worker == 0 and died.why == "the engine lost it (RuntimeError: node down)"


def test_waiting_for_a_place_is_not_the_problems_time_and_what_it_does_is_read(
    pool, tmp_path, monkeypatch
):
    monkeypatch.setattr("scisolve_batch.batch.engine_pool.LOOK_EVERY_S", 0.0)
    pool.send(0, job(tmp_path))
    ((worker, queued),) = pool.listen(0)
    assert worker == 0 and isinstance(queued, Queued) and queued.wait_s >= 0
    claim = pool.engine.handed[0][0].claim
    assert claim.begin()
    claim.tell("cell 2")
    assert pool.listen(0) == []
    assert pool.doing(0)[0].startswith("cell 2 on ")


def test_an_errand_that_is_given_up_loses_its_claim_and_is_heard_of_once(pool, tmp_path):
    pool.send(0, job(tmp_path))
    claim = pool.engine.handed[0][0].claim
    claim.check()
    pool.kill(0)
    with pytest.raises(Superseded):
        claim.check()
    assert pool.listen(0) == [(0, Died(None, "the run gave up on it"))]
    assert pool.listen(0) == []


def test_a_later_attempt_or_a_resumed_run_takes_the_claim_away(tmp_path):
    first, second = (Claim(tmp_path / CLAIMS, "p", token) for token in ("x-1", "x-2"))
    first.grant()
    assert first.begin() and not first.begin()
    second.grant()
    second.check()
    with pytest.raises(Superseded):
        first.check()
    revoke_claims(tmp_path)
    with pytest.raises(Superseded):
        second.check()
    revoke_claims(tmp_path / "absent")


def test_an_errand_that_is_sent_twice_is_not_run_twice(pool, tmp_path):
    pool.send(0, job(tmp_path))
    errand = pool.engine.handed[0][0]
    assert errand.claim.begin()
    with pytest.raises(RunDirError, match="sent it twice; it is not run twice"):
        run_errand(errand)


def test_an_errand_whose_run_was_given_up_before_it_began_does_nothing(pool, tmp_path, monkeypatch):
    pool.send(0, job(tmp_path))
    errand = pool.engine.handed[0][0]
    errand.claim.revoke()
    monkeypatch.setattr(errands, "run_problem", None)
    assert run_errand(errand) is None
    assert not errand.job.folder.exists()


def test_a_machine_without_the_run_directory_says_so(pool, tmp_path):
    pool.send(0, job(tmp_path))
    errand = pool.engine.handed[0][0]
    pool.close()
    with pytest.raises(RunDirError, match="on storage that all machines share"):
        run_errand(errand)


@pytest.mark.parametrize("text", ["slurm:here", "dask", "parsl:", "ray:x"])
def test_a_backend_is_an_engine_and_a_place(text):
    with pytest.raises(UsageError, match=r"write parsl:CONFIG\.py or dask:ADDRESS"):
        open_engine(text)


def test_an_engine_that_is_not_installed_is_named_with_its_extra(monkeypatch, tmp_path):
    def absent(name):
        raise ImportError(f"No module named '{name}'")

    monkeypatch.setattr("importlib.import_module", absent)
    with pytest.raises(UsageError, match=r"needs `pip install 'scisolve-batch\[dask\]'`"):
        open_engine("dask:tcp://127.0.0.1:1")


@pytest.mark.parametrize("address", ["nowhere", "tcp://host", "tcp://host:", "a b:1", ""])
def test_what_is_no_address_of_a_scheduler_is_said_before_anything_is_loaded(address):
    with pytest.raises(UsageError, match="dask:"):
        open_engine(f"dask:{address}")
