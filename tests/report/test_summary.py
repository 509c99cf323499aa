"""The summary adds up, says what must be known, and fits a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from handmade import problem, solved, stopped
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from scisolve_batch.records import (
    Cell,
    CellStatus,
    CertifiedValue,
    Grounding,
    GroundingVerdict,
    Problem,
    Solution,
    StopReason,
    SuiteRef,
    Usage,
)
from scisolve_batch.report import build_report, load_report, render_summary, summarize
from scisolve_batch.report.decoding import shaped
from scisolve_batch.report.results import Batch, Texts
from scisolve_batch.report.rows import tables_of
from scisolve_batch.report.summary import Ledger, Summary
from scisolve_batch.report.tally import summarize_rows
from scisolve_batch.rundir import RunDir

MakeRun = Callable[..., Path]

nothing_computed = Grounding(policy="decimal", verdict=GroundingVerdict.NOTHING_COMPUTED)


def summary_of(run: Path) -> Summary:
    return summarize(RunDir.read(run))


def eight(make_run: MakeRun, **fields: object) -> Path:
    """Four finished, two failed by the solver, one lost, one never run."""
    return make_run(
        [
            solved("p1"),
            solved("p2", correct=False),
            solved("p3", grounded=False, kind="by eye", valid=False),
            solved("p4", grounding=nothing_computed, kind=None, correct=False),
            stopped("p5", StopReason.MAX_TURNS),
            stopped("p6", StopReason.BUDGET),
            stopped("p7", StopReason.MODEL_ERROR),
        ],
        problems=[problem(f"p{n}", domain="ode" if n < 5 else "optics") for n in range(1, 9)],
        **fields,
    )


def test_the_ledger_accounts_for_every_planned_sample(make_run: MakeRun) -> None:
    ledger = summary_of(eight(make_run)).ledger
    assert (ledger.planned, ledger.finished, ledger.unfinished) == (8, 4, 4)
    assert (ledger.grounded, ledger.ungrounded, ledger.nothing_computed) == (2, 1, 1)
    assert ledger.causes == {"budget": 1, "max_turns": 1, "model_error": 1, "not_run": 1}
    assert ledger.missing == 2


def test_rates_count_failures_of_the_solver_and_bound_the_rest(make_run: MakeRun) -> None:
    summary = summary_of(eight(make_run))
    grounded = summary.grounded_rate
    assert (grounded.successes, grounded.trials, grounded.planned) == (2, 6, 8)
    assert grounded.rate == pytest.approx(2 / 6)
    assert (grounded.floor, grounded.ceiling) == (2 / 8, 4 / 8)
    assert grounded.coverage == 6 / 8
    # Wilson's interval of 2 in 6, as scipy's binomtest gives it
    assert grounded.low == pytest.approx(0.0967714, abs=1e-7)
    assert grounded.high == pytest.approx(0.7000067, abs=1e-7)
    assert (summary.correct_rate.successes, summary.correct_rate.trials) == (2, 6)
    assert (summary.verified_rate.successes, summary.verified_rate.trials) == (2, 6)


def test_grounded_and_correct_are_crossed(make_run: MakeRun) -> None:
    crossed = summary_of(eight(make_run)).crossed
    assert (crossed.grounded_correct, crossed.grounded_wrong) == (1, 1)
    assert (crossed.ungrounded_correct, crossed.ungrounded_wrong) == (1, 1)
    assert crossed.correct_if_grounded.rate == 0.5


def test_checks_cells_tokens_and_loose_literals_are_counted(make_run: MakeRun) -> None:
    summary = summary_of(eight(make_run))
    assert summary.verification_kinds == {"analytic": 2, "invalid": 1, "none": 1}
    assert summary.cells == {"ok": 4}
    assert summary.usage == Usage(input_tokens=920, output_tokens=200)
    assert summary.failing_literals == 1
    loose = summary.loose[0]
    assert (loose.problem_id, loose.text, loose.reason, loose.nearest) == (
        "p3",
        "2.718",
        "absent",
        "2.5",
    )


def test_slices_hold_every_sample_of_their_group(make_run: MakeRun) -> None:
    slices = {(item.by, item.key): item for item in summary_of(eight(make_run)).slices}
    assert slices["domain", "ode"].planned == 4 == slices["domain", "optics"].planned
    assert slices["domain", "ode"].grounded_rate.rate == 0.5
    assert slices["domain", "optics"].grounded_rate.trials == 2
    assert slices["difficulty", "2"].planned == 8
    assert slices["tag", "easy"].planned == 8
    assert slices["verification", "analytic"].planned == 2


def test_problems_without_certified_values_do_not_count_for_correct(make_run: MakeRun) -> None:
    open_ended = problem("p2", values=())
    run = make_run(
        [solved("p1"), solved("p2", correct=None)],
        problems=[problem("p1"), open_ended, problem("p3", values=()), problem("p4")],
    )
    summary = summary_of(run)
    assert (
        summary.correct_rate.successes,
        summary.correct_rate.trials,
        summary.correct_rate.planned,
    ) == (1, 1, 2)
    assert summary.grounded_rate.planned == 4


def test_scripted_unpinned_and_incomplete_runs_say_so(make_run: MakeRun) -> None:
    suite = SuiteRef(id="core", digest="abc", pin="unpinned")
    notes = summary_of(eight(make_run, suite=suite)).notes
    assert notes[0] == (
        "scripted solutions: says how the suite and the tool behave, nothing about any model"
    )
    assert notes[1].startswith("the suite was not the pinned one")
    assert "the run is not complete: 1 of 8 samples were not run" in notes
    own = summary_of(make_run([solved("p1")], name="own", model="some-model"))
    assert own.notes == ()
    assert not own.scripted


def test_repeats_that_agree_widen_the_interval(make_run: MakeRun) -> None:
    solutions = [
        solved(name, sample=sample, grounded=name in {"p1", "p2"})
        for name in ("p1", "p2", "p3", "p4")
        for sample in range(1, 6)
    ]
    grounded = summary_of(make_run(solutions, samples=5)).grounded_rate
    assert (grounded.successes, grounded.trials, grounded.problems) == (10, 20, 4)
    assert grounded.effective == 4
    assert grounded.low == pytest.approx(0.1500390, abs=1e-7)  # as 2 in 4


def test_the_summary_equals_the_means_of_the_columns(make_run: MakeRun) -> None:
    report = load_report(eight(make_run))
    for name in ("grounded", "correct", "verified"):
        assert getattr(report.summary, f"{name}_rate").rate == pytest.approx(
            report.solutions[name].mean()
        )


def test_the_text_shows_the_ledger_first_and_fits(make_run: MakeRun) -> None:
    text = render_summary(summary_of(eight(make_run)))
    lines = text.splitlines()
    assert lines[0] == "run-1: suite core 1.0 (pinned), model scripted"
    assert "scripted solutions: says how the suite and the tool behave" in lines[1]
    ledger = (
        "planned 8 = finished 4 + unfinished 4 (budget 1, max_turns 1, model_error 1, not_run 1)"
    )
    assert ledger in lines
    assert "finished 4 = grounded 2 + ungrounded 1 + nothing computed 1" in lines
    row = [
        "grounded",
        "33.3",
        "%",
        "9.7",
        "to",
        "70.0",
        "%",
        "2/6",
        "6/8",
        "25.0",
        "%",
        "/",
        "50.0",
        "%",
    ]
    assert row in [line.split() for line in lines]
    assert "numbers that nothing printed supports: 1" in lines
    assert max(map(len, lines)) <= 100


def test_an_empty_run_is_rendered(make_run: MakeRun) -> None:
    text = render_summary(summary_of(make_run([], problems=[])))
    assert "planned 0 = finished 0 + unfinished 0" in text


def test_hostile_text_cannot_leave_its_line(make_run: MakeRun) -> None:
    from handmade import literal

    from scisolve_batch.records import Verdict

    bad = literal(
        "\x1b[31m9\n\u202e8", Verdict.UNGROUNDED, nearest="\x00" + "1" * 4000, reason="a\tb"
    )
    grounding = Grounding(policy="flat", verdict=GroundingVerdict.UNGROUNDED, literals=(bad,))
    run = make_run(
        [solved("p1", grounding=grounding, kind="\x1b[0m" + "k" * 300)], model="m\x07" * 90
    )
    text = render_summary(summary_of(run))
    assert not {char for char in text if not char.isprintable()} - {"\n"}
    assert max(map(len, text.splitlines())) <= 100


def test_a_ledger_that_does_not_add_up_cannot_be_made() -> None:
    good = {
        "planned": 3, "finished": 2, "unfinished": 1, "grounded": 1, "ungrounded": 1,
        "nothing_computed": 0, "missing": 0, "causes": {"stuck": 1},
    }  # fmt: skip
    assert Ledger(**good).planned == 3
    for name in ("planned", "finished", "unfinished", "grounded", "ungrounded", "nothing_computed"):
        with pytest.raises(ValidationError, match="does not hold"):
            Ledger(**(good | {name: good[name] + 1}))
    with pytest.raises(ValidationError, match="does not hold"):
        Ledger(**(good | {"causes": {"stuck": 2}}))


def test_a_summary_survives_its_file(make_run: MakeRun) -> None:
    summary = summary_of(eight(make_run))
    assert Summary.model_validate_json(summary.model_dump_json()) == summary


def test_the_way_to_a_summary_loads_nothing_heavy(make_run: MakeRun) -> None:
    run = eight(make_run)
    code = (
        "import sys; from pathlib import Path\n"
        "from scisolve_batch.report import *\nfrom scisolve_batch.rundir import RunDir\n"
        f"print(len(render_summary(summarize(RunDir.read(Path({str(run)!r}))))))\n"
        "heavy = {'numpy', 'pandas', 'pyarrow', 'matplotlib', 'jinja2', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 500


cells = st.lists(
    st.builds(Cell, index=st.integers(1, 9), status=st.sampled_from(CellStatus)), max_size=3
)
finished = st.builds(
    solved,
    grounded=st.booleans(),
    correct=st.sampled_from([True, False, None]),
    kind=st.sampled_from([None, "analytic", "convergence", "eye"]),
    valid=st.booleans(),
    cells=cells.map(tuple),
)
variants = st.one_of(
    st.none(),
    finished,
    finished.map(lambda item: item.model_copy(update={"grounding": nothing_computed})),
    finished.map(lambda item: item.model_copy(update={"grounding": None})),
    st.builds(stopped, reason=st.sampled_from([r for r in StopReason if r != StopReason.FINISHED])),
)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), variants), max_size=25))
def test_the_ledger_adds_up_on_any_run(
    drawn: list[tuple[int, bool, Solution | None]],
) -> None:
    from handmade import manifest

    from scisolve_batch.records import PlannedProblem

    problems: dict[str, Problem] = {}
    for number, valued, _ in drawn:
        known = (CertifiedValue(name="x", value="1"),) if valued else ()
        problems.setdefault(f"p{number}", problem(f"p{number}", values=known))
    planned = tuple(
        PlannedProblem(problem_id=f"p{number}", sample=sample, digest="")
        for sample, (number, _, _) in enumerate(drawn, 1)
    )
    plan = manifest(problems.values(), planned=planned)
    batch = Batch()
    for line, (_, _, solution) in zip(planned, drawn, strict=True):
        batch.planned.append(line)
        batch.problems.append(problems[line.problem_id])
        batch.solutions.append(solution and shaped(solution))
        batch.troubles.append("")
        batch.replays.append(None)
        batch.texts += [Texts()] * (len(solution.cells) if solution else 0)
    summary = summarize_rows(plan, tables_of(plan, batch))
    ledger = summary.ledger
    assert (
        ledger.planned
        == len(drawn)
        == summary.grounded_rate.planned
        == summary.verified_rate.planned
    )
    assert summary.grounded_rate.planned - summary.grounded_rate.trials == ledger.missing
    assert summary.grounded_rate.successes == ledger.grounded
    graded = summary.crossed
    assert graded.grounded_correct + graded.ungrounded_correct == summary.correct_rate.successes
    assert sum(item.planned for item in summary.slices if item.by == "domain") == ledger.planned
    for rate in (summary.grounded_rate, summary.correct_rate, summary.verified_rate):
        if rate.rate is not None:
            assert 0 <= rate.low <= rate.rate <= rate.high <= 1
            assert 0 <= rate.floor <= rate.rate <= rate.ceiling <= 1 or rate.trials < rate.planned
            assert rate.problems <= rate.effective <= rate.trials
    assert max(map(len, render_summary(summary).splitlines())) <= 100


def test_what_the_service_bore_is_told_from_the_journal(make_run: MakeRun, tmp_path: Path) -> None:
    path = make_run([solved("p1")], name="throttled")
    lines = [
        {"event": "rate", "at": "2026-09-17T08:00:00Z", "detail": "4 at once after rate_limit, hold 2.0 s"},
        {"event": "rate", "at": "2026-09-17T08:00:09Z", "detail": "5 at once after success, hold 0.0 s"},
        {"event": "rate", "at": 7}, {"event": "other"}, [],
    ]  # fmt: skip
    with (path / "journal.jsonl").open("a", encoding="utf-8") as journal:
        journal.writelines(json.dumps(line) + "\n" for line in lines)
    summary = summarize(RunDir.read(path))
    assert [(one.at[-4:], one.what.split(",")[0]) for one in summary.rate_changes] == [
        (":00Z", "4 at once after rate_limit"),
        (":09Z", "5 at once after success"),
    ]
    assert "rate     2 changes, the last: 5 at once after success, hold 0.0 s" in render_summary(
        summary
    )
    build_report(path, tmp_path / "report")
    page = (tmp_path / "report/report.html").read_text("utf-8")
    assert "2026-09-17T08:00:00Z: 4 at once after rate_limit, hold 2.0 s" in page
