"""Where each problem of a suite comes from and how its values were checked, as a table.

`core.yaml` has its table in `core.md`, written from the problems themselves.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from scisolve_batch.errors import SuiteError
from scisolve_batch.records import Problem
from scisolve_batch.suite.loading import Suite, load_suite


def provenance(suite: Suite) -> str:
    """The table of a suite, in Markdown."""
    problems = suite.problems
    domains = Counter(problem.domain for problem in problems)
    levels = Counter(problem.difficulty for problem in problems if problem.difficulty)
    solved = sum(problem.solution is not None for problem in problems)
    careless = sum(problem.naive is not None for problem in problems)
    trapped = sum(bool(problem.known_wrong) for problem in problems)
    lines = [
        f"# {suite.ref.title or suite.ref.id}",
        "",
        "<!-- Written from the problem files by `write_provenance`; do not edit. -->",
        "",
        *([suite.description, ""] if suite.description else []),
        f"Suite `{suite.ref.id}`, version {suite.ref.version or 'none'}, "
        f"digest `{suite.ref.digest[:16]}`. Licence: {suite.license or 'see the table'}.",
        "",
        f"- {len(problems)} problems with {sum(len(one.values) for one in problems)} values",
        f"- {solved} with a scripted solution, {len(problems) - solved} without",
        f"- {careless} with a scripted careless solution; wrong values were measured in {trapped}",
        f"- {len(suite.references)} with a reference computation, which the self-test runs again",
        f"- domains: {', '.join(f'{name} {count}' for name, count in sorted(domains.items()))}",
        f"- levels: {', '.join(f'{level}: {count}' for level, count in sorted(levels.items()))}",
        "",
        "| problem | domain | level | source | values verified by | licence | scripts |",
        "|---|---|---|---|---|---|---|",
        *(_row(problem, suite) for problem in problems),
        "",
    ]
    return "\n".join(lines)


def _row(problem: Problem, suite: Suite) -> str:
    scripts = [kind for kind in ("solution", "naive") if getattr(problem, kind)]
    scripts += ["reference"] * (problem.id in suite.references)
    cells = [
        problem.id,
        problem.domain,
        str(problem.difficulty or "-"),
        problem.source or "-",
        "; ".join(problem.verified_by) or "-",
        problem.license or "-",
        ", ".join(scripts) or "none",
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_provenance(path_or_name: Path | str) -> Path:
    """Write the table of a suite beside its file.

    Raises:
        SuiteError: the suite cannot be read, or the table cannot be written.
    """
    suite = load_suite(path_or_name, unpinned=True)
    file = Path(suite.ref.path).with_suffix(".md")
    try:
        file.write_text(provenance(suite), encoding="utf-8")
    except OSError as error:
        raise SuiteError(f"cannot be written: {error.strerror or error}", file=file) from error
    return file
