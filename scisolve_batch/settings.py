"""What a run is asked to do: flag before environment before suite before default.

The sources are merged once, into one frozen `Settings`. The model is never taken from the
environment: money is spent only when a flag names a live model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from scisolve_batch.errors import UsageError
from scisolve_batch.records import Limits, Record

ENV_PREFIX = "SCISOLVE_BATCH_"
SCRIPTED = "scripted"


class Settings(Record):
    """Everything that decides how problems are run."""

    model: str = SCRIPTED
    """Who is asked: `scripted`, `scripted:naive`, or a live model like `anthropic:NAME`."""
    base_url: str | None = None
    """Where the live model's service is, when not at its usual place."""
    effort: str | None = None
    """How hard a live model thinks, in the service's words."""
    grounding: str = "flat"
    """Policy that traces numbers to their source."""
    strict_names: bool = False
    """A number quoted under a wrong name fails the answer."""
    limits: Limits = Limits()
    """What a problem may use unless it says otherwise."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of the run."""
    samples: Annotated[int, Field(ge=1)] = 1
    """Planned repeats of each problem."""
    max_attempts: Annotated[int, Field(ge=1)] = 1
    """Attempts at a sample that is lost to the machinery."""
    jobs: Annotated[int, Field(ge=1, le=512)] = 2
    """Worker processes."""
    isolation: str = "auto"
    """`auto`, `require` or `off`."""

    @property
    def scripted(self) -> bool:
        """No live model is asked."""
        return self.model == SCRIPTED or self.model.startswith(SCRIPTED + ":")


_FROM_ENVIRONMENT = ("grounding", "seed", "samples", "max_attempts", "jobs", "isolation")
_LIMITS_FROM_ENVIRONMENT = tuple(Limits.model_fields)


def merge_settings(
    flags: Mapping[str, Any], *, environ: Mapping[str, str], limits: Limits | None = None
) -> Settings:
    """Merge all sources.

    Args:
        flags: settings and limits by name, as given on the command line; None means not given.
        environ: the environment, of which `SCISOLVE_BATCH_<NAME>` variables are read.
        limits: the suite's limits.

    Raises:
        UsageError: a value does not fit; the message names the flag or the variable.
    """
    merged: dict[str, Any] = {}
    limit_values = (limits or Limits()).model_dump()
    sources: dict[str, str] = {}
    for name in (*_FROM_ENVIRONMENT, *_LIMITS_FROM_ENVIRONMENT):
        variable = ENV_PREFIX + name.upper()
        if environ.get(variable):
            target = limit_values if name in Limits.model_fields else merged
            target[name] = environ[variable]
            sources[name] = variable
    for name, value in flags.items():
        if value is None:
            continue
        target = limit_values if name in Limits.model_fields else merged
        target[name] = value
        sources[name] = "--" + name.replace("_", "-")
    try:
        return Settings(**merged, limits=Limits(**limit_values))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][-1])
        source = sources.get(name, name)
        raise UsageError(f"{source}: {first['msg']} (got {first['input']!r})") from None
