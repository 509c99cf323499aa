"""The body of a request to the Messages API.

Promises: equal requests give equal bodies, a longer history only appends to the body of a
shorter one, the caller's messages are never changed, and everything can be encoded as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scisolve_batch.errors import ModelError
from scisolve_batch.model.base import Message, Request
from scisolve_batch.model.faults import failure

EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""How much a model may think, in the service's words."""

_TOOL_CHOICE = {"type": "auto", "disable_parallel_tool_use": True}
# Keywords that the service's schema-guaranteed mode refuses.
_NOT_STRICT = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "pattern", "$ref"}
)  # fmt: skip


def clean_text(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD, since UTF-8 cannot hold it."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else clean_text(value)
    if isinstance(value, Mapping):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


def _is_blank(block: Any) -> bool:
    return (
        isinstance(block, Mapping)
        and block.get("type") == "text"
        and not str(block.get("text") or "").strip()
    )


def _clean_message(message: Message) -> Message:
    # The service writes empty text blocks and refuses to read them again.
    cleaned: Message = _clean(message)
    content = cleaned.get("content")
    if isinstance(content, list):
        filled = [block for block in content if not _is_blank(block)]
        cleaned["content"] = filled or content
    return cleaned


def _can_be_strict(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(_can_be_strict(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return False
    if not _NOT_STRICT.isdisjoint(schema):
        return False
    properties = schema.get("properties")
    named = properties.values() if isinstance(properties, Mapping) else ()
    rest = (value for key, value in schema.items() if key not in {"properties", "enum", "const"})
    return all(_can_be_strict(item) for item in (*named, *rest))


def _strict(tool: Mapping[str, Any]) -> dict[str, Any]:
    if "strict" in tool or not _can_be_strict(tool.get("input_schema")):
        return dict(tool)
    return {**tool, "strict": True}


def wire_body(request: Request, *, model: str, effort: str | None = None) -> dict[str, Any]:
    """The JSON object that is posted to `/v1/messages`.

    The reply is always streamed, tools are offered but never forced (recent models refuse that),
    one call a turn, and the service caches the longest prefix it knows. No sampling parameters.

    Raises:
        ModelError: kind `invalid`; a message holds a number that JSON cannot write.
    """
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens,
        "system": clean_text(request.system),
        "messages": [_clean_message(message) for message in request.messages],
        "cache_control": {"type": "ephemeral"},
        "stream": True,
    }
    if request.tools:
        body["tools"] = [_clean(_strict(tool)) for tool in request.tools]
        body["tool_choice"] = dict(_TOOL_CHOICE)
    if effort is not None:
        body["output_config"] = {"effort": effort}
    _refuse_endless(body)
    return body


def _refuse_endless(value: Any) -> None:
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        raise _not_json(f"a message holds {value}")
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        _refuse_endless(item)


def _not_json(what: str) -> ModelError:
    return failure("invalid", f"{what}, which JSON has no word for")
