"""Whatever a run directory or an old report holds, every reader of it has an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from everything import every_outcome
from handmade import literal, problem, solved, stopped

from scisolve_batch.errors import RunDirError
from scisolve_batch.records import (
    Grounding,
    GroundingVerdict,
    PlannedProblem,
    Solution,
    StopReason,
)
from scisolve_batch.report import (
    build_report,
    citation,
    compare,
    github_summary,
    latex_table,
    load_report,
    recheck,
    render_comparison,
    render_summary,
    sensitivity,
    summarize,
    write_index,
    write_junit,
)
from scisolve_batch.report.schema import SCHEMA_VERSION, TABLES
from scisolve_batch.rundir import RunDir

MakeRun = Callable[..., Path]


def everything(make_run: MakeRun) -> Path:
    known = every_outcome()
    return make_run(known.solutions, problems=known.problems)


def damaged(make_run: MakeRun) -> Path:
    """A record of each kind of damage, and folders that hold other things than they should."""
    names = [f"p{number}" for number in range(9)]
    run = make_run([solved(name) for name in names])
    files = {name: run / "problems" / name / "solution.json" for name in names}
    for name, content in zip(names, [b"", b"{", b"\xff\x00", b"[]", b'{"a":' * 9999], strict=False):
        files[name].write_bytes(content)
    files["p5"].unlink()
    files["p5"].mkdir()
    for cell in (run / "problems/p6/cells").iterdir():
        cell.unlink()
    record = json.loads(files["p7"].read_text())
    record["cells"][0]["figures"] = ["a\0.png", "../b.png", "c" * 400 + ".png"]
    files["p7"].write_text(json.dumps(record | {"seed": 10**30}))
    strange = {
        "duration_s": float("inf"),
        "wait_s": float("nan"),
        "started_at": "0001-01-01T00:00:00+14:00",
    }
    files["p8"].write_text(json.dumps(record | {"problem_id": "p8"} | strange))
    return run


def old(make_run: MakeRun) -> Path:
    """Records and a manifest that hold no more than the first version asked for."""
    run = make_run([solved("p1"), stopped("p2")])
    for name, end in (("p1", "finished"), ("p2", "stuck")):
        least = {"problem_id": name, "model": "m", "stop_reason": end, "cells": [{"index": 1}]}
        (run / f"problems/{name}/solution.json").write_text(json.dumps(least))
    plan = [{"problem_id": "p1", "digest": "d"}, {"problem_id": "p2", "digest": "d"}]
    manifest = {
        "run_id": "old", "created_at": "yesterday", "suite": {"id": "s", "digest": "d"}, "planned": plan,
        "problems": [{"id": "p1", "statement": "?"}], "later": 1,
    }  # fmt: skip
    (run / "manifest.json").write_text(json.dumps(manifest))
    return run


def without_folders(make_run: MakeRun) -> Path:
    run = make_run([], problems=[problem("p1")])
    (run / "problems").rmdir()
    return run


def unplanned(make_run: MakeRun) -> Path:
    """A plan with problems that the manifest does not hold, and names that no folder can have."""
    planned = tuple(
        PlannedProblem(problem_id=name, digest="") for name in ("a\0b", "../x", "", "x" * 300)
    )
    return make_run([], problems=[], planned=planned)


RUNS: dict[str, Callable[[MakeRun], Path]] = {
    "nothing planned": lambda make: make([], problems=[]),
    "nothing done": lambda make: make([], problems=[problem("p1"), problem("p2", values=())]),
    "all lost": lambda make: make([stopped("p1", StopReason.MODEL_ERROR)]),
    "everything": everything,
    "damaged": damaged,
    "old": old,
    "no folders": without_folders,
    "unplanned": unplanned,
}


@pytest.mark.parametrize("kind", RUNS)
def test_no_reader_raises_on_any_run(make_run: MakeRun, tmp_path: Path, kind: str) -> None:
    path = RUNS[kind](make_run)
    run, out = RunDir.read(path), tmp_path / "reports" / "one"
    planned = len(run.manifest.planned)
    summary = summarize(run)
    assert summary.ledger.planned == planned
    for text in (render_summary(summary), github_summary(summary), latex_table(summary)):
        assert str(planned) in text
    assert run.manifest.suite.id in citation(summary, run.manifest)
    paths = build_report(path, out)
    write_junit(path, tmp_path / "junit.xml")
    write_index(tmp_path / "reports")
    for place in (path, out):
        report = load_report(place)
        assert report.summary == summary
        assert len(report.solutions) == planned
        for name in TABLES:
            assert list(report.frame(name).columns) == list(TABLES[name].names)
            report.frame(name).to_csv(tmp_path / "table.csv")
        comparison = compare(place, path)
        assert f"{comparison.paired} problems" in render_comparison(comparison)
    assert recheck(path).checked <= planned
    assert all(variant.grounded.planned <= planned for variant in sensitivity(path))
    assert paths.page.stat().st_size > 10_000


def test_an_integer_that_no_column_holds_is_a_record_that_says_so(make_run: MakeRun) -> None:
    run = make_run([solved("p1")])
    file = run / "problems/p1/solution.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"seed": 10**30}))
    row = load_report(run).solutions.iloc[0]
    assert row.cause == "unreadable" and "seed" in row.failure_message


# ---- reports of other versions -------------------------------------------------------


def rewrite(file: Path, change: Callable[[pa.Table], pa.Table], *, version: int) -> None:
    table = change(pq.ParquetFile(file).read())
    known = dict(table.schema.metadata or {})
    stamp = {b"scisolve_batch.schema_version": str(version).encode()}
    pq.write_table(table.replace_schema_metadata(known | stamp), file)


@pytest.mark.parametrize("version", range(SCHEMA_VERSION + 1))
@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_an_old_version_is_read_with_what_it_has(
    make_run: MakeRun, tmp_path: Path, name: str, version: int
) -> None:
    paths = build_report(make_run([solved("p1")]), tmp_path / "out")
    keys = [column for column in TABLES[name].names if column in ("run_id", "problem_id")]
    rewrite(paths.tables[name], lambda table: table.select(keys), version=version)
    frame = load_report(tmp_path / "out").frame(name)
    assert list(frame.columns) == list(TABLES[name].names) and len(frame) >= 1
    assert frame[keys].notna().all(axis=None)
    assert frame.drop(columns=keys).isna().all(axis=None)


def test_columns_of_another_type_and_columns_nobody_knows_are_read(
    make_run: MakeRun, tmp_path: Path
) -> None:
    paths = build_report(make_run([solved("p1")]), tmp_path / "out")

    def other(table: pa.Table) -> pa.Table:
        narrow = table["turns"].cast(pa.int8())
        place = table.column_names.index("turns")
        words = pa.array(["soon"] * len(table))
        return table.set_column(place, "turns", narrow).append_column("later", words)

    rewrite(paths.tables["solutions"], other, version=0)
    frame = load_report(tmp_path / "out").solutions
    assert frame.turns.tolist() == [2] and "later" not in frame
    rewrite(
        paths.tables["solutions"],
        lambda table: table.set_column(
            table.column_names.index("turns"), "turns", pa.array(["two"] * len(table))
        ),
        version=0,
    )
    with pytest.raises(
        RunDirError, match=r"solutions\.parquet: column `turns` cannot be read as int"
    ):
        _ = load_report(tmp_path / "out").solutions


def test_a_summary_without_what_came_later_is_read(make_run: MakeRun, tmp_path: Path) -> None:
    paths = build_report(make_run([solved("p1")]), tmp_path / "out")
    data: dict[str, Any] = json.loads(paths.summary.read_text())
    for later in ("replay", "cost_usd", "slices", "repeats", "smallest_difference", "notes"):
        del data[later]
    paths.summary.write_text(json.dumps(data | {"much_later": 1}))
    assert load_report(tmp_path / "out").summary.replay == {}


def test_reports_of_old_and_new_versions_are_one_data_set(
    make_run: MakeRun, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        build_report(make_run([solved("p1")], name=name), tmp_path / "reports" / name)
    first = tmp_path / "reports/a/solutions.parquet"
    rewrite(first, lambda table: table.drop_columns(["cost_usd", "reproduced"]), version=0)
    frame = load_report(tmp_path / "reports").solutions
    assert list(frame.run_id) == ["a", "b"] and frame.reproduced.isna().all()


def test_literals_without_a_place_in_the_text_are_shown_without_one(make_run: MakeRun) -> None:
    items = tuple(
        literal("1.5", start=start, end=end) for start, end in ((900, 903), (-3, 2), (5, 1))
    )
    grounding = Grounding(policy="decimal", verdict=GroundingVerdict.GROUNDED, literals=items)
    record: Solution = solved("p1", grounding=grounding)
    assert len(load_report(make_run([record])).literals.context) == 3
