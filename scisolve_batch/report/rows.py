"""From a run directory to the rows of a report's tables, in plain Python.

Anything a run directory may hold is read without raising: a record that is absent, torn or of
an unknown form becomes a row that says so. It loads no numpy, pandas or pyarrow.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from scisolve_batch.records import (
    FAILING,
    CertifiedValue,
    Literal,
    Manifest,
    Problem,
    Solution,
    Usage,
)
from scisolve_batch.report.results import SCRIPTED, Result, read_results, read_text
from scisolve_batch.report.schema import SCHEMA_VERSION, TABLES
from scisolve_batch.rundir import RunDir

NEAR = 0.8
"""A limit counts as nearly reached above this share of it."""

KEY = ("run_id", "problem_id", "sample")
"""What names a sample in every table."""

_AROUND = 48  # characters of the answer shown on each side of a number


class Rows:
    """The rows of one table, kept by column."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in names}
        self._adders = [(name, column.append) for name, column in self.columns.items()]

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; it names every column."""
        for name, append in self._adders:
            append(row[name])

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = tuple(self.columns)
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def row(self, number: int) -> dict[str, Any]:
        """One row by its number, from 0."""
        return {name: column[number] for name, column in self.columns.items()}


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for reference cycles while many rows, which hold none, are made.

    Searching the growing heap again and again takes a quarter of the time of a large report.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


Tables = dict[str, Rows]
"""Every table of a report by name."""


def collect(run: RunDir, *, texts: bool = True) -> Tables:
    """Read a run directory into the rows of all tables.

    Args:
        run: the run.
        texts: also read the code and the output of the cells; otherwise they are missing.
    """
    tables = {name: Rows(table.names) for name, table in TABLES.items()}
    tables["runs"].add(run_row(run.manifest))
    for result in read_results(run):
        add_result(tables, run.manifest, result, texts=texts)
    return tables


def add_result(tables: Tables, manifest: Manifest, result: Result, *, texts: bool = True) -> None:
    """Add one sample to every table it appears in."""
    key = {
        "run_id": manifest.run_id,
        "problem_id": result.planned.problem_id,
        "sample": result.planned.sample,
    }
    tables["solutions"].add(key | _solution_row(manifest, result))
    if result.solution is None:
        return
    parts = {
        "literals": _literal_rows(result.solution),
        "cells": _cell_rows(result, texts=texts),
        "values": _value_rows(result),
        "turns": _turn_rows(result.solution),
    }
    for name, rows in parts.items():
        for row in rows:
            row.update(key)
            tables[name].add(row)


def read_time(text: str) -> datetime | None:
    """A time as the records write it, in UTC; None when it is none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def run_row(manifest: Manifest) -> dict[str, Any]:
    """The row of a run."""
    suite, limits = manifest.suite, manifest.limits
    return {
        "run_id": manifest.run_id,
        "created_at": read_time(manifest.created_at),
        "suite_id": suite.id,
        "suite_version": suite.version,
        "suite_title": suite.title,
        "suite_digest": suite.digest,
        "suite_pin": suite.pin,
        "model": manifest.model,
        "scripted": manifest.model == SCRIPTED,
        "grounding": manifest.grounding,
        "seed": manifest.seed,
        "jobs": manifest.jobs,
        "problems": len({planned.problem_id for planned in manifest.planned}),
        "planned": len(manifest.planned),
        "max_turns": limits.max_turns,
        "max_output_tokens": limits.max_output_tokens,
        "max_tokens": limits.max_tokens,
        "problem_limit_s": limits.problem_s,
        "cell_limit_s": limits.cell_s,
        "memory_mb": limits.memory_mb,
        "output_kb": limits.output_kb,
        "platform": manifest.platform,
        "versions": json.dumps(manifest.versions, sort_keys=True),
        "isolation": json.dumps(manifest.isolation, sort_keys=True, default=str),
        "run_format": manifest.format,
        "schema_version": SCHEMA_VERSION,
    }


