"""Folding an expression that shows a constant of the source, and nothing that was computed.

Arithmetic folds only where it changes no digit (plus 0, times 1 or a power of ten, cos(0)) or
puts two halves of a constant together. A product of two real constants is a computation.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

DEEPEST = 24
MOST_BINDINGS = 4
"""A name may be bound to the same thing more than once, like the file in two `with` statements."""
LONGEST = 10_000
"""Characters of a text that are folded."""


class Unfoldable(Exception):
    """An expression whose value is not a copied constant."""


@dataclass(frozen=True, slots=True)
class _File:
    path: str


_UNKNOWN = ast.Name("?", ast.Load())
BINDING = frozenset((
    ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.comprehension, ast.withitem,
    ast.FunctionDef,
))  # fmt: skip
"""Nodes that bind names; a call may bind a file to what it writes."""

_CALLS: dict[str, Callable[..., Any]] = {
    "float": float, "int": int, "str": str, "round": round, "abs": abs, "repr": repr, "list": list,
    "tuple": tuple, "dict": dict, "float64": float, "float32": float, "array": list, "asarray": list,
    "Decimal": float, "mpf": float, "loads": json.loads, "literal_eval": ast.literal_eval, "bytes": bytes,
    "Fraction": float, "longdouble": float, "sorted": sorted, "item": float, }  # fmt: skip
_METHODS = frozenset((
    "format", "join", "replace", "strip", "lstrip", "rstrip", "decode", "encode", "split", "get",
    "upper", "lower", "removeprefix", "removesuffix", "zfill", "values", "items", "keys", "tolist",
    "item", "copy",
))  # fmt: skip
_READS = ("read", "read_text", "readline")
_NEUTRAL = {"cos": 0, "exp": 0, "cosh": 0}
"""Functions that are 1 at a point."""


@dataclass(slots=True)
class Bindings:
    """What the names, functions and files of a session stand for, when that is one expression."""

    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    functions: dict[str, list[ast.FunctionDef | ast.Lambda]] = field(default_factory=dict)
    files: dict[str, list[ast.expr]] = field(default_factory=dict)

    def note(self, node: ast.AST) -> None:
        """Remember what a statement binds."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._bind(node.target, _UNKNOWN)
        elif isinstance(node, ast.For | ast.comprehension):
            single = isinstance(node.iter, ast.List | ast.Tuple) and len(node.iter.elts) == 1
            self._bind(node.target, node.iter.elts[0] if single else _UNKNOWN)  # type: ignore[attr-defined]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.FunctionDef):
            self.functions.setdefault(node.name, []).append(node)
        elif _is_write(node):
            self._write(node.func.value, node.args[0])  # type: ignore[attr-defined]

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            for place, one in enumerate(target.elts):
                self._bind(one, value.elts[place] if same else _UNKNOWN)  # type: ignore[attr-defined]
        elif isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
            self._bind(target.value, _UNKNOWN)

    def _write(self, file: ast.expr, text: ast.expr) -> None:
        try:
            value = fold(file, self, set())
        except Unfoldable:
            return
        if isinstance(value, _File):
            self.files.setdefault(value.path, []).append(text)


def _is_write(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("write", "write_text")
        and bool(node.args)
    )


def fold(node: ast.expr, bindings: Bindings, names: set[str], depth: int = 0) -> Any:
    """The constant that an expression shows; the names it came through are added to `names`.

    Raises:
        Unfoldable: the expression is something else.
    """
    if depth > DEEPEST:
        raise Unfoldable
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise Unfoldable
    try:
        value = handler(node, bindings, names, depth + 1)
    except (
        TypeError,
        ValueError,
        LookupError,
        ArithmeticError,
        AttributeError,
        RecursionError,
    ) as error:
        raise Unfoldable from error
    if isinstance(value, str | bytes | list) and len(value) > LONGEST:
        raise Unfoldable
    return value


