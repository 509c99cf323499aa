"""Models: something that is asked and replies.

Public names are resolved on first use, so importing this package loads nothing heavy; the SDK of
the service is loaded by the first request to it and by nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scisolve_batch.model.base import Block, Message, Model, NoReply, Reply, Request
    from scisolve_batch.model.credentials import Credentials, require_credentials
    from scisolve_batch.model.factory import check_model, open_model, split_model
    from scisolve_batch.model.live import LiveModel
    from scisolve_batch.model.replay import RecordingModel, ReplayModel
    from scisolve_batch.model.retry import RetryPolicy
    from scisolve_batch.model.scripted import ScriptedModel, ScriptedTurn, finish, run_python, text

_HOMES = {
    "base": ("Block", "Message", "Model", "NoReply", "Reply", "Request"),
    "credentials": ("Credentials", "require_credentials"),
    "factory": ("check_model", "open_model", "split_model"),
    "live": ("LiveModel",),
    "replay": ("RecordingModel", "ReplayModel"),
    "retry": ("RetryPolicy",),
    "scripted": ("ScriptedModel", "ScriptedTurn", "finish", "run_python", "text"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Block",
    "Credentials",
    "LiveModel",
    "Message",
    "Model",
    "NoReply",
    "RecordingModel",
    "ReplayModel",
    "Reply",
    "Request",
    "RetryPolicy",
    "ScriptedModel",
    "ScriptedTurn",
    "check_model",
    "finish",
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
