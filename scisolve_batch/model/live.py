"""The model behind the official SDK: asks over the network, replies only with what came whole.

The SDK carries the request and signs it; retries, deadlines and the reading of the stream are
done here. It is loaded on the first request, once in each process, because a connection that was
opened before a fork breaks in every child.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from scisolve_batch.errors import ModelError, UsageError
from scisolve_batch.model.assemble import Assembly, read_json, read_message
from scisolve_batch.model.base import Reply, Request
from scisolve_batch.model.credentials import Credentials, hide, require_credentials
from scisolve_batch.model.faults import failure, from_exception, from_response
from scisolve_batch.model.retry import Clock, RetryPolicy, ask
from scisolve_batch.model.sse import events
from scisolve_batch.model.wire import EFFORTS, wire_body

T = TypeVar("T")

CONNECT_S = 10.0
READ_S = 120.0  # between two pieces of a reply; the service sends pings while it thinks
ATTEMPT_S = 600.0  # of one whole reply

_abandoned: list[Any] = []
"""Clients that a fork left behind. They are kept, since closing them would end connections that
the parent process still uses."""


class LiveModel:
    """A model of the Messages API.

    Args:
        model_id: the service's name of the model.
        credentials: key or token, and address; without it those of the environment, which are
            looked up at the first request.
        effort: how much the model may think; None leaves it to the service.
        retry: how failed requests are repeated.
        read_s: seconds without a byte after which a request has failed.
        attempt_s: seconds after which a request has failed even if bytes still arrive.
        on_throttle: hears of every failed attempt, before the wait; for `rate_limit` and
            `overloaded` failures it is how a batch learns to slow down.
        hold_until: monotonic time before which nothing shall be sent.
        wrap_transport: puts something around the SDK's HTTP transport, like a recorder.
        clock: time and chance.
    """

    def __init__(
        self,
        model_id: str,
        *,
        credentials: Credentials | None = None,
        effort: str | None = None,
        retry: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
        read_s: float = READ_S,
        attempt_s: float = ATTEMPT_S,
        on_throttle: Callable[[ModelError], object] | None = None,
        hold_until: Callable[[], float] | None = None,
        wrap_transport: Callable[[Any], Any] | None = None,
        clock: Clock | None = None,
    ) -> None:
        if effort is not None and effort not in EFFORTS:
            raise UsageError(f"effort {effort!r} is unknown; choose one of {', '.join(EFFORTS)}")
        self.name = model_id
        self._credentials, self._effort, self._retry = credentials, effort, retry
        self._read_s, self._attempt_s = read_s, attempt_s
        self._on_throttle, self._hold_until = on_throttle, hold_until
        self._wrap_transport, self._clock = wrap_transport, clock or Clock()
        self._client: Any = None
        self._pid = 0

    def __repr__(self) -> str:
        return f"LiveModel({self.name!r})"

    def reply(self, request: Request) -> Reply:
        """Ask, and ask again as the policy allows.

        Raises:
            NoReply: no whole reply could be had.
            ModelError: the request cannot be written as JSON.
            UsageError: there is no key.
        """
        body = wire_body(request, model=self.name, effort=self._effort)
        client = self._connect()
        return ask(
            lambda: self._attempt(client, body),
            policy=self._retry,
            deadline=request.deadline,
            clock=self._clock,
            hold_until=self._hold_until,
            on_failure=self._on_throttle,
        )

    def close(self) -> None:
        """Close the connections of this process."""
        client, self._client = self._client, None
        if client is None:
            return
        if self._pid == os.getpid():
            client.close()
        else:
            _abandoned.append(client)

    def _connect(self) -> Any:
        if self._client is not None and self._pid != os.getpid():
            self.close()
        if self._client is None:
            self._credentials = self._credentials or require_credentials(os.environ)
            self._client = open_client(
                self._credentials,
                attempt_s=self._attempt_s,
                read_s=self._read_s,
                wrap_transport=self._wrap_transport,
            )
            self._pid = os.getpid()
        return self._client

    def _attempt(self, client: Any, body: dict[str, Any]) -> Reply:
        """Make one request."""
        arrived, started = [0], self._clock.now()

        def make() -> Reply:
            with client.messages.with_streaming_response.create(**body) as response:
                return self._read(response, arrived=arrived, started=started)

        return cross_border(make, credentials=self._credentials, arrived=arrived)

    def _read(self, response: Any, *, arrived: list[int], started: float) -> Reply:
        headers: Mapping[str, str] = response.headers
        first: list[float] = []

        def chunks() -> Iterator[bytes]:
            for chunk in response.iter_bytes():
                arrived[0] += len(chunk)
                if not first:
                    first.append(self._clock.now() - started)
                yield chunk
                if self._clock.now() - started > self._attempt_s:
                    raise failure("timeout", f"the reply took longer than {self._attempt_s:g} s")

        reply = read_response(chunks(), headers=headers)
        return replace(reply, first_event_s=first[0] if first else None)


def open_client(
    credentials: Credentials,
    *,
    attempt_s: float = ATTEMPT_S,
    read_s: float = READ_S,
    wrap_transport: Callable[[Any], Any] | None = None,
) -> Any:
    """The SDK's client, which asks once and leaves retries to us. Opens no connection yet."""
    # 1.9 CPU-seconds and 80 MB, so only where requests are made.
    import anthropic  # noqa: PLC0415

    timeout = anthropic.Timeout(attempt_s, connect=CONNECT_S, read=read_s)
    plain = credentials.is_local and str(credentials.base_url).startswith("http:")
    # Without certificates nothing is trusted, and nothing need be where nothing is signed.
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else _tls_context()
    more: dict[str, Any] = {"verify": tls}
    if credentials.is_local:
        more["trust_env"] = False  # a proxy cannot know this machine's loopback
    if wrap_transport is not None:
        import httpx2  # noqa: PLC0415

        more["transport"] = wrap_transport(httpx2.HTTPTransport(**more))
    return anthropic.Anthropic(
        api_key=credentials.api_key,
        auth_token=None if credentials.api_key else credentials.auth_token,
        base_url=credentials.base_url,
        max_retries=0,
        timeout=timeout,
        open_telemetry=False,
        http_client=anthropic.DefaultHttpxClient(timeout=timeout, **more),
    )


