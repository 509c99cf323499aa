from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.errors import ModelError
from scisolve_batch.model.assemble import read_json, read_message
from scisolve_batch.model.live import read_response
from scisolve_batch.model.sse import events
from scisolve_batch.records import Usage

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "recorded" / "gateways.jsonl").read_text().splitlines()
]
STREAM = {"content-type": "text/event-stream"}
USAGE = {"input_tokens": 7, "output_tokens": 0}


def stream(*events: dict | str) -> bytes:
    """Events as bytes; a text stands for itself."""
    return "".join(
        e if isinstance(e, str) else f"event: {e['type']}\ndata: {json.dumps(e)}\n\n"
        for e in events
    ).encode()


def start(**more) -> dict:
    return {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": USAGE, **more}}  # fmt: skip


def block(index: int, **content) -> dict:
    return {"type": "content_block_start", "index": index, "content_block": content}


def delta(index: int, kind: str, **content) -> dict:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **content}}


def stop(index: int) -> dict:
    return {"type": "content_block_stop", "index": index}


def end(reason: str | None = "end_turn", usage: dict | None = None, **more) -> dict:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **more}, "usage": usage}


def read(*parts: dict | str):
    return read_response([stream(*parts)], headers=STREAM)


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda r: r["name"])
def test_recorded_replies_of_other_servers_are_whole(recorded) -> None:
    chunks = [chunk.encode() for chunk in recorded["chunks"]]
    reply = read_response(chunks, headers=recorded["headers"])
    name = recorded["name"]
    assert reply.stop_reason == (
        "max_tokens" if "cut" in name else "end_turn" if "text" in name or "twice" in name else "tool_use"
    )  # fmt: skip
    assert isinstance(reply.usage.output_tokens, int)
    for call in reply.tool_calls:
        assert isinstance(call["input"], dict)
        assert ("cut" in name) == (call["input"] == {})
    if "twice" in name:
        assert reply.text.startswith("Eigenvalues are numerical values")
        assert reply.text.count("Eigenvalues") == 1


cuts = st.lists(st.integers(0, 10_000), max_size=30)


@given(cuts=cuts, which=st.sampled_from(range(len(RECORDED))), ends=st.sampled_from(["\n", "\r\n", "\r"]))  # fmt: skip
def test_a_stream_reads_the_same_however_it_is_cut(cuts, which, ends) -> None:
    recorded = RECORDED[which]
    whole = "".join(recorded["chunks"]).replace("\n", ends).encode()
    edges = sorted({0, len(whole), *(cut % len(whole) for cut in cuts)})
    chunks = [whole[a:b] for a, b in itertools.pairwise(edges)]
    plain = [chunk.encode() for chunk in recorded["chunks"]]
    headers = recorded["headers"]
    assert read_response(chunks, headers=headers) == read_response(plain, headers=headers)


@given(length=st.integers(0, 4_000))
def test_no_beginning_of_a_stream_is_taken_for_the_whole(length: int) -> None:
    whole = "".join(RECORDED[0]["chunks"]).encode()
    final = whole.index(b"event: message_delta")
    with pytest.raises(ModelError) as caught:
        read_response([whole[: min(length, final)]], headers=STREAM)
    assert caught.value.kind == "stream_cut"
    assert caught.value.retryable


def test_events_follow_the_specification() -> None:
    raw = b": comment\nevent: a\ndata: 1\ndata:2\nid: 7\n\ndata: x\n\n\nevent: b\n\nevent: c\ndata: cut"
    assert list(events([raw])) == [("a", "1\n2"), ("", "x")]


def test_a_line_separator_inside_a_text_is_no_line_end() -> None:
    text = "a\u2028b\x85c\x0bd"
    parts = [start(), block(0, type="text", text=""), delta(0, "text_delta", text=text), end()]
    raw = "".join(f"data: {json.dumps(part, ensure_ascii=False)}\n\n" for part in parts).encode()
    assert read_response([raw], headers=STREAM).text == text


def test_thinking_with_its_signature_comes_back_whole() -> None:
    reply = read(
        start(),
        block(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm"),
        delta(0, "thinking_delta", thinking="m."),
        delta(0, "signature_delta", signature="abc="),
        stop(0),
        block(1, type="redacted_thinking", data="xyz"),
        stop(1),
        block(2, type="text", text=""),
        delta(2, "text_delta", text="Done"),
        delta(2, "citations_delta", citation={"n": 1}),
        stop(2),
        end(),
    )
    assert reply.content == [
        {"type": "thinking", "thinking": "Hmm.", "signature": "abc="},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "Done", "citations": [{"n": 1}]},
    ]


