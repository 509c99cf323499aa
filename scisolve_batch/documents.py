"""YAML documents with the place of every value, read by the rules of YAML 1.2.

`1e-6` is a number; `no`, `on`, `2024-01-02`, `12:30` and `1_000` are text; a key stands once.
It knows nothing of suites. Every fault is a `SuiteError` that carries file and line.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from scisolve_batch.errors import SuiteError

MAX_BYTES = 16 * 1024 * 1024
"""Largest document that is read, in bytes."""
MAX_NODES = 200_000
"""Most values of one document, repeated aliases counted each time."""
MAX_DEPTH = 50
"""Deepest nesting of one document."""

Loc = Sequence[str | int]
"""Keys and list positions from the top of a document down to a value."""

ModelT = TypeVar("ModelT", bound=BaseModel)

_PLAIN, _QUOTED, _TEXT = "plain", "quoted", "tag:yaml.org,2002:str"
_BOOLEANS = dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(
    ("false", "False", "FALSE"), False
)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class Place(NamedTuple):
    """Where a value stands, and how it is written there."""

    line: int
    """Line of its key or list dash, from 1."""
    text: str = ""
    """A scalar as the file writes it; empty for a mapping or a list."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as plain data, with the place of each value."""

    file: Path
    """Where it was read from."""
    data: Any
    """Mappings, lists, text, numbers, booleans and None."""
    places: Mapping[str, Place] = field(default_factory=dict)
    """Places by path, like `problems[0].values[1].rtol`."""

    def line(self, loc: Loc = ()) -> int:
        """Line of a value; of the nearest thing around it when it is not there."""
        for end in range(len(loc), 0, -1):
            found = self.places.get(place(loc[:end]))
            if found:
                return found.line
        return self.places[""].line if "" in self.places else 1

    def text(self, loc: Loc) -> str:
        """A scalar as the file writes it."""
        found = self.places.get(place(loc))
        return found.text if found else ""

    def error(self, what: str, loc: Loc = ()) -> SuiteError:
        """An error at a value, ready to be raised."""
        return SuiteError(what, file=self.file, line=self.line(loc), path=place(loc))


def place(loc: Loc) -> str:
    """The path of a value in words: `("problems", 0, "rtol")` is `problems[0].rtol`."""
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def suggest(word: str, known: Iterable[str]) -> str:
    """`; did you mean `x`?` when something known looks like the word, else nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


# ---- reading -------------------------------------------------------------------------

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]  # libyaml may be missing
    """Composes nodes and leaves their meaning to `_Builder`."""

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        """Only tell plain from quoted scalars: the YAML 1.1 meanings are not wanted."""
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _QUOTED
        return _QUOTED


def read_document(path: Path | str) -> Document:
    """Read a YAML file.

    Raises:
        SuiteError: the file cannot be read, is no UTF-8, no YAML, empty, or holds a key twice.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            raw = stream.read(min(size, MAX_BYTES) + 1)  # a whole buffer of MAX_BYTES is dear
            if len(raw) > size:  # no plain file, or it grew
                raw += stream.read(MAX_BYTES)
    except FileNotFoundError:
        near = suggest(file.name, _names_beside(file))
        raise SuiteError(f"no such file{near}", file=file) from None
    except IsADirectoryError:
        raise SuiteError(
            f"is a folder; name a file in it, or write {file.name}/*.yaml", file=file
        ) from None
    except OSError as error:
        raise SuiteError(f"cannot be read: {error.strerror or error}", file=file) from error
    if len(raw) > MAX_BYTES:
        raise SuiteError(f"is larger than {MAX_BYTES >> 20} MiB", file=file)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SuiteError(
            f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8",
            file=file,
            line=raw.count(b"\n", 0, error.start) + 1,
        ) from None
    return read_text(text, file=file)


def read_text(text: str, *, file: Path | str = "<text>") -> Document:
    """Read YAML text as if it stood in a file.

    Raises:
        SuiteError: it is no YAML, empty, or holds a key twice.
    """
    file = Path(file)
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _syntax_error(error, text, file) from None
    if root is None:
        raise SuiteError("is empty", file=file)
    builder = _Builder(file)
    data = builder.build(root, "", root.start_mark.line + 1, 0)
    if data is None:
        raise SuiteError("is empty", file=file)
    return Document(file, data, builder.places)


def _names_beside(file: Path) -> list[str]:
    try:
        return [other.name for other in file.parent.iterdir()]
    except OSError:
        return []


def _syntax_error(error: yaml.YAMLError, text: str, file: Path) -> SuiteError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark else None
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if line is None:  # the reader's errors carry a position instead of a mark
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
    lines = text.splitlines()
    written = lines[line - 1] if line and line <= len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        what = "a tab stands in the indentation; YAML wants spaces"
    elif "mapping values are not allowed" in what:
        what = "`: ` stands where no key can; quote the text, or check the indentation"
    elif "another document" in what or "single document" in str(error):
        what = "a second document begins here (`---`); write it to a file of its own"
    elif "cannot start any token" in what:
        what = "unquoted text cannot begin with @, ` or %; put it in quotes"
    elif "control characters" in what:
        what = "holds a control character"
    else:
        what = f"is not YAML: {what}"
    return SuiteError(what, file=file, line=line)


