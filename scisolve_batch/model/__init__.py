"""Models: something that is asked and replies.

Public names are resolved on first use, so importing this package loads nothing heavy; the SDK of
the service is loaded by the first request to it and by nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scisolve_batch.model.base import Block, Message, Model, NoReply, Reply, Request
    from scisolve_batch.model.budget import Allowance, Cap, Ledger, Spend, estimate
    from scisolve_batch.model.credentials import Credentials, require_credentials
    from scisolve_batch.model.factory import check_model, open_model, split_model
    from scisolve_batch.model.live import LiveModel, load_sdk
    from scisolve_batch.model.local import LocalModel
    from scisolve_batch.model.prices import cost
    from scisolve_batch.model.ratecontrol import RateControl
    from scisolve_batch.model.replay import RecordingModel, ReplayModel
    from scisolve_batch.model.retry import RetryPolicy
    from scisolve_batch.model.scripted import ScriptedModel, ScriptedTurn, finish, run_python, text

_HOMES = {
    "base": ("Block", "Message", "Model", "NoReply", "Reply", "Request"),
    "budget": ("Allowance", "Cap", "Ledger", "Spend", "estimate"),
    "credentials": ("Credentials", "require_credentials"),
    "factory": ("check_model", "open_model", "split_model"),
    "live": ("LiveModel", "load_sdk"),
    "local": ("LocalModel",),
    "prices": ("cost",),
    "ratecontrol": ("RateControl",),
    "replay": ("RecordingModel", "ReplayModel"),
    "retry": ("RetryPolicy",),
    "scripted": ("ScriptedModel", "ScriptedTurn", "finish", "run_python", "text"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Allowance",
    "Block",
    "Cap",
    "Credentials",
    "Ledger",
    "LiveModel",
    "LocalModel",
    "Message",
    "Model",
    "NoReply",
    "RateControl",
    "RecordingModel",
    "ReplayModel",
    "Reply",
    "Request",
    "RetryPolicy",
    "ScriptedModel",
    "ScriptedTurn",
    "Spend",
    "check_model",
    "cost",
    "estimate",
    "finish",
    "load_sdk",
    "open_model",
    "require_credentials",
    "run_python",
    "split_model",
    "text",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