def _tokens(usage: Usage) -> dict[str, int | None]:
    return {name: getattr(usage, name) for name in Usage.model_fields}


def _solution_row(manifest: Manifest, result: Result) -> dict[str, Any]:
    problem = result.problem
    about = {
        "suite_id": manifest.suite.id,
        "model": manifest.model,
        "problem_digest": result.planned.digest,
        "title": problem.title,
        "domain": problem.domain,
        "difficulty": problem.difficulty,
        "tags": list(problem.tags),
        "twin_of": problem.twin_of,
        "outcome": result.outcome,
        "cause": result.cause,
        "missing": result.missing,
        "correct": result.correct,
    }
    if result.solution is None:
        return _NOTHING | {"failure_message": result.trouble or None} | about
    return _worked_row(manifest, result, result.solution) | about


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(name for name in TABLES["solutions"].names if name not in KEY),
    "finished": False,
    "traps": [],
    "failing_texts": [],
    "near_limits": [],
    "retried": False,
    **dict.fromkeys(
        ("literals", "failing_literals", "refusals", "turns", "cells", "cells_ok", "total_tokens"),
        0,
    ),
}


def _worked_row(manifest: Manifest, result: Result, solution: Solution) -> dict[str, Any]:
    check = solution.verification
    literals = solution.grounding.literals if solution.grounding else ()
    chances = [item.chance for item in literals if item.chance is not None]
    grades = solution.grade.values
    digits = [grade.correct_digits for grade in grades if grade.correct_digits is not None]
    return {
        "attempt": solution.attempt,
        "seed": solution.seed,
        "started_at": read_time(solution.started_at),
        "failure_kind": solution.failure.kind if solution.failure else None,
        "failure_message": solution.failure.message if solution.failure else None,
        "finished": solution.finished,
        "grounded": None if result.missing else solution.grounded,
        "verified": None if result.missing else solution.verified,
        "fraction": solution.grade.fraction,
        "worst_correct_digits": min(digits, default=None),
        "traps": [grade.trap for grade in grades if grade.trap],
        "answer": solution.answer,
        "verification_kind": check.kind if check else None,
        "verification_valid": check.valid if check else None,
        "verification_reason": check.reason if check else None,
        "verification_weakness": check.weakness if check else None,
        "verification_description": check.description if check else None,
        "evidence_cell": check.evidence_cell if check else None,
        "literals": len(literals),
        "failing_literals": sum(item.verdict in FAILING for item in literals),
        "failing_texts": list(solution.ungrounded),
        "expected_coincidences": sum(chances) if chances else None,
        "refusals": len(solution.refusals),
        "turns": len(solution.turns),
        "cells": len(solution.cells),
        "cells_ok": sum(cell.ok for cell in solution.cells),
        **_tokens(solution.usage),
        "total_tokens": solution.usage.total,
        "duration_s": solution.duration_s,
        "model_s": solution.model_s,
        "wait_s": solution.wait_s,
        "cell_s": solution.cell_s,
        "retried": solution.attempt > 1 or any(turn.attempts > 1 for turn in solution.turns),
        "near_limits": _near_limits(manifest, result.problem, solution),
    }


def _near_limits(manifest: Manifest, problem: Problem, solution: Solution) -> list[str]:
    limits = manifest.limits.model_copy(update=problem.limits.model_dump(exclude_none=True))
    cells = solution.cells
    used: dict[str, tuple[float, float | None]] = {
        "turns": (len(solution.turns), limits.max_turns),
        "tokens": (solution.usage.total, limits.max_tokens),
        "problem_s": (solution.duration_s - solution.wait_s, limits.problem_s),
        "cell_s": (max((cell.wall_s for cell in cells), default=0), limits.cell_s),
        "memory_mb": (max((c.peak_memory_mb or 0 for c in cells), default=0), limits.memory_mb),
    }
    near = [name for name, (part, all_) in used.items() if all_ is not None and part > NEAR * all_]
    if any(cell.stdout_dropped or cell.stderr_dropped for cell in cells):
        near.append("output_kb")
    return near


