"""What is checked before anything is started, so that a wrong call costs nothing."""

from __future__ import annotations

from pathlib import Path

import click

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding import POLICIES
from scisolve_batch.model import Allowance, Cap, check_model, split_model
from scisolve_batch.model.scripted import read_script
from scisolve_batch.records import Settings


def prepare(settings: Settings, *, announce: bool = True) -> None:
    """Refuse what cannot work, and say who is asked.

    Args:
        settings: what a run is asked to do.
        announce: say it when no model is asked.

    Raises:
        UsageError: an unknown model or policy, or no key for a live model.
        SuiteError: the script to play cannot be read.
    """
    if settings.grounding not in POLICIES:
        known = ", ".join(POLICIES)
        raise UsageError(f"--grounding: no policy {settings.grounding!r}; there are {known}")
    scheme, rest = split_model(settings.model)
    check_model(settings.model, base_url=settings.base_url, record=settings.record)
    if settings.economy and scheme != "anthropic":
        raise UsageError(
            f"--economy needs a live model of the service, and {settings.model} is none"
        )
    if settings.economy and settings.record is not None:
        raise UsageError("--economy keeps its own batches in the run directory; leave out --record")
    if settings.max_usd or settings.max_problem_usd:
        Allowance(Cap(usd=settings.max_usd or settings.max_problem_usd), settings.model)
    if scheme == "scripted" and rest not in ("", "naive"):
        read_script(Path(rest))
    if announce and settings.economy:
        click.echo(
            f"model: {settings.model}, asked in batches at half the price; each turn may take hours",
            err=True,
        )
    if announce and scheme == "scripted":
        click.echo(
            f"model: {settings.model} (scripted solutions are run; no model is asked and nothing "
            "is spent; --model NAME asks a live one)",
            err=True,
        )
