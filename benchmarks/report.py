"""What reports cost, beside the loop that people write themselves and the floor below both.

    python benchmarks/report.py [--solutions 10000] [--rounds 5]

It writes a run directory of that many solutions (each of two cells, six literals, two values and three
turns, some 5 KB of indented JSON as a run writes it) and measures CPU seconds of this process, the best of the rounds,
which go round in turn so that a busy machine is busy for all of them. The peak of memory is that of fresh
processes over the whole run and over half of it. With Chromium on the PATH, the page of 1,000 problems is
opened as well.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scisolve_batch import records as r
from scisolve_batch.report import build_report, load_report, summarize
from scisolve_batch.report.build import SUMMARY
from scisolve_batch.report.page import Page
from scisolve_batch.report.rows import collect_parts, collector_paused
from scisolve_batch.report.schema import TABLES
from scisolve_batch.report.tables import TableWriter
from scisolve_batch.rundir import RunDir

ROOT = Path(__file__).parents[1]


def solution(name: str, number: int, numbers: int) -> r.Solution:
    good = number % 7 != 0
    literals = tuple(
        r.Literal(
            text=f"{k}.{number:05d}", start=20 * k, end=20 * k + 7, value=f"{k}.{number:05d}",
            verdict=r.Verdict.GROUNDED if good or k else r.Verdict.UNGROUNDED,
            relation="rounded", source="cell", cell=2, line=k + 1,
            printed=f"{k}.{number:05d}123", label="value of x", chance=0.001,
        )
        for k in range(numbers)
    )  # fmt: skip
    verdict = r.GroundingVerdict.GROUNDED if good else r.GroundingVerdict.UNGROUNDED
    grades = tuple(
        r.ValueGrade(
            name=key, certified="1.23456789", reported="1.2345679", unit=None, how="structured",
            verdict=r.ValueVerdict.CORRECT, relative_error=1e-8, correct_digits=8.0, claimed_digits=8,
        )
        for key in "xy"
    )  # fmt: skip
    said = " ".join(f"The value of x is about {k}.{number:05d}, as printed." for k in range(6))
    return r.Solution(
        problem_id=name,
        model="scripted",
        stop_reason=r.StopReason.FINISHED,
        started_at="2026-09-16T10:23:45Z",
        answer=said,
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
            r.Cell(index=k, code=f"import numpy as np\nprint(np.pi * {number})\n", stdout=f"{3.14159 * number}\n")
            for k in (1, 2)
        ),
        usage=r.Usage(input_tokens=2700, output_tokens=240),
        duration_s=12.5 + number / 1000,
    )  # fmt: skip


def write_run(path: Path, count: int, numbers: int = 6) -> None:
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
            record = solution(problem.id, number, numbers)
            folder = run.problem(problem.id)
            folder.cells.mkdir(parents=True)
            for cell in record.cells:
                folder.write_cell(cell)
            data = record.model_dump(
                mode="json", exclude={"cells": {"__all__": {"code", "stdout", "stderr"}}}
            )
            (folder.path / "solution.json").write_text(json.dumps(data, indent=1))


def read_only(path: Path) -> None:
    """The floor: open and read every record."""
    for folder in os.scandir(path / "problems"):
        with open(f"{folder.path}/solution.json", "rb") as file:  # noqa: PTH123 - the floor
            file.read()


def normalize(path: Path) -> Any:
    """What people write themselves: json.load on each file, then a frame."""
    import pandas as pd

    found = []
    for file in sorted(path.glob("problems/*/solution.json")):
        with file.open() as opened:
            found.append(json.load(opened))
    return pd.json_normalize(found)


def write_tables(run: RunDir, folder: Path, names: tuple[str, ...]) -> None:
    """Records to Parquet, in parts."""
    folder.mkdir(exist_ok=True)
    with collector_paused():
        writers = {name: TableWriter(folder / f"{name}.parquet", name) for name in names}
        for part in collect_parts(run, texts="cells" in names, names=names):
            for name, writer in writers.items():
                writer.write(part[name])
        for writer in writers.values():
            with writer:
                pass


def render(path: Path, folder: Path) -> None:
    """The page alone."""
    run = RunDir.read(path)
    page = Page(run, folder)
    with collector_paused():
        for part in collect_parts(run):
            page.add(part)
        page.render(summarize(run))


def measure(actions: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """CPU seconds of each action, the best of the rounds; the rounds go through all of them."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, action in actions.items():
            begin = time.process_time()
            action()
            best[name] = min(best.get(name, float("inf")), time.process_time() - begin)
    return best