def _name(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    values = bindings.values.get(node.id, [])
    if not 1 <= len(values) <= MOST_BINDINGS:
        raise Unfoldable
    names.add(node.id)
    first, *others = (fold(value, bindings, names, depth) for value in values)
    if any(other != first for other in others):
        raise Unfoldable
    return first


def _formatted(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    spec = fold(node.format_spec, bindings, names, depth) if node.format_spec else ""
    return format(fold(node.value, bindings, names, depth), spec)


def _joined(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    return "".join(str(fold(part, bindings, names, depth)) for part in node.values)


def _unary(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    value = fold(node.operand, bindings, names, depth)
    if isinstance(node.op, ast.USub):
        return -value
    if isinstance(node.op, ast.UAdd):
        return value
    raise Unfoldable


def _binary(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    left = fold(node.left, bindings, names, depth)
    right = fold(node.right, bindings, names, depth)
    texts = isinstance(left, str | bytes | list)
    if isinstance(node.op, ast.Mod) and isinstance(left, str):
        return left % (tuple(right) if isinstance(right, list) else right)
    if isinstance(node.op, ast.Add) and (texts or not _whole(left, right)):
        return left + right
    if isinstance(node.op, ast.Sub) and not texts and not _whole(left, right):
        return left - right
    if isinstance(node.op, ast.Mult) and not texts and (_is_scale(left) or _is_scale(right)):
        return left * right
    if isinstance(node.op, ast.Div) and not texts and _is_scale(right):
        return left / right
    raise Unfoldable


def _whole(left: Any, right: Any) -> bool:
    """Sums of whole numbers count sizes; they smuggle nothing."""
    return isinstance(left, int) and isinstance(right, int)


def _is_scale(value: Any) -> bool:
    """One, or a power of ten."""
    if not isinstance(value, int | float) or value <= 0:
        return False
    return math.isclose(math.log10(value), round(math.log10(value)), abs_tol=1e-12)


def _list(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    return [fold(one, bindings, names, depth) for one in node.elts]


def _dict(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    return {
        fold(key, bindings, names, depth): fold(value, bindings, names, depth)
        for key, value in zip(node.keys, node.values, strict=True)
        if key is not None
    }


def _subscript(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    value = fold(node.value, bindings, names, depth)
    if isinstance(node.slice, ast.Slice):
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        return value[slice(*(one and fold(one, bindings, names, depth) for one in bounds))]
    return value[fold(node.slice, bindings, names, depth)]


def _call(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    def value(one: ast.expr) -> Any:
        return fold(one, bindings, names, depth)

    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if isinstance(function, ast.Attribute) and name in _READS:
        return _read_file(value(function.value), bindings, names, depth)
    if isinstance(function, ast.Attribute) and name in _METHODS and not node.keywords:
        return _method(value(function.value), name, [value(one) for one in node.args])
    if name in ("open", "Path") and node.args:
        return _File(str(value(node.args[0])))
    if name in bindings.functions:
        names.add(f"{name}()")
        (only,) = bindings.functions[name]
        return _returned(only, node, bindings, names, depth)
    if node.keywords or len(node.args) > 2:
        raise Unfoldable
    arguments = [value(one) for one in node.args]
    if name == "eval":
        return fold(ast.parse(str(arguments[0]), mode="eval").body, bindings, names, depth)
    return _known(name, arguments)


def _known(name: str, arguments: list[Any]) -> Any:
    if name in _NEUTRAL and arguments == [_NEUTRAL[name]]:
        return 1.0
    if name in _CALLS:
        return _CALLS[name](*arguments)
    raise Unfoldable


def _method(owner: Any, name: str, arguments: list[Any]) -> Any:
    if not isinstance(owner, str | bytes | dict | list | int | float):
        raise Unfoldable
    if name in ("tolist", "item", "copy"):
        return owner
    result = getattr(owner, name)(*arguments)
    return list(result) if name in ("values", "keys", "items") else result


def _read_file(file: Any, bindings: Bindings, names: set[str], depth: int) -> Any:
    if not isinstance(file, _File):
        raise Unfoldable
    (text,) = bindings.files.get(file.path, [])
    return fold(text, bindings, names, depth)


def _returned(
    function: ast.FunctionDef | ast.Lambda,
    call: ast.Call,
    bindings: Bindings,
    names: set[str],
    depth: int,
) -> Any:
    """What a call returns, when the function has one return of a constant or a default argument."""
    if isinstance(function, ast.Lambda):
        return fold(function.body, bindings, names, depth)
    returns = [one for one in ast.walk(function) if isinstance(one, ast.Return)]
    if len(returns) != 1 or returns[0].value is None:
        raise Unfoldable
    given = function.args.args
    defaults = function.args.defaults
    inner = Bindings(dict(bindings.values), bindings.functions, bindings.files)
    for place, argument in enumerate(given):
        at = place - (len(given) - len(defaults))
        if place < len(call.args):
            inner.values[argument.arg] = [call.args[place]]
        elif at >= 0:
            inner.values[argument.arg] = [defaults[at]]
    own: set[str] = set()
    value = fold(returns[0].value, inner, own, depth)
    names |= own - {argument.arg for argument in given}
    return value


def _constant(node: Any, bindings: Bindings, names: set[str], depth: int) -> Any:  # noqa: ARG001
    return node.value


_HANDLERS: dict[type[ast.AST], Callable[[Any, Bindings, set[str], int], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.FormattedValue: _formatted,
    ast.JoinedStr: _joined,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.List: _list,
    ast.Tuple: _list,
    ast.Dict: _dict,
    ast.Subscript: _subscript,
    ast.Call: _call,
}
