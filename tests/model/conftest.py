"""A server on this machine that speaks the Messages API, and misbehaves on request."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

import pytest

from scisolve_batch.model import Credentials, LiveModel, Request
from scisolve_batch.model.retry import Clock

KEY = "sk-ant-test-0123456789-never-a-real-key"

MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "test-model",
    "content": [{"type": "text", "text": "Hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 1},
}


def event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def error_body(kind: str, message: str, **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "r"}


START = event("message_start", message={**MESSAGE, "content": [], "stop_reason": None})
TEXT = event("content_block_start", index=0, content_block={"type": "text", "text": ""}) + event(
    "content_block_delta", index=0, delta={"type": "text_delta", "text": "Hello"}
)


def end(stop: str | None, **usage: int) -> bytes:
    return (
        event("content_block_stop", index=0)
        + event(
            "message_delta",
            delta={"stop_reason": stop, "stop_sequence": None},
            usage={"output_tokens": 5, **usage},
        )
        + event("message_stop")
    )


def tool(*parts: str, index: int = 0, name: str = "run_python") -> bytes:
    block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
    return event("content_block_start", index=index, content_block=block) + b"".join(
        event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": part})
        for part in parts
    )  # fmt: skip


Behaviour = Callable[["Handler"], None]


def answer(status: int, body: object, **headers: str) -> Behaviour:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = headers.pop("content_type", "application/json")
    return lambda handler: handler.send_all(status, data, {"content-type": kind, **headers})


def stream(*chunks: bytes, ending: str = "clean") -> Behaviour:
    return lambda handler: handler.send_stream(chunks, ending)


OVERLOADED = error_body("overloaded_error", "Overloaded")
UNKNOWN_BLOCK = event("content_block_start", index=0, content_block={"type": "hologram", "x": 1})
UNKNOWN_DELTA = event("content_block_delta", index=0, delta={"type": "hologram_delta", "y": 2})

BEHAVIOURS: dict[str, Behaviour] = {
    "ok": answer(200, MESSAGE),
    "529": answer(529, OVERLOADED),
    "429": answer(429, error_body("rate_limit_error", "slow")),
    "429-ra1": answer(429, error_body("rate_limit_error", "slow"), retry_after="1"),
    "429-ra3600": answer(429, error_body("rate_limit_error", "slow"), retry_after="3600"),
    "500": answer(500, error_body("api_error", "no")),
    "500-noretry": answer(500, error_body("api_error", "no"), x_should_retry="false"),
    "400": answer(400, error_body("invalid_request_error", "messages: at least one is needed")),
    "400-long": answer(400, error_body("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")),
    "400-credit": answer(400, error_body("invalid_request_error", "Your credit balance is too low to access the API")),
    "400-spent": answer(400, error_body("invalid_request_error", "limit", details={"error_code": "enforced_spend_limit_reached"})),
    "401": answer(401, error_body("authentication_error", "invalid x-api-key")),
    "402": answer(402, error_body("billing_error", "pay")),
    "403": answer(403, error_body("permission_error", "not allowed")),
    "403-html": answer(403, b"<html>blocked by firewall</html>", content_type="text/html"),
    "404": answer(404, error_body("not_found_error", "model: test")),
    "408": answer(408, error_body("timeout_error", "too slow")),
    "409": answer(409, error_body("conflict_error", "try again")),
    "413": answer(413, error_body("request_too_large", "too big")),
    "429-spent": answer(429, error_body("rate_limit_error", "limit", details={"error_code": "contract_spend_limit_reached"})),
    "429-ramp": answer(429, error_body("rate_limit_error", "ramp", details={"error_code": "ramp_limit_exceeded"})),
    "502-html": answer(502, b"<html>Bad gateway</html>", content_type="text/html"),
    "503": answer(503, b""),
    "200-html": answer(200, b"<html>captive portal</html>", content_type="text/html"),
    "200-empty": answer(200, b""),
    "200-cut-json": answer(200, b'{"id":"msg_1","type":"mess'),
    "200-missing": answer(200, {"id": "msg_1", "type": "message"}),
    "200-new-block": answer(200, {**MESSAGE, "content": [{"type": "hologram", "x": 1}], "stop_reason": "brand_new"}),
    "200-error": answer(200, OVERLOADED),
    "hang": lambda handler: handler.server.released.wait(20) and None,
    "drop": lambda handler: handler.hang_up(),
    "s-ok": stream(START, event("ping"), TEXT, end("end_turn")),
    "s-error": stream(START, TEXT, event("error", error=OVERLOADED["error"])),
    "s-error-first": stream(event("error", error=OVERLOADED["error"])),
    "s-eof": stream(START, TEXT),
    "s-cut": stream(START, TEXT, ending="cut"),
    "s-rst": stream(START, TEXT, ending="reset"),
    "s-stall": stream(START, TEXT, ending="stall"),
    "s-drip": stream(START, ending="drip"),
    "s-empty": stream(),
    "s-bad-json": stream(START, TEXT, b'event: content_block_delta\ndata: {"type": "content_bl\n\n', end("end_turn")),
    "s-not-utf8": stream(START, TEXT, b"event: content_block_delta\ndata: {\xff}\n\n", end("end_turn")),
    "s-unknown-event": stream(START, event("quantum_event", foo=1), TEXT, end("end_turn")),
    "s-unknown-block": stream(START, UNKNOWN_BLOCK, UNKNOWN_DELTA, end("brand_new")),
    "s-tool": stream(START, tool('{"code": "pri', 'nt(1)"}'), end("tool_use")),
    "s-tool-trunc": stream(START, tool('{"code": "import numpy as np\\npri'), end("max_tokens")),
    "s-tool-cut-unsaid": stream(START, tool('{"code": "import nu'), end("tool_use")),
    "s-tool-invalid": stream(START, tool('{"code": print(1)}'), end("tool_use")),
    "s-tool-control": stream(START, tool('{"code": "a\\tb', 'c\x01"}'), end("tool_use")),
    "s-tool-none": stream(START, tool(), end("tool_use")),
    "s-tool-list": stream(START, tool("[1, 2]"), end("tool_use")),
    "s-tool-nan": stream(START, tool('{"x": NaN, "y": 1}'), end("tool_use")),
    "s-tool-1e400": stream(START, tool('{"x": 1e400}'), end("tool_use")),
    "s-tool-bigint": stream(START, tool('{"z": 12345678901234567890123}'), end("tool_use")),
    "s-wrong-index": stream(START, event("content_block_delta", index=3, delta={"type": "text_delta", "text": "?"}), end("end_turn")),
    "s-no-stop": stream(START, TEXT, end(None)),
}  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: WireServer

    def log_message(self, *args: object) -> None:
        pass

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.clients.add(self.client_address)
        self.server.requests.append(({k.lower(): v for k, v in self.headers.items()}, body))
        plan = self.server.plan
        behaviour = plan.pop(0) if len(plan) > 1 else plan[0]
        behaviour(self)

    def send_all(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {
            "request-id": "req_1",
            "content-length": str(len(data)),
            **headers,
        }.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def send_stream(self, chunks: tuple[bytes, ...], ending: str) -> None:
        self.send_response(200)
        for name, value in (
            ("content-type", "text/event-stream; charset=utf-8"),
            ("request-id", "req_1"),
            ("transfer-encoding", "chunked"),
        ):
            self.send_header(name, value)
        self.end_headers()
        for chunk in chunks:
            self.send_chunk(chunk)
        if ending == "clean":
            self.wfile.write(b"0\r\n\r\n")
        elif ending == "stall":
            self.server.released.wait(20)
        elif ending == "drip":
            while not self.server.released.wait(0.02):
                self.send_chunk(event("ping"))
        else:
            if ending == "reset":
                option = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, option)
            self.hang_up()

    def send_chunk(self, chunk: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.flush()

    def hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        if self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER):
            self.connection.close()
        else:
            self.connection.shutdown(socket.SHUT_RDWR)


class WireServer(ThreadingHTTPServer):
    """Plays its plan, one behaviour a request, the last one for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan: list[Behaviour] = [BEHAVIOURS["s-ok"]]
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.clients: set[tuple[str, int]] = set()  # one address for each connection
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.requests]

    thread_name = "wire-server"

    @staticmethod
    def message(**changes: Any) -> Behaviour:
        return answer(200, {**MESSAGE, **changes})

    @staticmethod
    def patience(*names: str, short: float = 0.15) -> float:
        """Seconds to wait for a sign of life: few where none comes, else more than any load needs."""
        return short if {"hang", "s-stall"} & set(names) else 30.0

    @staticmethod
    def behaviours() -> list[str]:
        return list(BEHAVIOURS)

    @staticmethod
    def call(name: str, **arguments: Any) -> Behaviour:
        """A streamed reply that calls a tool, its input in pieces of seven characters."""
        text = json.dumps(arguments)
        parts = (text[start : start + 7] for start in range(0, len(text), 7))
        return stream(START, tool(*parts, name=name), end("tool_use"))

    @staticmethod
    def text_stream(*parts: str) -> tuple[bytes, ...]:
        """The chunks of a reply that says these parts."""
        begin = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        deltas = (
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": part})
            for part in parts
        )
        return (START, begin, *deltas, end("end_turn"))

    def play(self, *plan: str | Behaviour) -> None:
        self.plan = [BEHAVIOURS[step] if isinstance(step, str) else step for step in plan]


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test has a key, and none reaches another machine."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in {"127.0.0.1", "::1"}:
            raise AssertionError(f"a test wants to connect to {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


class FakeTime:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds

    @property
    def clock(self) -> Clock:
        return Clock(now=self.now, sleep=self.sleep, random=Random(1))


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, name=server.thread_name
        )
        thread.start()
        yield server
        server.released.set()
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def time_maker() -> type[FakeTime]:
    return FakeTime


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def live(server: WireServer, time: FakeTime) -> Iterator[Callable[..., LiveModel]]:
    """Makes models that ask the server, with time that passes only by sleeping."""
    made: list[LiveModel] = []

    def make(**options: Any) -> LiveModel:
        options.setdefault("credentials", Credentials(api_key=KEY, base_url=server.url))
        options.setdefault("clock", time.clock)
        made.append(LiveModel("test-model", **options))
        return made[-1]

    yield make
    for model in made:
        model.close()


@pytest.fixture(scope="session")
def question() -> Request:
    return Request(
        system="You compute.",
        tools=[
            {
                "name": "run_python",
                "description": "Run a cell.",
                "input_schema": {
                    "type": "object",
                    "properties": {"code": {"type": "string"}},
                    "required": ["code"],
                    "additionalProperties": False,
                },
            }
        ],
        messages=[{"role": "user", "content": "What is 1 + 1?"}],
        max_tokens=100,
    )
