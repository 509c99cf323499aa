"""Server-sent events out of bytes, wherever the bytes are cut.

Promises the same events for every way of cutting a stream into chunks. An event that the end of
the stream cut off is not delivered. It knows nothing about what the events mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")  # a CR at the very end may be half of a CR LF


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = _LINE_END.split(rest + chunk)
        yield from lines
    if rest.endswith(b"\r"):
        yield rest[:-1]


def events(chunks: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Each event of a stream as (name, data); the name is empty when the stream gives none.

    Format: https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6.

    Raises:
        UnicodeDecodeError: the stream is not UTF-8.
    """
    name, data = "", list[str]()
    for line in _lines(chunks):
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "", []
            continue
        field, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode()
        if field == b"event":
            name = text
        elif field == b"data":
            data.append(text)
