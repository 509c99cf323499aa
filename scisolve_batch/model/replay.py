"""Models that write a recording while they ask, and models that answer out of one.

A replay needs no key, no network and no SDK: the recorded bytes go through the same reading as
live ones, so each reply and each failure comes back as it was. It waits for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from scisolve_batch.errors import ModelError
from scisolve_batch.model.assemble import read_json
from scisolve_batch.model.base import NoReply, Reply, Request
from scisolve_batch.model.cassette import (
    Cassette,
    CassetteMiss,
    CassetteWriter,
    Exchange,
    digest,
    first_difference,
    kept_headers,
    read_cassette,
)
from scisolve_batch.model.faults import failure, from_exception, from_response
from scisolve_batch.model.live import LiveModel, read_response
from scisolve_batch.model.wire import wire_body


class ReplayModel:
    """Answers out of a recording, in its order, and only to the recorded requests.

    Args:
        path: the recording.

    Raises:
        UsageError: it cannot be read.
    """

    def __init__(self, path: Path | str) -> None:
        self._cassette: Cassette = read_cassette(Path(path))
        self._next = 0
        self.name = f"replay:{self._cassette.model}"

    def reply(self, request: Request) -> Reply:
        """The recorded reply, after the recorded failures.

        Raises:
            CassetteMiss: the request is not the next one of the recording.
            NoReply: no whole reply was had when it was recorded.
        """
        tape = self._cassette
        body = wire_body(request, model=tape.model, effort=tape.effort)
        errors: tuple[str, ...] = ()
        own = digest(body)
        while True:
            exchange = self._take(body, own)
            try:
                reply = play(exchange)
            except CassetteMiss:
                raise
            except ModelError as error:
                errors += (error.kind,)
                # It was asked again if the same request follows.
                if not self._follows(own):
                    raise NoReply(error, attempts=len(errors), errors=errors, wait_s=0.0) from None
            else:
                return replace(reply, attempts=len(errors) + 1, errors=errors)

    def close(self) -> None:
        """Nothing is held."""

    def _follows(self, own: str) -> bool:
        exchanges = self._cassette.exchanges
        return self._next < len(exchanges) and exchanges[self._next].digest == own

    def _take(self, body: dict[str, Any], own: str) -> Exchange:
        tape = self._cassette
        if self._next >= len(tape.exchanges):
            count = len(tape.exchanges)
            what = f"{tape.path}: the recording ends after {count} requests, and another was made"
            raise CassetteMiss(what, kind="script_exhausted")
        exchange = tape.exchanges[self._next]
        if exchange.digest != own:
            place = first_difference(exchange.body, body)
            raise CassetteMiss(
                f"{tape.path}: request {self._next + 1} is not the recorded one; {place}. "
                "Record it again with --record, or run the version that recorded it"
            )
        self._next += 1
        return exchange


def play(exchange: Exchange) -> Reply:
    """Read a recorded response as if it had just arrived.

    Raises:
        ModelError: what the response, or its lack, means.
    """
    if exchange.status is None:
        names, text = exchange.broken or (("Exception",), "nothing was recorded")
        raise from_exception(names, text=text, started=False)
    if not 200 <= exchange.status < 300:
        raise from_response(exchange.status, headers=exchange.headers, body=_error_body(exchange))
    arrived = False

    def chunks() -> Iterator[bytes]:
        nonlocal arrived
        for chunk in exchange.plain_chunks():
            arrived = True
            yield chunk
        if exchange.broken is not None:
            names, text = exchange.broken
            raise from_exception(names, text=text, started=arrived)
        if not exchange.complete:
            raise failure("timeout", "it was given up here when it was recorded")

    try:
        return read_response(chunks(), headers=exchange.headers)
    except ValueError as error:  # not UTF-8, or badly packed
        names = tuple(kind.__name__ for kind in type(error).__mro__)
        raise from_exception(names, text=str(error), started=True) from None


def _error_body(exchange: Exchange) -> object:
    whole = b"".join(exchange.plain_chunks())
    try:
        return read_json(whole)
    except ValueError:
        return whole.decode("utf-8", "replace")


class RecordingModel:
    """A live model whose conversation is written to a file.

    Args:
        path: the file; what stood there is replaced by the first request.
        model_id: the model to ask.
        secrets: texts that must not be written.
        live: further arguments of `LiveModel`.
    """

    def __init__(
        self, path: Path | str, *, model_id: str, secrets: tuple[str, ...] = (), **live: Any
    ) -> None:
        self._writer = CassetteWriter(
            Path(path), model=model_id, effort=live.get("effort"), secrets=secrets
        )
        self._heard: list[Exchange] = []
        self._model = LiveModel(model_id, wrap_transport=self._wrap, **live)
        self.name = self._model.name

    def reply(self, request: Request) -> Reply:
        """Ask, and write down every request that it took.

        Raises:
            ModelError: as `LiveModel.reply`; or the conversation holds a key.
        """
        try:
            return self._model.reply(request)
        finally:
            heard, self._heard[:] = list(self._heard), []
            for exchange in heard:
                self._writer.write(exchange)

    def close(self) -> None:
        """Close the connections."""
        self._model.close()

    def _wrap(self, inner: Any) -> Any:
        return recording_transport(inner, heard=self._heard)


def recording_transport(inner: Any, *, heard: list[Exchange]) -> Any:
    """An HTTP transport of the SDK that passes everything on and appends it to `heard`.

    Chunks are passed on as they arrive. Responses are asked for unpacked, so that a recording can
    be read.
    """
    import httpx2  # noqa: PLC0415 - comes with the SDK

    class Tee(httpx2.SyncByteStream):
        def __init__(self, stream: Any, exchange: Exchange) -> None:
            self._stream, self._exchange = stream, exchange

        def __iter__(self) -> Iterator[bytes]:
            try:
                for chunk in self._stream:
                    self._exchange.chunks.append(bytes(chunk))
                    yield chunk
            except httpx2.HTTPError as error:
                self._exchange.broken = _named(error)
                raise
            self._exchange.complete = True

        def close(self) -> None:
            self._stream.close()

    class Recorder(httpx2.BaseTransport):
        def handle_request(self, request: Any) -> Any:
            request.headers["accept-encoding"] = "identity"
            body = read_json(request.read())
            path = request.url.raw_path.decode()
            exchange = Exchange(
                body=body,
                digest=digest(
                    body, method=request.method, path="/v1/" + path.rpartition("/v1/")[2]
                ),
                request_headers=kept_headers(request.headers),
            )
            heard.append(exchange)
            try:
                response = inner.handle_request(request)
            except httpx2.HTTPError as error:
                exchange.broken = _named(error)
                raise
            exchange.status = response.status_code
            exchange.headers = kept_headers(response.headers)
            return httpx2.Response(
                response.status_code,
                headers=response.headers,
                stream=Tee(response.stream, exchange),
                extensions=response.extensions,
            )

        def close(self) -> None:
            inner.close()

    return Recorder()


def _named(error: Exception) -> tuple[tuple[str, ...], str]:
    return tuple(kind.__name__ for kind in type(error).__mro__), str(error)
