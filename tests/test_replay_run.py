"""A run's cells run again: in parallel, in the order of the plan, beside its records."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from scisolve_batch import records as r
from scisolve_batch.executor import TemplateOptions
from scisolve_batch.replay import REPLAY, read_replay, replay_run
from scisolve_batch.report import load_report
from scisolve_batch.rundir import RunDir

CELLS = {
    "same": [("x = 2**0.5\nprint('x =', x)", "x = 1.4142135623730951\n"), ("print(x*x > 2)", "True\n")],
    "differs": [("print('x =', 1.5)", "x = 1.7\n"), ("print('y')", "y\n")],
    "time": [("print('took 0.25 s')", "took 3.5 s\n")],
    "torn": [("print(1)", "1\n"), ("print(2)", "2\n")],
    "never-run": [],
}  # fmt: skip
OPTIONS = TemplateOptions(isolation="off", preload=())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose records say what its cells printed, rightly and wrongly, run again once."""
    path = tmp_path_factory.mktemp("replay") / "run"
    problems = tuple(r.Problem(id=name, statement="?", digest=name) for name in CELLS)
    manifest = r.Manifest(
        run_id="run", created_at="", suite=r.SuiteRef(id="s", digest=""), problems=problems,
        planned=tuple(r.PlannedProblem(problem_id=name, digest=name) for name in CELLS),
    )  # fmt: skip
    with RunDir.create(path, manifest) as run:
        for name, cells in CELLS.items():
            if not cells:
                continue
            folder = run.problem(name)
            folder.cells.mkdir(parents=True)
            made = tuple(
                r.Cell(index=number, code=code, stdout=out)
                for number, (code, out) in enumerate(cells, 1)
            )
            for cell in made:
                folder.write_cell(cell)
            folder.write_solution(
                r.Solution(
                    problem_id=name, model="m", stop_reason=r.StopReason.MAX_TURNS, cells=made
                )
            )
    (path / "problems/torn/cells/02.json").write_text("{")
    before = everything(path)
    results = list(replay_run(run, workers=3, options=OPTIONS))
    assert [each.problem_id for each in results] == ["same", "differs", "time", "torn"]
    after = everything(path)
    assert after.pop(REPLAY) and after == before
    assert read_replay(run).samples == tuple(results)
    return path


def everything(path: Path) -> dict[str, bytes]:
    files = (file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> RunDir:
    shutil.copytree(recorded, tmp_path / "run")
    return RunDir.read(tmp_path / "run")


def test_each_cell_has_its_verdict_and_the_reason(run: RunDir) -> None:
    found = {
        each.problem_id: [(cell.verdict.value, cell.detail) for cell in each.cells]
        for each in read_replay(run).samples
    }
    assert found["same"] == [("reproduced", "")] * 2
    assert found["differs"] == [
        ("differs", "line 1: 'x = 1.7' -> 'x = 1.5'"),
        ("reproduced", ""),
    ]
    left_out = "times, addresses or paths in line 1 were not compared"
    assert found["time"] == [("reproduced", left_out)]
    assert [verdict for verdict, _ in found["torn"]] == ["not_run"] * 2


def test_the_tables_have_the_verdicts_as_columns(run: RunDir) -> None:
    report = load_report(run.path)
    cells = report.cells.set_index(["problem_id", "cell"])
    assert cells.replay["differs"].tolist() == ["differs", "reproduced"]
    assert cells.replay_detail["differs", 1].startswith("line 1")
    reproduced = report.solutions.set_index("problem_id").reproduced
    assert reproduced[["same", "differs", "time"]].tolist() == [True, False, True]
    assert reproduced[["torn", "never-run"]].isna().all()
    assert report.summary.replay == {"differs": 1, "not_run": 2, "reproduced": 4}


def test_results_of_a_record_that_was_written_anew_do_not_count(run: RunDir) -> None:
    file = run.path / "problems/same/solution.json"
    file.write_bytes(file.read_bytes() + b"\n")
    report = load_report(run.path)
    assert report.cells.query("problem_id == 'same'").replay.isna().all()
    assert report.summary.replay == {"differs": 1, "not_run": 2, "reproduced": 2}


@pytest.mark.parametrize("content", [b"", b"[]", b'{"samples": 3}', b"\xff"])
def test_results_that_cannot_be_read_are_none(run: RunDir, content: bytes) -> None:
    (run.path / REPLAY).write_bytes(content)
    assert load_report(run.path).summary.replay == {}


def test_what_is_run_again_replaces_its_own_results_only(run: RunDir) -> None:
    cell = run.path / "problems/differs/cells/01.out"
    cell.write_text("x = 1.5\n")
    before = {each.problem_id: each for each in read_replay(run).samples}
    (again,) = replay_run(run, ids=["differs"], options=OPTIONS)
    assert [each.verdict.value for each in again.cells] == ["reproduced"] * 2
    record = (run.path / "problems/differs/solution.json").read_bytes()
    assert again.record == hashlib.sha256(record).hexdigest()
    assert {each.problem_id: each for each in read_replay(run).samples} == before | {
        "differs": again
    }


def test_who_has_seen_enough_keeps_what_was_found(run: RunDir) -> None:
    (run.path / REPLAY).unlink()
    results = replay_run(run, workers=1, options=OPTIONS)
    first = next(results)
    results.close()
    assert read_replay(run).samples == (first,)
