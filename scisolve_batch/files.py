"""Writing files so that they are seen whole or not at all, and lists that grow by whole lines.

Every fault of the disk is a `RunDirError` that names the file. What is worth writing is decided
elsewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from scisolve_batch.errors import RunDirError

_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_APPENDED = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_APPEND
_REPLACED = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_TRUNC


def encode_json(data: Any, *, indent: int | None = None) -> bytes:
    """JSON in UTF-8. A lone surrogate, which UTF-8 cannot hold, is written as its escape.

    Raises:
        ValueError: a number is not finite; JSON has no word for it.
    """
    if indent is None:
        text = _LINE.encode(data)
    else:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "backslashreplace")


def encode_record(data: Any) -> bytes:
    """JSON of a record for people to read, with a line end.

    A number that is not finite is written as a string, which reading turns back; a lone surrogate
    as its escape.
    """
    try:
        return to_json(data, indent=1, inf_nan_mode="strings") + b"\n"
    except PydanticSerializationError:
        return to_json(_escape_surrogates(data), indent=1, inf_nan_mode="strings") + b"\n"


def dump_record(record: BaseModel) -> bytes:
    """A whole record as `encode_record` writes it."""
    return encode_record(record.model_dump(mode="json"))


def _escape_surrogates(data: Any) -> Any:
    match data:
        case str():
            return data.encode("utf-8", "backslashreplace").decode("utf-8")
        case dict():
            return {key: _escape_surrogates(item) for key, item in data.items()}
        case list() | tuple():
            return [_escape_surrogates(item) for item in data]
    return data


def write_whole(path: Path | str, data: bytes, *, durable: bool = False) -> None:
    """Write a file so that it is seen whole or not at all.

    Args:
        path: where; an existing file is replaced.
        data: the bytes.
        durable: also survive a loss of power.
    """
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{os.getpid()}.part")  # noqa: PTH118 - in bulk
    try:
        _write(beside, data, durable=durable)
        os.replace(beside, path)  # noqa: PTH105 - in bulk
    except OSError as error:
        Path(beside).unlink(missing_ok=True)
        raise unwritable(path, error) from error


def write_plain(path: Path | str, data: bytes) -> None:
    """Write a file that nobody looks for before another file says that it is there."""
    try:
        _write(path, data, durable=False)
    except OSError as error:
        raise unwritable(path, error) from error


def open_to_append(path: Path | str) -> int:
    """A descriptor for `write_all` that adds to the end of a file.

    Raises:
        OSError: it cannot be opened.
    """
    return os.open(path, _APPENDED, 0o666)


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes to a descriptor.

    Raises:
        OSError: they do not fit.
    """
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, data[written:])


def unwritable(path: Path | str, error: OSError) -> RunDirError:
    """A fault of the disk in words."""
    return RunDirError(f"{path}: cannot be written: {error.strerror or error}")


def _write(path: Path | str, data: bytes, *, durable: bool) -> None:
    """Write straight to the descriptor: these files are many and small."""
    fd = os.open(path, _REPLACED, 0o666)
    try:
        write_all(fd, data)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def read_lines(path: Path) -> Iterator[Any]:
    """Each whole line of a JSON-lines file. A process can die in the middle of the last one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for line in data.split(b"\n")[:-1]:
        try:
            yield json.loads(line)
        except ValueError:
            continue
