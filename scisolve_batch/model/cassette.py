"""Recorded conversations with a model's service: one file for each sample of a problem.

A file is JSON lines, a header and then one line for each request with every chunk of its
response, so that broken replies break again. Headers are kept by an allow-list, and nothing that
looks like a key is ever written. It does not judge what was said.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from scisolve_batch.errors import ModelError, UsageError
from scisolve_batch.model.credentials import holds_secret

FORMAT = 1
MESSAGES_PATH = "/v1/messages"

_KEPT = frozenset(
    {"anthropic-beta", "anthropic-version", "content-encoding", "content-type", "date", "request-id", "retry-after", "retry-after-ms", "user-agent", "x-should-retry"}
)  # fmt: skip
_KEPT_PREFIX = "anthropic-ratelimit-"


class CassetteMiss(ModelError):
    """A request that is not the recorded one, or a recording at its end.

    Args:
        what: where they part.
        kind: `invalid` for another request, `script_exhausted` for the end.
    """

    def __init__(self, what: str, *, kind: str = "invalid") -> None:
        super().__init__(what, kind=kind)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that a recording may hold, with lower-case names, in order of name."""
    lowered = sorted((name.lower(), value) for name, value in headers.items())
    return {n: v for n, v in lowered if n in _KEPT or n.startswith(_KEPT_PREFIX)}


def digest(body: object, *, method: str = "POST", path: str = MESSAGES_PATH) -> str:
    """SHA-256 of a request in canonical JSON: sorted keys, no spaces, UTF-8."""
    return hashlib.sha256(_canonical([method, path, body])).hexdigest()


def _canonical(value: object) -> bytes:
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8", "backslashreplace")


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and what came of it.

    Attributes:
        body: the request, as JSON.
        digest: of method, path and body.
        request_headers: those that are kept.
        status: HTTP status; None when no response began.
        headers: of the response, those that are kept.
        chunks: bytes of the response as they arrived.
        complete: the response was read to its end.
        broken: class names (own class first) and words of the exception that ended it.
    """

    body: Any
    digest: str
    request_headers: dict[str, str] = field(default_factory=dict)
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    chunks: list[bytes] = field(default_factory=list)
    complete: bool = False
    broken: tuple[tuple[str, ...], str] | None = None

    def to_json(self) -> dict[str, Any]:
        """The line of a file that holds it."""
        return {**asdict(self), "chunks": [_encode(chunk) for chunk in self.chunks]}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Self:
        """Read a line again.

        Raises:
            KeyError, TypeError, ValueError: the line is none.
        """
        broken = line["broken"]
        return cls(
            body=line["body"],
            digest=str(line["digest"]),
            request_headers=dict(line["request_headers"]),
            status=line["status"],
            headers=dict(line["headers"]),
            chunks=[_decode(chunk) for chunk in line["chunks"]],
            complete=bool(line["complete"]),
            broken=None if broken is None else (tuple(broken[0]), str(broken[1])),
        )

    def plain_chunks(self) -> Iterator[bytes]:
        """The chunks without their content encoding.

        Raises:
            CassetteMiss: the encoding is not one that is read here.
        """
        encoding = self.headers.get("content-encoding", "identity")
        if encoding == "identity":
            yield from self.chunks
        elif encoding in {"gzip", "deflate"}:
            unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)  # finds out which by itself
            for chunk in self.chunks:
                yield unpack.decompress(chunk)
        else:
            raise CassetteMiss(f"the recording is packed with {encoding}; record it again")


def _encode(chunk: bytes) -> str | dict[str, str]:
    try:
        return chunk.decode()
    except UnicodeDecodeError:  # cut inside a character, or packed
        return {"base64": base64.b64encode(chunk).decode()}


def _decode(chunk: str | Mapping[str, str]) -> bytes:
    return chunk.encode() if isinstance(chunk, str) else base64.b64decode(chunk["base64"])


def cassette_path(folder: Path, *, problem: str, sample: int = 1) -> Path:
    """Where the recording of one sample of a problem stands."""
    if not problem or problem != Path(problem).name:
        raise UsageError(f"{problem!r} is no problem id, so no recording can bear its name")
    return folder / (f"{problem}.jsonl" if sample == 1 else f"{problem}.s{sample}.jsonl")


class CassetteWriter:
    """Writes a recording, each exchange as soon as it is over.

    Args:
        path: the file; an older recording there is replaced by the first exchange.
        model: the model that is asked.
        effort: how much it may think.
        secrets: texts that must not be written.
    """

    def __init__(
        self, path: Path, *, model: str, effort: str | None = None, secrets: tuple[str, ...] = ()
    ) -> None:
        self.path = path
        self._header = {"cassette": FORMAT, "model": model, "effort": effort}
        # In JSON, and in the JSON of a tool's input, a secret can stand with escapes.
        self._secrets = (*secrets, *(json.dumps(secret)[1:-1] for secret in secrets))
        self._begun = False
        self._last: Any = None

    def write(self, exchange: Exchange) -> None:
        """Append an exchange.

        Raises:
            ModelError: it holds a key. Nothing of it is written.
            UsageError: the file cannot be written.
        """
        data = exchange.to_json()
        data["body"] = _fold(exchange.body, self._last)
        line = json.dumps(data, ensure_ascii=False, allow_nan=False)
        joined = self._unpacked(exchange)
        texts = (line, joined, _spelled(joined))
        if any(holds_secret(text, secrets=self._secrets) for text in texts):
            raise ModelError(
                f"{self.path}: the conversation holds a key, so it is not recorded; "
                "make sure that no cell can read the key, then change the key",
                kind="invalid",
                fatal=True,
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab" if self._begun else "wb") as file:
                if not self._begun:
                    file.write(_line(json.dumps(self._header)))
                file.write(_line(line))
        except OSError as error:
            raise UsageError(
                f"{self.path}: cannot be written: {error.strerror or error}"
            ) from error
        self._begun = True
        self._last = exchange.body

    def _unpacked(self, exchange: Exchange) -> str:
        try:
            return b"".join(exchange.plain_chunks()).decode("utf-8", "replace")
        except (CassetteMiss, zlib.error):
            raise ModelError(
                f"{self.path}: the service packs its responses although it was asked not to, so "
                "they are not recorded",
                kind="invalid",
                fatal=True,
            ) from None


def _line(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _spelled(stream: str) -> str:
    """What the pieces of a stream say together, since a reply can spell a key in pieces."""
    pieces = list[str]()
    for line in stream.splitlines():
        try:
            event = json.loads(line.removeprefix("data:"))
        except ValueError:
            continue
        delta = event.get("delta") if isinstance(event, dict) else None
        if isinstance(delta, dict):
            pieces += (
                text for key, text in delta.items() if key != "type" and isinstance(text, str)
            )
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Cassette:
    """A recording.

    Attributes:
        path: where it was read from.
        model: the model that was asked.
        effort: how much it could think.
        exchanges: each request, in order.
    """

    path: Path
    model: str
    effort: str | None
    exchanges: tuple[Exchange, ...]


def read_cassette(path: Path) -> Cassette:
    """Read a recording. A last line that was cut off is left out.

    Raises:
        UsageError: there is no such file, or it is no recording.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        raise UsageError(
            f"{path}: no such recording; make one with --record {path.parent}"
        ) from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not lines:
        raise UsageError(f"{path}: is empty; record it again")
    header = _read_line(lines[0], where=f"{path}:1")
    if header.get("cassette") != FORMAT:
        raise UsageError(f"{path}:1: is no recording of this version; record it again")
    exchanges = list[Exchange]()
    for number, line in enumerate(lines[1:], 2):
        data = _read_line(line, where=f"{path}:{number}")
        try:
            if exchanges:
                data["body"] = _unfold(data["body"], exchanges[-1].body)
            exchanges.append(Exchange.from_json(data))
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path}:{number}: is no line of a recording") from error
    return Cassette(path, str(header.get("model")), header.get("effort"), tuple(exchanges))


