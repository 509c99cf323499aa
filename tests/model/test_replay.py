from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scisolve_batch.errors import ModelError, UsageError
from scisolve_batch.model import Credentials, NoReply, RecordingModel, ReplayModel, open_model
from scisolve_batch.model.cassette import (
    CassetteMiss,
    CassetteWriter,
    Exchange,
    cassette_path,
    digest,
    first_difference,
    read_cassette,
)

KEY = "sk-ant-test-0123456789-never-a-real-key"


@pytest.fixture
def record(server, time, tmp_path):
    """Makes recording models; each closes with the test."""
    made = []

    def make(name: str = "p.jsonl", **options) -> RecordingModel:
        key = Credentials(api_key=KEY, base_url=server.url)
        options.setdefault("clock", time.clock)
        made.append(
            RecordingModel(
                tmp_path / name,
                model_id="test-model",
                secrets=key.secrets,
                credentials=key,
                **options,
            )
        )
        return made[-1]

    yield make
    for model in made:
        model.close()


def outcome(model, question):
    try:
        reply = model.reply(question)
    except NoReply as error:
        return error.kind, error.fatal, error.errors, error.retry_after_s
    else:
        return replace(reply, wait_s=0.0, first_event_s=None)


def test_every_behaviour_is_replayed_as_it_was(server, record, tmp_path, question) -> None:
    behaviours = type(server).behaviours()
    assert len(behaviours) >= 50
    for name in behaviours:
        if name == "s-drip":
            continue
        server.play(name)
        model = record(f"{name}.jsonl", read_s=server.patience(name))
        lived = outcome(model, question)
        assert outcome(ReplayModel(tmp_path / f"{name}.jsonl"), question) == lived, name
        model.close()


def test_what_was_given_up_is_given_up_again(server, record, tmp_path, question) -> None:
    import time as real

    from scisolve_batch.model import RetryPolicy
    from scisolve_batch.model.retry import Clock

    server.play("s-drip")
    policy = RetryPolicy(attempts=1)
    model = record(attempt_s=0.05, clock=Clock(now=real.monotonic), retry=policy)
    lived = outcome(model, question)
    assert lived[0] == "timeout"
    assert outcome(ReplayModel(tmp_path / "p.jsonl"), question) == lived


def test_a_conversation_with_retries_is_replayed(server, record, tmp_path, question) -> None:
    server.play("529", "s-cut", "s-tool", "429", "s-ok", "s-error-first", "s-ok")
    model, messages, lived = record(), [*question.messages], []
    for _ in range(3):
        asked = replace(question, messages=[*messages])
        lived.append((asked, outcome(model, asked)))
        messages += [{"role": "assistant", "content": lived[-1][1].content}]
        messages += [{"role": "user", "content": "Go on, \ud83d π."}]
    assert [reply.attempts for _, reply in lived] == [3, 2, 2]
    again = ReplayModel(tmp_path / "p.jsonl")
    assert [outcome(again, asked) for asked, _ in lived] == [reply for _, reply in lived]
    again.close()


def test_a_repeated_prefix_is_written_once(server, record, tmp_path, question) -> None:
    model, messages = record(), [*question.messages]
    for turn in range(3):
        messages += [{"role": "user", "content": f"turn {turn} " + "x" * 1000}]
        model.reply(replace(question, messages=[*messages]))
    assert (tmp_path / "p.jsonl").read_text().count("x" * 1000) == 3
    assert len(read_cassette(tmp_path / "p.jsonl").exchanges[2].body["messages"]) == 4


def test_the_wire_body_is_what_the_sdk_sends(server, record, tmp_path, question) -> None:
    record(effort="low").reply(question)
    exchange = read_cassette(tmp_path / "p.jsonl").exchanges[0]
    assert exchange.body == server.bodies[0]
    assert exchange.digest == digest(server.bodies[0])


