"""`scisolve-batch suite`: check, pin, list, test and begin suites."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from scisolve_batch.errors import UsageError
from scisolve_batch.records import Problem
from scisolve_batch.suite import (
    Suite,
    bundled_names,
    json_schema,
    load_suite,
    select,
    write_lock,
)
from scisolve_batch.suite.editors import SchemaKind

if TYPE_CHECKING:
    from scisolve_batch.audit import Finding
    from scisolve_batch.cli.script_runner import ScriptRuns


@click.group("suite", short_help="Check, pin, list, test and begin suites.")
def command() -> None:
    """Check, pin, list, test and begin suites. SUITE is a file or the name of a bundled suite."""


@command.command("check")
@click.argument("suite")
def check(suite: str) -> None:
    """Read SUITE and everything it names, and compare it with its lock."""
    loaded = load_suite(suite)
    scripted = sum(problem.solution is not None for problem in loaded.problems)
    click.echo(
        f"{loaded.ref.id} {loaded.ref.version}: {len(loaded.problems)} problems over "
        f"{len({problem.domain for problem in loaded.problems})} domains, {scripted} with a "
        f"scripted solution; {loaded.ref.pin}; digest {loaded.ref.digest[:16]}"
    )


@command.command("lock")
@click.argument("suite")
@click.option("--force", is_flag=True, help="Also when content changed under the same version.")
def lock(suite: str, *, force: bool) -> None:
    """Write the lock of SUITE, which pins what is asked and what counts as right."""
    click.echo(f"wrote {write_lock(suite, force=force)}")


@command.command("list")
@click.argument("suite", required=False)
def list_problems(suite: str | None) -> None:
    """List the problems of SUITE, or without one the bundled suites."""
    if suite is None:
        for name in bundled_names():
            ref = load_suite(name, unpinned=True).ref
            click.echo(f"{name:<12} {ref.title}")
        return
    for problem in load_suite(suite, unpinned=True).problems:
        level = problem.difficulty if problem.difficulty is not None else "-"
        marks = ("s" if problem.solution else "-") + ("n" if problem.naive else "-")
        click.echo(f"{problem.id:<44} {problem.domain:<20} {level}  {marks}  {problem.title}")


@command.command("show")
@click.argument("suite")
@click.argument("problem")
def show(suite: str, problem: str) -> None:
    """Show PROBLEM of SUITE: statement, certified values, traps, source."""
    (found,) = select(load_suite(suite, unpinned=True), ids=[problem]).problems[:1]
    if found.title:
        click.echo(found.title)
    level = "-" if found.difficulty is None else found.difficulty
    click.echo(f"{found.id}  ({found.domain}, difficulty {level})\n")
    click.echo(textwrap.fill(found.statement, 90) + "\n")
    for value in found.values:
        unit = f" {value.unit}" if value.unit else ""
        click.echo(
            f"  {value.name} = {value.value}{unit}   ({_tolerance_words(found, value.name)})"
        )
    for title, words in (
        ("traps", found.traps),
        ("verified by", found.verified_by),
        ("source", (found.source,)),
        ("digest", (found.digest,)),
    ):
        for word in words:
            if word:
                click.echo(f"{title}: {word}")


def _tolerance_words(problem: Problem, name: str) -> str:
    value = next(item for item in problem.values if item.name == name)
    if value.exact:
        return "exactly"
    parts = [
        f"{kind} {getattr(value, kind):g}" for kind in ("rtol", "atol") if getattr(value, kind)
    ]
    return ", ".join(parts)


@command.command("schema")
@click.option(
    "--kind", type=click.Choice(get_args(SchemaKind)), default="suite", help="Which file it is for."
)
def schema(kind: SchemaKind) -> None:
    """Print the JSON Schema of suite files, for editors."""
    click.echo(json.dumps(json_schema(kind), indent=2))


@command.command("selftest")
@click.argument("suites", metavar="SUITE...", nargs=-1, required=True)
@click.option("--run/--no-run", default=True, help="Also run the scripts.")
@click.option(
    "--once", is_flag=True, help="Run solutions once, not twice: no look at what seeds change."
)
@click.option("-j", "--jobs", type=click.IntRange(1, 512), default=2, help="Worker processes.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.pass_context
def selftest(
    ctx: click.Context, /, *, suites: tuple[str, ...], run: bool, once: bool, jobs: int, quiet: bool
) -> None:
    """Look for faults in the content of each SUITE.

    Certified values and tolerances, answers in statements, duplicates, data, licences; and the
    scripted solutions are run twice with different seeds: they must be finished, grounded,
    verified and correct, and wrong as soon as a certified value is corrupted. Careless ones must
    be grounded and wrong. Reference computations must give the certified values to their last
    digit. Exits 1 when a serious fault is found.
    """
    # Loaded here, so that `check` and `list` need none of it.
    from scisolve_batch.audit import audit_suite, without_faults  # noqa: PLC0415
    from scisolve_batch.batch.progress import open_progress  # noqa: PLC0415
    from scisolve_batch.cli.script_runner import ScriptRuns, recomputer  # noqa: PLC0415

    runs = ScriptRuns(times=1 if once else 2)
    progress = partial(open_progress, quiet=quiet)
    serious = 0
    with recomputer() as recompute:
        for name in suites:
            loaded = load_suite(name)
            if run:
                runs.run(without_faults(loaded), jobs=jobs, progress=progress)
                findings = audit_suite(loaded, run=runs, recompute=recompute)
            else:
                findings = audit_suite(loaded)
            serious += _describe_findings(loaded, findings)
    if run:
        _describe_times(runs)
    ctx.exit(1 if serious else 0)


def _describe_findings(suite: Suite, findings: Sequence[Finding]) -> int:
    """Print what was found in a suite; returns the number of faults."""
    for finding in findings:
        click.echo(f"{'!' if finding.serious else ' '} {finding.problem_id}: {finding.what}")
    faults = sum(finding.serious for finding in findings)
    ungold = sum(problem.solution is None for problem in suite.problems)
    click.echo(
        f"{suite.ref.id}: {len(suite.problems)} problems, {faults} faults, "
        f"{len(findings) - faults} remarks, {ungold} without a scripted solution, "
        f"{len(suite.references)} with a reference computation"
    )
    return faults


def _describe_times(runs: ScriptRuns) -> None:
    """How long the cells took, and which problems took longest."""
    took: dict[str, float] = {}
    cells = 0
    for (_, script, _), solution in runs.solutions.items():
        cells += len(solution.cells)
        name = f"{solution.problem_id} ({Path(script).parent.name})"
        took[name] = max(took.get(name, 0.0), sum(cell.wall_s for cell in solution.cells))
    total = sum(solution.cell_s for solution in runs.solutions.values())
    slowest = sorted(took.items(), key=lambda item: -item[1])[:5]
    longest = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in slowest)
    click.echo(
        f"{len(runs.solutions)} runs, {cells} cells, {total:.1f} s in cells; longest: {longest}"
    )


_NEW_PROBLEM = """\
id: {id}
title: What it is about, in one line
domain: other
difficulty: 1
statement: >-
  State the problem so that there is one right answer. Report it (name `x`) to 8 significant
  digits.
values:
  - name: x
    value: "1.4142135623730950488"
    report_digits: 8
source: where problem and value come from
verified_by:
  - one computation of the value
  - another, independent one
solution: {id}.solution.yaml
"""

_NEW_SOLUTION = """\
- run_python: |
    x = np.sqrt(2.0)
    print("x =", x)
- run_python: |
    print("x squared =", x**2)
- finish_solution:
    answer: "x = 1.4142136"
    verification:
      kind: invariant
      description: "the square of the result"
      evidence_cell: 2
    values:
      - {name: x, value: "1.4142136"}
"""


@command.command("new")
@click.argument("problem_id", metavar="ID")
@click.option("--folder", type=click.Path(path_type=Path), default=Path(), help="Where.")
def new(*, problem_id: str, folder: Path) -> None:
    """Begin a problem: a file ID.yaml and a scripted solution beside it, both working."""
    files = {
        folder / f"{problem_id}.yaml": _NEW_PROBLEM.replace("{id}", problem_id),
        folder / f"{problem_id}.solution.yaml": _NEW_SOLUTION,
    }
    for path in files:
        if path.exists():
            raise UsageError(f"{path} exists already; choose another id")
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path}")
    click.echo(f"name it in a suite file under problems: - {problem_id}.yaml")
