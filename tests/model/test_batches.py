from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from service import KEY, Batches, service

from scisolve_batch.errors import ModelError
from scisolve_batch.model import Credentials
from scisolve_batch.model.batches import (
    BatchService,
    batch_params,
    custom_id,
    read_result,
    read_results,
    request_digest,
    split_wave,
)
from scisolve_batch.model.retry import RetryPolicy
from scisolve_batch.model.waves import WaveModel

MESSAGE = {
    "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Hello"}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}  # fmt: skip
START = datetime.now(UTC)


def errored(kind: str) -> dict[str, object]:
    return {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": "no"}}}


def entry(name: str = "a", text: str = "one") -> dict[str, object]:
    message = {"role": "user", "content": text}
    return {"custom_id": name, "params": {"model": "m", "messages": [message]}}


@pytest.fixture
def ask(time) -> Iterator[Callable[..., tuple[BatchService, Batches]]]:
    """Makes a client of a service that treats batches in a certain way; time only passes by sleeping."""
    opened: list[object] = []

    def make(**treatment: object) -> tuple[BatchService, Batches]:
        batches = Batches(**treatment)
        running = service(batches=batches)
        server = running.__enter__()
        credentials = Credentials(api_key=KEY, base_url=server.env["ANTHROPIC_BASE_URL"])
        client = BatchService(
            credentials,
            sleep=time.sleep,
            poll_s=(2.0, 5.0),
            patience=RetryPolicy(attempts=4),
            random=Random(1),
        )
        opened.extend([client.close, lambda: running.__exit__(None, None, None)])
        return client, batches

    yield make
    for close in opened:
        close()


def test_a_batch_is_handed_over_and_fetched_when_it_has_ended(ask, time) -> None:
    client, batches = ask(looks=5)
    batch = client.hand_over([entry("a"), entry("b")], since=START)
    found = read_results(client.fetch(batch))
    assert time.slept == [2.0, 3.0, 4.5, 5.0], "looks come further and further apart"
    assert read_result(found["a"], batch=batch).tool_calls[0]["name"] == "run_python"
    assert read_result(found["b"], batch=batch).batch == batch
    assert [name for name, _ in batches.asked] == ["a", "b"]


@pytest.mark.parametrize(
    ("result", "kind", "retryable"),
    [
        (errored("overloaded_error"), "overloaded", True),
        (errored("api_error"), "server", True),
        (errored("rate_limit_error"), "rate_limit", True),
        (errored("invalid_request_error"), "invalid", False),
        (errored("authentication_error"), "auth", False),
        ({"type": "errored", "error": {"type": "api_error", "message": "no"}}, "server", True),
        ({"type": "errored"}, "unknown", False),
        ({"type": "expired"}, "overloaded", True),
        ({"type": "canceled"}, "canceled", False),
        ({"type": "brand_new"}, "bad_reply", True),
        ({"type": "succeeded"}, "bad_reply", True),
        ({"type": "succeeded", "message": {**MESSAGE, "stop_reason": None}}, "stream_cut", True),
        (None, "server", True),
        ("?", "server", True),
    ],
)
def test_each_class_of_result_has_its_kind(result, kind, retryable) -> None:
    with pytest.raises(ModelError) as caught:
        read_result(result, batch="msgbatch_1")
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)


def test_only_auth_and_the_like_and_canceled_batches_end_a_run() -> None:
    for result, fatal in [
        (errored("authentication_error"), True),
        (errored("billing_error"), True),
        ({"type": "canceled"}, True),
        (errored("invalid_request_error"), False),
        ({"type": "expired"}, False),
    ]:
        with pytest.raises(ModelError) as caught:
            read_result(result, batch="b")
        assert caught.value.fatal is fatal


def test_a_lost_answer_to_a_hand_over_makes_no_second_batch(ask) -> None:
    client, batches = ask(lost=1)
    assert client.hand_over([entry()], since=START) == "msgbatch_01"
    assert len(batches.taken) == 1


