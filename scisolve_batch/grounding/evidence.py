"""Checks that cannot fail: cells that compare a value with itself or print constants only.

It reads the code and runs nothing. What it cannot see through it leaves alone, so a silence here
says nothing about the check.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scisolve_batch.grounding.constants import find_constants
from scisolve_batch.grounding.sources import read_printed
from scisolve_batch.grounding.static import MOST_CODE, find_static_copies
from scisolve_batch.grounding.syntax import Syntax, read_syntax, written

_COMPARING = frozenset(
    [
        "allclose",
        "isclose",
        "array_equal",
        "array_equiv",
        "assert_allclose",
        "assert_almost_equal",
        "assert_array_almost_equal",
        "assert_array_equal",
        "assert_equal",
    ]
)
_SAME_EACH_TIME = frozenset(
    [
        "np",
        "numpy",
        "sp",
        "scipy",
        "math",
        "cmath",
        "linalg",
        "fft",
        "special",
        "integrate",
        "optimize",
        "stats",
        "abs",
        "float",
        "int",
        "complex",
        "len",
        "list",
        "max",
        "min",
        "round",
        "sorted",
        "sum",
        "tuple",
    ]
)
"""Roots of calls that give the same value for the same arguments."""
_WRITING = frozenset(["shuffle", "fill_diagonal", "copyto", "put", "place", "putmask"])
"""Functions of numpy that change their argument."""
_KEEPING = ("float", "np.float64", "np.asarray", "np.array")
"""Functions that give back the value of their argument."""
_BY_CHANCE = ("random", "rng", "rvs", "time", "empty")
_DEEPEST = 40
"""Names that are followed, one through the other."""
_LONGEST = 4000
"""Characters of an expression that is compared as a whole."""


def find_empty_check(codes: Sequence[str], evidence: int, output: str) -> str:
    """Why the evidence cell could not have shown a fault; empty when nothing is seen.

    Args:
        codes: the code of each successful cell up to the evidence cell and including it.
        evidence: the position of the evidence cell in `codes`.
        output: what the evidence cell printed.

    Returns:
        The end of a sentence about that cell, such as `compares a value with itself`.
    """
    if sum(map(len, codes)) > MOST_CODE:
        return ""
    read = [read_syntax(code) for code in codes]
    syntaxes = [one for one in read if one is not None]
    if len(syntaxes) < len(codes):
        return ""
    if pairs := list(_comparisons(syntaxes[evidence])):
        return _find_same(_Session.read(syntaxes), pairs)
    numbers = [one.text for one in read_printed(output)]
    if not numbers:
        return ""
    copied = find_static_copies(codes, find_constants(codes))
    if all((evidence, text) in copied for text in numbers):
        return "prints nothing but constants of its own code"
    return ""


def _find_same(session: _Session, pairs: Sequence[tuple[ast.expr, ast.expr]]) -> str:
    try:
        if all(session.same(left, right) for left, right in pairs):
            return f"compares a value with itself (`{_short(pairs[0])}`)"
    except RecursionError:
        return ""
    return ""


@dataclass(slots=True)
class _Session:
    """What the names of a session stand for, as far as that is certain.

    Attributes:
        meanings: names that stand for one expression all along.
        changing: names that may stand for something else now than when an expression was run.
    """

    meanings: dict[str, ast.expr] = field(default_factory=dict)
    changing: frozenset[str] = frozenset()

    @classmethod
    def read(cls, syntaxes: Sequence[Syntax]) -> _Session:
        """Names that are bound once, at the top of a cell, and never changed in place."""
        bound: Counter[str] = Counter()
        touched: set[str] = set()
        meanings: dict[str, ast.expr] = {}
        for tree, nodes in syntaxes:
            for node in nodes:
                bound.update(_bound_by(node))
                touched.update(_touched_by(node))
            for statement in tree.body:
                if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                    target = statement.targets[0]
                    if isinstance(target, ast.Name):
                        meanings[target.id] = statement.value
        changing = {name for name in {*bound, *touched} if bound[name] > 1 or name in touched}
        return cls(
            {name: value for name, value in meanings.items() if name not in changing},
            frozenset(changing - _SAME_EACH_TIME),
        )

    def same(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether two expressions must have the same value."""
        here, there = self.spell(left, _DEEPEST), self.spell(right, _DEEPEST)
        return bool(here) and here == there

    def spell(self, node: ast.expr, depth: int) -> str:
        """An expression with its names replaced by what they stand for; empty when it may vary."""
        spelt = _Speller(self, depth)
        try:
            text = ast.unparse(spelt.visit(ast.fix_missing_locations(_copy(node))))
        except ValueError:
            return ""
        return "" if spelt.varies or len(text) > _LONGEST else text


class _Speller(ast.NodeTransformer):
    def __init__(self, session: _Session, depth: int) -> None:
        self.session, self.depth, self.varies = session, depth, False
        self.expanded = False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        meaning = self.session.meanings.get(node.id)
        if self.expanded and node.id in self.session.changing:
            self.varies = True  # what was run then saw another value
        if meaning is None or self.varies:
            return node
        if self.depth <= 0 or len(ast.unparse(meaning)) > _LONGEST:
            self.varies = True
            return node
        self.depth -= 1
        within, self.expanded = self.expanded, True
        spelt = self.visit(_copy(meaning))
        self.expanded = within
        return spelt  # type: ignore[no-any-return]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = written(node.func)
        if name.partition(".")[0] not in _SAME_EACH_TIME or any(
            word in name for word in _BY_CHANCE
        ):
            self.varies = True
            return node
        if name in _KEEPING and len(node.args) == 1 and not node.keywords:
            return self.visit(node.args[0])  # type: ignore[no-any-return]
        return self.generic_visit(node)  # type: ignore[return-value]


def _copy(node: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(node), mode="eval").body


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Every name that a node binds, wherever it stands."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def _touched_by(node: ast.AST) -> Iterator[str]:
    """Names whose value a node may change in place."""
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield _root(node)
    elif isinstance(node, ast.AugAssign):
        yield _root(node.target)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield _root(node.func)
        name = written(node.func)
        reads = name.partition(".")[0] in (*_SAME_EACH_TIME, "print")
        writes = name.rpartition(".")[2] in _WRITING
        if not reads or writes or any(word.arg == "out" for word in node.keywords):
            for argument in (*node.args, *(word.value for word in node.keywords)):
                yield _root(argument)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _comparisons(syntax: Syntax) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a cell holds against each other: differences, comparisons, numpy's functions for it."""
    for node in syntax.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div):
            yield node.left, node.right
        elif isinstance(node, ast.Compare):
            for left, right in zip((node.left, *node.comparators), node.comparators, strict=False):
                if not _is_tolerance(node, left, right):
                    yield left, right
        elif (
            isinstance(node, ast.Call)
            and len(node.args) >= 2
            and written(node.func).rpartition(".")[2] in _COMPARING
        ):
            yield node.args[0], node.args[1]


def _is_tolerance(node: ast.Compare, left: ast.expr, right: ast.expr) -> bool:
    """`abs(x - y) < 1e-9` compares x with y."""
    inner = isinstance(right, ast.Constant) and any(
        isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) for one in ast.walk(left)
    )
    return inner and all(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops)


def _short(pair: tuple[ast.expr, ast.expr]) -> str:
    text = " against ".join(ast.unparse(one) for one in pair)
    return text if len(text) <= 60 else text[:59] + "…"
