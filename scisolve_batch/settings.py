"""What a run is asked to do: flag before environment before suite before default.

The sources are merged once, into one frozen `Settings`. The model is never taken from the
environment: money is spent only when a flag names a live model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ValidationError

from scisolve_batch.errors import UsageError
from scisolve_batch.records import Limits, Settings

ENV_PREFIX = "SCISOLVE_BATCH_"

FREE_SETTINGS = frozenset(
    {"jobs", "max_attempts", "max_usd", "max_problem_usd", "record", "preload", "economy"}
)
"""Settings that may differ between parts of a run: they do not change any answer."""

_FROM_ENVIRONMENT = (
    "grounding",
    "seed",
    "samples",
    "max_attempts",
    "jobs",
    "isolation_mode",
    "preload",
)
_LIMITS_FROM_ENVIRONMENT = tuple(Limits.model_fields)
_FLAGS = {"problem_s": "--timeout", "cell_s": "--cell-timeout", "isolation_mode": "--isolation"}
"""Flags that are not named like their setting."""


def merge_settings(
    flags: Mapping[str, Any],
    *,
    environ: Mapping[str, str],
    limits: Limits | None = None,
    base: Settings | None = None,
) -> Settings:
    """Merge all sources.

    Args:
        flags: settings and limits by name, as given on the command line; None means not given.
        environ: the environment, of which `SCISOLVE_BATCH_<NAME>` variables are read.
        limits: the suite's limits.
        base: settings to begin from, when a run is continued.

    Raises:
        UsageError: a value does not fit; the message names the flag or the variable.
    """
    base = base or Settings(limits=limits or Limits())
    merged = {name: getattr(base, name) for name in Settings.model_fields if name != "limits"}
    limit_values = base.limits.model_dump()
    sources: dict[str, str] = {}
    for name in (*_FROM_ENVIRONMENT, *_LIMITS_FROM_ENVIRONMENT):
        variable = ENV_PREFIX + name.upper()
        if environ.get(variable):
            target = limit_values if name in Limits.model_fields else merged
            value = environ[variable]
            target[name] = tuple(value.split(",")) if name == "preload" else value
            sources[name] = variable
    for name, value in flags.items():
        if value is None:
            continue
        target = limit_values if name in Limits.model_fields else merged
        target[name] = value
        sources[name] = _FLAGS.get(name, "--" + name.replace("_", "-"))
    try:
        return Settings(**merged, limits=Limits(**limit_values))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][-1])
        source = sources.get(name, name)
        raise UsageError(f"{source}: {first['msg']} (got {first['input']!r})") from None


def describe_differences(
    before: Settings, now: Settings, *, free: Collection[str] = ()
) -> list[str]:
    """What differs between two settings, a line each; `free` ones may."""
    found = []
    for name in Settings.model_fields:
        old, new = getattr(before, name), getattr(now, name)
        if old != new and name not in free and name != "limits":
            found.append(f"{name}: {old} -> {new}")
    for name, old in before.limits:
        new = getattr(now.limits, name)
        if old != new:
            found.append(f"{name}: {old} -> {new}")
    return found
