"""A run as lines of JSON, for programs: one object for each start and each end of a problem.

The words are those of the records. A reader that goes away does not end the run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from scisolve_batch.batch.progress import Progress
from scisolve_batch.batch.worker import Settled, utc_now
from scisolve_batch.records import RunningProblem, StopReason


class EventLines:
    """Writes an event a line, and passes everything on to the display that people see.

    Args:
        stream: where the lines go.
        display: what people see.
    """

    def __init__(self, stream: TextIO, display: Progress) -> None:
        self._stream: TextIO | None = stream
        self._display = display

    def write(self, event: str, **content: Any) -> None:
        """Write one event, with the time."""
        if self._stream is None:
            return
        line = json.dumps({"event": event, "at": utc_now(), **content}, ensure_ascii=True)
        try:
            print(line, file=self._stream, flush=True)
        except OSError:  # nobody reads any more; everything is on disk
            self._stream = None

    def begun(self, running: RunningProblem) -> None:
        """`started`: a worker has a problem."""
        named = running.model_dump(include={"problem_id", "sample", "attempt", "worker"})
        self.write("started", **named)
        self._display.begun(running)

    def settled(self, result: Settled) -> None:
        """`finished` with what the checks say, or `unfinished` with the cause."""
        named = dict(zip(("problem_id", "sample", "attempt"), result.attempt, strict=True))
        spent = {"tokens": result.usage.total, "duration_s": round(result.duration_s, 3)}
        if result.stop_reason is StopReason.FINISHED:
            self.write(
                "finished",
                **named,
                grounded=result.grounded,
                verified=result.verified,
                correct=result.correct,
                ungrounded=list(result.ungrounded),
                **spent,
            )
        else:
            failure = result.failure.model_dump() if result.failure else None
            reason = result.stop_reason.value
            self.write("unfinished", **named, stop_reason=reason, failure=failure, **spent)
        self._display.settled(result)

    def say(self, text: str) -> None:
        """For people only."""
        self._display.say(text)

    def pulse(self, running: Sequence[RunningProblem]) -> None:
        """For people only; programs read `status.json`."""
        self._display.pulse(running)

    def close(self) -> None:
        """No problem ends any more. The command writes `run_ended` when it knows the sum."""
        self._display.close()

    def begin_run(self, total: int, *, path: Path) -> None:
        """`run_started`: how many samples are to be settled, and where."""
        self.write("run_started", run=str(path), total=total)

    def end_run(self, *, path: Path, unfinished: int, summary: Any) -> None:
        """`run_ended`: how many samples are left for another time, and the summary."""
        self.write("run_ended", run=str(path), left=unfinished, summary=summary)
