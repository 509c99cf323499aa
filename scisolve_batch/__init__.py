"""Ask a language model scientific-computing questions by the hundred, and trust the numbers.

Public names are resolved on first use, so importing this package loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scisolve_batch._version import __version__

if TYPE_CHECKING:
    from scisolve_batch.agent.loop import solve
    from scisolve_batch.agent.single import Agent
    from scisolve_batch.batch.runner import run_suite
    from scisolve_batch.grading import grade
    from scisolve_batch.grounding import check_grounding
    from scisolve_batch.model.scripted import ScriptedModel, finish, run_python, text
    from scisolve_batch.records import (
        Cell,
        CertifiedValue,
        Grounding,
        Limits,
        Problem,
        ReportedValue,
        Settings,
        Solution,
        Verification,
    )
    from scisolve_batch.report import load_report
    from scisolve_batch.rundir import RunDir
    from scisolve_batch.suite import load_suite

_HOMES = {
    "agent.loop": ("solve",),
    "agent.single": ("Agent",),
    "batch.runner": ("run_suite",),
    "grading": ("grade",),
    "grounding": ("check_grounding",),
    "model.scripted": ("ScriptedModel", "finish", "run_python", "text"),
    "records": (
        "Cell",
        "CertifiedValue",
        "Grounding",
        "Limits",
        "Problem",
        "ReportedValue",
        "Settings",
        "Solution",
        "Verification",
    ),
    "report": ("load_report",),
    "rundir": ("RunDir",),
    "suite": ("load_suite",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Agent",
    "Cell",
    "CertifiedValue",
    "Grounding",
    "Limits",
    "Problem",
    "ReportedValue",
    "RunDir",
    "ScriptedModel",
    "Settings",
    "Solution",
    "Verification",
    "__version__",
    "check_grounding",
    "finish",
    "grade",
    "load_report",
    "load_suite",
    "run_python",
    "run_suite",
    "solve",
    "text",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
