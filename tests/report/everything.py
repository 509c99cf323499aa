"""A run with every outcome, every verdict and every end of a cell, all of it made by hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle

from handmade import literal, problem, solved, stopped

from scisolve_batch.records import (
    Cell,
    CellStatus,
    Failure,
    Grade,
    Grounding,
    GroundingVerdict,
    Problem,
    ProblemLimits,
    SessionState,
    Solution,
    StopReason,
    Turn,
    Usage,
    ValueGrade,
    ValueVerdict,
    Verdict,
    Verification,
    VerificationKind,
)


@dataclass(frozen=True)
class Everything:
    """Problems and the records of those that have one."""

    problems: tuple[Problem, ...]
    solutions: tuple[Solution, ...]


def _grade(verdict: ValueVerdict, trap: str | None = None) -> Grade:
    digits = {ValueVerdict.CORRECT: 8.0, ValueVerdict.WRONG: 2.5}.get(verdict)
    value = ValueGrade(
        name="x", certified="3.14159265", verdict=verdict, trap=trap, unit="m",
        reported=None if verdict is ValueVerdict.MISSING else "3.1415927", how="labelled",
        correct_digits=digits, relative_error=None if digits is None else 10**-digits,
        note="" if digits else "nothing to compare",
    )  # fmt: skip
    right = verdict is ValueVerdict.CORRECT
    return Grade(correct=right, fraction=float(right), values=(value,))


def _every_verdict() -> Grounding:
    items = tuple(
        literal(f"{number}.5", verdict, start=number, end=number + 3, chance=0.01, label="x",
                where="answer" if number % 2 else "values[x]", warnings=("the name differs",))
        for number, verdict in enumerate(Verdict)
    )  # fmt: skip
    return Grounding(policy="decimal", verdict=GroundingVerdict.UNGROUNDED, literals=items)


def _every_end() -> tuple[Cell, ...]:
    states = cycle(SessionState)
    return tuple(
        Cell(
            index=number, code=f"step({number})", stdout=f"x = {number}.5\n", stderr="warned\n",
            status=status, state=next(states), traceback="" if status is CellStatus.OK else "Error",
            note="" if status is CellStatus.OK else status.value, wall_s=0.1 * number,
            cpu_s=0.05 * number, peak_memory_mb=100.0, stdout_dropped=number % 2, alarms=number % 3,
            stack="", snapshot="taken", threads=1, figures=("fig_001.png",) if number == 1 else (),
        )
        for number, status in enumerate(CellStatus, 1)
    )  # fmt: skip


def every_outcome() -> Everything:
    """The run: its first record fills every field of every kind of record."""
    full = solved(
        "all-verdicts",
        grade=_grade(ValueVerdict.WRONG, trap="float32"),
        grounding=_every_verdict(),
        answer="0.5 1.5 2.5 3.5 4.5 5.5: as printed — à peu près",
        cells=_every_end(),
        refusals=("0.5 was never printed",),
        failure=Failure(kind="harness", message="a hiccup"),
        turns=(
            Turn(
                index=1, stop_reason="tool_use", duration_s=3.0, wait_s=1.0, first_event_s=0.5,
                attempts=2, errors=("overloaded",), model="m-1", request_id="req_1", cost_usd=0.01,
                usage=Usage(input_tokens=10, output_tokens=5, cache_write_tokens=3, cache_read_tokens=2),
            ),
        ),
        attempt=2,
        cost_usd=0.01,
    )  # fmt: skip
    nothing = Grounding(policy="decimal", verdict=GroundingVerdict.NOTHING_COMPUTED)
    checks = [
        Verification(kind=kind.value, description="d", evidence_cell=1, valid=True, weakness="same")
        for kind in VerificationKind
    ]
    invalid = Verification(kind="guess", valid=False, reason="not one of the six kinds")
    solutions = [
        full,
        solved("right"),
        solved("right", sample=2, grounded=False),
        solved("wrong", correct=False),
        solved("ungraded", correct=None),
        solved("unsupported", grounded=False),
        solved("no-check", kind=None),
        solved("invalid-check", verification=invalid),
        solved("nothing-computed", grounding=nothing, cells=()),
        solved("unchecked", grounding=None),
        solved("unreadable-value", grade=_grade(ValueVerdict.UNREADABLE)),
        solved("missing-value", grade=_grade(ValueVerdict.MISSING)),
        solved("near-limits", duration_s=550.0, cell_s=29.0),
        *(solved(f"check-{check.kind}", verification=check) for check in checks),
        *(
            stopped(reason.value.replace("_", "-"), reason,
                    failure=Failure(kind="why", message=f"because of {reason.value}"))
            for reason in StopReason
            if reason is not StopReason.FINISHED
        ),
        stopped("half-written"),
    ]  # fmt: skip
    known = dict.fromkeys(each.problem_id for each in solutions)
    domains = cycle(("ode", "linear_algebra", "statistics"))
    problems = [
        problem(
            name,
            title=f"About {name.replace('-', ' ')}",
            domain=next(domains),
            difficulty=None if name == "ungraded" else number % 5 + 1,
            tags=("easy", "repeat") if number % 2 else ("hard",),
            twin_of="right" if name == "wrong" else None,
            **({"values": ()} if name == "ungraded" else {}),
            **({"limits": ProblemLimits(problem_s=0.5)} if name == "no-check" else {}),
        )
        for number, name in enumerate([*known, "never-run"])
    ]
    return Everything(tuple(problems), tuple(solutions))