def peak_of(path: Path, folder: Path) -> float:
    """MB that a fresh process holds at most while it builds a report."""
    program = (
        "import sys; from pathlib import Path; from scisolve_batch.report import build_report; "
        "build_report(*sys.argv[1:]); print(Path('/proc/self/status').read_text())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(path), str(folder)],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return int(ended.stdout.partition("VmHWM:")[2].split()[0]) / 1024


def open_in_browser(page: Path) -> float | None:
    """Seconds until Chromium has the page ready, or none without Chromium."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from chromium import Chromium, find_chromium

    if find_chromium() is None:
        return None
    with Chromium() as browser:
        browser.open(page)
        return min(browser.open(page) for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solutions", type=int, default=10_000)
    parser.add_argument("--literals", type=int, default=6, help="numbers of an answer")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    import pandas as pd
    import pyarrow.parquet  # noqa: F401 - loading it is not what is measured

    with tempfile.TemporaryDirectory() as folder:
        path, out, only = (Path(folder) / name for name in ("run", "report", "tables"))
        count, half = options.solutions, options.solutions // 2
        write_run(path, count, options.literals)
        build_report(path, out)
        run = RunDir.read(path)
        few = ["problem_id", "domain", "outcome", "grounded", "correct", "total_tokens", "answer"]
        found = measure(
            {
                "read every record (the floor)": lambda: read_only(path),
                "json.load loop and json_normalize": lambda: normalize(path),
                "open the run (its manifest)": lambda: RunDir.read(path),
                "records -> solutions.parquet": lambda: write_tables(run, only, ("solutions",)),
                "records -> six tables, with texts": lambda: write_tables(run, only, tuple(TABLES)),
                "summarize(run)": lambda: summarize(RunDir.read(path)),
                "the page": lambda: render(path, out),
                "build_report(run), all of it": lambda: build_report(path, out),
                "load_report(report).solutions": lambda: load_report(out).solutions,
                "pd.read_parquet(solutions)": lambda: pd.read_parquet(out / "solutions.parquet"),
                "pd.read_parquet, seven columns": lambda: pd.read_parquet(
                    out / "solutions.parquet", columns=few
                ),
            },
            options.rounds,
        )
        base = found["json.load loop and json_normalize"]
        size = sum(file.stat().st_size for file in path.glob("problems/*/solution.json")) / count
        print(f"{count} solutions of {size:.0f} bytes, CPU seconds, best of {options.rounds}")
        for name, seconds in found.items():
            print(f"{name:36s} {seconds:8.3f}  {seconds / base:6.2f} x json_normalize")
        stored = sum(file.stat().st_size for file in out.glob("*.parquet")) / count
        print(
            f"all tables {stored:.0f} bytes a solution, {SUMMARY} {(out / SUMMARY).stat().st_size} bytes"
        )
        print(f"page {(out / 'report.html').stat().st_size / 1e6:.1f} MB")
        shutil.rmtree(out)
        whole = peak_of(path, out)
        write_run(Path(folder) / "half", half, options.literals)
        print(
            f"peak of memory {whole:.0f} MB, of half as many {peak_of(Path(folder) / 'half', out):.0f} MB"
        )
        write_run(Path(folder) / "thousand", 1000)
        page = build_report(Path(folder) / "thousand", Path(folder) / "page").page
        seconds = open_in_browser(page)
        opened = "not opened: no Chromium" if seconds is None else f"opens in {seconds:.2f} s"
        print(f"page of 1,000 problems {page.stat().st_size / 1e6:.1f} MB, {opened}")


if __name__ == "__main__":
    main()
