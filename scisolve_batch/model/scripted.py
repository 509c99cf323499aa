"""A model that plays a script: for suites' own solutions, demonstrations and tests.

Its turns are played in order whatever it is told, with the same ids each time. It never computes
an answer, and says so plainly when the script is at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from scisolve_batch.documents import Document, read_document, suggest
from scisolve_batch.errors import ModelError, SuiteError
from scisolve_batch.model.assemble import read_usage
from scisolve_batch.model.base import Block, Reply, Request
from scisolve_batch.records import Usage

RUN_PYTHON = "run_python"
FINISH_SOLUTION = "finish_solution"
_TOOLS = (RUN_PYTHON, FINISH_SOLUTION)
_CHECK = ("kind", "description", "evidence_cell")
_KEYS = ("text", *_TOOLS, "calls", "stop_reason", "usage")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTurn:
    """One reply of a script, before it has ids.

    Attributes:
        text: what the model says; no text block when empty.
        calls: tool calls as (tool name, input), in order.
        stop_reason: None means `tool_use` with calls and `end_turn` without.
        usage: tokens that the reply claims to have used.
    """

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    stop_reason: str | None = None
    usage: Usage = Usage()

    def reply(self, number: int) -> Reply:
        """The turn as a reply; `number` (from 1) goes into the ids."""
        content: list[Block] = [{"type": "text", "text": self.text}] if self.text else []
        for position, (tool, arguments) in enumerate(self.calls, 1):
            call = f"toolu_script_{number:02d}_{position}"
            content.append({"type": "tool_use", "id": call, "name": tool, "input": arguments})
        return Reply(
            content=content,
            stop_reason=self.stop_reason or ("tool_use" if self.calls else "end_turn"),
            usage=self.usage,
            model="scripted",
        )


def text(words: str, *, stop_reason: str | None = None) -> ScriptedTurn:
    """A turn that only talks."""
    return ScriptedTurn(text=words, stop_reason=stop_reason)


def run_python(code: str, *, text: str = "") -> ScriptedTurn:
    """A turn that runs a cell."""
    return ScriptedTurn(text=text, calls=((RUN_PYTHON, {"code": code}),))


def finish(
    answer: str,
    *,
    verification: Mapping[str, Any] | tuple[str, str, int] | None = None,
    values: Any = None,
    text: str = "",
) -> ScriptedTurn:
    """A turn that reports an answer. What is None is left out of the call.

    Args:
        answer: the answer.
        verification: the check as the tool takes it, or its (kind, description, evidence cell).
        values: the reported values as the tool takes them.
        text: what is said before the call.
    """
    arguments: dict[str, Any] = {"answer": answer}
    if isinstance(verification, tuple):
        verification = dict(zip(_CHECK, verification, strict=True))
    if verification is not None:
        arguments["verification"] = dict(verification)
    if values is not None:
        arguments["values"] = values
    return ScriptedTurn(text=text, calls=((FINISH_SOLUTION, arguments),))


Step = ScriptedTurn | Reply | ModelError
"""What a script is made of: a turn, a reply as it is, or a failure to raise."""


class ScriptedModel:
    """Replies from a script.

    Args:
        replies: the steps in order, or a function that makes one from the request.
        name: the name that records carry.
    """

    def __init__(
        self, replies: Iterable[Step] | Callable[[Request], Step], name: str = "scripted"
    ) -> None:
        self.name = name
        self._make: Callable[[Request], Step] | None = None
        self._steps: tuple[Step, ...] = ()
        if callable(replies):
            self._make = replies
        else:
            self._steps = tuple(replies)
        self._asked = 0

    @classmethod
    def from_file(cls, path: Path | str, *, name: str = "scripted") -> Self:
        """A model that plays a YAML script; see `read_script`.

        Raises:
            SuiteError: the file cannot be read or is no script.
        """
        model = cls(read_script(Path(path)), name)
        model._source = str(path)
        return model

    _source = ""

    def reply(self, request: Request) -> Reply:
        """The next step.

        Raises:
            ModelError: the step is a failure; or kind `script_exhausted`: there is no next step.
        """
        self._asked += 1
        if self._make is not None:
            step = self._make(request)
        elif self._asked <= len(self._steps):
            step = self._steps[self._asked - 1]
        else:
            raise self._exhausted()
        if isinstance(step, ModelError):
            raise step
        return step.reply(self._asked) if isinstance(step, ScriptedTurn) else step

    def close(self) -> None:
        """Nothing is held."""

    def _exhausted(self) -> ModelError:
        count = len(self._steps)
        turns = "1 turn" if count == 1 else f"{count} turns"
        what = (
            f"the script {self._source or self.name} has {turns}, and reply {self._asked} was asked "
            "for; end it with a finish_solution that is accepted"
        )
        return ModelError(what, kind="script_exhausted")


# ---- the YAML form -------------------------------------------------------------------


def read_script(path: Path) -> tuple[ScriptedTurn, ...]:
    """Read a script: a YAML list of turns.

    Each turn has an optional `text` and one of `run_python: code`, `finish_solution: {...}` or
    `calls: [{run_python: ...}, ...]`; optional `stop_reason: max_tokens` and
    `usage: {input_tokens: 10, output_tokens: 5}` in the service's words.

    Raises:
        SuiteError: with the file and, where it is known, the line.
    """
    document = read_document(path)
    turns = document.data
    if not isinstance(turns, list) or not turns:
        raise document.error("a script is a list of turns, like `- run_python: print(1)`")
    return tuple(
        _read_turn(turn, where=_Place(document, number)) for number, turn in enumerate(turns)
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A turn of a script, for errors that name it."""

    document: Document
    number: int  # from 0

    def error(self, what: str, *path: str | int) -> SuiteError:
        return self.document.error(what, (self.number, *path))