def test_no_key_and_no_unlisted_header_is_written(server, record, tmp_path, question) -> None:
    server.play(lambda handler: handler.send_all(
        529, b"{}", {"set-cookie": "session=1", "anthropic-organization-id": "org", "retry-after": "1"}
    ), "s-ok")  # fmt: skip
    record().reply(question)
    text = (tmp_path / "p.jsonl").read_text()
    for secret in (KEY, "authorization", "session=1", "anthropic-organization-id", "x-stainless"):
        assert secret not in text
    first = read_cassette(tmp_path / "p.jsonl").exchanges[0]
    assert first.headers["retry-after"] == "1"
    assert "anthropic-version" in first.request_headers


@pytest.mark.parametrize("ending", ["clean", "cut"])
@pytest.mark.parametrize("how", ["whole", "pieces", "cut chunk"])
def test_a_reply_that_spells_a_key_is_not_written(
    how, ending, server, record, tmp_path, question
) -> None:
    build = type(server)
    parts = {"whole": [KEY], "pieces": [KEY[i : i + 3] for i in range(0, len(KEY), 3)]}.get(how)
    if parts:
        chunks = build.text_stream(*parts)
    else:
        (whole,) = [b"".join(build.text_stream(KEY))]
        middle = whole.index(KEY.encode()) + 12
        chunks = (whole[:middle], whole[middle:])
    server.play(lambda handler: handler.send_stream(tuple(chunks), ending))
    with pytest.raises(ModelError, match="holds a key, so it is not recorded") as caught:
        record().reply(question)
    assert caught.value.fatal
    assert KEY not in str(caught.value)
    assert not (tmp_path / "p.jsonl").exists()


@pytest.mark.parametrize(
    "exchange",
    [
        Exchange(body={"a": 'pass"word-1'}, digest=""),
        Exchange(body={}, digest="", chunks=[b'<pre>pass"wo', b"rd-1</pre>"]),
        Exchange(body={}, digest="", chunks=[b'\xffpass"word-1']),
        Exchange(
            body={},
            digest="",
            headers={"content-encoding": "gzip"},
            chunks=[gzip.compress(b'pass"word-1')],
        ),
        Exchange(body={}, digest="", broken=(("OSError",), 'pass"word-1')),
        Exchange(body={}, digest="", headers={"request-id": "sk-ant-0123456789"}),
    ],
)
def test_a_secret_is_found_behind_escapes_cuts_and_packing(exchange, tmp_path) -> None:
    writer = CassetteWriter(tmp_path / "p.jsonl", model="m", secrets=('pass"word-1',))
    with pytest.raises(ModelError, match="holds a key"):
        writer.write(exchange)
    assert not (tmp_path / "p.jsonl").exists()


def test_what_cannot_be_unpacked_is_not_written(tmp_path) -> None:
    writer = CassetteWriter(tmp_path / "p.jsonl", model="m")
    for encoding in ("br", "gzip"):
        packed = Exchange(
            body={}, digest="", headers={"content-encoding": encoding}, chunks=[b"not packed so"]
        )
        with pytest.raises(ModelError, match="packs its responses"):
            writer.write(packed)
    assert not (tmp_path / "p.jsonl").exists()


def test_responses_are_asked_for_unpacked(server, record, question) -> None:
    record().reply(question)
    assert server.requests[0][0]["accept-encoding"] == "identity"


def test_a_cell_that_printed_a_key_is_not_written(record, tmp_path, question) -> None:
    leak = {"role": "user", "content": f"environ: {KEY}"}
    with pytest.raises(ModelError, match="make sure that no cell can read the key"):
        record().reply(replace(question, messages=[leak]))
    assert not (tmp_path / "p.jsonl").exists()


def test_another_request_is_a_miss_that_names_the_place(record, tmp_path, question) -> None:
    record().reply(question)
    other = [{"role": "user", "content": "What is 1 + 2?"}]
    with pytest.raises(CassetteMiss) as caught:
        ReplayModel(tmp_path / "p.jsonl").reply(replace(question, messages=other))
    words = str(caught.value)
    assert 'messages[0].content: "What is 1 + 2?" instead of "What is 1 + 1?"' in words
    assert "request 1 is not the recorded one" in words
    assert caught.value.kind == "invalid"


def test_a_recording_at_its_end_says_so(record, tmp_path, question) -> None:
    record().reply(question)
    again = ReplayModel(tmp_path / "p.jsonl")
    again.reply(question)
    with pytest.raises(CassetteMiss, match="ends after 1 requests") as caught:
        again.reply(question)
    assert caught.value.kind == "script_exhausted"


