"""Recorded answers are judged again by today's rules, from the recorded output alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from handmade import literal, problem, solved, stopped

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import (
    Cell,
    Grade,
    Grounding,
    GroundingVerdict,
    ReportedValue,
    Solution,
    StopReason,
    Verdict,
)
from scisolve_batch.report import recheck, rechecking, sensitivity
from scisolve_batch.rundir import RunDir

MakeRun = Callable[..., Path]
PRINTED = "x = 3.14159265\n"


def judged(name: str, answer: str, *, recorded: bool = True, **fields: Any) -> Solution:
    """A solution judged by the rules as they are, or recorded with the opposite verdict."""
    cells = (Cell(index=1, code="print('x =', x)", stdout=PRINTED),)
    statement = problem(name).statement
    values = (ReportedValue(name="x", value="3.14159265"),)
    true = check_grounding(answer, cells, statement, policy="flat", values=values)
    if not recorded:
        other = (
            GroundingVerdict.UNGROUNDED
            if true.verdict is GroundingVerdict.GROUNDED
            else GroundingVerdict.GROUNDED
        )
        flipped = tuple(
            item.model_copy(update={"verdict": Verdict.GROUNDED}) for item in true.literals
        )
        true = true.model_copy(update={"verdict": other, "literals": flipped})
    return solved(name, answer=answer, cells=cells, values=values, grounding=true, **fields)


def test_an_unchanged_rule_flips_nothing(make_run: MakeRun) -> None:
    run = make_run([judged("p1", "x = 3.14159265"), judged("p2", "x = 2.5")], grounding="flat")
    result = recheck(run)
    assert (result.policy, result.checked, result.left) == ("flat", 2, 0)
    assert result.flips == ()
    assert result.literals == ()
    assert result.recorded == result.today
    assert result.today.rate == 0.5


def test_a_changed_verdict_is_listed_with_its_numbers(make_run: MakeRun) -> None:
    solutions = [judged("p1", "x = 2.5", recorded=False), judged("p2", "x = 3.14159265")]
    result = recheck(make_run(solutions, grounding="flat"))
    assert [(f.problem_id, f.measure, f.recorded, f.today) for f in result.flips] == [
        ("p1", "grounded", "grounded", "ungrounded")
    ]
    assert [(f.problem_id, f.text, f.first, f.second) for f in result.literals] == [
        ("p1", "2.5", "grounded", "ungrounded")
    ]
    assert (result.recorded.rate, result.today.rate) == (1.0, 0.5)


def test_a_changed_grade_is_listed(make_run: MakeRun) -> None:
    wrong = judged("p1", "x = 3.14159265", grade=Grade(correct=False))
    result = recheck(make_run([wrong], grounding="flat"))
    assert [(f.measure, f.recorded, f.today) for f in result.flips] == [
        ("correct", "wrong", "correct")
    ]
    assert (result.recorded_correct.rate, result.today_correct.rate) == (0.0, 1.0)


def test_samples_without_an_answer_keep_their_place(make_run: MakeRun) -> None:
    run = make_run(
        [judged("p1", "x = 3.14159265"), stopped("p2"), stopped("p3", StopReason.MODEL_ERROR)],
        problems=[problem(f"p{n}") for n in range(1, 5)],
        grounding="flat",
    )
    result = recheck(run)
    assert (result.checked, result.left) == (1, 3)
    assert (result.today.successes, result.today.trials, result.today.planned) == (1, 2, 4)


def test_the_output_is_read_from_its_files(make_run: MakeRun) -> None:
    run = make_run([judged("p1", "x = 3.14159265")], grounding="flat")
    (run / "problems/p1/cells/01.out").write_text("x = 7.5\n")
    assert recheck(run).flips[0].today == "ungrounded"
    assert not list(run.rglob("*.part"))


def test_an_unknown_policy_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(UsageError, match="no grounding policy `nope`"):
        recheck(make_run([judged("p1", "x = 1.5")], grounding="flat"), "nope")


def test_verdicts_are_kept_by_the_digest_of_what_they_depend_on(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run([judged("p1", "x = 2.5", recorded=False)], grounding="flat")
    calls = []

    def counting(*args: Any, **options: Any) -> Grounding:
        if args[0]:
            calls.append(args[0])
        return check_grounding(*args, **options)

    monkeypatch.setattr(rechecking, "check_grounding", counting)
    first = recheck(run, cache=tmp_path / "kept")
    assert recheck(run, cache=tmp_path / "kept") == first
    assert len(calls) == 1
    (run / "problems/p1/cells/01.out").write_text(
        PRINTED + "y = 2.5\n"
    )  # other evidence, other digest
    assert recheck(run, cache=tmp_path / "kept").flips == ()
    assert len(calls) == 2
    for file in (tmp_path / "kept").iterdir():
        file.write_text("{")  # a broken entry is made again
    assert recheck(RunDir.read(run), cache=tmp_path / "kept").flips == ()
    assert len(calls) == 3


def test_the_rules_themselves_are_part_of_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = judged("p1", "x = 2.5")
    before = rechecking._digest(problem("p1"), sample, sample.cells, "flat")
    monkeypatch.setattr(rechecking, "_rules_digest", lambda: b"other rules")
    assert rechecking._digest(problem("p1"), sample, sample.cells, "flat") != before


def test_sensitivity_shows_what_each_rule_would_say(make_run: MakeRun) -> None:
    def with_literals(name: str, *items: Any) -> Solution:
        failing = any(item.verdict is Verdict.UNGROUNDED for item in items)
        verdict = GroundingVerdict.UNGROUNDED if failing else GroundingVerdict.GROUNDED
        return solved(name, grounding=Grounding(policy="flat", verdict=verdict, literals=items))

    near = literal("1.0005", Verdict.UNGROUNDED, nearest="1.0")
    far = literal("5.5", Verdict.UNGROUNDED, nearest="1.0")
    unread = literal("oops", Verdict.UNGROUNDED, value=None)
    run = make_run(
        [
            with_literals("p1", literal("2.5", chance=0.2)),
            with_literals("p2", near),
            with_literals("p3", literal("3", Verdict.STRUCTURAL), literal("2.5", chance=0.001)),
            with_literals("p4", near, far),
            with_literals("p5", unread),
            stopped("p6"),
            stopped("p7", StopReason.INTERRUPTED),
        ],
        grounding="flat",
    )
    found = {item.name: item for item in sensitivity(run)}
    assert found["as recorded"].grounded.successes == 2
    assert found["as recorded"].grounded.trials == 6
    assert found["as recorded"].grounded.planned == 7
    assert found["as recorded"].flips == 0
    assert found["within 0.0001 of a printed number"].grounded.successes == 2
    assert found["within 0.001 of a printed number"].grounded.successes == 3
    assert found["within 0.01 of a printed number"].flips == 1
    assert found["without support of chance above 0.05"].grounded.successes == 1
    assert found["small integers need a source"].grounded.successes == 1
    assert "policy flat" in found
