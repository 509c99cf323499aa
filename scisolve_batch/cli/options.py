"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_SHARED = (
    click.option(
        "--model",
        metavar="NAME",
        help="Who is asked: anthropic:NAME for a live model (this costs money), or scripted, "
        "scripted:naive, scripted:FILE.  [default: scripted]",
    ),
    click.option("--base-url", metavar="URL", help="A service that speaks /v1/messages."),
    click.option("--effort", metavar="LEVEL", help="How hard a live model thinks."),
    click.option(
        "--record", metavar="DIR", help="Record the conversations; replay:DIR plays them."
    ),
    click.option("--max-turns", type=int, metavar="N", help="Replies of the model.  [default: 12]"),
    click.option(
        "--timeout",
        "problem_s",
        type=float,
        metavar="S",
        help="Seconds for a problem, without waits for the service.  [default: 600]",
    ),
    click.option("--cell-timeout", "cell_s", type=float, metavar="S", help="Seconds for a cell."),
    click.option("--max-tokens", type=int, metavar="N", help="Tokens for a problem."),
    click.option("--grounding", metavar="POLICY", help="How numbers are traced to their source."),
    click.option("--strict-names/--no-strict-names", default=None, help="A wrong name fails too."),
    click.option("--seed", type=int, metavar="N", help="Seed of the run.  [default: 0]"),
    click.option(
        "--isolation",
        "isolation_mode",
        type=click.Choice(["auto", "require", "off"]),
        help="How sessions are kept apart from the machine.  [default: auto]",
    ),
)


def settings_options(command: F) -> F:
    """Add the options that become `Settings`."""
    for option in reversed(_SHARED):
        command = option(command)
    return command


SELECTION = ("ids", "domains", "tags", "difficulty", "sample", "first", "shard")
"""Parameters of `suite.select` that have an option."""

_SELECTING = (
    click.option("--id", "ids", multiple=True, metavar="GLOB", help="Only these ids; !GLOB: not."),
    click.option("--domain", "domains", multiple=True, metavar="NAME", help="Only this domain."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only problems so tagged."),
    click.option("--difficulty", metavar="RANGE", help="Only these levels, like 4 or 4-5."),
    click.option("--sample", type=int, metavar="N", help="N of them, drawn by --seed."),
    click.option("--first", type=int, metavar="N", help="Only the first N of them."),
    click.option("--shard", metavar="I/N", help="Only part I of N."),
)

_AGAIN = (
    click.option(
        "--only",
        multiple=True,
        type=click.Choice(["failed", "unfinished", "ungrounded", "incorrect"]),
        help="Only problems that were so in the run --of; failed: any of the others.",
    ),
    click.option(
        "--of", type=click.Path(path_type=Path), metavar="RUN", help="The run that --only means."
    ),
)


def selection_options(command: F) -> F:
    """Add the options that choose problems of a suite."""
    for option in reversed((*_SELECTING, *_AGAIN)):
        command = option(command)
    return command
