"""`scisolve-batch suite`: check, pin and list suites."""

from __future__ import annotations

import click

from scisolve_batch.suite import load_suite, write_lock


@click.group("suite", short_help="Check, pin and list suites.")
def command() -> None:
    """Check, pin and list suites."""


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
def lock(suite: str) -> None:
    """Write the lock of SUITE, which pins what is asked and what counts as right."""
    click.echo(f"wrote {write_lock(suite)}")


@command.command("list")
@click.argument("suite")
def list_problems(suite: str) -> None:
    """List the problems of SUITE."""
    for problem in load_suite(suite, unpinned=True).problems:
        level = problem.difficulty if problem.difficulty is not None else "-"
        click.echo(f"{problem.id:<40} {problem.domain:<20} {level}  {problem.title}")
