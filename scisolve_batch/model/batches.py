"""The Message Batches of the service: many requests handed over at once, at half the price.

It hands over, looks, fetches, and finds again a batch whose id never arrived. Nothing is handed
over twice as long as that can be known, because each hand-over is paid for.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import quote

from scisolve_batch.errors import ModelError
from scisolve_batch.model.assemble import read_json, read_message
from scisolve_batch.model.base import Reply, Request
from scisolve_batch.model.credentials import Credentials
from scisolve_batch.model.faults import failure, from_response
from scisolve_batch.model.live import cross_border, open_client
from scisolve_batch.model.retry import RetryPolicy
from scisolve_batch.model.wire import wire_body

PATH = "/v1/messages/batches"
MOST_REQUESTS = 10_000
MOST_BYTES = 100_000_000
"""A batch may hold 100,000 requests and 256 MB; smaller ones come back sooner."""
POLL_S = (2.0, 60.0)
"""Seconds between two looks: at first, and at most."""
PATIENCE = RetryPolicy(attempts=12, paid_attempts=12, longest_s=120.0)
"""A wave that waits for an hour can as well wait out an outage."""
_CLOCK_SKEW = timedelta(minutes=5)
UNSURE = frozenset({"timeout", "connection", "stream_cut", "bad_reply", "server"})
"""Failures of a hand-over after which the service may have taken it all the same."""
_ID = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True)
class BatchState:
    """What the service says about a batch.

    Attributes:
        id: its id.
        ended: its results can be fetched.
        count: requests that it holds.
        created_at: when it was taken, in the service's words.
    """

    id: str
    ended: bool
    count: int
    created_at: str


def batch_params(request: Request, *, model: str, effort: str | None) -> dict[str, Any]:
    """The request as it stands in a batch: like any other, but not streamed.

    Raises:
        ModelError: a message holds a number that JSON cannot write.
    """
    body = wire_body(request, model=model, effort=effort)
    del body["stream"]
    return body


def request_digest(params: Mapping[str, Any]) -> str:
    """SHA-256 of what is asked. The room for the reply is left out: money decides about that."""
    asked = {name: value for name, value in params.items() if name != "max_tokens"}
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def custom_id(problem_id: str, *, sample: int, attempt: int, turn: int) -> str:
    """Id of a request within its batch: at most 64 letters, digits, `_` and `-`."""
    exact = hashlib.sha256(f"{problem_id}.{sample}.{attempt}.{turn}".encode()).hexdigest()[:8]
    tail = f"-s{sample}-a{attempt}-t{turn}-{exact}"
    return _ID.sub("_", problem_id)[: _LONGEST_ID - len(tail)] + tail


def split_wave(requests: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The requests of a wave in as few batches as the service takes."""
    batches: list[list[dict[str, Any]]] = []
    room = 0
    for request in requests:
        size = len(json.dumps(request))
        if not batches or len(batches[-1]) >= MOST_REQUESTS or size > room:
            batches.append([])
            room = MOST_BYTES
        batches[-1].append(request)
        room -= size
    return batches


def read_results(data: bytes) -> dict[str, Any]:
    """The result of each request, by its custom id. A torn or strange line is passed over."""
    found: dict[str, Any] = {}
    for line in data.splitlines():
        try:
            entry = read_json(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("custom_id"), str):
            found[entry["custom_id"]] = entry.get("result")
    return found


def read_result(result: object, *, batch: str) -> Reply:
    """The reply that a result holds.

    Raises:
        ModelError: it was not answered; `retryable` says whether asking again may help. What
            expired was never begun and costs nothing; what was canceled ends the run.
    """
    kind = result.get("type") if isinstance(result, dict) else None
    if not isinstance(result, dict) or kind is None:
        raise failure("server", f"batch {batch} has no result for this request")
    match kind:
        case "succeeded":
            return replace(read_message(result.get("message"), headers={}), batch=batch)
        case "errored":
            error = result.get("error")
            body = error if isinstance(error, dict) and "error" in error else {"error": error}
            raise from_response(200, headers={}, body=body)
        case "expired":
            raise failure("overloaded", f"batch {batch} expired before this request was begun")
        case "canceled":
            raise failure("canceled", f"batch {batch}")
    raise failure("bad_reply", f"a result of the unknown type {kind} in batch {batch}")


