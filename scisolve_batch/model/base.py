"""What the rest of the house knows about a model: it is asked, and it replies.

Messages and content blocks keep the wire form of the Messages API (plain dicts), because they
go back to the service byte for byte. Everything else is typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scisolve_batch.errors import ModelError
from scisolve_batch.records import Usage

Block = dict[str, Any]
"""One content block in wire form: `{"type": "text", "text": ...}`, `tool_use`, `tool_result`."""

Message = dict[str, Any]
"""`{"role": "user" | "assistant", "content": str | list[Block]}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model.

    Attributes:
        system: the system prompt, the same in every turn.
        tools: tool definitions in wire form, the same in every turn.
        messages: the conversation so far; only ever appended to.
        max_tokens: largest number of tokens of the reply.
        deadline: monotonic time after which no further attempt is started, in seconds.
    """

    system: str
    tools: Sequence[dict[str, Any]]
    messages: Sequence[Message]
    max_tokens: int
    deadline: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One whole reply.

    Attributes:
        content: the blocks, verbatim.
        stop_reason: the service's own word (`tool_use`, `end_turn`, `max_tokens`, ...).
        stop_details: what the service adds to it; with `refusal` its category and explanation.
        usage: tokens.
        model: the model that answered, in the service's words.
        request_id: the service's id of the request.
        attempts: requests that it took.
        errors: kinds of the failed attempts, in order.
        wait_s: seconds spent waiting between attempts.
        first_event_s: seconds to the first event of the stream.
        batch: the batch in which it was asked, at half the price; None when asked by itself.
    """

    content: list[Block]
    stop_reason: str
    stop_details: dict[str, Any] | None = None
    usage: Usage = Usage()
    model: str | None = None
    request_id: str | None = None
    attempts: int = 1
    errors: tuple[str, ...] = ()
    wait_s: float = 0.0
    first_event_s: float | None = None
    batch: str | None = None

    @property
    def tool_calls(self) -> list[Block]:
        """The `tool_use` blocks, in order."""
        return [block for block in self.content if block.get("type") == "tool_use"]

    @property
    def text(self) -> str:
        """All text blocks, joined."""
        return "".join(b.get("text", "") for b in self.content if b.get("type") == "text")


class NoReply(ModelError):
    """The last failure of a request, and what was spent on asking again.

    Args:
        last: the failure that ended it; its words and kind are taken over.
        attempts: requests that were made.
        errors: kinds of the failed attempts, in order.
        wait_s: seconds spent waiting between attempts.
    """

    def __init__(
        self, last: ModelError, *, attempts: int, errors: tuple[str, ...], wait_s: float
    ) -> None:
        more = f" [{attempts} attempts: {', '.join(errors)}]" if attempts > 1 else ""
        super().__init__(
            last.what + more,
            kind=last.kind,
            retryable=last.retryable,
            retry_after_s=last.retry_after_s,
            fatal=last.fatal,
        )
        self.attempts, self.errors, self.wait_s = attempts, errors, wait_s

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_no_reply, (vars(self),)


def _rebuild_no_reply(state: dict[str, Any]) -> NoReply:
    error = NoReply.__new__(NoReply, state["what"])
    error.__dict__.update(state)
    error.args = (state["what"],)
    return error


class Model(Protocol):
    """Something that replies."""

    @property
    def name(self) -> str:
        """The name that records carry."""
        ...

    def reply(self, request: Request) -> Reply:
        """Answer the conversation.

        Raises:
            ModelError: no whole reply could be had; a `NoReply` when requests were made for it.
        """
        ...

    def close(self) -> None:
        """Let go of connections. May be called twice."""
        ...
