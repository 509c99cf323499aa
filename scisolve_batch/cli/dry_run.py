"""What a run would do and cost, said before anything is started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from scisolve_batch.model import cost, estimate, split_model
from scisolve_batch.records import Problem, Settings, Solution
from scisolve_batch.report.statistics import smallest_difference
from scisolve_batch.rundir import RunDir


def describe_plan(
    problems: Sequence[Problem], *, settings: Settings, recorded: Sequence[Path]
) -> None:
    """Print the plan, the expected tokens and price, and what such a run can tell apart.

    Args:
        problems: what would be run.
        settings: how.
        recorded: run directories whose records say what a problem takes.
    """
    total = len(problems) * settings.samples
    click.echo(
        f"{len(problems)} problems, {settings.samples} samples each: {total} in all, by "
        f"{settings.model} on {settings.jobs} workers"
    )
    by_domain = Counter(problem.domain for problem in problems)
    click.echo("  " + ", ".join(f"{name} {count}" for name, count in sorted(by_domain.items())))
    _describe_cost(total, settings, recorded)
    smallest = 100 * smallest_difference(0.7, float(len(problems)))
    click.echo(
        f"two such runs can be told apart from a difference of about {smallest:.0f} points on "
        "(rate 70 %, power 0.8)"
    )
    if settings.economy:
        click.echo("requests are asked in batches, at half the price")
    if settings.max_usd is not None:
        click.echo(f"the run stops before {settings.max_usd:g} USD are spent")


def _describe_cost(total: int, settings: Settings, recorded: Sequence[Path]) -> None:
    if split_model(settings.model)[0] != "anthropic":
        click.echo("no service is asked, so nothing is spent")
        return
    solutions = [
        solution
        for path in recorded
        for _, solution in RunDir.read(path).solutions()
        if solution is not None and solution.usage.total > 0
    ]
    tokens = estimate([float(item.usage.total) for item in solutions], count=total)
    if tokens is None:
        click.echo("expected cost: unknown; --from RUN takes it from recorded runs (two or more)")
        return
    click.echo(
        f"expected tokens: {tokens.expected:,.0f} (95 % between {tokens.low:,.0f} and "
        f"{tokens.high:,.0f}), from {tokens.recorded} recorded problems"
    )
    prices = [_price(item, settings.model, batch=settings.economy) for item in solutions]
    known = [price for price in prices if price is not None]
    money = estimate(known, count=total) if len(known) == len(prices) else None
    if money is None:
        click.echo(f"expected cost: unknown, {settings.model} is not in the price table")
    else:
        click.echo(
            f"expected cost: {money.expected:.2f} USD (95 % between {money.low:.2f} and "
            f"{money.high:.2f})"
        )


def _price(solution: Solution, model: str, *, batch: bool) -> float | None:
    """What a recorded problem would have cost with this model, reply by reply."""
    costs = [cost(turn.usage, model, batch=batch) for turn in solution.turns]
    return sum(c for c in costs if c is not None) if None not in costs else None
