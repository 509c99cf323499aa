from __future__ import annotations

import itertools
import json
import os
import traceback
from collections.abc import Callable
from dataclasses import replace

import pytest

from scisolve_batch.errors import UsageError
from scisolve_batch.model import Credentials, LiveModel, NoReply, Request, RetryPolicy

REPLIES = {
    "ok": "end_turn",
    "200-new-block": "brand_new",
    "s-ok": "end_turn",
    "s-unknown-event": "end_turn",
    "s-unknown-block": "brand_new",
    "s-tool": "tool_use",
    "s-tool-trunc": "max_tokens",
    "s-tool-none": "tool_use",
    "s-tool-bigint": "tool_use",
}

# Behaviour of the service: kind of the error, requests made for it, whether it ends the run.
FAILURES = {
    "529": ("overloaded", 5, False),
    "429": ("rate_limit", 5, False),
    "429-ra3600": ("rate_limit", 5, False),
    "429-ramp": ("rate_limit", 5, False),
    "429-spent": ("spend_limit", 1, True),
    "500": ("server", 5, False),
    "500-noretry": ("server", 1, False),
    "400": ("invalid", 1, False),
    "400-long": ("too_long", 1, False),
    "400-credit": ("billing", 1, True),
    "400-spent": ("spend_limit", 1, True),
    "401": ("auth", 1, True),
    "402": ("billing", 1, True),
    "403": ("permission", 1, True),
    "403-html": ("permission", 1, False),
    "404": ("not_found", 1, True),
    "408": ("timeout", 3, False),
    "409": ("server", 5, False),
    "413": ("too_large", 1, False),
    "502-html": ("server", 5, False),
    "503": ("server", 5, False),
    "200-html": ("bad_reply", 3, False),
    "200-empty": ("stream_cut", 3, False),
    "200-cut-json": ("bad_reply", 3, False),
    "200-missing": ("bad_reply", 3, False),
    "200-error": ("overloaded", 5, False),
    "hang": ("timeout", 3, False),
    "drop": ("connection", 5, False),
    "s-error": ("overloaded", 5, False),
    "s-error-first": ("overloaded", 5, False),
    "s-eof": ("stream_cut", 3, False),
    "s-cut": ("stream_cut", 3, False),
    "s-rst": ("stream_cut", 3, False),
    "s-stall": ("timeout", 3, False),
    "s-empty": ("stream_cut", 3, False),
    "s-bad-json": ("bad_reply", 3, False),
    "s-not-utf8": ("bad_reply", 3, False),
    "s-tool-cut-unsaid": ("bad_reply", 3, False),
    "s-tool-invalid": ("bad_reply", 3, False),
    "s-tool-control": ("bad_reply", 3, False),
    "s-tool-list": ("bad_reply", 3, False),
    "s-tool-nan": ("bad_reply", 3, False),
    "s-tool-1e400": ("bad_reply", 3, False),
    "s-wrong-index": ("bad_reply", 3, False),
    "s-no-stop": ("stream_cut", 3, False),
}

Make = Callable[..., LiveModel]


@pytest.mark.parametrize("behaviour", REPLIES)
def test_whole_replies_are_accepted(behaviour, server, live: Make, question: Request) -> None:
    server.play(behaviour)
    reply = live().reply(question)
    assert reply.stop_reason == REPLIES[behaviour]
    assert (reply.attempts, reply.errors, reply.wait_s) == (1, (), 0.0)
    assert reply.request_id == "req_1"
    assert reply.model == "test-model"


@pytest.mark.parametrize("behaviour", FAILURES)
def test_each_fault_has_its_kind(behaviour, server, live: Make, question: Request) -> None:
    kind, attempts, fatal = FAILURES[behaviour]
    server.play(behaviour)
    with pytest.raises(NoReply) as caught:
        live(read_s=server.patience(behaviour)).reply(question)
    assert (caught.value.kind, caught.value.attempts, caught.value.fatal) == (kind, attempts, fatal)
    assert caught.value.errors == (kind,) * attempts
    assert len(server.requests) == attempts


def test_a_reply_that_drips_for_ever_is_given_up(server, live: Make, question: Request) -> None:
    import time

    server.play("s-drip")
    from scisolve_batch.model.retry import Clock

    model = live(attempt_s=0.1, clock=Clock(now=time.monotonic), retry=RetryPolicy(attempts=1))
    with pytest.raises(NoReply, match=r"longer than 0\.1 s") as caught:
        model.reply(question)
    assert caught.value.kind == "timeout"