def test_several_calls_keep_their_order_and_inputs() -> None:
    def call(index: int, text: str) -> list[dict]:
        return [
            block(index, type="tool_use", id=f"t{index}", name="run_python", input={}),
            delta(index, "input_json_delta", partial_json=text[:5]),
            delta(index, "input_json_delta", partial_json=text[5:]),
            stop(index),
        ]

    calls = [*call(0, '{"code": "1"}'), *call(1, '{"code": "2"}')]
    reply = read(start(), *calls, end("tool_use"))
    assert [call["input"] for call in reply.tool_calls] == [{"code": "1"}, {"code": "2"}]


def test_counts_are_totals_and_missing_ones_keep_their_value() -> None:
    reply = read(
        start(usage={"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 9}),
        end(usage={"output_tokens": 5, "input_tokens": None}),
    )
    assert reply.usage == Usage(input_tokens=7, output_tokens=5, cache_read_tokens=9)


@pytest.mark.parametrize("usage", [{}, {"total_tokens": 3}, {"input_tokens": "7"}, {"input_tokens": -1}, {"input_tokens": True}])  # fmt: skip
def test_a_count_that_is_none_is_not_reported(usage) -> None:
    assert read(start(usage=usage), end(usage={})).usage == Usage()


def test_usage_may_come_only_at_the_end() -> None:
    reply = read(start(usage=None), end(usage={"input_tokens": 7, "output_tokens": 5}))
    assert reply.usage == Usage(input_tokens=7, output_tokens=5)


def test_a_reply_without_any_usage_is_not_whole() -> None:
    with pytest.raises(ModelError, match="without usage") as caught:
        read(start(usage=None), end())
    assert caught.value.kind == "bad_reply"


def test_a_later_empty_word_does_not_take_the_stop_reason_back() -> None:
    assert (
        read(start(), end("end_turn"), end(None, usage={"output_tokens": 2})).stop_reason
        == "end_turn"
    )


def test_a_message_begun_twice_keeps_its_first_beginning() -> None:
    reply = read(
        start(model="first"), block(0, type="text", text="x"), start(model="second"), end()
    )
    assert (reply.model, reply.text) == ("first", "x")


def test_a_call_without_any_input_has_an_empty_one() -> None:
    reply = read(start(), block(0, type="tool_use", id="a", name="f"), end("tool_use"))
    assert reply.tool_calls[0]["input"] == {}


def test_a_line_end_cut_in_two_is_one_line_end() -> None:
    cut = [b"event: a\r", b"\ndata: 1\r", b"\ndata: 2\r\n\r\n"]
    assert list(events(cut)) == [("a", "1\n2")]


def test_a_refusal_says_its_category() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "..."}
    reply = read(start(), end("refusal", stop_details=details))
    assert (reply.stop_reason, reply.stop_details) == ("refusal", details)


def test_a_hit_stop_sequence_is_a_whole_reply() -> None:
    assert read(start(), end("end_turn", stop_sequence="###")).stop_reason == "end_turn"


def test_an_empty_reply_is_a_whole_reply() -> None:
    assert read(start(), end()).content == []


def test_a_cut_call_of_an_earlier_block_is_no_excuse() -> None:
    with pytest.raises(ModelError, match="the input of run_python is not JSON"):
        read(
            start(),
            block(0, type="tool_use", id="a", name="run_python", input={}),
            delta(0, "input_json_delta", partial_json='{"code'),
            block(1, type="text", text="x"),
            end("max_tokens"),
        )


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([block(0, type="text", text="")], "content blocks out of order"),
        ([start(), block(1, type="text", text="")], "content blocks out of order"),
        ([end()], "message_delta before message_start"),
        ([{"type": "message_start"}], "message_start without a message"),
        ([start(), {"type": "content_block_start", "index": 0}], "without a block"),
        ([start(), block(0, type="text", text=""), {"type": "content_block_delta", "index": 0}], "without a delta"),
        ([start(), block(0, text="no type"), end()], "a content block without a type"),
        ([start(), block(0, type="tool_use", name="run_python"), end()], "without id or name"),
        ([start(), *(block(i, type="tool_use", id="a", name="f", input={}) for i in (0, 1)), end("tool_use")], "two tool calls with one id"),
        ([start(), block(0, type="tool_use", id="a", name="f", input="{}"), end("tool_use")], "the input of f is not an object"),
        ([start(), "data: [1]\n\n"], "an event that is not an object"),
        ([start(), "data: NaN\n\n"], "an event that is not JSON"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_reply_is_refused(parts, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        read(*parts)
    assert (caught.value.kind, caught.value.retryable) == ("bad_reply", True)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "-Infinity", "1e999", '{"a": -1e400}', "", "{", "9" * 5000, "[" * 100_000])  # fmt: skip
def test_json_that_could_not_be_sent_back_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_json(text)


def test_a_message_that_is_none_is_refused() -> None:
    for message, words in (([], "a list where"), ({"content": []}, "without usage"), ({}, "without content")):  # fmt: skip
        with pytest.raises(ModelError, match=words):
            read_message(message, headers={})
