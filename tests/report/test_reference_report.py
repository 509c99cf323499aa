"""The committed reference report is that of the suite as it is now."""

import json
from pathlib import Path

import pandas as pd

from scisolve_batch.report.schema import TABLES
from scisolve_batch.suite import load_suite

FOLDER = Path(__file__).parents[2] / "reports" / "core-scripted"
REBUILD = (
    "rebuild it: scisolve-batch run suites/core.yaml --out runs/core-scripted "
    "--report reports/core-scripted"
)


def test_it_is_of_the_pinned_suite_and_everything_in_it_succeeded():
    suite = load_suite("core")
    summary = json.loads((FOLDER / "summary.json").read_text())
    assert summary["suite"]["digest"] == suite.ref.digest, REBUILD
    assert summary["suite"]["pin"] == "pinned" and summary["model"] == "scripted"
    solutions = pd.read_parquet(FOLDER / "solutions.parquet").set_index("problem_id")
    digests = {problem.id: problem.digest for problem in suite.problems}
    assert solutions["problem_digest"].to_dict() == digests, REBUILD
    assert solutions[["finished", "grounded", "verified", "correct"]].all().all()


def test_its_tables_have_the_columns_of_today():
    for name, table in TABLES.items():
        columns = tuple(pd.read_parquet(FOLDER / f"{name}.parquet").columns)
        assert columns == table.names, REBUILD


def test_its_page_and_summary_tell_the_same():
    summary = json.loads((FOLDER / "summary.json").read_text())
    page = (FOLDER / "report.html").read_text(encoding="utf-8")
    assert summary["run_id"] in page and "scripted" in page
    assert summary["ledger"]["planned"] == summary["ledger"]["grounded"] == 68
