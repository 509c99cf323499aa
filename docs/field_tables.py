"""Writes the tables of docs/run-directory.md from the types they describe.

python docs/field_tables.py          # rewrites the page
"""

from __future__ import annotations

import inspect
import re
from enum import StrEnum
from pathlib import Path

from scisolve_batch import records

PAGES = (Path(__file__).with_name("run-directory.md"),)
_BLOCK = re.compile(r"(<!-- fields: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def table(name: str) -> str:
    """The Markdown table of a record's fields or an enumeration's members."""
    kind = getattr(records, name)
    if issubclass(kind, StrEnum):
        source = inspect.getsource(kind)
        rows = re.findall(r'= "([^"]+)"(?:  # (.*))?', source)
        return "| value | meaning |\n|---|---|\n" + "".join(
            f"| `{value}` | {meaning or value.replace('_', ' ')} |\n" for value, meaning in rows
        )
    lines = "| field | type | meaning |\n|---|---|---|\n"
    for field, info in kind.model_fields.items():
        annotation = re.sub(
            r"scisolve_batch\.records\.|<class '|'>|typing\.|, Field.*", "", str(info.annotation)
        )
        annotation = re.sub(
            r"(?:Optional|Annotated)\[+(?:Annotated\[)?(\w+)\]*.*", r"\1 | None", annotation
        )
        words = (info.description or "").replace("\n", " ").replace("|", "\\|")
        lines += f"| `{field}` | {annotation.replace('|', 'or')} | {words} |\n"
    return lines


def render(page: str) -> str:
    """The page with every table made anew."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{table(found[2])}\n{found[4]}", page)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(render(page.read_text(encoding="utf-8")), encoding="utf-8")
