"""The syntax of recorded code, read once for all the checks that look at it."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import NamedTuple

_SHORT = 20_000
"""Characters of a code whose syntax is kept for the next check."""
_MARKS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
"""Nodes that say something about their parent and hold nothing."""
_LEAVES = frozenset((ast.Name, ast.Constant))
"""Nodes that hold no other, which most are."""


class Syntax(NamedTuple):
    """A code's tree, and its nodes from the top down without mere marks. Not to be changed."""

    tree: ast.Module
    nodes: tuple[ast.AST, ...]


def read_syntax(code: str) -> Syntax | None:
    """The syntax of a code; None when it is no Python or too deep."""
    return _kept(code) if len(code) <= _SHORT else _read(code)


def _read(code: str) -> Syntax | None:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows meanwhile
        if type(node) in _LEAVES:
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes += [one for one in value if _is_node(one)]
            elif _is_node(value):
                nodes.append(value)  # type: ignore[arg-type]
    return Syntax(tree, tuple(nodes))


def _is_node(value: object) -> bool:
    return isinstance(value, ast.AST) and not isinstance(value, _MARKS)


_kept = lru_cache(maxsize=8)(_read)


def written(node: ast.expr) -> str:
    """A function's name as it is written; quick for `print` and `np.linalg.eigvals`."""
    names: list[str] = []
    part = node
    while isinstance(part, ast.Attribute):
        names.append(part.attr)
        part = part.value
    if not isinstance(part, ast.Name):
        return ast.unparse(node)
    names.append(part.id)
    return ".".join(reversed(names))
