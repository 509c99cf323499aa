"""Numbers in prose against outputs, for Jupyter notebooks and plain text.

Markdown is checked against the outputs of the code cells above it, by the same rule as an answer.
Files that are odd are read as far as they go; nothing is executed. Outputs are believed as they
stand in the file: whether they came from that code is not looked at.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding import DEFAULT_POLICY, POLICIES, Question, check_grounding
from scisolve_batch.grounding.items import Item
from scisolve_batch.grounding.literals import read_literals
from scisolve_batch.grounding.match import find_matches
from scisolve_batch.grounding.sources import Pool, gather, read_printed
from scisolve_batch.prose import (
    blank_numbering,
    blank_silent,
    keep_prose,
    strip_escapes,
    strip_tags,
)
from scisolve_batch.records import FAILING, Cell, CellStatus, Literal, Verdict

MAX_OUTPUT = 60_000
"""Characters of one cell's output that are read, half at its beginning and half at its end."""
MAX_OUTPUTS = 300_000
"""Characters of all outputs of a notebook that are read."""
MOST_ALIKE = 20
"""How often the same number is read in an output; arrays of zeros hold it thousands of times."""
MAX_PROSE = 200_000
"""Characters of Markdown of a notebook that are read."""

_MARK = "\n\n;\n\n7"
"""Ends each text: no sentence reaches across, and its number shows where the next text begins."""
_OBJECT = re.compile(r"\[?<(?:Figure size|[\w.]+ (?:object|at 0x)|(?:IPython|pandas|matplotlib)\.)")
"""What stands for an object that is shown in another form, or as a picture only."""
_BLANK = re.compile(r"\s")
_UNIT = re.compile(r" ?[^\W\d_]*")
_TEXT_FORMS = ("text/plain", "text/markdown", "text/latex", "text/html")
_OLD_FORMS = ("text", "latex", "html")
_DISPLAYS = ("execute_result", "display_data", "update_display_data", "pyout")
_DEPENDS_ON_OTHERS = ("sign", "scale")
"""Reasons that a number printed further down may have brought about."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A number that no output above it supports.

    Attributes:
        cell: the notebook's cell, from 1, or 0 for a plain text.
        line: the line in that cell or text, from 1.
        literal: the number with its verdict; its reason is `below` when only an output further
            down supports it.
    """

    cell: int
    line: int
    literal: Literal


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in a file.

    Attributes:
        unsupported: the numbers without support, in order.
        numbers: how many numbers were judged; names, references and small counts are not.
        cut: cells, from 1, that are so long that only a part was read.
    """

    unsupported: tuple[Unsupported, ...]
    numbers: int
    cut: tuple[int, ...] = ()


def check_notebook(path: Path, *, policy: str = DEFAULT_POLICY) -> Checked:
    """Judge every number in the Markdown of a notebook by the outputs above it.

    Raises:
        UsageError: the file is no notebook, or there is no such policy.
    """
    notebook = _Notebook()
    for number, cell in enumerate(_cells(_load(path)), 1):
        notebook.add(cell, number)
    literals = notebook.judge(policy)
    failing = [passage.locate(one) for passage, one in literals if one.verdict in FAILING]
    return Checked(tuple(failing), _count(one for _, one in literals), tuple(notebook.cut))


def check_text(text: str, outputs: str, *, policy: str = DEFAULT_POLICY) -> Checked:
    """Judge every number of a text, which may be Markdown, by one output.

    Raises:
        UsageError: there is no such policy.
    """
    cells = [Cell(index=1, stdout=strip_escapes(outputs))]
    passage = _Passage(0, keep_prose(text))
    literals = check_grounding(passage.text, cells, policy=policy).literals
    failing = [passage.locate(one) for one in literals if one.verdict in FAILING]
    return Checked(tuple(failing), _count(literals))


def _count(literals: Iterable[Literal]) -> int:
    aside = (Verdict.NOT_A_NUMBER, Verdict.STRUCTURAL)
    return sum(one.verdict not in aside for one in literals)


@dataclass(frozen=True, slots=True)
class _Passage:
    """The prose of a Markdown cell."""

    cell: int
    text: str

    def locate(self, literal: Literal) -> Unsupported:
        """A literal of this text with its place."""
        return Unsupported(self.cell, self.text.count("\n", 0, literal.start) + 1, literal)


@dataclass(slots=True)
class _Notebook:
    """The outputs and the prose of a notebook, read once however they alternate."""

    outputs: list[Cell] = field(default_factory=list)
    passages: list[_Passage] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    written: int = 0
    """Characters of all prose so far."""
    printed: int = 0
    """Characters of all outputs so far."""
    numbering: tuple[int, ...] = ()
    """The number of the last heading."""

    def add(self, cell: Mapping[str, Any], number: int) -> None:
        """Take in a cell."""
        kind = cell.get("cell_type")
        if kind == "code":
            output = _read_code(cell, number)
            room = min(MAX_OUTPUT, MAX_OUTPUTS - self.printed)
            shown = self._fit(output.stdout, number, room)
            self.printed += _size(shown)
            self.outputs.append(output.model_copy(update={"stdout": _thin(shown)}))
        elif kind in ("markdown", "heading"):
            text = blank_silent(_text(cell.get("source")))
            if kind == "heading":  # of format 3
                text = f"# {text}"
            text, self.numbering = blank_numbering(text, self.numbering)
            text = self._fit(text, number, MAX_PROSE - self.written)
            self.written += _size(text)
            self.passages.append(_Passage(number, text))

    def _fit(self, text: str, number: int, room: int) -> str:
        """A text's beginning and end as far as there is room, cut at blanks: no number is cut in two."""
        if _size(text) <= room:
            return text
        self.cut.append(number)
        first, last = text[: room // 2], text[len(text) - room // 2 :]
        ends = max(map(first.rfind, " \n\t")) + 1
        begin = _BLANK.search(last)
        return first[:ends] + "\n" + (last[begin.start() :] if begin else "")

    def judge(self, policy: str) -> list[tuple[_Passage, Literal]]:
        """Every literal with the passage it stands in.

        One look at all outputs settles nearly everything: what nothing supports has no support
        above it either. What is left are numbers whose source was found further down. Only whether
        a number stands under the name of another one is seen with all outputs in view.
        """
        last = max((one.cell for one in self.passages), default=0)
        outputs = [one for one in self.outputs if one.index < last]
        above = _Above(outputs, policy)
        return [
            (passage, above.settle(literal, passage))
            for passage, literals in _judge_all(self.passages, outputs, policy)
            for literal in literals
        ]


def _size(text: str) -> int:
    """Characters that take time to read; pictures in Markdown leave megabytes of blanks."""
    return len(text) - text.count(" ")


def _thin(output: str) -> str:
    """An output in which a number with the same unit stands only so often, the rest being blank."""
    seen: Counter[str] = Counter()
    pieces, at = [], 0
    for number in read_printed(output):
        if number.start < at:  # another reading of the same digits
            continue
        unit = _UNIT.match(output, number.end)
        seen[key := number.text + (unit.group() if unit else "")] += 1
        if seen[key] > MOST_ALIKE:
            pieces += [output[at : number.start], " " * (number.end - number.start)]
            at = number.end
    return "".join(pieces) + output[at:]


def _judge_all(
    passages: Sequence[_Passage], outputs: Sequence[Cell], policy: str
) -> Iterator[tuple[_Passage, list[Literal]]]:
    """The literals of each text, judged by the same outputs, which are read once."""
    if policy not in POLICIES:
        raise UsageError(f"no grounding policy `{policy}`; choose one of {', '.join(POLICIES)}")
    texts = tuple(("answer", passage.text + _MARK) for passage in passages)
    found = iter(POLICIES[policy](Question(texts=texts, cells=tuple(outputs), problem="")))
    for passage in passages:
        literals = []
        while (literal := next(found)).start < len(passage.text):
            literals.append(literal)
        yield passage, literals


@dataclass(slots=True)
class _Above:
    """Second looks at single literals, with the outputs above them only."""

    outputs: Sequence[Cell]
    policy: str
    pool: Pool | None = None
    items: dict[int, dict[tuple[int, int], list[Item]]] = field(default_factory=dict)
    again: dict[tuple[int, bool], list[Literal]] = field(default_factory=dict)

    def settle(self, literal: Literal, passage: _Passage) -> Literal:
        """The verdict on a literal that all outputs were believed for."""
        if literal.cell is None or literal.cell < passage.cell:
            return literal
        if literal.verdict in FAILING:
            doubtful = literal.reason in _DEPENDS_ON_OTHERS
            return self._judge(literal, passage, blind=False) if doubtful else literal
        if literal.verdict is not Verdict.GROUNDED or self._supports(literal, passage):
            return literal
        alone = self._judge(literal, passage, blind=True)
        if alone.verdict not in FAILING:  # a small count, say
            return alone
        return alone.model_copy(update={"reason": "below", "nearest": literal.printed})

    def _supports(self, literal: Literal, passage: _Passage) -> bool:
        """Whether an output above supports a literal that one further down was chosen for."""
        if passage.cell not in self.items:
            self.items[passage.cell] = _read_items(passage.text)
        items = self.items[passage.cell].get((literal.start, literal.end), ())
        if self.policy != DEFAULT_POLICY or any(one.options for one in items):
            return self._judge(literal, passage, blind=False).verdict not in FAILING
        if self.pool is None:
            self.pool = gather(self.outputs, "")
        pool = self.pool
        return any(
            (cell := pool.texts[match.number.source].cell) is not None and cell < passage.cell
            for item in items
            for match in find_matches(item, pool)
        )

    def _judge(self, literal: Literal, passage: _Passage, *, blind: bool) -> Literal:
        """The same literal, judged by the outputs above it alone, or by none."""
        key = passage.cell, blind
        if key not in self.again:
            cells = [one for one in self.outputs if one.index < passage.cell and not blind]
            ((_, self.again[key]),) = _judge_all([passage], cells, self.policy)
        same = (one for one in self.again[key] if one.start == literal.start)
        return next(same, literal)


def _read_items(text: str) -> dict[tuple[int, int], list[Item]]:
    """The numbers of a text by where they stand, other readings included."""
    reading = read_literals(text)
    items: dict[tuple[int, int], list[Item]] = {}
    for item in reading.items:
        for one in (item, *(one for way in item.options for one in way.items)):
            items.setdefault(reading.text.span(one.start, one.end), []).append(one)
    return items


# -- reading the file --------------------------------------------------------------------


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes(), parse_int=float)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: is no notebook: {error}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}: is no notebook: it holds no object")
    if not isinstance(data.get("cells", data.get("worksheets")), list):
        raise UsageError(f"{path}: is no notebook: it has no list of cells")
    return data