def _read_line(line: bytes, *, where: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where}: is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise UsageError(f"{where}: is no line of a recording")
    return data


# A conversation only grows, so a file holds of each request what the one before did not.


def _fold(body: Any, before: Any) -> Any:
    if not (_is_conversation(body) and _is_conversation(before)):
        return body
    if {**body, "messages": 0} != {**before, "messages": 0}:
        return body
    old, new = before["messages"], body["messages"]
    same = next((i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new)))  # fmt: skip
    return {"same_messages": same, "messages": new[same:]}


def _unfold(body: Any, before: Any) -> Any:
    if not (isinstance(body, dict) and "same_messages" in body):
        return body
    kept = before["messages"][: body["same_messages"]]
    return {**before, "messages": kept + body["messages"]}


def _is_conversation(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("messages"), list)


def first_difference(recorded: object, sent: object, *, path: str = "") -> str | None:
    """Where two JSON values part, like `messages[2].content[0].content: "3" instead of "2"`.

    None when they are equal.
    """
    if isinstance(recorded, dict) and isinstance(sent, dict):
        return _dict_difference(recorded, sent, path)
    if isinstance(recorded, list) and isinstance(sent, list):
        for position, (one, two) in enumerate(zip(recorded, sent, strict=False)):
            if (found := first_difference(one, two, path=f"{path}[{position}]")) is not None:
                return found
        same = len(recorded) == len(sent)
        return None if same else f"{path}: {len(sent)} items instead of {len(recorded)}"
    same = type(recorded) is type(sent) and recorded == sent
    return None if same else f"{path}: {_texts(recorded, sent)}"


def _dict_difference(recorded: dict[str, Any], sent: dict[str, Any], path: str) -> str | None:
    for key in sorted(recorded.keys() | sent.keys()):
        inner = f"{path}.{key}" if path else key
        if key not in sent:
            return f"{inner}: missing, recorded was {_short(recorded[key])}"
        if key not in recorded:
            return f"{inner}: {_short(sent[key])}, not in the recording"
        if (found := first_difference(recorded[key], sent[key], path=inner)) is not None:
            return found
    return None


def _texts(recorded: object, sent: object) -> str:
    if isinstance(recorded, str) and isinstance(sent, str):
        shared = next(
            (i for i, (a, b) in enumerate(zip(recorded, sent, strict=False)) if a != b),
            min(len(recorded), len(sent)),
        )
        if shared > 40:  # show the place, not the beginning
            start = shared - 20
            return f"from character {shared}: {_short(sent[start:])} instead of {_short(recorded[start:])}"
    return f"{_short(sent)} instead of {_short(recorded)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
