"""Waves of requests, told as events: who asks, what the courier says, who is answered."""

import json

import pytest

from scisolve_batch.batch.courier import Absent, Failed, Results, Taken
from scisolve_batch.batch.mail import Mail
from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.errors import ModelError, ScisolveError
from scisolve_batch.model.base import NoReply, Reply
from scisolve_batch.model.waves import Letter
from scisolve_batch.records import (
    JournalEvent,
    Manifest,
    PlannedProblem,
    Problem,
    Solution,
    StopReason,
    SuiteRef,
    Turn,
)
from scisolve_batch.rundir import RunDir

MESSAGE = {
    "model": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Hello"}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}  # fmt: skip
GOOD = {"type": "succeeded", "message": MESSAGE}
BUSY = {"type": "errored", "error": {"error": {"type": "overloaded_error", "message": "busy"}}}
WRONG = {"type": "errored", "error": {"error": {"type": "invalid_request_error", "message": "no"}}}


class FakeCourier:
    """Keeps what it is told to do; says what a test lets it say."""

    def __init__(self):
        self.told, self.pending = [], []

    def send(self, deliveries):
        self.told += deliveries

    def news(self):
        said, self.pending = self.pending, []
        return said


def letter(text, turn=1):
    return Letter(turn, {"model": "m", "max_tokens": 9, "messages": [text]})


@pytest.fixture
def run(tmp_path):
    ids = ("a", "b", "c")
    manifest = Manifest(
        run_id="r", created_at="t", suite=SuiteRef(id="s", digest="d"),
        planned=tuple(PlannedProblem(problem_id=name, digest="d") for name in ids),
        problems=tuple(Problem(id=name, statement="?") for name in ids),
    )  # fmt: skip
    with RunDir.create(tmp_path / "r", manifest) as made:
        yield made


@pytest.fixture
def open_mail(run):
    """A mail for the run as it is on disk now; a second one goes on after the first was killed."""

    def make(**options):
        mail = Mail(run, FakeCourier(), lambda text: None, **{"most_active": 9, **options})
        mail.recover()
        return mail

    return make


def ask(mail, worker, text, *, problem="a", attempt=1, turn=1):
    mail.asked(worker, Attempt(problem, 1, attempt), letter(text, turn), now=0.0)


def bring(mail, *results, number=None, running, taken=True):
    """The batch that was told last comes back with these results, in the order of its requests."""
    delivery = mail.courier.told[-1] if number is None else mail.courier.told[number]
    batch = f"msgbatch_{delivery.number}"
    lines = [
        json.dumps({"custom_id": name, "result": result})
        for name, result in zip(delivery.ids, results, strict=True)
    ]
    mail.courier.pending += [
        *([Taken(delivery.number, batch)] if taken else []),
        Results(delivery.number, batch, "\n".join(reversed(lines)).encode()),
    ]
    return mail.step(running, complete=False)


def test_a_wave_goes_out_when_every_running_problem_waits_and_none_is_about_to_start(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    assert mail.step({0, 1}, complete=True) == [] and not mail.courier.told
    ask(mail, 1, "y", problem="b")
    assert mail.step({0, 1}, complete=False) == [] and not mail.courier.told
    mail.step({0, 1}, complete=True)
    (delivery,) = mail.courier.told
    assert [one["params"]["messages"] for one in delivery.requests] == [["x"], ["y"]]
    mail.step({0, 1}, complete=True)
    assert len(mail.courier.told) == 1, "one wave at a time"
    dealt = bring(mail, GOOD, GOOD, running={0, 1})
    assert [worker for worker, _ in dealt] == [0, 1]
    assert all(reply.text == "Hello" and reply.batch == "msgbatch_1" for _, reply in dealt)


def test_no_more_problems_compute_at_a_time_than_there_are_processors(open_mail):
    mail = open_mail(most_active=2)
    for worker in range(5):
        ask(mail, worker, f"x{worker}", problem="a")
        mail.waiting[worker].attempt = Attempt("a", worker + 1)
    running = set(range(5))
    mail.step(running, complete=True)
    assert [worker for worker, _ in bring(mail, *[GOOD] * 5, running=running)] == [0, 1]
    ask(mail, 0, "next", turn=2)
    assert [worker for worker, _ in mail.step(running, complete=True)] == [2]
    assert len(mail.courier.told) == 1, "the next wave waits for all"


def test_what_the_service_could_not_do_goes_out_again_with_the_next_wave(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    ask(mail, 1, "y", problem="b")
    mail.step({0, 1}, complete=True)
    assert [worker for worker, _ in bring(mail, BUSY, GOOD, running={0, 1})] == [1]
    ask(mail, 1, "z", problem="b", turn=2)
    mail.step({0, 1}, complete=True)
    dealt = dict(bring(mail, {"type": "expired"}, GOOD, running={0, 1}))
    assert list(dealt) == [1]
    mail.ended(1, Attempt("b"), recorded=True)
    mail.step({0}, complete=True)
    assert mail.courier.told[-1].known == ("msgbatch_1", "msgbatch_2")
    ((worker, reply),) = bring(mail, GOOD, running={0})
    assert (worker, reply.attempts, reply.errors) == (0, 3, ("overloaded", "overloaded"))


def test_what_can_never_be_answered_fails_at_once_and_anything_after_five_tries(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    ((_, answer),) = bring(mail, WRONG, running={0})
    assert isinstance(answer, NoReply) and answer.kind == "invalid"
    ask(mail, 0, "y")
    for _ in range(5):
        mail.step({0}, complete=True)
        dealt = bring(mail, BUSY, running={0})
    ((_, answer),) = dealt
    assert (answer.kind, answer.attempts) == ("overloaded", 5)


def test_a_canceled_batch_fails_each_of_its_requests_in_a_way_that_ends_the_run(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    ((_, answer),) = bring(mail, {"type": "canceled"}, running={0})
    assert answer.fatal and "resume the run" in answer.what


def test_an_attempt_that_is_lost_leaves_its_answers_to_the_next_one(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    bring(mail, GOOD, running={0})
    mail.ended(0, Attempt("a"), recorded=False)
    ask(mail, 7, "x", attempt=2)
    ((worker, _),) = mail.step({7}, complete=True)
    assert worker == 7 and len(mail.courier.told) == 1, "paid once"
    mail.ended(7, Attempt("a", 1, 2), recorded=True)
    ask(mail, 8, "x", attempt=3)
    assert mail.step({8}, complete=True) == []
    assert len(mail.courier.told) == 2, "what a record accounts for is asked anew"


def test_an_answer_that_comes_after_its_asker_was_killed_is_not_lost(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    mail.ended(0, Attempt("a"), recorded=False)
    assert bring(mail, GOOD, running=set()) == []
    ask(mail, 1, "x", attempt=2)
    assert len(mail.step({1}, complete=True)) == 1


def test_each_batch_is_on_disk_before_it_is_handed_over_and_in_the_journal_once_taken(
    open_mail, run
):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    content = json.loads((run.path / "batches/0001.json").read_text())
    assert [one["custom_id"] for one in content["requests"]] == list(mail.courier.told[0].ids)
    bring(mail, GOOD, running={0})
    (line,) = [line for line in run.journal() if line.event is JournalEvent.BATCH]
    assert line.detail == "0001 msgbatch_1"
    assert b"Hello" in (run.path / "batches/0001.jsonl").read_bytes()


@pytest.mark.parametrize("killed", ["before the id came", "before the results came", "after"])
def test_a_run_that_was_killed_pays_no_turn_twice(open_mail, run, killed):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    if killed != "before the id came":
        mail.courier.pending.append(Taken(1, "msgbatch_1"))
        mail.step({0}, complete=False)
    if killed == "after":
        bring(mail, GOOD, running={0}, taken=False)

    again = open_mail()
    ask(again, 0, "x", attempt=2)
    dealt = again.step({0}, complete=True)
    if killed != "after":
        (delivery,) = again.courier.told
        assert delivery.requests is None, "it is brought, not handed over again"
        assert delivery.batch == (None if killed == "before the id came" else "msgbatch_1")
        assert dealt == []
        dealt = bring(again, GOOD, running={0})
    assert [worker for worker, _ in dealt] == [0]
    assert isinstance(dealt[0][1], Reply)


def test_a_batch_that_was_never_taken_is_asked_after_the_service_said_so(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    again = open_mail()
    ask(again, 0, "x", attempt=2)
    again.step({0}, complete=True)
    again.courier.pending.append(Absent(1))
    again.step({0}, complete=True)
    assert [one.requests is not None for one in again.courier.told] == [False, True]
    assert again.courier.told[-1].number == 2
    assert open_mail().courier.told[0].number == 2, "the first is settled for good"


def test_turns_that_a_record_accounts_for_are_not_served_again(open_mail, run):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    bring(mail, GOOD, running={0})
    folder = run.problem("a")
    folder.prepare(run.manifest.problems[0])
    turns = (Turn(index=1, stop_reason="end_turn"),)
    folder.write_solution(
        Solution(problem_id="a", model="m", stop_reason=StopReason.MODEL_ERROR, turns=turns)
    )
    again = open_mail()
    folder.set_aside(1)
    ask(again, 0, "x", attempt=2)
    again.step({0}, complete=True)
    assert len(again.courier.told) == 1 and again.courier.told[0].requests


def test_a_refused_hand_over_fails_all_its_requests(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    ask(mail, 1, "y", problem="b")
    mail.step({0, 1}, complete=True)
    refused = ModelError("the service refuses the key", kind="auth", fatal=True)
    mail.courier.pending.append(Failed(1, refused, taken=False))
    dealt = mail.step({0, 1}, complete=False)
    assert [(worker, answer.kind, answer.fatal) for worker, answer in dealt] == [
        (0, "auth", True), (1, "auth", True),
    ]  # fmt: skip
    assert open_mail().courier.told == [], "there is nothing to look for"


def test_after_an_unsure_hand_over_the_resumed_run_looks_for_the_batch(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    unsure = ModelError("no answer in time", kind="timeout", retryable=True)
    mail.courier.pending.append(Failed(1, unsure, taken=False))
    assert len(mail.step({0}, complete=False)) == 1
    (delivery,) = open_mail().courier.told
    assert delivery.requests is None and delivery.batch is None


def test_paid_answers_that_cannot_be_fetched_now_end_the_run_and_are_kept(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    down = ModelError("the service cannot be reached", kind="connection", retryable=True)
    mail.courier.pending += [Taken(1, "msgbatch_1"), Failed(1, down, taken=True)]
    with pytest.raises(ScisolveError, match=r"msgbatch_1 cannot be fetched.*Resume the run later"):
        mail.step({0}, complete=False)
    assert open_mail().courier.told[0].batch == "msgbatch_1"


def test_a_batch_that_became_too_old_is_asked_again(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    mail.step({0}, complete=True)
    mail.courier.pending.append(Taken(1, "msgbatch_1"))
    mail.step({0}, complete=False)
    again = open_mail()
    gone = ModelError("no such batch", kind="not_found", fatal=True)
    again.courier.pending += [Taken(1, "msgbatch_1"), Failed(1, gone, taken=True)]
    ask(again, 0, "x", attempt=2)
    again.step({0}, complete=True)
    assert again.courier.told[-1].requests


def test_waiting_is_announced_so_that_no_deadline_passes_meanwhile(open_mail):
    mail = open_mail()
    ask(mail, 0, "x")
    assert list(mail.waits(0.5)) == []
    assert list(mail.waits(30.0)) == [(0, 30.0)]
    assert list(mail.waits(100.0)) == [(0, 70.0)]


def test_a_courier_that_died_is_said_once_everything_it_had_said_is_heard():
    import multiprocessing

    from scisolve_batch.batch.courier import Courier

    courier = Courier.__new__(Courier)
    courier.pipe, theirs = multiprocessing.get_context("fork").Pipe()
    theirs.send(Taken(1, "b"))
    theirs.close()
    assert courier.news() == [Taken(1, "b")]
    with pytest.raises(ScisolveError, match="resume the run"):
        courier.news()
    courier.pipe.close()