def _context(solution: Solution, literal: Literal) -> str:
    text = solution.answer or ""
    if literal.where != "answer":
        return ""
    before = text[max(0, literal.start - _AROUND) : literal.start]
    after = text[literal.end : literal.end + _AROUND]
    return " ".join((before + text[literal.start : literal.end] + after).split())


def _literal_rows(solution: Solution) -> Iterator[dict[str, Any]]:
    for number, item in enumerate(solution.grounding.literals if solution.grounding else (), 1):
        yield {
            "literal": number,
            "text": item.text,
            "where": item.where,
            "start": item.start,
            "end": item.end,
            "value": item.value,
            "verdict": item.verdict.value,
            "failing": item.verdict in FAILING,
            "reason": item.reason,
            "relation": item.relation,
            "source": item.source,
            "cell": item.cell,
            "line": item.line,
            "printed": item.printed,
            "label": item.label,
            "nearest": item.nearest,
            "chance": item.chance,
            "warnings": list(item.warnings),
            "context": _context(solution, item),
        }


def _read_cell_text(result: Result, index: int, suffix: str) -> str | None:
    return read_text(result.folder.cells / f"{index:02d}{suffix}")


def _read_nothing(suffix: str) -> None:
    """Stands for reading when no texts are asked for."""
    del suffix


def _cell_rows(result: Result, *, texts: bool) -> Iterator[dict[str, Any]]:
    solution = result.solution
    for cell in solution.cells if solution else ():
        read = partial(_read_cell_text, result, cell.index) if texts else _read_nothing
        yield {
            "cell": cell.index,
            "status": cell.status.value,
            "ok": cell.ok,
            "state": cell.state.value,
            "note": cell.note,
            "code": read(".py"),
            "stdout": read(".out"),
            "stderr": read(".err"),
            "traceback": cell.traceback,
            "stack": cell.stack,
            "wall_s": cell.wall_s,
            "cpu_s": cell.cpu_s,
            "peak_memory_mb": cell.peak_memory_mb,
            "stdout_dropped": cell.stdout_dropped,
            "stderr_dropped": cell.stderr_dropped,
            "alarms": cell.alarms,
            "snapshot": cell.snapshot,
            "threads": cell.threads,
            "integrity": cell.integrity,
            "figures": list(cell.figures),
        }


def _value_rows(result: Result) -> Iterator[dict[str, Any]]:
    certified = {value.name: value for value in result.problem.values}
    for grade in result.solution.grade.values if result.solution else ():
        known = certified.get(grade.name) or CertifiedValue(name=grade.name, value=grade.certified)
        yield {
            "domain": result.problem.domain,
            "name": grade.name,
            "certified": grade.certified,
            "reported": grade.reported,
            "unit": grade.unit,
            "verdict": grade.verdict.value,
            "how": grade.how,
            "relative_error": grade.relative_error,
            "correct_digits": grade.correct_digits,
            "claimed_digits": grade.claimed_digits,
            "certified_digits": known.digits,
            "rtol": known.rtol,
            "atol": known.atol,
            "exact": known.exact,
            "trap": grade.trap,
        }


def _turn_rows(solution: Solution) -> Iterator[dict[str, Any]]:
    for turn in solution.turns:
        yield {
            "turn": turn.index,
            "stop_reason": turn.stop_reason,
            "model": turn.model,
            **_tokens(turn.usage),
            "duration_s": turn.duration_s,
            "wait_s": turn.wait_s,
            "first_event_s": turn.first_event_s,
            "attempts": turn.attempts,
            "errors": list(turn.errors),
            "request_id": turn.request_id,
        }
