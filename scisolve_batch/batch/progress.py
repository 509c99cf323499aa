"""What a person sees of a running batch: a bar on a terminal, a line per problem elsewhere.

All on standard error, so that results can be piped.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import time
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from scisolve_batch.batch.worker import Settled
from scisolve_batch.records import RunningProblem, StopReason

if TYPE_CHECKING:
    from tqdm import tqdm


SILENCE_S = 30.0
"""Without a terminal, a silence this long is broken by a line."""


class Progress(Protocol):
    """Hears how a batch goes."""

    def begun(self, running: RunningProblem) -> None:
        """A worker has a problem."""
        ...

    def settled(self, result: Settled) -> None:
        """A problem has its record."""
        ...

    def say(self, text: str) -> None:
        """Something else to tell."""
        ...

    def pulse(self, running: Sequence[RunningProblem]) -> None:
        """About a second passed, with these problems at work."""
        ...

    def close(self) -> None:
        """The batch is over."""
        ...


def describe(result: Settled) -> str:
    """One line about a settled problem."""
    name = result.attempt.problem_id
    if result.attempt.sample > 1:
        name += f" (sample {result.attempt.sample})"
    words = []
    if result.stop_reason is StopReason.FINISHED:
        words.append("grounded" if result.grounded else "UNGROUNDED")
        if result.ungrounded:
            words.append("(" + ", ".join(result.ungrounded[:3]) + ")")
        if not result.verified:
            words.append("unverified")
        if result.correct is not None:
            words.append("correct" if result.correct else "WRONG")
    else:
        words.append(f"unfinished: {result.stop_reason.value}")
        if result.failure:
            words.append(
                f"({result.failure.kind}: {result.failure.message.splitlines()[-1][:100]})"
            )
    return f"{name:<36} {' '.join(words)}  {result.duration_s:.1f} s"


def describe_running(running: Sequence[RunningProblem], *, now: float, most: int = 3) -> str:
    """What is being waited for, longest first: `nist-filip: model 41 s, ...`."""
    longest = sorted(running, key=lambda item: item.since)
    words = [
        f"{item.problem_id}: {item.doing} {max(0.0, now - item.since):.0f} s"
        for item in longest[:most]
    ]
    if len(longest) > most:
        words.append(f"and {len(longest) - most} more")
    return ", ".join(words)


class Lines:
    """One plain line per settled problem, and one now and then when nothing is settled."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total, self._stream, self._count = total, stream, 0
        self._spoke = time()

    def begun(self, running: RunningProblem) -> None:
        """Nothing to say yet."""

    def settled(self, result: Settled) -> None:
        """Write the problem's line."""
        self._count += 1
        width = len(str(self._total))
        self.say(f"[{self._count:>{width}}/{self._total}] {describe(result)}")

    def say(self, text: str) -> None:
        """Write a line."""
        self._spoke = time()
        print(text, file=self._stream, flush=True)

    def pulse(self, running: Sequence[RunningProblem]) -> None:
        """Break a long silence, so that nobody takes the run for dead."""
        if running and time() - self._spoke >= SILENCE_S:
            self.say(f"waiting for {describe_running(running, now=time())}")

    def close(self) -> None:
        """Nothing to do."""


class Bar:
    """A tqdm bar with the counts that matter."""

    def __init__(self, total: int, stream: TextIO) -> None:
        from tqdm import tqdm  # noqa: PLC0415 - only a terminal needs it

        tqdm.monitor_interval = 0  # its monitor is a thread, and this process forks
        self._bar: tqdm[Any] = tqdm(
            total=total, file=stream, unit="problem", dynamic_ncols=True, smoothing=0.05
        )
        self._grounded = self._correct = self._graded = 0

    def begun(self, running: RunningProblem) -> None:
        """The bar moves when it ends."""

    def settled(self, result: Settled) -> None:
        """Move the bar; a problem that is not as it should be gets a line."""
        self._grounded += result.grounded
        if result.correct is not None:
            self._graded += 1
            self._correct += result.correct
        if not result.grounded or result.correct is False:
            self.say(describe(result))
        self._bar.update()

    def pulse(self, running: Sequence[RunningProblem]) -> None:
        """Say on the bar what is being waited for longest."""
        counts = f"grounded {self._grounded}, correct {self._correct}/{self._graded}"
        waiting = describe_running(running, now=time(), most=1)
        self._bar.set_postfix_str(", ".join(part for part in (counts, waiting) if part))

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self._bar.write(text, file=self._bar.fp)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bar.close()


class Silence:
    """Nothing at all."""

    def begun(self, running: RunningProblem) -> None:
        """Hear it."""

    def settled(self, result: Settled) -> None:
        """Hear it."""

    def say(self, text: str) -> None:
        """Hear it."""

    def pulse(self, running: Sequence[RunningProblem]) -> None:
        """Hear it."""

    def close(self) -> None:
        """Hear it."""


def open_progress(total: int, *, quiet: bool = False, stream: TextIO | None = None) -> Progress:
    """The progress display that fits the stream (standard error)."""
    stream = stream if stream is not None else sys.stderr
    if quiet:
        return Silence()
    return Bar(total, stream) if stream.isatty() else Lines(total, stream)