def test_a_new_recording_replaces_the_old(record, tmp_path, question) -> None:
    first = record()
    first.reply(question)
    first.reply(question)
    record().reply(question)
    assert len(read_cassette(tmp_path / "p.jsonl").exchanges) == 1


def test_a_torn_last_line_is_left_out(record, tmp_path, question) -> None:
    model = record()
    model.reply(question)
    model.reply(question)
    path = tmp_path / "p.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert len(read_cassette(path).exchanges) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("{}\n", "no recording of this version"),
        ("[]\n", ":1: is no line"),
        ("x\n", ":1: is not JSON"),
        ('{"cassette": 1, "model": "m"}\n{"body": 1}\n', ":2: is no line of a recording"),
    ],
)
def test_what_is_no_recording_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(content)
    with pytest.raises(UsageError, match=words):
        ReplayModel(path)


def test_recordings_are_kept_by_problem_and_sample(tmp_path: Path) -> None:
    assert cassette_path(tmp_path, problem="ode-1").name == "ode-1.jsonl"
    assert cassette_path(tmp_path, problem="ode-1", sample=2).name == "ode-1.s2.jsonl"
    for wrong in ("", "../x", "a/b"):
        with pytest.raises(UsageError, match="no problem id"):
            cassette_path(tmp_path, problem=wrong)
    with pytest.raises(UsageError, match=r"ode-1\.s2\.jsonl: no such recording; make one with"):
        open_model(f"replay:{tmp_path}", problem="ode-1", sample=2)


def test_recording_and_replay_are_opened_by_name(server, tmp_path, question) -> None:
    key = Credentials(api_key=KEY, base_url=server.url)
    model = open_model("test-model", credentials=key, record=tmp_path, problem="p", sample=2)
    lived = outcome(model, question)
    model.close()
    again = open_model(f"replay:{tmp_path}", problem="p", sample=2)
    assert outcome(again, question) == lived
    assert again.name == "replay:test-model"


def test_a_replay_loads_no_sdk_and_opens_no_socket(record, tmp_path, question) -> None:
    record().reply(question)
    code = f"""
import socket, sys
def refuse(*a, **k): raise AssertionError("a socket was opened")
socket.socket.connect = refuse
from scisolve_batch.model import ReplayModel, Request
question = Request(system={question.system!r}, tools={question.tools!r}, messages={question.messages!r}, max_tokens=100)
print(ReplayModel({str(tmp_path / "p.jsonl")!r}).reply(question).text)
assert not {{"anthropic", "httpx2"}} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "Hello\n"


def test_a_packed_recording_is_unpacked() -> None:
    packed = gzip.compress(b"hello")
    tape = Exchange(
        body=None, digest="", headers={"content-encoding": "gzip"}, chunks=[packed[:5], packed[5:]]
    )
    assert b"".join(tape.plain_chunks()) == b"hello"
    tape.headers["content-encoding"] = "br"
    with pytest.raises(CassetteMiss, match="packed with br"):
        list(tape.plain_chunks())


@pytest.mark.parametrize(
    ("recorded", "sent", "place"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a[1].b: 3 instead of 2"),
        ({"a": 1}, {}, "a: missing, recorded was 1"),
        ({}, {"a": 1}, "a: 1, not in the recording"),
        ({"a": [1]}, {"a": [1, 2]}, "a: 2 items instead of 1"),
        ({"a": 1}, {"a": True}, "a: true instead of 1"),
        ({"a": 1}, {"a": "1"}, 'a: "1" instead of 1'),
        ({"a": "x" * 100 + "1"}, {"a": "x" * 100 + "2"}, "a: from character 100: "),
    ],
)  # fmt: skip
def test_the_first_difference_is_found(recorded, sent, place) -> None:
    found = first_difference(recorded, sent)
    assert found is None if place is None else found is not None and found.startswith(place)


def test_the_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": "é"}) == digest(json.loads('{"b": "\\u00e9", "a": 1}'))
    assert digest({"a": 1}) != digest({"a": 2})