def cross_border(
    call: Callable[[], T], *, credentials: Credentials | None, arrived: Sequence[int] = (0,)
) -> T:
    """Call into the SDK; whatever it raises becomes a `ModelError` that holds no key.

    The SDK lets many kinds of exceptions out (its own, its HTTP library's, ValueError, TypeError,
    UnicodeEncodeError), so this is one of the places that catch them all. What they hold, keys
    included, ends here: a new error is raised outside of the handler.

    Args:
        call: makes the request.
        credentials: what must not be shown.
        arrived: its first item counts the bytes that have arrived.

    Raises:
        ModelError: there is no whole answer.
    """
    try:
        return call()
    except ModelError as error:
        found = error
    except Exception as error:  # noqa: BLE001 - the SDK's border, see above
        found = _explain(error, started=bool(arrived[0]))
    found = _without_secrets(found, credentials.secrets if credentials else ())
    found.__context__ = found.__cause__ = None
    raise found


def load_sdk() -> None:
    """Load the SDK and the trusted certificates, without connecting to anything.

    For a process that forks workers: they share what is loaded before, and each is spared 1.9
    CPU-seconds and 80 MB.
    """
    import anthropic.resources.messages  # noqa: F401, PLC0415

    _tls_context()


@cache
def _tls_context() -> ssl.SSLContext:
    """The trusted certificates. Reading them takes 54 ms, so a process does it once."""
    import httpx2  # noqa: PLC0415

    context: ssl.SSLContext = httpx2.create_ssl_context()
    return context


def read_response(chunks: Iterable[bytes], *, headers: Mapping[str, str]) -> Reply:
    """A reply out of a successful response: a stream, or one JSON message.

    Raises:
        ModelError: the reply is not whole, or holds an error.
    """
    kind = headers.get("content-type", "")
    if kind.startswith("text/event-stream"):
        assembly = Assembly(headers=headers)
        for name, data in events(chunks):
            assembly.add(name, data)
        return assembly.finish()
    whole = b"".join(chunks)
    if not whole:
        raise failure("stream_cut", "the response is empty")
    try:
        message = read_json(whole)
    except ValueError:
        raise failure("bad_reply", f"{kind or 'no content type'}: {whole[:80]!r}") from None
    return read_message(message, headers=headers)


def _explain(error: Exception, *, started: bool) -> ModelError:
    status = getattr(error, "status_code", None)
    response = getattr(error, "response", None)
    if isinstance(status, int) and response is not None:
        return from_response(status, headers=response.headers, body=getattr(error, "body", None))
    names = tuple(kind.__name__ for kind in type(error).__mro__)
    cause = error.__cause__
    text = f"{error} {cause}" if cause is not None and str(cause) != str(error) else str(error)
    return from_exception(names, text=text, started=started)


def _without_secrets(error: ModelError, secrets: tuple[str, ...]) -> ModelError:
    return ModelError(
        hide(error.what, secrets=secrets),
        kind=error.kind,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        fatal=error.fatal,
    )
