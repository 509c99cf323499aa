from __future__ import annotations

import pytest

from scisolve_batch.errors import MODEL_ERROR_KINDS
from scisolve_batch.model.faults import (
    FATAL,
    RETRYABLE,
    failure,
    from_exception,
    from_response,
    retry_after,
)


def kind_of(status: int, body: object, **headers: str) -> str:
    return from_response(status, headers=headers, body=body).kind


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # llama.cpp: no outer type, a numeric code
        (400, {"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error", "n_ctx": 8}}, "too_long"),
        (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, "server"),
        (401, {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}}, "auth"),
        # litellm: the type is the word None, the code a text
        (400, {"error": {"message": "no", "type": "None", "code": "400"}}, "invalid"),
        (429, {"error": {"message": "slow", "type": "None", "code": "429"}}, "rate_limit"),
        (429, {"error": {"message": "pay", "type": "insufficient_quota", "code": "insufficient_quota"}}, "billing"),
        (400, {"error": {"message": "context_length_exceeded", "type": None}}, "too_long"),
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens", "type": "invalid_request_error"}}, "too_long"),
        # inside a stream the status is 200 and the code tells
        (200, {"error": {"code": 529, "message": "busy"}}, "overloaded"),
        (200, {"error": {"code": "500", "message": "crash"}}, "server"),
        (200, {"error": {"message": "?"}}, "unknown"),
        # bodies that are no envelopes
        (500, "<html>", "server"),
        (500, None, "server"),
        (418, {"error": "teapot"}, "unknown"),
        (422, {"detail": []}, "invalid"),
        (599, {}, "server"),
        (403, {"error": {"type": "error"}}, "permission"),
        # the service's own words go before the status
        (500, {"error": {"type": "overloaded_error", "message": ""}}, "overloaded"),
        (400, {"error": {"type": "invalid_request_error", "message": "You have reached your specified API usage limits."}}, "spend_limit"),
        (429, {"error": {"type": "rate_limit_error", "message": "", "details": {"error_code": "a_new_code"}}}, "rate_limit"),
    ],
)  # fmt: skip
def test_every_known_shape_of_error_has_its_kind(status: int, body: object, kind: str) -> None:
    assert kind_of(status, body) == kind


def test_every_kind_can_be_told_and_is_in_the_closed_set() -> None:
    for kind in set(MODEL_ERROR_KINDS) - {"script_exhausted"}:
        error = failure(kind, "detail")
        assert error.kind == kind
        assert "(detail)" in error.what
        assert (error.retryable, error.fatal) == (kind in RETRYABLE, kind in FATAL)
    assert set(MODEL_ERROR_KINDS) > RETRYABLE | FATAL
    assert not RETRYABLE & FATAL


def test_a_message_says_what_happened_and_what_to_do() -> None:
    body = {"error": {"type": "authentication_error", "message": "invalid\n x-api-key"}}
    assert from_response(401, headers={"request-id": "req_7"}, body=body).what == (
        "the service refuses the key; check ANTHROPIC_API_KEY "
        "(status 401, authentication_error, invalid x-api-key, request req_7)"
    )


def test_long_words_of_the_service_are_shortened() -> None:
    assert len(from_response(500, headers={}, body="x" * 100_000).what) < 500


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Tue, 01 Dec 2026 00:00:30 GMT", "date": "Tue, 01 Dec 2026 00:00:00 GMT"}, 30.0),
        ({"retry-after": "Tue, 01 Dec 2026 00:00:00 GMT", "date": "Tue, 01 Dec 2026 00:00:30 GMT"}, 0.0),
        ({"retry-after": "Tue, 01 Dec 2026 00:00:30 GMT"}, None),
    ],
)  # fmt: skip
def test_the_wait_the_service_asks_for(headers, seconds) -> None:
    assert retry_after(headers) == seconds


def test_the_service_can_forbid_or_allow_a_retry() -> None:
    assert not from_response(529, headers={"x-should-retry": "false"}, body=None).retryable
    assert from_response(400, headers={"x-should-retry": "true"}, body=None).retryable


@pytest.mark.parametrize(
    ("names", "started", "kind"),
    [
        (("APITimeoutError", "APIConnectionError"), False, "timeout"),
        (("ReadTimeout", "TimeoutException", "TransportError"), True, "timeout"),
        (("APIConnectionError", "APIError"), False, "connection"),
        (("RemoteProtocolError", "ProtocolError", "TransportError"), False, "connection"),
        (("RemoteProtocolError", "ProtocolError", "TransportError"), True, "stream_cut"),
        (("ConnectionResetError", "OSError"), True, "stream_cut"),
        (("JSONDecodeError", "ValueError"), True, "bad_reply"),
        (("IndexError", "LookupError"), True, "bad_reply"),
        (("UnicodeEncodeError", "ValueError"), False, "unknown"),
        (("TypeError", "Exception"), False, "unknown"),
    ],
)
def test_exceptions_are_known_by_their_names(names, started: bool, kind: str) -> None:
    error = from_exception(names, text="words", started=started)
    assert error.kind == kind
    assert f"({names[0]}: words)" in error.what
