"""A whole reply out of stream events, or an error that says why it is not whole.

Blocks keep the service's own words, because they go back to it. Nothing is guessed: a reply
without stop reason, or with a tool input that is not finite JSON, is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from scisolve_batch.model.base import Block, Reply
from scisolve_batch.model.faults import failure, from_response
from scisolve_batch.records import Usage

_APPENDED = {"text_delta": "text", "thinking_delta": "thinking"}
_REPLACED = {"signature_delta": "signature"}


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def read_json(text: str | bytes) -> Any:
    """Read JSON strictly: no NaN, no infinity, no number beyond a float's range.

    Raises:
        ValueError: it is not JSON that could be sent back.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """The service's token counts; what is missing or no count stays unreported."""

    def count(name: str) -> int | None:
        value = usage.get(name)
        return value if type(value) is int and value >= 0 else None

    return Usage(
        input_tokens=count("input_tokens"),
        output_tokens=count("output_tokens"),
        cache_write_tokens=count("cache_creation_input_tokens"),
        cache_read_tokens=count("cache_read_input_tokens"),
    )


def read_message(message: object, *, headers: Mapping[str, str]) -> Reply:
    """A reply out of a whole message in wire form.

    Raises:
        ModelError: the message is an error, or lacks what a reply needs.
    """
    if not isinstance(message, dict):
        raise failure("bad_reply", f"a {type(message).__name__} where a message was expected")
    if "error" in message:
        raise from_response(200, headers=headers, body=message)
    content, stop, usage = (message.get(key) for key in ("content", "stop_reason", "usage"))
    if not isinstance(content, list):
        raise failure("bad_reply", "a message without content")
    if not isinstance(usage, dict):
        raise failure("bad_reply", "a message without usage")
    if not isinstance(stop, str):
        raise failure("stream_cut", "no stop reason")
    _check_blocks(content)
    details = message.get("stop_details")
    model = message.get("model")
    return Reply(
        content=content,
        stop_reason=stop,
        stop_details=details if isinstance(details, dict) else None,
        usage=read_usage(usage),
        model=model if isinstance(model, str) else None,
        request_id=headers.get("request-id"),
    )


def _check_blocks(content: list[Any]) -> None:
    ids = list[str]()
    for block in content:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise failure("bad_reply", "a content block without a type")
        if block["type"] == "tool_use":
            if not (isinstance(block.get("id"), str) and isinstance(block.get("name"), str)):
                raise failure("bad_reply", "a tool call without id or name")
            if not isinstance(block.get("input"), dict):
                raise failure("bad_reply", f"the input of {block['name']} is not an object")
            ids.append(block["id"])
    if len(set(ids)) < len(ids):
        raise failure("bad_reply", "two tool calls with one id")


class Assembly:
    """Collects the events of one streamed message.

    Args:
        headers: headers of the response, for errors that come inside the stream.
    """

    def __init__(self, *, headers: Mapping[str, str]) -> None:
        self._headers = headers
        self._message: dict[str, Any] | None = None
        self._content: list[Block] = []
        self._inputs: dict[int, list[str]] = {}  # pieces of tool inputs, by block
        self._usage: dict[str, Any] = {}
        self._counted = False  # some usage was reported

    def add(self, name: str, data: str) -> None:
        """Take the next event. Events and deltas of unknown types are passed over.

        Raises:
            ModelError: the event is an error, or cannot follow the ones before it.
        """
        if name == "ping":
            return
        try:
            event = read_json(data)
        except ValueError as error:
            raise failure("bad_reply", f"an event that is not JSON: {error}") from None
        if not isinstance(event, dict):
            raise failure("bad_reply", "an event that is not an object")
        kind = event.get("type") or name
        if kind == "error" or name == "error":
            raise from_response(200, headers=self._headers, body=event)
        if kind == "message_start":
            self._start(event.get("message"))
        elif kind == "content_block_start":
            self._open(event)
        elif kind == "content_block_delta":
            self._extend(event)
        elif kind == "message_delta":
            self._end(event)

    def _start(self, message: object) -> None:
        if not isinstance(message, dict):
            raise failure("bad_reply", "message_start without a message")
        self._count(message.get("usage"))
        if self._message is None:  # some gateways send it twice
            self._message = dict(message)

    def _open(self, event: dict[str, Any]) -> None:
        block = event.get("content_block")
        if self._message is None or event.get("index") != len(self._content):
            raise failure("bad_reply", "content blocks out of order")
        if not isinstance(block, dict):
            raise failure("bad_reply", "content_block_start without a block")
        if block.get("type") == "tool_use":
            block.setdefault("input", {})  # some servers leave it out before its deltas
        self._content.append(block)

    def _extend(self, event: dict[str, Any]) -> None:
        index, delta = event.get("index"), event.get("delta")
        if not (type(index) is int and 0 <= index < len(self._content)):
            raise failure("bad_reply", "a delta for a block that was not begun")
        if not isinstance(delta, dict):
            raise failure("bad_reply", "content_block_delta without a delta")
        block, kind = self._content[index], delta.get("type")
        if kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(str(delta.get("partial_json") or ""))
        elif kind in _APPENDED:
            key = _APPENDED[kind]
            block[key] = str(block.get(key) or "") + str(delta.get(key) or "")
        elif kind in _REPLACED:
            block[_REPLACED[kind]] = delta.get(_REPLACED[kind])
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta.get("citation")]

    def _end(self, event: dict[str, Any]) -> None:
        if self._message is None:
            raise failure("bad_reply", "message_delta before message_start")
        delta = event.get("delta")
        if isinstance(delta, dict):
            self._message.update({key: value for key, value in delta.items() if value is not None})
        self._count(event.get("usage"))

    def _count(self, usage: object) -> None:
        # Counts are running totals; one that is left out keeps its last value.
        if isinstance(usage, dict):
            self._counted = True
            self._usage.update({key: value for key, value in usage.items() if value is not None})

    def finish(self) -> Reply:
        """The reply, once the stream has ended.

        Raises:
            ModelError: kind `stream_cut` (ended early) or `bad_reply` (not a message).
        """
        if self._message is None:
            raise failure("stream_cut", "the stream held no message")
        if not isinstance(self._message.get("stop_reason"), str):
            raise failure("stream_cut", "the stream ended without a stop reason")
        for index, pieces in self._inputs.items():
            self._content[index]["input"] = self._input(index, "".join(pieces))
        return read_message(
            {
                **self._message,
                "content": self._content,
                "usage": self._usage if self._counted else None,
            },
            headers=self._headers,
        )

    def _input(self, index: int, text: str) -> Any:
        block, stop = self._content[index], (self._message or {})["stop_reason"]
        if not text.strip():
            return block.get("input", {})
        try:
            return read_json(text)
        except ValueError as error:
            # A call that the token limit cut is never run; its stop reason says so.
            if stop != "tool_use" and index == len(self._content) - 1:
                return {}
            raise failure(
                "bad_reply", f"the input of {block.get('name')} is not JSON: {error}"
            ) from None
