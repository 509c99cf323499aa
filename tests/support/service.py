"""A service on loopback that solves the root of 2 over the Messages wire, with faults on request.

It keeps no conversation: what it answers follows from how many turns the request holds.
"""

import json
import threading
from contextlib import contextmanager
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        service = self.server
        with service.lock:
            service.count += 1
            fault = service.random.choice(service.faults) if service.draw() else None
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

    def refuse(self, status, kind):
        error = {"type": "error", "error": {"type": kind, "message": f"{kind}, says the test"}}
        data = json.dumps(error).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("retry-after", "0")
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
def service(*, faults=(), fault_rate=0.0, refuse_all=None, script=GOOD, seed=1):
    """A running service; its address and environment for a run are `.env`.

    `script` is what it answers, turn by turn, or one such list for each problem statement.
    """
    server = _Service(("127.0.0.1", 0), _Handler)
    server.lock, server.random, server.count = threading.Lock(), Random(seed), 0
    server.orphans = 0
    server.faults, server.fault_rate, server.refuse_all = list(faults), fault_rate, refuse_all
    server.script = script
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
