"""A service on loopback that solves the root of 2 over the Messages wire, with faults on request.

It keeps no conversation: what it answers follows from how many turns the request holds.
"""

import json
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random

from scripts import GOOD

KEY = "sk-ant-test-" + "k" * 40


def _event(kind, **data):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _stream(turn, *, number, model):
    ((tool, arguments),) = turn.items()
    if tool == "run_python":
        arguments = {"code": arguments}
    block = {"type": "tool_use", "id": f"toolu_{number:02d}", "name": tool, "input": {}}
    message = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 1},
    }  # fmt: skip
    delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    return [
        _event("message_start", message=message),
        _event("content_block_start", index=0, content_block=block),
        _event("content_block_delta", index=0, delta=delta),
        _event("content_block_stop", index=0),
        _event(
            "message_delta",
            delta={"stop_reason": "tool_use", "stop_sequence": None},
            usage={"output_tokens": 200},
        ),
        _event("message_stop"),
    ]


def _is_paired(messages):
    """Whether each call of a conversation has one result, in the message after it."""
    for message, following in zip(messages, [*messages[1:], {"content": []}], strict=True):
        calls, results = ([one[name] for one in content if isinstance(one, dict) and name in one]
                          for content, name in ((message["content"], "id"),
                                                (following["content"], "tool_use_id")))  # fmt: skip
        if message["role"] == "assistant" and calls != results:
            return False
    return True


def reply_message(script, body):
    """What the service says to a request, as one whole message."""
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    ((tool, arguments),) = script[min(turns, len(script) - 1)].items()
    if tool == "run_python":
        arguments = {"code": arguments}
    return {
        "id": f"msg_{turns}", "type": "message", "role": "assistant", "model": body["model"],
        "content": [{"type": "tool_use", "id": f"toolu_{turns:02d}", "name": tool, "input": arguments}],
        "stop_reason": "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 200},
    }  # fmt: skip


