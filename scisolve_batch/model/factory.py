"""From a name on the command line to a model. Opening one sends nothing and loads no SDK."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from scisolve_batch.errors import UsageError
from scisolve_batch.model.base import Model
from scisolve_batch.model.cassette import cassette_path
from scisolve_batch.model.credentials import Credentials, require_credentials
from scisolve_batch.model.live import LiveModel
from scisolve_batch.model.local import LocalModel, check_local
from scisolve_batch.model.replay import RecordingModel, ReplayModel
from scisolve_batch.model.scripted import ScriptedModel

SCHEMES = {
    "anthropic": "anthropic:claude-haiku-5-5, or just the model's id: ask the service",
    "scripted": "scripted:FILE: play a script; `scripted` alone plays each problem's own solution",
    "replay": "replay:DIR: answer out of recordings made with --record DIR",
    "local": "local:FILE.gguf: serve a model file on this machine",
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
    if scheme not in SCHEMES or (scheme != "scripted" and not rest.strip()):
        known = "; ".join(SCHEMES.values())
        raise UsageError(f"unknown model {spec!r}; known are {known}")
    return scheme, rest


def check_model(
    spec: str, *, base_url: str | None = None, record: Path | str | None = None
) -> Credentials | None:
    """Find out before a run whether the model can be asked, and with which credentials.

    Returns:
        The credentials to hand to `open_model`; None for a model that needs none.

    Raises:
        UsageError: the name is unknown, there is no key, or a folder of recordings is missing.
    """
    scheme, rest = split_model(spec)
    if scheme != "anthropic":
        if record is not None:
            raise UsageError(f"--record needs a model that is asked, and {spec} is not")
        if scheme == "replay" and not Path(rest).is_dir():
            raise UsageError(f"{rest}: no such folder of recordings; make one with --record {rest}")
        if scheme == "local":
            check_local(rest)
        return None
    return require_credentials(os.environ, base_url=base_url)


def open_model(
    spec: str,
    *,
    script: Path | str | None = None,
    base_url: str | None = None,
    credentials: Credentials | None = None,
    problem: str = "",
    sample: int = 1,
    record: Path | str | None = None,
    **live: Any,
) -> Model:
    """Make the model that a name stands for, to work on one problem.

    Args:
        spec: like `claude-haiku-5-5`, `anthropic:claude-haiku-5-5`, `scripted:solution.yaml`,
            `replay:DIR`, `local:model.gguf`.
        script: the script to play when the name is just `scripted`.
        base_url: address of the service, when credentials are taken from the environment.
        credentials: key and address; without them those of the environment.
        problem: id of the problem, under which a recording is kept.
        sample: planned repeat of the problem, from 1.
        record: folder to write a recording into.
        live: further keyword arguments for `LiveModel`; other models take no notice of them.

    Raises:
        UsageError: the name is unknown, `scripted` has no script, there is no key, no recording
            of this problem, or no model file that can be served.
        SuiteError: the script cannot be read.
    """
    scheme, rest = split_model(spec)
    if scheme == "scripted":
        file = rest or script
        if not file:
            raise UsageError("`scripted` needs a script; write scripted:FILE")
        return ScriptedModel.from_file(file, name=spec)
    if scheme == "replay":
        return ReplayModel(cassette_path(Path(rest), problem=problem, sample=sample))
    if scheme == "local":
        return LocalModel(rest, **live)
    found = credentials or require_credentials(os.environ, base_url=base_url)
    if record is None:
        return LiveModel(rest, credentials=found, **live)
    path = cassette_path(Path(record), problem=problem, sample=sample)
    return RecordingModel(path, model_id=rest, secrets=found.secrets, credentials=found, **live)
