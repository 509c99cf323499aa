"""Records read for tables: as fast as JSON can be decoded into the same shape.

What decodes here is what the validating reader accepts, with the same values; everything else goes
to that reader, which says in words what is wrong. The shapes are made from the records themselves.
"""

# ruff: noqa: PLC0415 - msgspec is loaded when a record is read

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import ValidationError

from scisolve_batch.records import Record, Solution

if TYPE_CHECKING:
    import msgspec


@cache
def _shape(record: type[Record]) -> type[msgspec.Struct]:
    """A record without validation: the same fields and defaults, enumerations as plain strings."""
    import msgspec

    def part(kind: Any) -> Any:
        origin, inner = get_origin(kind), get_args(kind)
        if origin is tuple:
            return tuple[part(inner[0]), ...]  # type: ignore[misc]  # made at run time
        if origin in (UnionType, Union):
            return Union[tuple(part(one) for one in inner)]  # noqa: UP007 - made at run time
        if isinstance(kind, type) and issubclass(kind, Record):
            return _shape(kind)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return Literal[tuple(member.value for member in kind)]
        # A column of integers holds 64 bits.
        return Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] if kind is int else kind

    fields: list[Any] = []
    for name, field in record.model_fields.items():
        if field.is_required():
            fields.append((name, part(field.annotation)))
            continue
        default = field.default
        if isinstance(default, Record):
            default = _shape(type(default))()
        elif isinstance(default, Enum):
            default = default.value
        fields.append((name, part(field.annotation), default))
    # Records hold no cycles; without the collector's notice they are made twice as fast.
    return msgspec.defstruct(record.__name__, fields, kw_only=True, frozen=True, gc=False)


@cache
def _decoder() -> tuple[Callable[[bytes], Any], tuple[type[Exception], ...]]:
    """What decodes a record, and how that fails."""
    import msgspec

    failures = (msgspec.MsgspecError, ValueError, RecursionError)
    return msgspec.json.Decoder(_shape(Solution)).decode, failures


def decode_solution(data: bytes) -> tuple[Solution | None, str]:
    """A solution's record, or why it is none. It does not raise.

    The result has the fields of a `Solution`, with enumerations as plain strings, and none of its
    methods.
    """
    decode, failures = _decoder()
    try:
        if not data.isascii():
            data.decode()  # fields of a later version are skipped without looking at them
        return decode(data), ""
    except failures:
        return _validate(data)


def shaped(solution: Solution) -> Solution:
    """A validated record in the form that `decode_solution` gives.

    Raises:
        msgspec.ValidationError: an integer has more than 64 bits.
    """
    import msgspec

    return cast("Solution", msgspec.convert(solution.model_dump(mode="json"), _shape(Solution)))


def validate_solution(data: bytes) -> tuple[Solution | None, str]:
    """A solution's record, validated, or why it is none. It does not raise."""
    try:
        return Solution.model_validate_json(data), ""
    except ValidationError:
        pass  # lone surrogates are legal in JSON and refused by the fast reader
    try:
        return Solution.model_validate(scrub(json.loads(data))), ""
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return None, f"not a solution record: {place}: {first['msg']}"
    except (ValueError, RecursionError) as error:
        return None, f"not a solution record: {error}"


def _validate(data: bytes) -> tuple[Solution | None, str]:
    import msgspec

    solution, trouble = validate_solution(data)
    if solution is None:
        return None, trouble
    try:
        return shaped(solution), ""
    except msgspec.ValidationError as error:
        return None, f"not a solution record: {error}"


def scrub(value: Any) -> Any:
    """The same JSON value without lone surrogates, which no UTF-8 can carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {scrub(key): scrub(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrub(item) for item in value]
    return value