def _cells(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a notebook; format 3 keeps them in worksheets. Odd ones count, empty."""
    cells = data.get("cells")
    if not isinstance(cells, list):
        cells = [
            cell
            for sheet in data["worksheets"]
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
            for cell in sheet["cells"]
        ]
    return [cell if isinstance(cell, dict) else {} for cell in cells]


def _read_code(cell: Mapping[str, Any], number: int) -> Cell:
    """A code cell with what it printed and showed."""
    outputs = cell.get("outputs")
    texts: list[str] = []
    failed = False
    for output in outputs if isinstance(outputs, list) else []:
        if not isinstance(output, dict):
            continue
        kind = output.get("output_type")
        failed |= kind in ("error", "pyerr")
        if kind == "stream" and output.get("name", output.get("stream")) != "stderr":
            texts.append(_text(output.get("text")))
        elif kind in _DISPLAYS:
            texts.append(f"\n{_shown(output)}\n")
    return Cell(
        index=number,
        code=_text(cell.get("source", cell.get("input"))),
        stdout=strip_escapes("".join(texts)),
        status=CellStatus.ERROR if failed else CellStatus.OK,
    )


def _shown(output: Mapping[str, Any]) -> str:
    """The text of a displayed value: the plain form, or another when that only names an object."""
    data = output.get("data")
    forms: Sequence[str] = _TEXT_FORMS
    if not isinstance(data, dict):
        data, forms = output, _OLD_FORMS
    for form in forms:
        text = _text(data.get(form))
        if form.endswith("html"):
            text = strip_tags(text)
        if text and not _OBJECT.match(text):
            return text
    return ""


def _text(raw: Any) -> str:
    if isinstance(raw, list):
        return "".join(part for part in raw if isinstance(part, str))
    return raw if isinstance(raw, str) else ""
