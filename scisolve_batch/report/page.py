"""A report as one HTML file: it needs no network, and nothing a model wrote can act in it.

Text is escaped by the template or set as text by the script; the script is allowed by its
digest alone. Details of a sample are data until somebody opens it.
"""

# ruff: noqa: PLC0415 - jinja2 and msgspec are loaded when a page is made

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from scisolve_batch.problemdir import folder_name
from scisolve_batch.records import Problem
from scisolve_batch.report import figures
from scisolve_batch.report.render import interval, percent, pin_word, replay_line, tokens_line
from scisolve_batch.report.rows import Rows, Tables
from scisolve_batch.report.schema import TABLES
from scisolve_batch.report.summary import Summary
from scisolve_batch.report.tally import kind_of
from scisolve_batch.rundir import RunDir

if TYPE_CHECKING:
    import jinja2
    import markupsafe

PAGE = "report.html"
FIGURE_BUDGET = 4_000_000
"""Bytes of figures that are put into the page; the others are linked."""
TEXT_LIMIT = 20_000
"""Characters of an answer, a cell's code or its output that are shown; the files have all."""

TEMPLATES = Path(__file__).parent / "templates"
"""Folder of templates, style and script."""
_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
_PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif"}


def visible(text: object) -> str:
    """Text in which characters that hide or turn text around are shown by their number."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text))


def island(data: Any) -> str:
    """JSON that can stand inside a script element: it holds no `<`, `>` or `&`."""
    import msgspec

    try:
        text = msgspec.json.encode(data).decode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no UTF-8 can carry
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for char in "<>&\u2028\u2029":
        if char in text:
            text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def trusted(text: str) -> markupsafe.Markup:
    """Markup of our own making: figures, style, script and escaped JSON, never foreign text."""
    import markupsafe

    return markupsafe.Markup(text)  # noqa: S704


@lru_cache(4096)
def breakable(text: str) -> markupsafe.Markup:
    """A name like `linear_algebra` that may be broken at its underscores and nowhere else."""
    import markupsafe

    return trusted("_<wbr>".join(str(markupsafe.escape(visible(part))) for part in text.split("_")))  # fmt: skip


@cache
def environment() -> jinja2.Environment:
    """The templates with escaping on."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(percent=percent, visible=visible, interval=interval, name=breakable)
    return made


SLOWEST = 10
"""So many cells are listed by their time."""
SHOWN_LITERALS = 50
"""So many failing numbers are listed; the tables have them all."""

_SHOWN = (  # columns of `solutions` that the table of problems shows or filters by
    "problem_id", "sample", "title", "domain", "difficulty", "outcome", "cause", "finished",
    "correct", "worst_correct_digits", "verification_kind", "verification_valid", "literals",
    "failing_literals", "total_tokens", "input_tokens", "output_tokens", "duration_s",
    "near_limits", "retried", "reproduced",
)  # fmt: skip


