"""Copied constants that can be seen without running anything.

A `print` whose arguments fold to constants copied them, unless the names they came through are
read elsewhere, or the same digits stand elsewhere in the code: then they are parameters.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scisolve_batch.grounding.constants import Constant
from scisolve_batch.grounding.sources import Number, read_printed

MOST_CODE = 200_000
"""Characters of code that are walked; longer code is left to the re-run."""


class _Unknown(Exception):
    """An expression that is no constant."""


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_CALLS: dict[str, Callable[..., Any]] = {
    "float": float, "int": int, "str": str, "round": round, "abs": abs, "repr": repr, "list": list,
    "tuple": tuple, "dict": dict, "float64": float, "array": list, "asarray": list, "Decimal": float,
    "cos": math.cos, "exp": math.exp, "format": format,
}  # fmt: skip


@dataclass(slots=True)
class _Walk:
    """The names of a session, what they are bound to, and how often they are read."""

    bound: dict[str, list[ast.expr]] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=dict)
    prints: list[tuple[int, ast.Call]] = field(default_factory=list)


def find_static_copies(codes: Sequence[str], constants: Sequence[Constant]) -> set[tuple[int, str]]:
    """The numbers that each code prints as copied constants, as pairs of code and text."""
    walk = _Walk()
    if sum(map(len, codes)) > MOST_CODE:
        return set()
    for cell, code in enumerate(codes):
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        _collect(tree, walk, cell)
    found: set[tuple[int, str]] = set()
    for cell, call in walk.prints:
        for argument in call.args:
            for number, names in _printed(argument, walk):
                if _only_printed(names, walk) and _only_once(number, constants):
                    found.add((cell, number.text))
    return found


def _collect(tree: ast.AST, walk: _Walk, cell: int) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                walk.bound.setdefault(target.id, []).append(node.value)
            else:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        walk.bound.setdefault(name.id, []).append(ast.Name("?"))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            walk.reads[node.id] = walk.reads.get(node.id, 0) + 1
        elif isinstance(node, ast.Name):
            walk.bound.setdefault(node.id, [])
        elif isinstance(node, ast.AugAssign | ast.For | ast.comprehension):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    walk.bound.setdefault(name.id, []).append(ast.Name("?"))
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "print"
        ):
            walk.prints.append((cell, node))


def _printed(argument: ast.expr, walk: _Walk) -> list[tuple[Number, set[str]]]:
    """The numbers that an argument of print shows, with the names they came through."""
    parts: list[ast.expr] = [argument]
    if isinstance(argument, ast.JoinedStr):
        parts = list(argument.values)
    found = []
    for part in parts:
        names: set[str] = set()
        try:
            value = _fold(part, walk, names, 0)
        except _Unknown:
            continue
        found += [(number, names) for number in read_printed(str(value)[:10_000])]
    return found


def _fold(node: ast.expr, walk: _Walk, names: set[str], depth: int) -> Any:  # noqa: C901, PLR0911, PLR0912
    if depth > 20:
        raise _Unknown
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        values = walk.bound.get(node.id, [])
        if len(values) != 1:
            raise _Unknown
        names.add(node.id)
        return _fold(values[0], walk, names, depth + 1)

    def fold(inner: ast.expr) -> Any:
        return _fold(inner, walk, names, depth + 1)

    try:
        if isinstance(node, ast.FormattedValue):
            spec = fold(node.format_spec) if node.format_spec else ""
            return format(fold(node.value), spec)
        if isinstance(node, ast.JoinedStr):
            return "".join(str(fold(part)) for part in node.values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -fold(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = fold(node.left), fold(node.right)
            if isinstance(left, str | list | bytes) and not isinstance(node.op, ast.Add):
                raise _Unknown
            return _BINARY[type(node.op)](left, right)
        if isinstance(node, ast.List | ast.Tuple):
            return [fold(one) for one in node.elts]
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            return {fold(key): fold(value) for key, value in pairs if key is not None}
        if isinstance(node, ast.Subscript):
            return fold(node.value)[fold(node.slice)]
        if isinstance(node, ast.Call) and not node.keywords:
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name in _CALLS and len(node.args) <= 2:
                return _CALLS[name](*(fold(one) for one in node.args))
    except (TypeError, ValueError, KeyError, IndexError, ArithmeticError, AttributeError) as error:
        raise _Unknown from error
    raise _Unknown


def _only_printed(names: set[str], walk: _Walk) -> bool:
    """Whether names are read by prints alone."""
    for name in names:
        shown = sum(
            isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            for _, call in walk.prints
            for node in ast.walk(call)
        )
        passed = sum(
            isinstance(node, ast.Name) and node.id == name
            for other in names
            for value in walk.bound[other]
            for node in ast.walk(value)
        )
        if walk.reads.get(name, 0) > shown + passed:
            return False
    return True


def _only_once(number: Number, constants: Sequence[Constant]) -> bool:
    """Whether the digits stand at one place of the code only."""
    same = [one for one in constants if one.value == abs(number.value)]
    return len(same) <= 1