class BatchService:
    """Hands batches to the service and brings their results.

    Args:
        credentials: key and address.
        sleep: waits that many seconds.
        poll_s: seconds between two looks at a batch: at first, and at most.
        patience: how failed requests are repeated.
        random: source of the jitter.
    """

    def __init__(
        self,
        credentials: Credentials,
        *,
        sleep: Callable[[float], object],
        poll_s: tuple[float, float] = POLL_S,
        patience: RetryPolicy = PATIENCE,
        random: Random | None = None,
    ) -> None:
        self._credentials, self._sleep, self._poll_s = credentials, sleep, poll_s
        self._patience, self._random = patience, random or Random()  # noqa: S311 - jitter
        self._client: Any = None

    def hand_over(
        self, requests: Sequence[dict[str, Any]], *, since: datetime, known: Collection[str] = ()
    ) -> str:
        """Hand over a batch, and find out its id even when the answer gets lost.

        Args:
            requests: custom id and params of each.
            since: a time before the first try of this hand-over, with its zone.
            known: batches that are others.

        Raises:
            ModelError: the service does not take it.
        """
        errors: tuple[str, ...] = ()
        ids = [request["custom_id"] for request in requests]
        while True:
            try:
                return self._state(self._ask("POST", PATH, {"requests": list(requests)})).id
            except ModelError as error:
                errors += (error.kind,)
                if not self._patience.goes_on(errors, error=error):
                    raise
                self._pause(errors, error)
                if error.kind in UNSURE and (found := self.find(ids, since=since, known=known)):
                    return found

    def find(
        self, ids: Collection[str], *, since: datetime, known: Collection[str] = ()
    ) -> str | None:
        """The batch that holds these requests, of those that were taken since a time.

        A batch tells its requests only when it has ended, so this may take as long as a batch.

        Raises:
            ModelError: the service cannot be asked.
        """
        wanted = set(ids)
        for state in self._recent(since - _CLOCK_SKEW):
            if state.id in known or state.count != len(wanted):
                continue
            if (held := read_results(self.fetch(state.id)).keys()) and held <= wanted:
                return state.id
        return None

    def fetch(self, batch: str) -> bytes:
        """The results of a batch, JSON lines, once it has ended.

        Raises:
            ModelError: the service does not know it (any more), or cannot be asked.
        """
        path = f"{PATH}/{quote(batch, safe='')}"
        pause, longest = self._poll_s
        while not (state := self._state(self._patiently("GET", path))).ended:
            self._sleep(pause)
            pause = min(longest, 1.5 * pause)
        for _ in range(self._patience.attempts):
            data = self._patiently("GET", f"{path}/results")
            if len(read_results(data)) >= state.count:
                return data
            self._sleep(self._poll_s[0])  # cut on its way, or not yet written to its end
        return data

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _recent(self, since: datetime) -> list[BatchState]:
        found: list[BatchState] = []
        after = ""
        while True:
            path = f"{PATH}?limit=100" + (f"&after_id={quote(after, safe='')}" if after else "")
            listed = _read_object(self._patiently("GET", path))
            data = listed.get("data")
            states = [_read_state(item) for item in data if isinstance(item, dict)] if isinstance(data, list) else []  # fmt: skip
            fresh = [state for state in states if _is_since(state.created_at, since)]
            found += fresh
            if not states or len(fresh) < len(states) or not listed.get("has_more"):
                return found
            after = states[-1].id

    def _patiently(self, method: str, path: str) -> bytes:
        """Ask what may be asked any number of times."""
        errors: tuple[str, ...] = ()
        while True:
            try:
                return self._ask(method, path)
            except ModelError as error:
                errors += (error.kind,)
                if not self._patience.goes_on(errors, error=error):
                    raise
                self._pause(errors, error)

    def _pause(self, errors: tuple[str, ...], error: ModelError) -> None:
        self._sleep(self._patience.wait_s(len(errors), error=error, random=self._random))

    def _ask(self, method: str, path: str, body: object = None) -> bytes:
        if self._client is None:
            self._client = open_client(self._credentials)
        client = self._client

        def call() -> bytes:
            import httpx2  # noqa: PLC0415 - comes with the SDK

            if method == "GET":
                response = client.get(path, cast_to=httpx2.Response)
            else:
                response = client.post(path, cast_to=httpx2.Response, body=body)
            data: bytes = response.content
            return data

        return cross_border(call, credentials=self._credentials)

    @staticmethod
    def _state(data: bytes) -> BatchState:
        return _read_state(_read_object(data))


def _read_object(data: bytes) -> dict[str, Any]:
    try:
        found = read_json(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise failure("bad_reply", f"not what is said about a batch: {data[:80]!r}")
    if "error" in found:
        raise from_response(200, headers={}, body=found)
    return found


def _read_state(found: Mapping[str, Any]) -> BatchState:
    identity, status, counts = (found.get(k) for k in ("id", "processing_status", "request_counts"))
    if not isinstance(identity, str) or not isinstance(status, str):
        raise failure("bad_reply", "a batch without id or status")
    numbers = counts.values() if isinstance(counts, dict) else ()
    return BatchState(
        id=identity,
        ended=status == "ended",
        count=sum(number for number in numbers if type(number) is int),
        created_at=str(found.get("created_at") or ""),
    )


def _is_since(text: str, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(text) >= since
    except (ValueError, TypeError):
        return True  # no time that can be compared: better look at it