class Page:
    """Collects the page of a run part by part, each sample's details as the text they become.

    Args:
        run: the run, for the problems' statements and the figures.
        folder: where the page will lie, for relative links.
    """

    def __init__(self, run: RunDir, folder: Path) -> None:
        self.manifest = run.manifest
        self.problems = {problem.id: problem for problem in run.manifest.problems}
        self.pictures = _Pictures(run.path, folder)
        self.rows: list[dict[str, Any]] = []
        self.details: list[str] = []
        self.slowest: list[dict[str, Any]] = []

    def add(self, tables: Tables) -> None:
        """Add the next part of the tables, with the texts of the cells."""
        self.rows.extend(tables["solutions"].pick(*_SHOWN))
        cells = tables["cells"].pick("problem_id", "sample", "cell", "status", "wall_s", "cpu_s")
        timed = (cell for cell in cells if math.isfinite(cell["wall_s"]))
        self.slowest = nlargest(SLOWEST, [*self.slowest, *timed], key=itemgetter("wall_s"))
        self.details.extend(map(island, details_of(self.problems, tables, self.pictures)))

    def render(self, summary: Summary) -> str:
        """The whole page; every number of it stands in the summary or in the tables."""
        script = (TEMPLATES / "page.js").read_text("utf-8")
        places = {(row["problem_id"], row["sample"]): i for i, row in enumerate(self.rows)}
        outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self.rows:
            outcomes[row["domain"]][row["outcome"]] += 1
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        return (
            environment()
            .get_template("report.html.j2")
            .render(
                summary=summary,
                manifest=self.manifest,
                rows=[_table_row(row) for row in self.rows],
                symbols=figures.SYMBOLS,
                outcomes=figures.OUTCOMES,
                choices=_choices(self.rows),
                slowest=[cell for cell in self.slowest if cell["wall_s"] > 0],
                loose=summary.loose[:SHOWN_LITERALS],
                place=lambda problem, sample: places.get((problem, sample), 0),
                outcome_bar=lambda domain: trusted(figures.outcome_bar(outcomes[domain])),
                isolation=describe_isolation(self.manifest.isolation),
                replay=replay_line(summary.replay) if summary.replay else "",
                pin=pin_word(summary.suite.pin),
                tokens=tokens_line(summary),
                ledger_bar=trusted(figures.ledger_bar(summary.ledger)),
                digits=trusted(figures.digits_bars(summary.digits)),
                whisker=lambda rate, name: trusted(figures.whisker(rate, name=name)),
                style=trusted((TEMPLATES / "page.css").read_text("utf-8")),
                script=trusted(script),
                script_digest=digest,
                islands=[trusted(detail) for detail in self.details],
            )
        )