def test_a_later_attempt_succeeds_and_tells_of_the_earlier(server, live, question, time) -> None:
    server.play("529", "s-error", "s-eof", "429-ra1", "s-tool")
    reply = live().reply(question)
    assert reply.attempts == 5
    assert reply.errors == ("overloaded", "overloaded", "stream_cut", "rate_limit")
    assert reply.tool_calls[0]["input"] == {"code": "print(1)"}
    assert reply.wait_s == pytest.approx(sum(time.slept))
    assert 1.0 <= time.slept[-1] <= 2.0


def test_a_wait_of_an_hour_is_capped(server, live: Make, question: Request, time) -> None:
    server.play("429-ra3600", "s-ok")
    reply = live().reply(question)
    assert reply.attempts == 2
    assert 120.0 <= reply.wait_s <= 121.0


def test_no_attempt_is_started_after_the_deadline(server, live, question, time) -> None:
    server.play("429-ra3600", "s-ok")
    with pytest.raises(NoReply) as caught:
        live().reply(replace(question, deadline=time.now() + 30))
    assert (caught.value.kind, caught.value.attempts, time.slept) == ("rate_limit", 1, [])
    assert caught.value.retry_after_s == 3600.0


def test_nothing_is_sent_before_the_hold_is_over(server, live, question, time) -> None:
    until = time.now() + 7
    reply = live(hold_until=lambda: until).reply(question)
    assert time.slept == [7.0]
    assert reply.wait_s == 7.0
    assert reply.attempts == 1


def test_a_hold_beyond_the_deadline_sends_nothing(server, live, question, time) -> None:
    model = live(hold_until=lambda: time.now() + 100)
    with pytest.raises(NoReply, match="longer than the problem's time") as caught:
        model.reply(replace(question, deadline=time.now() + 50))
    assert (caught.value.kind, caught.value.attempts) == ("rate_limit", 0)
    assert server.requests == []


def test_failures_are_told_before_the_wait(server, live, question) -> None:
    heard = []
    server.play("429-ra1", "s-ok")
    live(on_throttle=heard.append).reply(question)
    assert [(error.kind, error.retry_after_s) for error in heard] == [("rate_limit", 1.0)]


def test_the_request_is_what_the_service_wants(server, live, question) -> None:
    live(effort="high").reply(question)
    body = server.bodies[0]
    assert body["stream"] is True
    assert body["cache_control"] == {"type": "ephemeral"}
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert body["tools"][0]["strict"] is True
    assert body["tools"][0]["input_schema"]["additionalProperties"] is False
    assert body["output_config"] == {"effort": "high"}
    assert not {"temperature", "top_p", "top_k", "thinking"} & body.keys()
    assert server.requests[0][0]["x-stainless-retry-count"] == "0"


def test_the_prefix_of_every_request_keeps_its_bytes(server, live, question) -> None:
    model = live()
    messages = [*question.messages]
    server.play("s-tool")
    sent = []
    for turn in range(4):
        reply = model.reply(replace(question, messages=messages))
        result = {"type": "tool_result", "tool_use_id": "toolu_0", "content": f"{turn} \ud83d é"}
        messages += [
            {"role": "assistant", "content": reply.content},
            {"role": "user", "content": [result]},
        ]
        raw = server.requests[-1][1]
        sent.append(raw.partition(b'],"model":'))
    for (shorter, _, rest), (longer, _, same_rest) in itertools.pairwise(sent):
        assert longer.startswith(shorter)
        assert len(longer) > len(shorter)
        assert rest == same_rest
        assert b'"tools":' in rest
        assert b'"system":' in rest


def test_the_callers_messages_are_not_changed(server, live, question) -> None:
    content = [{"type": "text", "text": "\ud83d"}, {"type": "text", "text": " "}]
    messages = [{"role": "user", "content": content}]
    before = repr(messages)
    live().reply(replace(question, messages=messages))
    assert repr(messages) == before
    assert server.bodies[0]["messages"][0]["content"] == [{"type": "text", "text": "\ufffd"}]