class Batches:
    """The batch endpoints. A batch ends at the look number `looks`.

    `fates` are results of single requests, in the order in which they are asked: a dict is given as
    it is, None answers. `lost` hand-overs are taken and their answers are dropped; `refuse` is a
    status and a type of error for every hand-over; from the batch with the number `stuck` on they do not end;
    the first `cut` fetches of results end in the middle.
    """

    def __init__(self, *, looks=2, fates=(), lost=0, refuse=None, stuck=None, cut=0):
        self.looks, self.fates, self.lost, self.refuse = looks, list(fates), lost, refuse
        self.stuck, self.cut = stuck, cut
        self.taken = {}  # id -> requests, results, looks
        self.asked = []  # every (custom id, params) that was taken, in order
        self.server = None

    def post(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        if self.refuse:
            return handler.refuse(*self.refuse)
        identity = f"msgbatch_{len(self.taken) + 1:02d}"
        lines = []
        for request in body["requests"]:
            assert "stream" not in request["params"]
            self.asked.append((request["custom_id"], request["params"]))
            fate = self.fates.pop(0) if self.fates else None
            script = self.server.choose(request["params"]["messages"][0])
            message = reply_message(script, request["params"])
            result = fate or {"type": "succeeded", "message": message}
            lines.append(json.dumps({"custom_id": request["custom_id"], "result": result}))
        lines.reverse()  # results come in any order
        self.taken[identity] = {"lines": lines, "looks": 0, "at": datetime.now(UTC).isoformat()}
        if self.lost:
            self.lost -= 1
            handler.close_connection = True
            return handler.connection.close()
        return handler.send_json(200, self.state(identity))

    def state(self, identity):
        batch = self.taken[identity]
        stuck = self.stuck is not None and list(self.taken).index(identity) + 1 >= self.stuck
        ended = batch["looks"] >= self.looks and not stuck
        counts = dict.fromkeys(("processing", "succeeded", "errored", "expired", "canceled"), 0)
        counts["succeeded" if ended else "processing"] = len(batch["lines"])
        return {
            "id": identity, "type": "message_batch", "created_at": batch["at"],
            "processing_status": "ended" if ended else "in_progress", "request_counts": counts,
        }  # fmt: skip

    def get(self, handler):
        _, _, rest = handler.path.partition("/v1/messages/batches")
        if rest.startswith("?"):
            data = [self.state(identity) for identity in reversed(self.taken)]
            return handler.send_json(200, {"data": data, "has_more": False})
        identity, _, what = rest.removeprefix("/").partition("/")
        if identity not in self.taken:
            return handler.refuse(404, "not_found_error")
        if what == "results":
            data = ("\n".join(self.taken[identity]["lines"]) + "\n").encode()
            if self.cut:
                self.cut -= 1
                data = data[: len(data) // 2]
            return handler.send_json(200, data)
        self.taken[identity]["looks"] += 1
        return handler.send_json(200, self.state(identity))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.batches.get(self)

    def do_POST(self):
        if self.path.startswith("/v1/messages/batches"):
            return self.server.batches.post(self)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        service = self.server
        with service.lock:
            service.count += 1
            throttled, service.throttle_s = service.throttle_s, None
            fault = service.random.choice(service.faults) if service.draw() else None
        if throttled is not None:
            return self.refuse(429, "rate_limit_error", retry_after=throttled)
        if fault in ("overloaded", "rate_limit"):
            status = {"overloaded": 529, "rate_limit": 429}[fault]
            return self.refuse(status, f"{fault}_error")
        if fault == "drop" or service.refuse_all == "drop":
            self.close_connection = True
            return self.connection.close()
        if service.refuse_all:
            return self.refuse(*service.refuse_all)
        service.orphans += not _is_paired(body["messages"])
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        script = service.choose(body["messages"][0])
        turn = script[min(turns, len(script) - 1)]
        chunks = _stream(turn, number=turns, model=body["model"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("request-id", f"req_{service.count}")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in chunks[: 2 if fault == "cut" else None]:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if fault == "cut":
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")
        return None

    def refuse(self, status, kind, *, retry_after=0):
        error = {"type": "error", "error": {"type": kind, "message": f"{kind}, says the test"}}
        self.send_json(status, error, retry_after=retry_after)

    def send_json(self, status, content, *, retry_after=0):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("retry-after", str(retry_after))
        self.end_headers()
        self.wfile.write(data)


class _Service(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def choose(self, asked):
        """The script for what is asked: one for all, or by the statement of the problem."""
        if isinstance(self.script, list):
            return self.script
        text = asked["content"]
        text = text if isinstance(text, str) else "".join(one["text"] for one in text)
        (script,) = [one for statement, one in self.script.items() if statement.strip() in text]
        return script

    def draw(self):
        return bool(self.faults) and self.random.random() < self.fault_rate

    def handle_error(self, request, client_address):
        """Killed clients are what some tests are about."""


@contextmanager
def service(
    *,
    faults=(),
    fault_rate=0.0,
    refuse_all=None,
    script=GOOD,
    seed=1,
    batches=None,
    throttle_s=None,
):
    """A running service; its address and environment for a run are `.env`.

    `script` is what it answers, turn by turn, or one such list for each problem statement.
    The first request is told to come back after `throttle_s` seconds, when that is given.
    `batches` is what it does with batches, by default `Batches()`.
    """
    server = _Service(("127.0.0.1", 0), _Handler)
    server.lock, server.random, server.count = threading.Lock(), Random(seed), 0
    server.orphans = 0
    server.faults, server.fault_rate, server.refuse_all = list(faults), fault_rate, refuse_all
    server.script, server.throttle_s = script, throttle_s
    server.batches = batches or Batches()
    server.batches.server = server
    server.env = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
        "ANTHROPIC_API_KEY": KEY,
    }
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
