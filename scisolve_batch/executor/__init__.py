"""Runs model-written code in processes that hold no key, no transcript and no checker."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scisolve_batch.executor.base import (
        ExecutionLimits,
        Session,
        SessionSource,
        SessionSpec,
    )
    from scisolve_batch.executor.launch import Template, TemplateOptions

__all__ = [
    "ExecutionLimits",
    "Session",
    "SessionSource",
    "SessionSpec",
    "Template",
    "TemplateOptions",
]

_HOMES = dict.fromkeys(__all__, "base") | {"Template": "launch", "TemplateOptions": "launch"}


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