def test_the_key_is_in_the_request_and_nowhere_else(server, live, question, caplog) -> None:
    key = Credentials(api_key="sk-ant-secret-material", base_url=server.url)
    server.play(lambda handler: handler.send_all(
        401, b'{"error": {"type": "authentication_error", "message": "bad key sk-ant-secret-material"}}', {}
    ))  # fmt: skip
    model = live(credentials=key)
    caplog.set_level(0)
    with pytest.raises(NoReply) as caught:
        model.reply(question)
    assert "sk-ant-secret-material" in server.requests[0][0]["authorization"]
    trace = "".join(traceback.format_exception(caught.value))
    for shown in (trace, repr(caught.value), repr(model), repr(key), caplog.text):
        assert "secret-material" not in shown
    assert caught.value.__context__ is None or "secret" not in repr(vars(caught.value.__context__))
    assert "check ANTHROPIC_API_KEY" in str(caught.value)


def test_a_failed_stream_leaves_nothing_of_itself(server, live, question) -> None:
    server.play("s-cut", "s-rst", "s-ok")
    reply = live().reply(question)
    assert reply.content == [{"type": "text", "text": "Hello"}]
    assert len({body for _, body in server.requests}) == 1  # asked in the same words


def test_a_connection_that_idled_away_is_made_again(server, live, question) -> None:
    model = live()
    server.play("s-ok", "drop", "s-ok")
    model.reply(question)
    reply = model.reply(question)
    assert (reply.attempts, reply.errors) == (2, ("connection",))


def test_the_cache_share_is_reported_where_there_is_one(server, live, question) -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7}
    server.play(server.message(usage={**usage, "output_tokens": 3}))
    found = live().reply(question).usage
    assert (found.cache_read_tokens, found.cache_write_tokens, found.total) == (90, 7, 105)


def test_a_token_goes_where_no_key_is(server, live, question) -> None:
    live(credentials=Credentials(auth_token="token-1", base_url=server.url)).reply(question)
    assert server.requests[0][0]["authorization"] == "Bearer token-1"
    assert "x-api-key" not in server.requests[0][0]


def test_the_environment_names_key_and_address(server, question, monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    model = LiveModel("claude-haiku-5-5")
    model.reply(question)
    model.close()
    assert "key-of-the-environment" in server.requests[0][0]["authorization"]


def test_a_proxy_is_not_asked_for_this_machine(server, live, question, monkeypatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert live().reply(question).attempts == 1


def test_nobody_at_the_address_is_a_connection_error(live, question) -> None:
    nobody = Credentials(api_key="k", base_url="http://127.0.0.1:1")
    with pytest.raises(NoReply, match="cannot be reached; check the network") as caught:
        live(credentials=nobody).reply(question)
    assert (caught.value.kind, caught.value.attempts) == ("connection", 5)


def test_the_sdk_can_be_loaded_before_workers_are_forked(server, live, question) -> None:
    from scisolve_batch.model import load_sdk

    load_sdk()
    import threading

    assert {thread.name for thread in threading.enumerate()} <= {"MainThread", server.thread_name}
    assert live().reply(question).attempts == 1


def test_without_a_key_the_first_request_says_what_to_set(question) -> None:
    with pytest.raises(UsageError, match="set ANTHROPIC_API_KEY"):
        LiveModel("claude-haiku-5-5").reply(question)


def test_an_unknown_effort_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="low, medium, high, xhigh, max"):
        LiveModel("claude-haiku-5-5", effort="maximal")


def test_each_process_connects_for_itself(server, live, question) -> None:
    model = live()
    assert model.reply(question).stop_reason == "end_turn"
    children = []
    for _ in range(3):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            word = b"broken"
            try:
                word = model.reply(question).stop_reason.encode()
            finally:
                os.write(write, word)
                os._exit(0)
        os.close(write)
        children.append((child, read))
    for child, read in children:
        assert os.read(read, 100) == b"end_turn"
        os.close(read)
        os.waitpid(child, 0)
    assert model.reply(question).stop_reason == "end_turn"
    assert len(server.clients) == 4


def test_a_closed_model_may_be_closed_again_and_asked_again(live, question) -> None:
    model = live()
    model.reply(question)
    model.close()
    model.close()
    assert model.reply(question).stop_reason == "end_turn"


def test_sent_json_is_utf8_without_escapes_for_lone_surrogates(server, live, question) -> None:
    live().reply(replace(question, system="π \ud83d\ude00 \ud83d"))
    assert json.loads(server.requests[0][1])["system"] == "π \U0001f600 \ufffd"
