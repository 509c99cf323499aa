from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.errors import ModelError
from scisolve_batch.model import Request
from scisolve_batch.model.wire import clean_text, wire_body

texts = st.text(st.characters(), max_size=12)  # lone surrogates included
blocks = st.fixed_dictionaries({"type": st.just("text"), "text": texts}) | st.fixed_dictionaries(
    {"type": st.just("tool_result"), "tool_use_id": texts, "content": texts}
)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": texts | st.lists(blocks, max_size=3)}
    ),
    max_size=5,
)  # fmt: skip


@given(old=messages, new=messages)
def test_a_longer_history_only_appends(question: Request, old, new) -> None:
    before = copy.deepcopy(old)
    short = wire_body(replace(question, messages=old), model="m")
    longer = wire_body(replace(question, messages=old + new), model="m")
    assert old == before
    assert longer["messages"][: len(old)] == short["messages"]
    assert {**longer, "messages": 0} == {**short, "messages": 0}
    json.dumps(longer, ensure_ascii=False, allow_nan=False).encode()


@given(text=st.text(st.characters()))
def test_clean_text_can_be_encoded_and_whole_text_is_kept(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    assert clean_text(cleaned) == cleaned
    if not any(0xD800 <= ord(character) < 0xE000 for character in text):
        assert cleaned == text


def test_a_cut_emoji_becomes_a_replacement_and_a_split_pair_is_joined() -> None:
    assert clean_text("a\ud83d") == "a\ufffd"
    assert clean_text("\ud83d\ude00") == "\U0001f600"


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_texts_are_not_sent_beside_others(question: Request, blank: str) -> None:
    call = {"type": "tool_use", "id": "a", "name": "run_python", "input": {}}
    content = [{"type": "text", "text": blank}, call]
    said = {"role": "assistant", "content": content}
    body = wire_body(replace(question, messages=[said]), model="m")
    assert body["messages"][0]["content"] == [call]


def test_thinking_is_sent_back_as_it_came(question: Request) -> None:
    thought = {"type": "thinking", "thinking": "", "signature": "abc="}
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "x"}]}
    body = wire_body(replace(question, messages=[said]), model="m")
    assert body["messages"] == [said]


def test_one_cache_mark_and_no_forced_tool(question: Request) -> None:
    text = json.dumps(wire_body(question, model="m"))
    assert text.count("cache_control") == 1
    assert '"any"' not in text


def test_without_tools_none_are_chosen_from(question: Request) -> None:
    body = wire_body(replace(question, tools=[]), model="m")
    assert not {"tools", "tool_choice"} & body.keys()


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        ({"type": "object", "properties": {}}, False),
        ({"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "additionalProperties": False}, False),
        ({"type": "object", "properties": {"minimum": {"type": "integer"}}, "additionalProperties": False}, True),
        ({"type": "object", "properties": {"v": {"type": "object"}}, "additionalProperties": False}, False),
        ({"type": "object", "properties": {"v": {"type": "array", "items": {"type": "object", "properties": {}, "additionalProperties": False}}}, "additionalProperties": False}, True),
        ({"type": "object", "properties": {"v": {"anyOf": [{"type": "string", "maxLength": 3}]}}, "additionalProperties": False}, False),
    ],
)  # fmt: skip
def test_a_tool_is_strict_when_its_schema_can_be(question: Request, schema, strict: bool) -> None:
    tool = {"name": "f", "input_schema": schema}
    body = wire_body(replace(question, tools=[tool]), model="m")
    assert body["tools"][0].get("strict", False) is strict
    assert "strict" not in tool


def test_a_tool_that_says_so_itself_is_left_alone(question: Request) -> None:
    tool = {**question.tools[0], "strict": False}
    assert wire_body(replace(question, tools=[tool]), model="m")["tools"] == [tool]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_has_no_word_for_is_not_sent(question: Request, number: float) -> None:
    said = {"role": "assistant", "content": [{"type": "tool_use", "input": {"x": [number]}}]}
    with pytest.raises(ModelError, match=f"a message holds {number}") as caught:
        wire_body(replace(question, messages=[said]), model="m")
    assert (caught.value.kind, caught.value.retryable) == ("invalid", False)
