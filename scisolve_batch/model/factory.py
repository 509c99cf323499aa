"""From a name on the command line to a model. Opening one sends nothing and loads no SDK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scisolve_batch.errors import UsageError
from scisolve_batch.model.base import Model
from scisolve_batch.model.live import LiveModel
from scisolve_batch.model.scripted import ScriptedModel

SCHEMES = {
    "anthropic": "anthropic:claude-haiku-5-5, or just the model's id: ask the service",
    "scripted": "scripted:FILE: play a script; `scripted` alone plays each problem's own solution",
}
"""What a model's name may begin with, and an example of each."""


def split_model(spec: str) -> tuple[str, str]:
    """(scheme, rest) of a model's name. A name without a scheme is one of the service's.

    Raises:
        UsageError: the name is empty, or its scheme is unknown.
    """
    scheme, colon, rest = spec.partition(":")
    if not colon:
        scheme, rest = ("scripted", "") if spec == "scripted" else ("anthropic", spec)
    if scheme not in SCHEMES or (scheme == "anthropic" and not rest.strip()):
        known = "; ".join(SCHEMES.values())
        raise UsageError(f"unknown model {spec!r}; known are {known}")
    return scheme, rest


def open_model(spec: str, *, script: Path | str | None = None, **live: Any) -> Model:
    """Make the model that a name stands for.

    Args:
        spec: like `claude-haiku-5-5`, `anthropic:claude-haiku-5-5`, `scripted:solution.yaml`.
        script: the script to play when the name is just `scripted`.
        live: keyword arguments for `LiveModel`; other models take no notice of them.

    Raises:
        UsageError: the name is unknown, or `scripted` without a script.
        SuiteError: the script cannot be read.
    """
    scheme, rest = split_model(spec)
    if scheme == "scripted":
        file = rest or script
        if not file:
            raise UsageError("`scripted` needs a script; write scripted:FILE")
        return ScriptedModel.from_file(file)
    return LiveModel(rest, **live)
