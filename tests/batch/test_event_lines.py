"""Events for programs: their words, and a reader that goes away."""

import io
import json

from scisolve_batch.batch.event_lines import EventLines
from scisolve_batch.batch.progress import Silence
from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.batch.worker import Settled
from scisolve_batch.records import Failure, RunningProblem, StopReason, Usage


def result(**changed):
    content = {
        "attempt": Attempt("p", 2, 1), "stop_reason": StopReason.FINISHED, "failure": None,
        "grounded": True, "verified": True, "correct": None, "ungrounded": (),
        "usage": Usage(input_tokens=10, output_tokens=5), "duration_s": 1.23456, "digest": "d",
    }  # fmt: skip
    return Settled(**{**content, **changed})


def lines(stream):
    found = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert all(one.pop("at").endswith("Z") for one in found)
    return found


def test_each_start_and_each_end_is_a_line_in_the_words_of_the_records():
    stream = io.StringIO()
    events = EventLines(stream, Silence())
    events.begun(RunningProblem(problem_id="p", sample=2, attempt=1, worker=3, doing="start",
                                since=0.0, started=0.0))  # fmt: skip
    events.settled(result())
    failure = Failure(kind="worker_lost", message="wörker")
    events.settled(result(stop_reason=StopReason.SESSION_LOST, failure=failure))
    named = {"problem_id": "p", "sample": 2, "attempt": 1}
    assert lines(stream) == [
        {"event": "started", **named, "worker": 3},
        {"event": "finished", **named, "grounded": True, "verified": True, "correct": None,
         "ungrounded": [], "tokens": 15, "duration_s": 1.235},
        {"event": "unfinished", **named, "stop_reason": "session_lost",
         "failure": {"kind": "worker_lost", "message": "wörker"}, "tokens": 15, "duration_s": 1.235},
    ]  # fmt: skip


def test_a_reader_that_goes_away_does_not_end_the_run():
    class Gone(io.StringIO):
        tries = 0

        def write(self, text):
            self.tries += 1
            raise BrokenPipeError

    stream = Gone()
    events = EventLines(stream, Silence())
    events.settled(result())
    events.settled(result())
    assert stream.tries == 1
