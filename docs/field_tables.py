"""Writes the generated tables of these pages from what they describe: record types and modules.

python docs/field_tables.py          # rewrites the pages
"""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import scisolve_batch
from scisolve_batch import records
from scisolve_batch.records import Record

HERE = Path(__file__).parent
PAGES = (HERE / "run-directory.md", HERE / "architecture.md")
_BLOCK = re.compile(r"(<!-- (fields|modules): (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def fields(name: str) -> str:
    """The Markdown table of a record's fields or an enumeration's members."""
    kind = getattr(records, name)
    if issubclass(kind, StrEnum):
        rows = re.findall(r'= "([^"]+)"(?:  # (.*))?', inspect.getsource(kind))
        return "| value | meaning |\n|---|---|\n" + "".join(
            f"| `{value}` | {meaning or value.replace('_', ' ')} |\n" for value, meaning in rows
        )
    lines = "| field | type | meaning |\n|---|---|---|\n"
    for field, info in kind.model_fields.items():
        words = (info.description or "").replace("\n", " ").replace("|", "\\|")
        lines += f"| `{field}` | {say(info.annotation)} | {words} |\n"
    return lines


def say(kind: Any) -> str:
    """A type in the words of JSON; a record or enumeration by its name, which has a table."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(say(part) for part in parts)
    if origin is typing.Annotated:
        return say(parts[0])
    if origin is tuple:
        return f"list of {say(parts[0])}"
    if origin is dict:
        return "object"
    if isinstance(kind, type) and issubclass(kind, Record | StrEnum):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    names = {str: "text", int: "integer", float: "number", bool: "boolean", type(None): "null"}
    return names.get(kind, "any")


def modules(name: str) -> str:
    """The Markdown table of the package's parts, each in the words of its own docstring."""
    root = Path(scisolve_batch.__file__).parent
    lines = "| part | what it promises |\n|---|---|\n"
    for path in sorted(root.iterdir()):
        source = path / "__init__.py" if path.is_dir() else path
        if source.suffix != ".py" or not source.exists() or path.name.startswith("_"):
            continue
        doc = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
        shown = f"{path.name}/" if path.is_dir() else path.name
        first = re.split(r"(?<=\.)\s|\n\n", doc.replace("|", "\\|"))[0].replace("\n", " ")
        lines += f"| `{shown}` | {first} |\n"
    assert name == "scisolve_batch"
    return lines


def reached(*roots: type) -> Iterator[type]:
    """Every record and enumeration that these records hold, themselves first."""
    seen: dict[type, None] = {}
    waiting: list[Any] = list(roots)
    while waiting:
        kind = waiting.pop(0)
        waiting += typing.get_args(kind)
        if isinstance(kind, type) and issubclass(kind, Record | StrEnum) and kind not in seen:
            seen[kind] = None
            if issubclass(kind, Record):
                waiting += [info.annotation for info in kind.model_fields.values()]
    yield from seen


def render(page: str) -> str:
    """The page with every table made anew."""
    makers = {"fields": fields, "modules": modules}
    return _BLOCK.sub(lambda one: f"{one[1]}\n{makers[one[2]](one[3])}\n{one[5]}", page)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(render(page.read_text(encoding="utf-8")), encoding="utf-8")
