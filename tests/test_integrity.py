"""Every way of changing a run directory afterwards is noticed."""

import json
import shutil

import pytest

from scisolve_batch.integrity import check_integrity
from scisolve_batch.records import (
    Cell,
    JournalEvent,
    JournalLine,
    Manifest,
    PlannedProblem,
    Problem,
    Solution,
    StopReason,
    SuiteRef,
)
from scisolve_batch.rundir import RunDir


@pytest.fixture
def run(tmp_path):
    names = ("a", "b")
    problems = tuple(Problem(id=name, statement="?") for name in names)
    manifest = Manifest(
        run_id="r",
        created_at="t",
        suite=SuiteRef(id="s", digest="d"),
        planned=tuple(PlannedProblem(problem_id=name, digest="d") for name in names),
        problems=problems,
    )
    with RunDir.create(tmp_path / "r", manifest) as made:
        made.log(JournalLine(event=JournalEvent.STARTED, at="t", digest=made.manifest_digest()))
        for problem in problems:
            folder = made.problem(problem.id)
            folder.prepare(problem)
            cell = Cell(index=1, code="print(1)", stdout="1\n")
            folder.write_cell(cell)
            folder.write_solution(
                Solution(
                    problem_id=problem.id,
                    model="scripted",
                    stop_reason=StopReason.FINISHED,
                    cells=(cell,),
                )
            )
            line = JournalLine(
                event=JournalEvent.SETTLED,
                at="t",
                problem_id=problem.id,
                sample=1,
                attempt=1,
                digest=folder.digest(),
            )
            made.log(line)
    return RunDir.read(tmp_path / "r")


def test_an_untouched_run_has_no_fault_and_a_head(run):
    found = check_integrity(run)
    assert found.faults == () and found.settled == 2 and len(found.head) == 64


def test_the_working_folder_is_no_evidence(run):
    (run.problem("a").work / "scratch.txt").write_text("anything")
    assert check_integrity(run).faults == ()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda r: (r.problem("a").cells / "01.out").write_text("2\n"), "a: its files"),
        (lambda r: (r.problem("a").cells / "01.out").unlink(), "a: its files"),
        (lambda r: (r.problem("a").figures / "fig_001.png").write_bytes(b"x"), "a: its files"),
        (lambda r: (r.path / "problems" / "c").mkdir(), "c: a folder that was never planned"),
        (lambda r: (r.path / "manifest.json").write_text(
            r.manifest.model_copy(update={"seed": 7}).model_dump_json()), "manifest.json"),
        (lambda r: r.problem("b").path.rename(r.path / "gone"), "b: its folder is gone"),
    ],
)  # fmt: skip
def test_a_changed_byte_is_named(run, change, fault):
    change(run)
    assert any(fault in found for found in check_integrity(run).faults)


@pytest.mark.parametrize("edit", ["change", "drop", "swap"])
def test_an_edited_journal_breaks_its_chain(run, edit):
    path = run.path / "journal.jsonl"
    lines = path.read_text().splitlines()
    if edit == "change":
        line = json.loads(lines[1])
        lines[1] = json.dumps({**line, "attempt": 2})
    elif edit == "drop":
        del lines[1]
    else:
        lines[1], lines[2] = lines[2], lines[1]
    path.write_text("\n".join(lines) + "\n")
    assert any("journal.jsonl: line" in fault for fault in check_integrity(run).faults)


def test_after_a_torn_line_the_journal_goes_on_whole(run):
    with (run.path / "journal.jsonl").open("ab") as file:
        file.write(b'{"event": "sett')
    with RunDir.reopen(run.path, run.manifest) as again:
        again.log(JournalLine(event=JournalEvent.STOPPED, at="t"))
    assert run.journal()[-1].event is JournalEvent.STOPPED
    assert not [fault for fault in check_integrity(run).faults if "journal" in fault]


@pytest.mark.parametrize(
    "line", ["3", "[]", "{}", '{"event": "dreamt", "at": "t"}', '{"event": 1}']
)
def test_a_line_that_no_run_writes_is_a_fault_and_no_crash(run, line):
    with (run.path / "journal.jsonl").open("a") as journal:
        journal.write(line + "\n")
    assert "journal.jsonl: a line is none that a run writes" in check_integrity(run).faults


def test_a_missing_folder_of_problems_is_a_fault_and_no_crash(run):
    shutil.rmtree(run.path / "problems")
    faults = check_integrity(run).faults
    assert "problems: the folder is gone" in faults and "a: its folder is gone" in faults


def test_names_with_dots_are_planned_and_only_attempts_stand_beside_them(tmp_path):
    manifest = Manifest(
        run_id="r", created_at="t", suite=SuiteRef(id="s", digest="d"),
        problems=(Problem(id="x.abc", statement="?"),),
        planned=(PlannedProblem(problem_id="x.abc", digest="d"),),
    )  # fmt: skip
    with RunDir.create(tmp_path / "r", manifest) as made:
        made.log(JournalLine(event=JournalEvent.STARTED, at="t", digest=made.manifest_digest()))
    for name in ("x.abc", "x.abc.a1", "x.abc.a12"):
        (tmp_path / "r/problems" / name).mkdir()
    assert check_integrity(made).faults == ()
    for name in ("x", "x.a1", "x.abc.a1b", "x.abc.a"):
        (tmp_path / "r/problems" / name).mkdir()
    assert len(check_integrity(made).faults) == 4
