"""Records made by hand: every number in them is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scisolve_batch.records import (
    Cell,
    CertifiedValue,
    Grade,
    Grounding,
    GroundingVerdict,
    Limits,
    Literal,
    Manifest,
    PlannedProblem,
    Problem,
    ReportedValue,
    Solution,
    StopReason,
    SuiteRef,
    Turn,
    Usage,
    ValueGrade,
    ValueVerdict,
    Verdict,
    Verification,
)


def problem(name: str = "p1", **fields: Any) -> Problem:
    known: dict[str, Any] = {
        "statement": f"Compute {name} with n = 100.",
        "title": f"About {name}",
        "domain": "ode",
        "difficulty": 2,
        "tags": ("easy",),
        "values": (CertifiedValue(name="x", value="3.14159265", digits=9, rtol=1e-6),),
        "digest": f"digest-{name}",
    }
    return Problem(id=name, **(known | fields))


def literal(text: str, verdict: Verdict = Verdict.GROUNDED, **fields: Any) -> Literal:
    known: dict[str, Any] = {"start": 4, "end": 4 + len(text), "value": text}
    if verdict is Verdict.GROUNDED:
        known |= {"source": "cell", "cell": 1, "line": 1, "printed": text, "relation": "exact"}
    return Literal(text=text, verdict=verdict, **(known | fields))


def solved(
    name: str = "p1",
    *,
    grounded: bool = True,
    correct: bool | None = True,
    kind: str | None = "analytic",
    valid: bool = True,
    **fields: Any,
) -> Solution:
    """A finished solution: `x = 3.1415927`, or with 2.718 that nothing supports."""
    literals = [literal("3.1415927", chance=0.001, label="x")]
    answer = "x = 3.1415927"
    if not grounded:
        answer += " and 2.718"
        literals.append(
            literal("2.718", Verdict.UNGROUNDED, start=18, end=23, reason="absent", nearest="2.5")
        )
    verdict = GroundingVerdict.GROUNDED if grounded else GroundingVerdict.UNGROUNDED
    grades: tuple[ValueGrade, ...] = ()
    if correct is not None:
        grades = (
            ValueGrade(
                name="x",
                certified="3.14159265",
                reported="3.1415927",
                verdict=ValueVerdict.CORRECT if correct else ValueVerdict.WRONG,
                how="structured",
                relative_error=1.6e-8 if correct else 0.1,
                correct_digits=7.8 if correct else 1.0,
                claimed_digits=8,
                trap=None if correct else "float32",
            ),
        )
    known: dict[str, Any] = {
        "problem_digest": f"digest-{name}",
        "model": "scripted",
        "seed": 7,
        "started_at": "2026-09-16T10:23:45Z",
        "stop_reason": StopReason.FINISHED,
        "answer": answer,
        "values": (ReportedValue(name="x", value="3.1415927"),),
        "verification": Verification(kind=kind, description="by hand", evidence_cell=1, valid=valid)
        if kind
        else None,
        "grounding": Grounding(policy="decimal", verdict=verdict, literals=tuple(literals)),
        "grade": Grade(
            correct=correct, fraction=None if correct is None else float(correct), values=grades
        ),
        "turns": (
            Turn(index=1, stop_reason="tool_use", usage=Usage(input_tokens=100, output_tokens=20)),
            Turn(index=2, stop_reason="tool_use", usage=Usage(input_tokens=130, output_tokens=30)),
        ),
        "cells": (Cell(index=1, code="print('x =', 3.1415927)", stdout="x = 3.1415927\n"),),
        "usage": Usage(input_tokens=230, output_tokens=50),
        "duration_s": 2.0,
        "model_s": 1.5,
        "cell_s": 0.5,
    }
    return Solution(problem_id=name, **(known | fields))


def stopped(name: str = "p1", reason: StopReason = StopReason.MAX_TURNS, **fields: Any) -> Solution:
    """A solution that ended without an answer."""
    return Solution(problem_id=name, model="scripted", stop_reason=reason, **fields)


def manifest(problems: Iterable[Problem], *, samples: int = 1, **fields: Any) -> Manifest:
    problems = tuple(problems)
    known: dict[str, Any] = {
        "run_id": "run-1",
        "created_at": "2026-09-16T10:23:45Z",
        "suite": SuiteRef(id="core", version="1.0", digest="abc", pin="pinned"),
        "planned": tuple(
            PlannedProblem(problem_id=each.id, sample=sample, digest=each.digest)
            for each in problems
            for sample in range(1, samples + 1)
        ),
        "problems": problems,
        "model": "scripted",
        "grounding": "decimal",
        "limits": Limits(),
    }
    return Manifest(**(known | fields))
