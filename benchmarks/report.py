"""What a report costs, as ratios to a plain `json.load` loop over the same files.

    python benchmarks/report.py [--solutions 10000]

It writes a run directory of that many solutions, each with two cells, six literals and two
values, and measures CPU seconds in this process: of the loop people write themselves, of the
summary, of the tables, of reading them back with pandas, and of the page.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scisolve_batch import records as r
from scisolve_batch.report import build_report, load_report, summarize
from scisolve_batch.report.build import SUMMARY
from scisolve_batch.report.page import render_page
from scisolve_batch.report.rows import collect
from scisolve_batch.report.tables import arrow_table, write_parquet
from scisolve_batch.report.tally import summarize_rows
from scisolve_batch.rundir import RunDir


def solution(name: str, number: int) -> r.Solution:
    good = number % 7 != 0
    literals = tuple(
        r.Literal(
            text=f"{k}.{number:05d}", start=20 * k, end=20 * k + 7, value=f"{k}.{number:05d}",
            verdict=r.Verdict.GROUNDED if good or k else r.Verdict.UNGROUNDED,
            relation="rounded", source="cell", cell=2, line=k + 1,
            printed=f"{k}.{number:05d}123", label="value of x", chance=0.001,
        )
        for k in range(6)
    )  # fmt: skip
    verdict = r.GroundingVerdict.GROUNDED if good else r.GroundingVerdict.UNGROUNDED
    grades = tuple(
        r.ValueGrade(
            name=key, certified="1.23456789", reported="1.2345679", unit=None, how="structured",
            verdict=r.ValueVerdict.CORRECT, relative_error=1e-8, correct_digits=8.0, claimed_digits=8,
        )
        for key in "xy"
    )  # fmt: skip
    return r.Solution(
        problem_id=name,
        model="scripted",
        stop_reason=r.StopReason.FINISHED,
        started_at="2026-09-16T10:23:45Z",
        answer="The value of x is about 1.23456, as the printed residual shows. " * 6,
        values=tuple(r.ReportedValue(name=key, value="1.2345679") for key in "xy"),
        verification=r.Verification(
            kind="analytic", description="the closed form gives the same digits", evidence_cell=2, valid=True
        ),
        grounding=r.Grounding(policy="decimal", verdict=verdict, literals=literals),
        grade=r.Grade(correct=True, fraction=1.0, values=grades),
        turns=tuple(
            r.Turn(index=k, stop_reason="tool_use", usage=r.Usage(input_tokens=900, output_tokens=80))
            for k in (1, 2, 3)
        ),
        cells=tuple(
            r.Cell(index=k, code="import numpy as np\nprint(np.pi)\n", stdout="3.141592653589793\n")
            for k in (1, 2)
        ),
        usage=r.Usage(input_tokens=2700, output_tokens=240),
        duration_s=12.5,
    )  # fmt: skip


def write_run(path: Path, count: int) -> None:
    problems = tuple(
        r.Problem(
            id=f"p{number:05d}", statement="Compute x.", domain=f"domain-{number % 8}", difficulty=number % 5 + 1,
            values=tuple(r.CertifiedValue(name=key, value="1.23456789", rtol=1e-6, digits=9) for key in "xy"),
            digest=f"digest-{number}",
        )
        for number in range(count)
    )  # fmt: skip
    manifest = r.Manifest(
        run_id=path.name,
        created_at="2026-09-16T10:23:45Z",
        suite=r.SuiteRef(id="benchmark", digest="none"),
        planned=tuple(r.PlannedProblem(problem_id=p.id, digest=p.digest) for p in problems),
        problems=problems,
        model="scripted",
        grounding="decimal",
        limits=r.Limits(),
    )
    with RunDir.create(path, manifest) as run:
        for number, problem in enumerate(problems):
            record = solution(problem.id, number)
            folder = run.problem(problem.id)
            folder.cells.mkdir(parents=True)
            for cell in record.cells:
                folder.write_cell(cell)
            data = record.model_dump(
                mode="json", exclude={"cells": {"__all__": {"code", "stdout", "stderr"}}}
            )
            (folder.path / "solution.json").write_text(json.dumps(data, indent=1))


def plain_loop(path: Path) -> Any:
    """What people write themselves: json.load on each file, then a frame."""
    import pandas as pd

    found = []
    for file in sorted(path.glob("problems/*/solution.json")):
        with file.open() as opened:
            found.append(json.load(opened))
    return pd.json_normalize(found)


def cpu(action: Callable[[], Any], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        action()
        best = min(best, time.process_time() - begin)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solutions", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    import pandas as pd
    import pyarrow.parquet  # noqa: F401 - loading it is not what is measured

    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "run", Path(folder) / "report"
        write_run(path, options.solutions)
        run = RunDir.read(path)
        tables = collect(run)
        summary = summarize_rows(run.manifest, tables)
        rounds = options.rounds
        base = cpu(lambda: plain_loop(path), rounds)
        rows = {
            "json.load loop and json_normalize": base,
            "summarize(run)": cpu(lambda: summarize(run), rounds),
            "collect(run), with all texts": cpu(lambda: collect(run), rounds),
            "summary of rows": cpu(lambda: summarize_rows(run.manifest, tables), rounds),
            "write six Parquet tables": cpu(
                lambda: [
                    write_parquet(Path(folder) / f"{n}.parquet", arrow_table(n, t))
                    for n, t in tables.items()
                ],
                rounds,
            ),
            "render the page": cpu(lambda: render_page(run, tables, summary, folder=out), rounds),
            "build_report(run)": cpu(lambda: build_report(path, out), 1),
            "load_report(report).solutions": cpu(lambda: load_report(out).solutions, rounds),
            "pd.read_parquet(solutions)": cpu(
                lambda: pd.read_parquet(out / "solutions.parquet"), rounds
            ),
            "pd.read_parquet, eight columns": cpu(
                lambda: pd.read_parquet(
                    out / "solutions.parquet",
                    columns=[
                        "problem_id",
                        "domain",
                        "outcome",
                        "grounded",
                        "correct",
                        "total_tokens",
                        "duration_s",
                        "answer",
                    ],
                ),
                rounds,
            ),
        }
        print(f"{options.solutions} solutions, CPU seconds, best of {rounds}")
        for name, seconds in rows.items():
            print(f"{name:36s} {seconds:8.3f}  {seconds / base:6.2f} x json.load loop")
        sizes = {file.name: file.stat().st_size for file in sorted(out.iterdir())}
        stored = sum(size for name, size in sizes.items() if name.endswith(".parquet"))
        source = sum(file.stat().st_size for file in path.glob("problems/*/solution.json"))
        print(
            f"solution.json {source / options.solutions:.0f} bytes each, all tables {stored / options.solutions:.0f}"
        )
        print(f"page {sizes['report.html'] / 1e6:.1f} MB, {SUMMARY} {sizes[SUMMARY] / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
