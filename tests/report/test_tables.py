"""The tables hold what the run directory holds, to the value."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from handmade import literal, problem, solved, stopped

from scisolve_batch.errors import RunDirError, UsageError
from scisolve_batch.records import (
    Cell,
    CellStatus,
    Failure,
    Grounding,
    GroundingVerdict,
    StopReason,
    Turn,
    Verdict,
)
from scisolve_batch.report import build_report, load_report
from scisolve_batch.report.schema import SCHEMA_VERSION, TABLES
from scisolve_batch.report.tables import arrow_schema

MakeRun = Callable[..., Path]


def test_a_finished_solution_becomes_a_row_with_every_value(make_run: MakeRun) -> None:
    run = make_run([solved("p1", grounded=False)])
    row = load_report(run).solutions.iloc[0]
    assert row.run_id == "run-1"
    assert (row.problem_id, row["sample"], row.domain, row.difficulty) == ("p1", 1, "ode", 2)
    assert (row.outcome, row.cause, row.missing) == ("ungrounded", "finished", False)
    assert (row.finished, row.grounded, row.verified, row.correct) == (True, False, True, True)
    assert (row.literals, row.failing_literals, list(row.failing_texts)) == (2, 1, ["2.718"])
    assert row.expected_coincidences == 0.001
    assert (row.input_tokens, row.output_tokens, row.total_tokens) == (230, 50, 280)
    assert pd.isna(row.cache_read_tokens)
    assert (row.duration_s, row.model_s, row.wait_s, row.cell_s) == (2.0, 1.5, 0.0, 0.5)
    assert (row.turns, row.cells, row.cells_ok, row.refusals) == (2, 1, 1, 0)
    assert row.started_at == pd.Timestamp("2026-09-16T10:23:45Z")
    assert row.worst_correct_digits == 7.8
    assert list(row.tags) == ["easy"]
    assert (row.verification_kind, row.evidence_cell) == ("analytic", 1)


def test_literals_carry_verdict_source_and_context(make_run: MakeRun) -> None:
    frame = load_report(make_run([solved("p1", grounded=False)])).literals
    first, second = frame.iloc[0], frame.iloc[1]
    assert list(frame.literal) == [1, 2]
    assert (first.text, first.verdict, first.relation) == ("3.1415927", "grounded", "exact")
    assert (first.cell, first.line, first.printed, first.label) == (1, 1, "3.1415927", "x")
    assert (second.verdict, second.failing, second.reason) == ("ungrounded", True, "absent")
    assert second.nearest == "2.5"
    assert pd.isna(second.cell)
    assert second.context == "x = 3.1415927 and 2.718"


def test_cells_carry_code_and_output(make_run: MakeRun) -> None:
    cells = (
        Cell(index=1, code="print(1)", stdout="1\n", wall_s=0.25, figures=("fig_001.png",)),
        Cell(
            index=2, code="1/0", status=CellStatus.ERROR, traceback="ZeroDivisionError", stderr="!"
        ),
    )
    frame = load_report(make_run([solved("p1", cells=cells)])).cells
    assert list(frame.cell) == [1, 2]
    assert list(frame.status) == ["ok", "error"]
    assert list(frame.ok) == [True, False]
    assert list(frame.code) == ["print(1)", "1/0"]
    assert list(frame.stdout) == ["1\n", ""]
    assert list(frame.stderr) == ["", "!"]
    assert frame.traceback[1] == "ZeroDivisionError"
    assert frame.wall_s[0] == 0.25
    assert list(frame.figures[0]) == ["fig_001.png"]


def test_values_carry_the_certified_value_and_its_tolerance(make_run: MakeRun) -> None:
    row = load_report(make_run([solved("p1", correct=False)])).values.iloc[0]
    assert (row["name"], row.certified, row.reported) == ("x", "3.14159265", "3.1415927")
    assert (row.verdict, row.how, row.trap) == ("wrong", "structured", "float32")
    assert (row.relative_error, row.correct_digits, row.claimed_digits) == (0.1, 1.0, 8)
    assert (row.certified_digits, row.rtol, row.exact) == (9, 1e-6, False)


def test_turns_carry_tokens_and_times(make_run: MakeRun) -> None:
    turn = Turn(
        index=1, stop_reason="end_turn", attempts=3, errors=("overloaded", "server"), wait_s=4
    )
    frame = load_report(make_run([solved("p1", turns=(turn,))])).turns
    row = frame.iloc[0]
    assert (row.turn, row.stop_reason, row.attempts, row.wait_s) == (1, "end_turn", 3, 4.0)
    assert list(row.errors) == ["overloaded", "server"]
    assert pd.isna(row.input_tokens)


def test_the_run_is_a_row_of_its_own(make_run: MakeRun) -> None:
    run = make_run([solved("p1"), solved("p2")], versions={"numpy": "2.0"}, seed=5)
    row = load_report(run).runs.iloc[0]
    assert (row.run_id, row.suite_id, row.suite_pin, row.model) == (
        "run-1",
        "core",
        "pinned",
        "scripted",
    )
    assert (row.problems, row.planned, row.seed, row.scripted) == (2, 2, 5, True)
    assert json.loads(row.versions) == {"numpy": "2.0"}
    assert (row.problem_limit_s, row.max_turns, row.schema_version) == (600.0, 12, SCHEMA_VERSION)


def test_a_planned_sample_without_a_record_has_a_row(make_run: MakeRun) -> None:
    run = make_run([solved("p1")], problems=[problem("p1"), problem("p2")])
    row = load_report(run).solutions.set_index("problem_id").loc["p2"]
    assert (row.outcome, row.cause, row.missing, row.finished) == (
        "unfinished",
        "not_run",
        True,
        False,
    )
    assert all(pd.isna(row[name]) for name in ("grounded", "correct", "verified", "answer"))


@pytest.mark.parametrize("reason", [each for each in StopReason if each is not StopReason.FINISHED])
def test_only_ends_that_say_nothing_about_the_solver_are_missing(
    make_run: MakeRun, reason: StopReason
) -> None:
    row = load_report(make_run([stopped("p1", reason)])).solutions.iloc[0]
    lost = reason in {StopReason.MODEL_ERROR, StopReason.SESSION_LOST, StopReason.INTERRUPTED}
    assert (row.cause, row.missing) == (reason.value, lost)
    if lost:
        assert pd.isna(row.grounded)
        assert pd.isna(row.correct)
    else:
        assert (row.grounded, row.correct) == (False, False)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"problem_id": 3}', b"\xff\xfe", b'{"a":' * 50000, b"null", b'"\\ud800"'],
)
def test_a_broken_record_is_a_row_that_says_so(make_run: MakeRun, content: bytes) -> None:
    run = make_run([solved("p1"), solved("p2")])
    (run / "problems/p1/solution.json").write_bytes(content)
    report = load_report(run)
    row = report.solutions.iloc[0]
    assert (row.outcome, row.cause, row.missing) == ("unfinished", "unreadable", True)
    assert "not a solution record" in row.failure_message
    assert report.summary.ledger.grounded == 1
    assert "one record cannot be read, that of p1" in report.summary.notes


def test_a_record_of_an_old_version_is_read_with_defaults(make_run: MakeRun) -> None:
    run = make_run([solved("p1")])
    old = {"problem_id": "p1", "model": "m", "stop_reason": "finished", "later": {"field": 1}}
    (run / "problems/p1/solution.json").write_text(json.dumps(old))
    row = load_report(run).solutions.iloc[0]
    assert (row.outcome, row.literals, row.turns) == ("unchecked", 0, 0)
    assert pd.isna(row.answer)


def test_lone_surrogates_survive_as_their_escapes(make_run: MakeRun) -> None:
    run = make_run([solved("p1")])
    file = run / "problems/p1/solution.json"
    file.write_text(file.read_text().replace('"answer": "x', '"answer": "\\ud800x'))
    assert load_report(run).solutions.answer[0].startswith("\\ud800x = 3.14")


def test_missing_cell_files_are_missing_values(make_run: MakeRun) -> None:
    run = make_run([solved("p1")])
    (run / "problems/p1/cells/01.out").unlink()
    row = load_report(run).cells.iloc[0]
    assert pd.isna(row.stdout)
    assert row.code == "print('x =', 3.1415927)"


def test_an_empty_run_has_empty_tables_with_all_columns(make_run: MakeRun) -> None:
    run = make_run([], problems=[])
    report = load_report(run)
    for name, table in TABLES.items():
        frame = report.frame(name)
        assert list(frame.columns) == list(table.names)
        assert len(frame) == (1 if name == "runs" else 0)
    assert report.summary.ledger.planned == 0
    assert report.summary.grounded_rate.rate is None


def test_reports_and_run_directories_load_alike(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run([solved("p1"), stopped("p2"), stopped("p3", StopReason.MODEL_ERROR)])
    build_report(run, tmp_path / "out")
    built, direct = load_report(tmp_path / "out"), load_report(run)
    assert built.summary == direct.summary
    for name in TABLES:
        pd.testing.assert_frame_equal(built.frame(name), direct.frame(name))


def test_building_again_gives_the_same_bytes_and_leaves_nothing_beside(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run([solved("p1"), solved("p2", grounded=False)])
    out = tmp_path / "out"
    build_report(run, out)
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    build_report(run, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    assert not [name for name in first if name.startswith(".")]


def test_without_out_the_report_goes_to_reports(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run([solved("p1")])
    monkeypatch.chdir(tmp_path)
    assert build_report(run).folder == Path("reports/run-1")
    assert (tmp_path / "reports/run-1/solutions.parquet").is_file()


def test_every_column_of_a_file_has_type_description_and_unit(
    make_run: MakeRun, tmp_path: Path
) -> None:
    paths = build_report(make_run([solved("p1")]), tmp_path / "out")
    for name, path in paths.tables.items():
        file = pq.ParquetFile(path)
        assert file.metadata.row_group(0).column(0).compression == "ZSTD"
        schema = file.schema_arrow
        assert schema.metadata[b"scisolve_batch.schema_version"] == str(SCHEMA_VERSION).encode()
        assert schema.equals(arrow_schema(TABLES[name]))
        for field, column in zip(schema, TABLES[name].columns, strict=True):
            assert field.metadata[b"description"].decode() == column.about
            assert field.metadata[b"unit"].decode() == column.unit
            assert field.nullable is not column.required


def test_units_are_named_where_the_column_name_names_one() -> None:
    units = {"_s": "s", "_mb": "MiB", "_kb": "KiB", "_tokens": "tokens"}
    for table in TABLES.values():
        assert len(set(table.names)) == len(table.names)
        for column in table.columns:
            for suffix, unit in units.items():
                if column.name.endswith(suffix):
                    assert column.unit == unit, (table.name, column.name)


def test_pandas_reads_gaps_without_changing_types(make_run: MakeRun, tmp_path: Path) -> None:
    paths = build_report(make_run([solved("p1"), stopped("p2", StopReason.MODEL_ERROR)]), tmp_path)
    frame = pd.read_parquet(paths.tables["solutions"])
    assert str(frame.correct.dtype) == "boolean"
    assert str(frame.difficulty.dtype) == "Int64"
    assert str(frame.finished.dtype) == "bool"
    assert str(frame.turns.dtype) == "int64"
    assert frame.correct.mean() == 1.0
    assert frame.started_at.dt.year.tolist()[0] == 2026


def test_failures_are_kept_in_words(make_run: MakeRun) -> None:
    lost = stopped("p1", StopReason.SESSION_LOST, failure=Failure(kind="session", message="gone"))
    row = load_report(make_run([lost])).solutions.iloc[0]
    assert (row.failure_kind, row.failure_message) == ("session", "gone")


def test_limits_nearly_reached_are_named(make_run: MakeRun) -> None:
    cells = (Cell(index=1, wall_s=29.0, peak_memory_mb=2000.0, stdout_dropped=5),)
    tight = solved("p1", cells=cells, duration_s=500.0, wait_s=10.0)
    waited = solved("p2", duration_s=500.0, wait_s=100.0)
    frame = load_report(make_run([tight, waited])).solutions
    assert list(frame.near_limits[0]) == ["problem_s", "cell_s", "memory_mb", "output_kb"]
    assert list(frame.near_limits[1]) == []


def test_many_literals_keep_their_order(make_run: MakeRun) -> None:
    items = tuple(
        literal(f"{n}.5", Verdict.OVERPRECISE if n % 2 else Verdict.GROUNDED) for n in range(50)
    )
    grounding = Grounding(policy="flat", verdict=GroundingVerdict.UNGROUNDED, literals=items)
    report = load_report(make_run([solved("p1", grounding=grounding)]))
    assert list(report.literals.text) == [f"{n}.5" for n in range(50)]
    assert report.literals.failing.sum() == 25 == report.solutions.failing_literals[0]


def test_a_folder_that_is_neither_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(RunDirError, match="neither a report nor a run directory"):
        load_report(tmp_path)


def test_a_report_of_a_newer_version_is_refused(make_run: MakeRun, tmp_path: Path) -> None:
    paths = build_report(make_run([solved("p1")]), tmp_path / "out")
    file = paths.tables["cells"]
    table = pq.ParquetFile(file).read()
    newer = dict(table.schema.metadata) | {b"scisolve_batch.schema_version": b"99"}
    pq.write_table(table.replace_schema_metadata(newer), file)
    with pytest.raises(RunDirError, match="has version 99, and this version reads up to 1"):
        load_report(tmp_path / "out").frame("cells")


def test_a_report_that_lacks_a_column_reads_it_as_missing(
    make_run: MakeRun, tmp_path: Path
) -> None:
    paths = build_report(make_run([solved("p1")]), tmp_path / "out")
    file = paths.tables["solutions"]
    pq.write_table(pq.ParquetFile(file).read().drop_columns(["fraction"]), file)
    frame = load_report(tmp_path / "out").solutions
    assert frame.fraction.isna().all()
    assert list(frame.columns) == list(TABLES["solutions"].names)


def test_a_broken_table_names_its_file(make_run: MakeRun, tmp_path: Path) -> None:
    paths = build_report(make_run([solved("p1")]), tmp_path / "out")
    paths.tables["turns"].write_bytes(b"no table")
    with pytest.raises(RunDirError, match=r"turns\.parquet: not a table"):
        load_report(tmp_path / "out").frame("turns")
    paths.tables["turns"].unlink()
    with pytest.raises(RunDirError, match=r"turns\.parquet: is not there; build the report again"):
        load_report(tmp_path / "out").frame("turns")
    (tmp_path / "out/summary.json").write_text("{}")
    with pytest.raises(RunDirError, match="not a summary of this version"):
        load_report(tmp_path / "out")


def test_an_unknown_table_is_named_with_the_known_ones(make_run: MakeRun) -> None:
    with pytest.raises(UsageError, match="no table `nope`; there are runs, solutions, literals"):
        load_report(make_run([])).frame("nope")


def test_reports_of_many_runs_read_as_one(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run([solved("p1")], name=name) for name in ("a", "b")]
    for run in runs:
        build_report(run, tmp_path / "reports" / run.name)
    both = load_report(tmp_path / "reports")
    assert list(both.solutions.run_id) == ["a", "b"]
    assert [summary.run_id for summary in both.summaries] == ["a", "b"]
    assert list(load_report(runs).solutions.run_id) == ["a", "b"]
    with pytest.raises(UsageError, match="2 reports are loaded"):
        _ = both.summary
    glued = pa.concat_tables(
        pq.ParquetFile(path).read() for path in sorted(tmp_path.glob("reports/*/solutions.parquet"))
    )
    assert len(glued) == 2


def test_building_leaves_the_collector_as_it_was(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gc

    from scisolve_batch.report import build

    def fail(*_: object) -> None:
        assert not gc.isenabled()
        raise RunDirError("stopped half-way")

    run = make_run([solved("p1")])
    monkeypatch.setattr(build, "write_report", fail)
    with pytest.raises(RunDirError, match="half-way"):
        build_report(run, tmp_path / "out")
    assert gc.isenabled()


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN"])
def test_times_that_are_not_finite_are_left_out_of_sums(
    make_run: MakeRun, tmp_path: Path, number: str
) -> None:
    run = make_run([solved("p1"), solved("p2")])
    file = run / "problems/p1/solution.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"duration_s": number}))
    build_report(run, tmp_path / "out")
    report = load_report(tmp_path / "out")
    assert report.summary.duration_s == 2.0
    assert len(report.solutions) == 2
