"""Values that are bound to variables: the session prints them, so no digit is typed by a model.

A finish call may give `expression` instead of `value`; one recorded cell evaluates all of them,
and `{name}` or `{name:.6g}` in the answer is replaced by what that cell printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from scisolve_batch.agent.tools import ArgumentError, Finish
from scisolve_batch.records import Cell, Grounding, Literal, Verdict

BOUND = "bound"
"""Relation of a number that the program printed and quoted itself."""

_PLACEHOLDER = re.compile(r"\{([^\W\d]\w*)(?::(\.\d{1,2}[efgEFG%]?))?\}")
_MARK = " = "


def binding_code(expressions: Mapping[str, str]) -> str:
    """The cell that evaluates and prints every expression, a line each.

    Raises:
        ArgumentError: an expression is no single Python expression.
    """
    lines = []
    for name, expression in expressions.items():
        try:
            compile(expression.strip(), "<expression>", "eval")
        except (SyntaxError, ValueError) as error:
            raise ArgumentError(
                f"`values`: the expression of {name} is no Python expression ({error})"
            ) from None
        lines.append(f"print({name + _MARK!r} + str({expression.strip()}))")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Bound:
    """A finish call after binding, and where its digits are the program's own.

    Attributes:
        finish: the call with values and answer filled in.
        names: values that were evaluated.
        spans: parts of the answer that were filled in, as (start, end).
    """

    finish: Finish
    names: frozenset[str]
    spans: tuple[tuple[int, int], ...]

    def mark(self, grounding: Grounding) -> Grounding:
        """Give every supported number that was filled in the relation `bound`."""
        literals = tuple(
            item.model_copy(update={"relation": BOUND}) if self._holds(item) else item
            for item in grounding.literals
        )
        return grounding.model_copy(update={"literals": literals})

    def _holds(self, item: Literal) -> bool:
        if item.verdict is not Verdict.GROUNDED:
            return False
        if item.where == "answer":
            return any(start <= item.start and item.end <= end for start, end in self.spans)
        return item.where in {f"values[{name}]" for name in self.names}


def bind(finish: Finish, cell: Cell) -> Bound:
    """Put what the binding cell printed in place of expressions and placeholders.

    Raises:
        ArgumentError: the cell failed, or printed no line for some value.
    """
    if not cell.ok:
        last = cell.traceback.strip().splitlines()[-1:] or [cell.note or cell.status.value]
        raise ArgumentError(f"`values`: an expression could not be evaluated: {last[0]}")
    printed = _read_lines(cell.stdout, finish.expressions)
    missing = [name for name in finish.expressions if name not in printed]
    if missing:
        raise ArgumentError(f"`values`: {missing[0]} printed no value on a line of its own")
    values = tuple(
        value.model_copy(update={"value": printed[value.name]}) if value.name in printed else value
        for value in finish.values
    )
    answer, spans = _render(finish.answer, printed)
    return Bound(Finish(answer, finish.verification, values), frozenset(printed), tuple(spans))


def _read_lines(stdout: str, names: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for line in stdout.splitlines():
        name, mark, text = line.partition(_MARK)
        if mark and name in names:
            found[name] = text.strip()
    return found


def _render(answer: str, printed: Mapping[str, str]) -> tuple[str, list[tuple[int, int]]]:
    """Replace placeholders of bound names; other braces, like LaTeX's, stay as they are."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    position = length = 0
    for match in _PLACEHOLDER.finditer(answer):
        name, how = match.groups()
        if name not in printed:
            continue
        before, text = answer[position : match.start()], _format(printed[name], how)
        spans.append((length + len(before), length + len(before) + len(text)))
        parts += [before, text]
        length += len(before) + len(text)
        position = match.end()
    return "".join([*parts, answer[position:]]), spans


def _format(printed: str, how: str | None) -> str:
    if how is None:
        return printed
    try:
        return format(float(printed), how)
    except ValueError:
        return printed
