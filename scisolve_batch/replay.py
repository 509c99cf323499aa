"""Run recorded cells again in a fresh session and compare what they print.

Numbers count as the same within the digits they were printed with, except for the last one;
times, addresses and paths are not compared. Nothing that was recorded is changed.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from scisolve_batch.errors import SessionError
from scisolve_batch.executor.base import ExecutionLimits, SessionSource, SessionSpec
from scisolve_batch.records import Limits, Problem
from scisolve_batch.rundir import ProblemDir

_VOLATILE = re.compile(
    r"0x[0-9a-fA-F]{4,}"  # addresses
    r"|/[\w.\-/]+"  # paths
    r"|\d+(?:\.\d+)?(?:e-?\d+)?\s?(?:ns|us|µs|ms|s|sec|seconds)\b"  # times
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


DOUBLE_NOISE = Decimal("1e-15")
"""Relative difference of two doubles a few units in the last place apart."""


@dataclass(frozen=True, slots=True)
class CellReplay:
    """One recorded cell, run again.

    Attributes:
        index: number of the cell.
        verdict: `reproduced`, `differs` or `not_run`.
        detail: the first line that differs, or why it was not run.
    """

    index: int
    verdict: str
    detail: str = ""


def same_output(before: str, now: str) -> str:
    """Compare two outputs; the empty string when they are the same, else the first difference."""
    lines_before, lines_now = before.splitlines(), now.splitlines()
    for number, (old, new) in enumerate(zip(lines_before, lines_now, strict=False), 1):
        if not _same_line(old, new):
            return f"line {number}: {old.strip()[:60]!r} -> {new.strip()[:60]!r}"
    if len(lines_before) != len(lines_now):
        return f"{len(lines_before)} lines -> {len(lines_now)} lines"
    return ""


def _same_line(old: str, new: str) -> bool:
    if old == new:
        return True
    old, new = _VOLATILE.sub("*", old), _VOLATILE.sub("*", new)
    if _NUMBER.sub("#", old) != _NUMBER.sub("#", new):
        return False
    pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    return all(_same_number(a, b) for a, b in pairs)


def _same_number(a: str, b: str) -> bool:
    """Equal within one unit of the last digit that the coarser of the two shows.

    A double has no more than 16 digits that mean anything, whatever was printed.
    """
    one, two = Decimal(a), Decimal(b)
    unit = Decimal(1).scaleb(max(_exponent(one), _exponent(two)))
    unit = max(unit, DOUBLE_NOISE * abs(one))
    return abs(one - two) <= unit if "." in a + b or "e" in (a + b).lower() else one == two


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def replay_problem(
    folder: ProblemDir, problem: Problem, *, source: SessionSource, limits: Limits, seed: int
) -> list[CellReplay]:
    """Run every recorded cell of a problem again, in order, in one fresh session.

    Args:
        folder: the recorded problem.
        problem: the problem, for its data files and limits.
        source: where the session comes from.
        limits: the run's limits.
        seed: the recorded seed.
    """
    recorded = folder.read_cells()
    own = limits.model_copy(update=problem.limits.model_dump(exclude_none=True))
    with tempfile.TemporaryDirectory(prefix="replay-") as place:
        again = ProblemDir(Path(place))
        again.prepare(problem)
        spec = SessionSpec(
            workdir=again.work,
            figures=again.figures,
            seed=seed,
            limits=ExecutionLimits(
                cell_s=own.cell_s,
                memory_mb=own.memory_mb,
                output_bytes=own.output_kb * 1024,
            ),
        )
        try:
            session = source.open(spec)
        except SessionError as error:
            return [CellReplay(cell.index, "not_run", str(error)) for cell in recorded]
        try:
            results = []
            for cell in recorded:
                now = session.run(cell.code)
                if now.status is not cell.status:
                    detail = f"{cell.status.value} -> {now.status.value}"
                else:
                    detail = same_output(cell.stdout, now.stdout)
                verdict = "differs" if detail else "reproduced"
                results.append(CellReplay(cell.index, verdict, detail))
            return results
        except SessionError as error:
            rest = recorded[len(results) :]
            return results + [CellReplay(cell.index, "not_run", str(error)) for cell in rest]
        finally:
            session.close()
