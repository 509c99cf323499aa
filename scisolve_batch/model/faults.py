"""What a failed request means: each failure gets one kind, and a sentence that says what to do.

Pure: status, headers, body and exception names in, a `ModelError` out. Order of trust: the
service's error code, its error type, words it is known to use, the HTTP status.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from scisolve_batch.errors import ModelError

RETRYABLE = frozenset(
    {"rate_limit", "overloaded", "server", "timeout", "connection", "stream_cut", "bad_reply"}
)
"""Kinds after which the same request may succeed."""

FATAL = frozenset({"auth", "billing", "spend_limit", "permission", "not_found", "canceled"})
"""Kinds that the next problem of a run would meet as well."""

_BY_TYPE = {
    "authentication_error": "auth",
    "billing_error": "billing",
    "insufficient_quota": "billing",
    "permission_error": "permission",
    "not_found_error": "not_found",
    "rate_limit_error": "rate_limit",
    "timeout_error": "timeout",
    "api_error": "server",
    "server_error": "server",
    "unavailable_error": "server",
    "conflict_error": "server",
    "overloaded_error": "overloaded",
    "request_too_large": "too_large",
    "exceed_context_size_error": "too_long",
    "invalid_request_error": "invalid",
    "not_supported_error": "invalid",
}

_BY_CODE = {
    "enforced_spend_limit_reached": "spend_limit",
    "contract_spend_limit_reached": "spend_limit",
    "ramp_limit_exceeded": "rate_limit",
}

_BY_STATUS = {
    400: "invalid",
    401: "auth",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "server",
    413: "too_large",
    422: "invalid",
    429: "rate_limit",
    504: "timeout",
    529: "overloaded",
}

_TOO_LONG = re.compile(
    r"prompt is too long|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context|context[_ ](?:length|size|window)",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"credit balance is too low", re.IGNORECASE)
_SPENT = re.compile(r"(?:spend|usage) limit", re.IGNORECASE)

_NEXT = {
    "auth": "the service refuses the key; check ANTHROPIC_API_KEY",
    "billing": "the account has no credit; add some, then resume the run",
    "permission": "this key may not use this model; choose another with --model",
    "not_found": "the service does not know this model or address; check --model and --base-url",
    "invalid": "the service does not accept the request",
    "too_long": "the conversation no longer fits the model",
    "too_large": "the request has too many bytes; let cells print less",
    "rate_limit": "the service asks to slow down; lower --jobs if this goes on",
    "spend_limit": "the account's spending limit is reached; raise it, then resume the run",
    "overloaded": "the service is overloaded; resume the run later",
    "server": "the service failed; resume the run later",
    "timeout": "no answer in time; resume the run later",
    "connection": "the service cannot be reached; check the network, proxies and --base-url",
    "stream_cut": "the reply broke off before its end",
    "bad_reply": "the reply is not one of the Messages API; check --base-url",
    "canceled": "the batch was canceled; resume the run to ask again",
    "unknown": "the request failed",
}

_SHOWN = 300  # characters of the service's own words that a message quotes


def _own_words(body: object) -> tuple[str | None, str | None, int | None, str]:
    """(type, error code, numeric code, message) of an error body, in any of the known shapes."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, str):
        return None, None, None, error
    if not isinstance(error, Mapping):
        return None, None, None, body if isinstance(body, str) else ""
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, Mapping) else None
    kind, number, message = error.get("type"), error.get("code"), error.get("message")
    if isinstance(number, str):
        code = code if isinstance(code, str) else number
        number = int(number) if number.isascii() and number.isdigit() else None
    return (
        kind if isinstance(kind, str) and kind not in {"", "None", "error"} else None,
        code if isinstance(code, str) else None,
        number if isinstance(number, int) else None,
        message if isinstance(message, str) else "",
    )


def _classify(status: int, body: object) -> str:
    kind, code, number, message = _own_words(body)
    if code in _BY_CODE:
        return _BY_CODE[code]
    found = _BY_TYPE.get(kind or "") or _BY_TYPE.get(code or "")
    if found is None:
        status = number if number and status < 400 else status
        found = _BY_STATUS.get(status) or ("server" if status >= 500 else "unknown")
    if found == "invalid":
        for pattern, meaning in ((_TOO_LONG, "too_long"), (_NO_CREDIT, "billing"), (_SPENT, "spend_limit")):  # fmt: skip
            if pattern.search(message):
                return meaning
    return found


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the service asks to wait, or None. Reads seconds, milliseconds and dates.

    A date is compared with the response's own `date` header, so no clock is needed.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        then, sent = parsedate_to_datetime(text), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (then - sent).total_seconds())
    except (ValueError, TypeError):
        return None


def failure(kind: str, detail: str = "", **more: Any) -> ModelError:
    """A `ModelError` of this kind, with the sentence that belongs to it."""
    detail = " ".join(detail.split())
    if len(detail) > _SHOWN:
        detail = detail[:_SHOWN] + "..."
    what = _NEXT[kind] + (f" ({detail})" if detail else "")
    more.setdefault("retryable", kind in RETRYABLE)
    more.setdefault("fatal", kind in FATAL)
    return ModelError(what, kind=kind, **more)


def from_response(status: int, *, headers: Mapping[str, str], body: object) -> ModelError:
    """What an error response means.

    Args:
        status: HTTP status; 200 for an error that came inside a stream.
        headers: response headers, looked up by lower-case name.
        body: the decoded JSON, or the text when it is none.
    """
    kind = _classify(status, body)
    own_type, code, _, message = _own_words(body)
    words = ", ".join(
        part
        for part in (
            f"status {status}" if status >= 400 else "inside the reply",
            own_type,
            code,
            message,
            f"request {headers['request-id']}" if headers.get("request-id") else "",
        )
        if part
    )
    asked = headers.get("x-should-retry")
    retryable = asked == "true" if asked in {"true", "false"} else kind in RETRYABLE
    # A page from a firewall can concern this one request; only the service's own word ends a run.
    fatal = kind in FATAL and (own_type is not None or code is not None or status in {401, 402})
    return failure(
        kind, words, retryable=retryable, fatal=fatal, retry_after_s=retry_after(headers)
    )


def from_exception(names: tuple[str, ...], *, text: str, started: bool) -> ModelError:
    """What an exception means that was raised instead of a response.

    Args:
        names: class names of the exception, from its own class up.
        text: its words.
        started: bytes of the reply had arrived.
    """
    detail = f"{names[0]}: {text}" if text else names[0]
    if any(name in {"APITimeoutError", "TimeoutException", "TimeoutError"} for name in names):
        return failure("timeout", detail)
    if any(name in {"APIConnectionError", "TransportError", "OSError"} for name in names):
        return failure("stream_cut" if started else "connection", detail)
    if started and any(name in {"ValueError", "LookupError"} for name in names):
        return failure("bad_reply", detail)
    return failure("unknown", detail)
