"""Says in one or two sentences what happened to a cell that did not end in the ordinary way.

The sentences are for the model: what happened, where, what became of its variables.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from scisolve_batch.executor.attempt import Outcome
from scisolve_batch.executor.base import ExecutionLimits
from scisolve_batch.records import CellStatus, SessionState

_FRAME = re.compile(r'^\s+File "(?P<file>[^"]*)", line (?P<line>\d+) in (?P<name>.+)$')
_MAIN_THREAD = re.compile(r"^Current thread|^Thread", re.MULTILINE)


def describe_end(code: int | None) -> str:
    """Put an exit code, or minus a signal's number, into words."""
    if code is None:
        return "its process ended"
    if code >= 0:
        return f"its process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"its process was ended by {name}"


def locate(stack: str, *, index: int) -> str:
    """Name where a cell was when its stack was taken: `in line 3, inside numpy.linalg.svd`.

    The stack is faulthandler's, innermost frame first. Empty when the cell is not in it.
    """
    inner = ""
    for line in stack.splitlines():
        if _MAIN_THREAD.match(line):
            inner = ""
            continue
        frame = _FRAME.match(line)
        if frame is None:
            continue
        if frame["file"] == f"<cell {index}>":
            place = f"in line {frame['line']}"
            return f"{place}, inside {inner}" if inner else place
        inner = _dotted_name(frame["file"], frame["name"])
    return ""


def _dotted_name(file: str, function: str) -> str:
    """Name a library's function the way a user calls it; private parts are left out."""
    path = re.sub(r"^.*/(?:site-packages|dist-packages|python3\.\d+)/", "", file)
    if path == file:
        return function
    parts = [part for part in path.removesuffix(".py").split("/") if not part.startswith("_")]
    return ".".join([*parts, function])


def explain(
    outcome: Outcome,
    *,
    index: int,
    limits: ExecutionLimits,
    state: SessionState,
    rebuilt: str = "",
    threads_gone: Sequence[str] = (),
) -> str:
    """Write a cell's note; empty after an ordinary end.

    Args:
        outcome: what is known about the cell.
        index: its number.
        limits: what it was allowed.
        state: what became of the variables.
        rebuilt: how they were rebuilt, or why they could not be.
        threads_gone: names of the threads that the restored session lacks.
    """
    sentences = [_what_happened(outcome, index=index, limits=limits)]
    if sentences[0] and outcome.status is not CellStatus.EXIT:
        sentences.append(_what_became(state, rebuilt=rebuilt))
    if threads_gone:
        sentences.append(f"These threads are gone: {', '.join(threads_gone)}.")
    sentences += [f"{problem[:1].upper()}{problem[1:]}." for problem in outcome.problems]
    if outcome.violations:
        found = ", ".join(dict.fromkeys(outcome.violations))
        sentences.append(
            f"The session's own connection was tampered with ({found}); "
            "its output does not count as evidence from here on."
        )
    return " ".join(sentence for sentence in sentences if sentence)


def _what_happened(  # noqa: PLR0911 - one line per status
    outcome: Outcome, *, index: int, limits: ExecutionLimits
) -> str:
    place = locate(outcome.stack, index=index)
    where = f" {place}" if place else ""
    match outcome.status:
        case CellStatus.SOFT_TIMEOUT:
            return f"The cell was interrupted: {_soft_limit(outcome, limits)}."
        case CellStatus.HARD_TIMEOUT | CellStatus.CPU_LIMIT:
            return f"The cell was killed after {outcome.reason}{where}; {_why_not_softly(outcome)}."
        case CellStatus.RESOURCE_LIMIT:
            return f"The cell was killed because it used {outcome.reason}."
        case CellStatus.MEMORY:
            return f"The cell ran out of memory; {limits.memory_mb} MiB are allowed."
        case CellStatus.CRASH:
            if outcome.reason:
                return f"The cell crashed: {outcome.reason}."
            return f"The cell crashed: {describe_end(outcome.end.code if outcome.end else None)}."
        case CellStatus.PROTOCOL:
            return f"The cell was ended because its process sent {outcome.reason}."
        case CellStatus.EXIT:
            return "The cell called sys.exit; the session goes on with its variables."
        case _:
            return ""


def _soft_limit(outcome: Outcome, limits: ExecutionLimits) -> str:
    if "on the clock" in outcome.traceback:
        return f"it took more than {limits.wall_ceiling_s:g} s on the clock"
    return f"it used more than {limits.cell_s:g} s of processor time"


def _why_not_softly(outcome: Outcome) -> str:
    if outcome.alarms:
        return (
            f"its code swallowed the interruption {outcome.alarms} times "
            "(do not catch BaseException)"
        )
    return "compiled code or a blocking call could not be interrupted"


def _what_became(state: SessionState, *, rebuilt: str) -> str:
    match state:
        case SessionState.KEPT:
            return "Variables are as the cell left them."
        case SessionState.RESTORED:
            return "Variables are as they were before the cell; files are not rolled back."
        case SessionState.REPLAYED:
            return (
                "Variables were rebuilt by running the earlier cells again, "
                "and these printed the same as before."
            )
        case SessionState.REPLAY_DIFFERS:
            return f"Variables were rebuilt by running the earlier cells again, but {rebuilt}."
        case _:
            reason = f" ({rebuilt})" if rebuilt else ""
            return (
                f"All variables are lost{reason}: the session starts anew with only the "
                "ready-made imports. Run again what you need."
            )
