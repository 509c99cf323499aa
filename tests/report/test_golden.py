"""The summaries of a run with every outcome, kept as files so that a change of them is seen.

    GOLDEN=write python -m pytest tests/report/test_golden.py

writes them again; look at the difference before it is committed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from everything import every_outcome

from scisolve_batch.records import PlannedProblem
from scisolve_batch.report import github_summary, render_summary, summarize
from scisolve_batch.report.summary import Summary
from scisolve_batch.rundir import RunDir

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def summary(make_run: Callable[..., Path]) -> Summary:
    known = every_outcome()
    planned = tuple(
        PlannedProblem(problem_id=each.id, sample=sample, digest=each.digest)
        for each in known.problems
        for sample in ((1, 2) if each.id == "right" else (1,))
    )
    path = make_run(known.solutions, problems=known.problems, name="everything", planned=planned)
    (path / "problems/half-written/solution.json").write_text('{"problem_id": "half-wr')
    run = RunDir.read(path)
    record = (path / "problems/right/solution.json").read_bytes()
    again = {
        "at": "2026-09-17T08:00:00Z",
        "samples": [
            {"problem_id": "right", "record": hashlib.sha256(record).hexdigest(), "cells": [{"cell": 1, "verdict": "reproduced"}]},
        ],
    }  # fmt: skip
    (path / "replay.json").write_text(json.dumps(again))
    return summarize(run)


@pytest.mark.parametrize(
    ("name", "write"), [("summary.txt", render_summary), ("summary.md", github_summary)]
)
def test_a_run_with_every_outcome_is_told_as_before(
    summary: Summary, name: str, write: Callable[[Summary], str]
) -> None:
    text = write(summary).rstrip("\n") + "\n"
    file = GOLDEN / name
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), f"see {Path(__file__).name} to write it again"


def test_every_outcome_and_every_cause_stands_in_both(summary: Summary) -> None:
    words = {*summary.ledger.causes, "grounded", "ungrounded", "nothing computed", "unchecked"}
    assert len(words) > 15
    for name in ("summary.txt", "summary.md"):
        text = (GOLDEN / name).read_text(encoding="utf-8").replace("&#95;", "_").replace("**", "")
        assert {word for word in words if word not in text} == set(), name
