"""Shards as one run: nothing lost, nothing twice, and no choice between two claims."""

import pytest
from handmade import problem, solved

from scisolve_batch.errors import RunDirError, UsageError
from scisolve_batch.records import SuiteRef
from scisolve_batch.report import build_report, load_report, merge_runs, summarize
from scisolve_batch.rundir import RunDir


@pytest.fixture
def parts(make_run):
    """Two parts of a suite of four; one problem was not run yet."""
    one = make_run([solved("p1"), solved("p3", grounded=False)], name="part-1")
    two = make_run([solved("p2")], problems=[problem("p2"), problem("p4")], name="part-2")
    return one, two


def test_parts_are_one_run_whose_ledger_adds_up(parts, tmp_path):
    view = merge_runs(parts, tmp_path / "all" / "runs")
    run = RunDir.read(view)
    assert run.manifest.run_id == "all"
    assert run.manifest.changes == ("put together from part-1, part-2",)
    ledger = summarize(run).ledger
    assert (ledger.planned, ledger.finished, ledger.grounded, ledger.missing) == (4, 3, 2, 1)
    build_report(view, tmp_path / "all")
    report = load_report(tmp_path / "all")
    assert list(report.solutions.problem_id) == ["p1", "p3", "p2", "p4"]
    assert len(report.literals) == 4 and len(report.runs) == 1
    both = load_report(parts)
    assert sorted(both.solutions.problem_id) == sorted(report.solutions.problem_id)
    again = merge_runs(parts, tmp_path / "all" / "runs")
    assert summarize(RunDir.read(again)).ledger == ledger
    assert not (parts[0] / "problems" / "p1").is_symlink()


def test_the_same_sample_in_two_runs_is_named_and_refused(parts, make_run, tmp_path):
    more = make_run([solved("p1"), solved("p5")], name="part-3")
    with pytest.raises(UsageError) as refused:
        merge_runs([*parts, more], tmp_path / "all" / "runs")
    assert f"p1 is in {parts[0]} and in {more}" in str(refused.value)
    assert "p5" not in str(refused.value)
    assert not (tmp_path / "all").exists()
    changed = make_run([solved("p3")], problems=[problem("p3", digest="another")], name="part-4")
    with pytest.raises(UsageError, match="p3 is not the same problem in"):
        merge_runs([*parts, changed], tmp_path / "all" / "runs")


def test_many_conflicts_are_counted(make_run, tmp_path):
    names = [f"p{n}" for n in range(9)]
    twice = [make_run([solved(name) for name in names], name=run) for run in ("a", "b")]
    with pytest.raises(UsageError, match="and 4 more"):
        merge_runs(twice, tmp_path / "all" / "runs")


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"model": "claude-x"}, "model: scripted -> claude-x"),
        ({"suite": SuiteRef(id="core", digest="abd")}, "suite: core -> core, or other content"),
        ({"seed": 4}, "seed: 0 -> 4"),
    ],
)
def test_runs_that_are_no_parts_of_one_are_refused(parts, make_run, tmp_path, field, words):
    other = make_run([solved("p9")], name="other", **field)
    with pytest.raises(UsageError, match="are not parts of one run") as refused:
        merge_runs([parts[0], other], tmp_path / "all" / "runs")
    assert words in str(refused.value)
    merge_runs([parts[0], make_run([solved("p8")], name="wider", jobs=9)], tmp_path / "ok" / "runs")


def test_a_folder_that_somebody_ran_in_is_left_alone(parts, make_run):
    run = make_run([solved("p7")], name="mine")
    with pytest.raises(RunDirError, match="is no view of other runs"):
        merge_runs(parts, run)
    assert (run / "problems/p7/solution.json").exists()