class _Builder:
    """Turns nodes into plain data and notes where each stands."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.places: dict[str, Place] = {}

    def build(self, node: yaml.Node, path: str, line: int, depth: int) -> Any:
        if len(self.places) >= MAX_NODES:
            raise self.error(f"holds more than {MAX_NODES} values (aliases counted)", node)
        if depth > MAX_DEPTH:
            raise self.error(f"is nested deeper than {MAX_DEPTH} levels", node)
        if node.tag not in (_PLAIN, _QUOTED, _TEXT):
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            raise self.error(f"the tag `{tag}` has no meaning here; leave it out", node)
        if isinstance(node, yaml.ScalarNode):
            self.places[path] = Place(line, node.value)
            return _scalar(node.value) if node.tag == _PLAIN else node.value
        self.places[path] = Place(line)
        if isinstance(node, yaml.SequenceNode):
            return [
                self.build(item, f"{path}[{number}]", item.start_mark.line + 1, depth + 1)
                for number, item in enumerate(node.value)
            ]
        return self.mapping(node, path, depth)

    def mapping(self, node: yaml.Node, path: str, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error("a key must be a word", key_node)
            key = key_node.value
            if key == "<<":
                raise self.error("`<<` merges nothing here; write the keys out", key_node)
            inner = f"{path}.{key}" if path else key
            line = key_node.start_mark.line + 1
            if key in data:
                first = self.places[inner].line
                raise SuiteError(
                    f"the key `{key}` stands twice, first in line {first}",
                    file=self.file,
                    line=line,
                    path=path,
                )
            data[key] = self.build(value_node, inner, line, depth + 1)
        return data

    def error(self, what: str, node: yaml.Node) -> SuiteError:
        return SuiteError(what, file=self.file, line=node.start_mark.line + 1)


def _scalar(text: str) -> Any:
    """Meaning of an unquoted scalar: YAML 1.2's core schema."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        # Python refuses to read integers of thousands of digits; as text they are refused by name.
        return text if len(text) > 400 else int(text, 0) if text[1:2] in ("o", "x") else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text


# ---- checking ------------------------------------------------------------------------


def parse(document: Document, model: type[ModelT], *, at: Loc = ()) -> ModelT:
    """Read a part of a document as a pydantic model whose keys are the file's keys.

    Raises:
        SuiteError: something does not fit; the message lists every fault with its line.
    """
    data = document.data
    for part in at:
        data = data[part]
    if not isinstance(data, dict):
        raise document.error(f"must be a mapping (lines `key: value`), not {kind_of(data)}", at)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults = [_fault(document, model, item, at) for item in error.errors()]
    first, *rest = faults
    if rest:
        first = SuiteError(
            "\n".join([first.what, *(str(fault) for fault in rest)]),
            file=first.file,
            line=first.line,
            path=first.path,
        )
    raise first


def kind_of(data: Any) -> str:
    """What a value is, in the words of somebody who writes YAML."""
    if data is None:
        return "nothing"
    if isinstance(data, bool):
        return "true or false"
    if isinstance(data, int | float):
        return "a number"
    if isinstance(data, str):
        return "text"
    return "a list" if isinstance(data, list) else "a mapping"


def _fault(document: Document, model: type[BaseModel], item: Any, at: Loc) -> SuiteError:
    kind, inner = item["type"], tuple(item["loc"])
    loc = (*at, *inner)
    if kind == "extra_forbidden":
        owner = _model_at(model, inner[:-1])
        known = list(owner.model_fields) if owner else []
        near = suggest(str(inner[-1]), known) or f"; known keys: {', '.join(known)}"
        return document.error(f"unknown key{near}", loc)
    if kind == "missing":
        return document.error(f"the key `{inner[-1]}` is missing", loc[:-1])
    return document.error(_describe(kind, item, document.text(loc)), loc)


_WANTED = {
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list (`[a, b]`, or lines that begin with `- `)",
    "dict_type": "a mapping (lines `key: value`)",
    "model_type": "a mapping (lines `key: value`)",
    "finite_number": "a finite number",
}


def _describe(kind: str, item: Any, text: str) -> str:
    """A pydantic error in the file's words; a validator's `{text}` is what the file has there."""
    given = item["input"]
    if kind == "string_type" and isinstance(given, bool | int | float):
        return f'must be text; put it in quotes: "{text}"'
    if kind in _WANTED:
        shown = f"`{text}`" if text else kind_of(given)
        return f"must be {_WANTED[kind]}, not {shown}"
    if kind in ("enum", "literal_error"):
        wanted = item["ctx"]["expected"]
        known = re.findall(r"'([^']*)'", wanted)
        return f"`{given}` is not one of {', '.join(known)}{suggest(str(given), known)}"
    if kind == "value_error":
        return str(item["ctx"]["error"]).replace("{text}", text)
    return f"{item['msg'].replace('Input should', 'must')} (here `{given}`)"


def _model_at(model: type[BaseModel], loc: Loc) -> type[BaseModel] | None:
    """The model that describes a place inside a document."""
    current: type[BaseModel] | None = model
    for part in loc:
        if isinstance(part, int):
            continue
        found = current.model_fields.get(part) if current else None
        current = _inner_model(found.annotation) if found else None
    return current


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _inner_model(inner)
        if found:
            return found
    return None