def _read_turn(turn: Any, *, where: _Place) -> ScriptedTurn:
    if not isinstance(turn, dict):
        raise where.error(f"a turn is a mapping with {_words(_KEYS)}")
    unknown = [str(key) for key in turn if key not in _KEYS]
    if unknown:
        near = suggest(unknown[0], _KEYS) or f"; a turn has {_words(_KEYS)}"
        raise where.error(f"unknown key{near}", unknown[0])
    ways = [key for key in (*_TOOLS, "calls") if key in turn]
    if len(ways) > 1:
        raise where.error(f"{_words(ways)} stand side by side; write several calls under `calls`")
    if not ways and "text" not in turn:
        raise where.error(f"says and calls nothing; give one of {_words((*_TOOLS, 'calls', 'text'))}")  # fmt: skip
    words, stop = turn.get("text", ""), turn.get("stop_reason")
    if not isinstance(words, str):
        raise where.error("must be text", "text")
    if stop is not None and not isinstance(stop, str):
        raise where.error("must be text, like max_tokens", "stop_reason")
    return ScriptedTurn(
        text=words,
        calls=tuple(_read_calls(turn, where=where)),
        stop_reason=stop,
        usage=_read_usage(turn["usage"], where=where) if "usage" in turn else Usage(),
    )


def _read_calls(turn: dict[str, Any], *, where: _Place) -> Iterator[tuple[str, dict[str, Any]]]:
    calls = turn.get("calls", [{key: turn[key]} for key in _TOOLS if key in turn])
    if not isinstance(calls, list):
        raise where.error("must be a list of calls", "calls")
    for position, call in enumerate(calls):
        if not (isinstance(call, dict) and len(call) == 1 and next(iter(call)) in _TOOLS):
            raise where.error(
                f"a call is a mapping with one key, {_words(_TOOLS)}", "calls", position
            )
        ((tool, arguments),) = call.items()
        if tool == RUN_PYTHON and isinstance(arguments, str):
            arguments = {"code": arguments}
        if not isinstance(arguments, dict):
            wanted = "text, the code" if tool == RUN_PYTHON else "a mapping with the answer"
            at = ("calls", position, tool) if "calls" in turn else (tool,)
            raise where.error(f"must be {wanted}", *at)
        yield tool, arguments


def _read_usage(usage: Any, *, where: _Place) -> Usage:
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")  # fmt: skip
    if not isinstance(usage, dict) or not set(usage) <= set(names):
        raise where.error(f"must be a mapping with {_words(names)}", "usage")
    if not all(type(count) is int and count >= 0 for count in usage.values()):
        raise where.error("must hold counts of tokens", "usage")
    return read_usage(usage)


def _words(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