def test_another_batch_with_as_many_requests_is_not_taken_for_the_lost_one(ask) -> None:
    client, _ = ask()
    other = client.hand_over([entry("x")], since=START)
    assert client.find(["a"], since=START) is None
    assert client.find(["x"], since=START) == other
    assert client.find(["x"], since=START, known=[other]) is None, "an earlier try of the same"
    assert client.find(["x", "y"], since=START) is None


def test_a_hand_over_that_is_refused_for_good_is_not_repeated(ask, time) -> None:
    client, _ = ask(refuse=(401, "authentication_error"))
    with pytest.raises(ModelError, match="check ANTHROPIC_API_KEY") as caught:
        client.hand_over([entry()], since=START)
    assert caught.value.fatal and time.slept == []
    assert KEY not in str(caught.value)


def test_an_overloaded_service_is_asked_as_often_as_patience_allows(ask, time) -> None:
    client, batches = ask(refuse=(529, "overloaded_error"))
    with pytest.raises(ModelError) as caught:
        client.hand_over([entry()], since=START)
    assert (caught.value.kind, len(time.slept)) == ("overloaded", 3)
    assert batches.taken == {}


def test_results_that_were_cut_on_their_way_are_fetched_again(ask) -> None:
    client, _ = ask(cut=2)
    batch = client.hand_over([entry("a"), entry("b"), entry("c")], since=START)
    assert read_results(client.fetch(batch)).keys() == {"a", "b", "c"}


def test_a_batch_that_is_gone_says_so(ask) -> None:
    client, _ = ask()
    with pytest.raises(ModelError) as caught:
        client.fetch("msgbatch_99")
    assert caught.value.kind == "not_found"


def test_custom_ids_are_what_the_service_takes_and_never_the_same() -> None:
    names = ["a", "a.b", "a_b", "x" * 100, "x" * 101, "größe"]
    ids = [
        custom_id(name, sample=sample, attempt=attempt, turn=turn)
        for name in names for sample in (1, 2) for attempt in (1, 12) for turn in (1, 123)
    ]  # fmt: skip
    assert len(set(ids)) == len(ids)
    assert all(len(one) <= 64 and one.replace("-", "").replace("_", "").isalnum() and one.isascii() for one in ids)  # fmt: skip


def test_the_digest_is_of_the_conversation_and_not_of_the_room_for_the_reply(question) -> None:
    params = batch_params(question, model="m", effort=None)
    assert "stream" not in params
    digest = request_digest(params)
    assert request_digest({**params, "max_tokens": 1}) == digest
    assert request_digest({**params, "model": "n"}) != digest
    longer = replace(question, messages=[*question.messages, {"role": "user", "content": "?"}])
    assert request_digest(batch_params(longer, model="m", effort=None)) != digest


def test_a_wave_too_large_for_one_batch_is_split_and_nothing_is_lost(monkeypatch) -> None:
    monkeypatch.setattr("scisolve_batch.model.batches.MOST_BYTES", 300)
    monkeypatch.setattr("scisolve_batch.model.batches.MOST_REQUESTS", 2)
    wave = [entry(str(n), "x" * size) for n, size in enumerate([10, 10, 10, 900, 10, 150, 150])]
    parts = split_wave(wave)
    assert [one for part in parts for one in part] == wave
    assert all(len(part) <= 2 for part in parts)
    assert all(len(part) == 1 or len(json.dumps(part)) <= 310 for part in parts)


def test_the_wait_for_a_batch_is_no_time_of_the_problem(question) -> None:
    clock = iter([10.0, 4010.0])
    reply = read_result({"type": "succeeded", "message": MESSAGE}, batch="b")
    letters = []
    model = WaveModel("m", post=lambda one: letters.append(one) or reply, now=lambda: next(clock))
    assert model.reply(question).wait_s == 4000.0
    assert letters[0].turn == 1
