"""A run directory is whole at every moment and says clearly when it is not one."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from processes import wait_for

from scisolve_batch.errors import RunDirError
from scisolve_batch.files import encode_json, write_whole
from scisolve_batch.records import (
    Cell,
    DataFile,
    JournalEvent,
    JournalLine,
    Limits,
    Manifest,
    PlannedProblem,
    Problem,
    Solution,
    StopReason,
    SuiteRef,
)
from scisolve_batch.rundir import RunDir


def manifest(*ids, **changes):
    problems = tuple(Problem(id=name, statement="?") for name in ids)
    return Manifest(
        run_id="r",
        created_at="2026-01-01T00:00:00Z",
        suite=SuiteRef(id="s", digest="d"),
        planned=tuple(PlannedProblem(problem_id=name, digest="d") for name in ids),
        problems=problems,
        model="scripted",
        grounding="flat",
        limits=Limits(),
        **changes,
    )


def solution(name, **changes):
    return Solution(problem_id=name, model="scripted", stop_reason=StopReason.FINISHED, **changes)


def test_what_is_written_is_read_back(tmp_path):
    cells = (Cell(index=1, code="print(1)", stdout="1\n", stderr="warn\n"),)
    with RunDir.create(tmp_path / "run", manifest("a", "b")) as run:
        folder = run.problem("a")
        folder.prepare(run.manifest.problems[0])
        with folder.open_transcript() as transcript:
            transcript.add({"role": "user", "content": "?"})
        folder.write_cell(cells[0])
        folder.write_solution(solution("a", cells=cells))
    again = RunDir.read(tmp_path / "run")
    assert again.manifest == manifest("a", "b")
    found = {planned.problem_id: record for planned, record in again.solutions()}
    assert found["b"] is None
    assert found["a"].stop_reason is StopReason.FINISHED
    assert again.problem("a").read_cells() == cells
    assert again.problem("a").read_transcript() == [{"role": "user", "content": "?"}]


def test_a_record_keeps_code_and_output_in_their_own_files(tmp_path):
    with RunDir.create(tmp_path / "run", manifest("a")) as run:
        folder = run.problem("a")
        folder.prepare(run.manifest.problems[0])
        cell = Cell(index=3, code="print('é')", stdout="é\n")
        folder.write_cell(cell)
        folder.write_solution(solution("a", cells=(cell,)))
        written = json.loads((folder.path / "solution.json").read_text("utf-8"))
        assert "code" not in written["cells"][0] and "stdout" not in written["cells"][0]
        assert (folder.cells / "03.py").read_text("utf-8") == "print('é')"
        assert (folder.cells / "03.out").read_text("utf-8") == "é\n"


def test_data_files_are_put_into_the_working_folder(tmp_path):
    source = tmp_path / "table.csv"
    source.write_text("x,y\n1,2\n")
    problem = Problem(
        id="a",
        statement="?",
        data=(DataFile(file="table.csv", path=str(source), sha256="-"),),
    )
    with RunDir.create(tmp_path / "run", manifest("a")) as run:
        run.problem("a").prepare(problem)
        assert (run.problem("a").work / "table.csv").read_text() == "x,y\n1,2\n"


def test_samples_have_folders_of_their_own(tmp_path):
    run = RunDir(tmp_path, manifest("a"))
    assert run.problem("a").path.name == "a"
    assert run.problem("a", 2).path.name == "a.s2"


def test_an_earlier_attempt_is_kept_beside_the_next(tmp_path):
    with RunDir.create(tmp_path / "run", manifest("a")) as run:
        folder = run.problem("a")
        folder.prepare(run.manifest.problems[0])
        folder.write_solution(solution("a"))
        folder.set_aside(1)
        assert folder.read_solution() is None
        assert (folder.path.with_name("a.a1") / "solution.json").exists()
        folder.set_aside(2)  # nothing there: nothing to keep


def test_a_torn_last_line_of_the_journal_is_ignored(tmp_path):
    line = JournalLine(event=JournalEvent.SETTLED, at="t", problem_id="a", sample=1, attempt=1)
    with RunDir.create(tmp_path / "run", manifest("a")) as run:
        run.log(line)
        with (run.path / "journal.jsonl").open("ab") as file:
            file.write(b'{"event": "settled", "at"')
        (found,) = run.journal()
        assert found.model_copy(update={"chain": None}) == line


def test_two_processes_cannot_write_one_run(tmp_path):
    with (
        RunDir.create(tmp_path / "run", manifest("a")) as run,
        pytest.raises(RunDirError, match="another process is working on this run"),
    ):
        RunDir.reopen(run.path, run.manifest)


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda path: None, "not a run directory"),
        (lambda path: (path / "manifest.json").write_text("{"), "not a manifest"),
        (lambda path: (path / "manifest.json").write_text('{"format": 1}'), "run_id"),
        (
            lambda path: (path / "manifest.json").write_text(
                manifest("a").model_copy(update={"format": 99}).model_dump_json()
            ),
            "format 99.*update scisolve-batch",
        ),
    ],
)
def test_something_else_is_refused_with_a_reason(tmp_path, prepare, message):
    prepare(tmp_path)
    with pytest.raises(RunDirError, match=message):
        RunDir.read(tmp_path)


def test_a_folder_that_is_not_empty_is_never_written_to(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(RunDirError, match="is not empty"):
        RunDir.create(tmp_path, manifest("a"))
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_a_lone_surrogate_survives_as_its_escape():
    assert json.loads(encode_json({"text": "a\ud83db"})) == {"text": "a\ud83db"}


def test_a_number_that_json_cannot_hold_is_an_error_and_not_a_broken_file():
    with pytest.raises(ValueError, match="JSON"):
        encode_json({"x": float("nan")})


def test_a_record_with_what_json_cannot_hold_is_written_all_the_same(tmp_path):
    odd = Cell(index=1, note="a\ud83d b", wall_s=float("inf"))
    with RunDir.create(tmp_path / "run", manifest("a")) as run:
        folder = run.problem("a")
        folder.prepare(run.manifest.problems[0])
        folder.write_solution(solution("a", cells=(odd,), model_s=float("nan")))
        json.loads((folder.path / "solution.json").read_bytes(), parse_constant=pytest.fail)
        found = folder.read_solution()
    assert found.model_s != found.model_s and found.cells[0].wall_s == float("inf")
    assert found.cells[0].note == "a\\ud83d b"


def test_a_failed_write_leaves_the_old_file_and_no_part(tmp_path):
    target = tmp_path / "file"
    target.mkdir()
    with pytest.raises(RunDirError, match="cannot be written"):
        write_whole(target, b"x")
    assert list(tmp_path.iterdir()) == [target]


def test_a_reader_never_sees_half_a_record_while_a_writer_is_killed(tmp_path):
    code = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from scisolve_batch.files import write_whole
        print("go", flush=True)
        n = 0
        while True:
            n += 1
            write_whole(Path(sys.argv[1]), (str(n % 10) * 100_000).encode())
        """
    )
    target = tmp_path / "file"
    for _ in range(2):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE
        ) as writer:
            writer.stdout.readline()
            wait_for(target.exists)
            for _ in range(200):
                data = target.read_bytes()
                assert len(data) == 100_000 and len(set(data)) == 1
            os.kill(writer.pid, signal.SIGKILL)
        data = target.read_bytes()
        assert len(data) == 100_000 and len(set(data)) == 1