def _choices(rows: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        found["domain"].add(row["domain"])
        found["difficulty"].update([] if row["difficulty"] is None else [str(row["difficulty"])])
        found["outcome"].add(row["outcome"])
        found["cause"].add(row["cause"])
    return {name: sorted(found[name]) for name in ("outcome", "domain", "difficulty", "cause")}


def _table_row(row: dict[str, Any]) -> dict[str, Any]:
    flags = [f"near {name}" for name in row["near_limits"]]
    flags += ["retried"] if row["retried"] else []
    flags += ["not reproduced"] if row["reproduced"] is False else []
    reported = row["input_tokens"] is not None or row["output_tokens"] is not None
    return row | {
        "check": kind_of(row) if row["finished"] else "",
        "flags": flags,
        "tokens": row["total_tokens"] if reported or row["total_tokens"] else None,
    }


def describe_isolation(found: Mapping[str, Any]) -> dict[str, Any]:
    """What a run recorded about its isolation, for people: anything it may hold, in any form."""

    def part(name: str) -> Mapping[str, Any]:
        value = found.get(name)
        return value if isinstance(value, Mapping) else {}

    def state(layer: Any) -> str:
        words = layer.get("state", "") if isinstance(layer, Mapping) else layer
        return str(words).replace("_", " ")

    closed = part("closed")
    return {
        "closed": [str(name) for name, shut in closed.items() if shut is True],
        "open": [str(name) for name, shut in closed.items() if shut is not True],
        "layers": {str(name): state(layer) for name, layer in part("layers").items()},
        "tested": {
            str(name): (try_.get("closed") is True, str(try_.get("how", "")))
            for name, try_ in part("tested").items()
            if isinstance(try_, Mapping)
        },
        "others": {
            str(name): str(value)
            for name, value in found.items()
            if name not in {"closed", "layers", "tested"} and not isinstance(value, Mapping | list)
        },
    }


def _cut(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    if len(text) <= TEXT_LIMIT:
        return {"text": text}
    return {"text": text[:TEXT_LIMIT], "left": len(text) - TEXT_LIMIT}


def details_of(
    problems: Mapping[str, Problem], tables: Tables, pictures: _Pictures
) -> Iterator[dict[str, Any]]:
    """What the page shows of each sample when it is opened, in the order of the table."""
    literals, values = _grouped(tables, "literals", _LITERAL), _grouped(tables, "values", _VALUE)
    cells = _grouped(tables, "cells", (*_CELL, *_TEXTS, "figures"))
    parts = (_CHECK, _FAILURE, _NUMBERS)
    rows = tables["solutions"]
    about = [_filled(_columns(rows, "solutions", names), names) for names in parts]
    keys = zip(rows["problem_id"], rows["sample"], rows["answer"], *about, strict=True)
    for name, sample, answer, check, failure, numbers in keys:
        problem, key = problems.get(name), (name, sample)
        for cell in cells[key]:
            cell |= {text: _cut(cell[text]) for text in _TEXTS if text in cell}
            cell["figures"] = [
                pictures.show(name, sample, each) for each in cell.get("figures", ())
            ]
        yield {
            "statement": _cut(problem.statement if problem else ""),
            "answer": _cut(answer),
            "failure": failure,
            "check": check,
            "numbers": numbers,
            "literals": literals[key],
            "values": values[key],
            "cells": cells[key],
        }


def _columns(rows: Rows, table: str, names: Iterable[str]) -> list[list[Any]]:
    """Columns by name; infinities, for which JSON has no word, as words."""
    kinds = {column.name: column.kind for column in TABLES[table].columns}
    return [
        [str(v) if v is not None and not math.isfinite(v) else v for v in rows[name]]
        if kinds[name] == "float"
        else rows[name]
        for name in names
    ]


def _filled(columns: Iterable[list[Any]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of columns, each with what holds something."""
    for row in zip(*columns, strict=True):
        yield {
            name: value
            for name, value in zip(names, row, strict=True)
            if value is not None and value not in ("", [])
        }


def _grouped(
    tables: Tables, name: str, names: Sequence[str]
) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """The rows of each sample in a table, with some of their columns."""
    rows = tables[name]
    groups: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    filled = _filled(_columns(rows, name, names), names)
    for problem, sample, row in zip(rows["problem_id"], rows["sample"], filled, strict=True):
        groups[problem, sample].append(row)
    return groups


_FAILURE = ("failure_kind", "failure_message")
_NUMBERS = ("expected_coincidences", "refusals", "turns", "wait_s", "cost_usd")
_CHECK = (
    "verification_kind", "verification_valid", "verification_reason", "verification_weakness",
    "verification_description", "evidence_cell",
)  # fmt: skip
_LITERAL = (
    "text", "where", "start", "end", "verdict", "failing", "reason", "relation", "source",
    "cell", "line", "printed", "label", "nearest", "chance", "warnings",
)  # fmt: skip
_VALUE = (
    "name", "certified", "reported", "unit", "verdict", "how", "relative_error", "correct_digits",
    "certified_digits", "rtol", "atol", "exact", "trap",
)  # fmt: skip
_CELL = (
    "cell", "status", "ok", "state", "note", "wall_s", "stdout_dropped", "stderr_dropped",
    "replay", "replay_detail",
)  # fmt: skip
_TEXTS = ("code", "stdout", "stderr", "traceback")


class _Pictures:
    """Figures of cells: inside the page while the budget lasts, then as links."""

    def __init__(self, run: Path, folder: Path) -> None:
        self.run, self.folder, self.left = run.resolve(), folder.resolve(), FIGURE_BUDGET

    def show(self, problem: str, sample: int, name: str) -> dict[str, str]:
        """A figure by its name: `src` to show it, or `href` to open it."""
        kind = _PICTURES.get(Path(name).suffix.lower())
        if kind is None or Path(name).name != name:
            return {"name": name}
        path = self.run / "problems" / folder_name(problem, sample) / "figures" / name
        try:
            size = path.stat().st_size
            if size <= self.left:
                data = base64.b64encode(path.read_bytes()).decode("ascii")
                self.left -= size
                return {"name": name, "src": f"data:{kind};base64,{data}"}
        except (OSError, ValueError):  # no file has a null in its name
            return {"name": name}
        return {"name": name, "href": quote(Path(os.path.relpath(path, self.folder)).as_posix())}
