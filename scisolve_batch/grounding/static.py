"""Copied constants that can be seen without running anything.

What a `print` shows was copied when its arguments fold to constants of the source, through names,
containers, strings, functions, files or neutral arithmetic. When a name on the way is read
elsewhere, or the same digits stand elsewhere in the code, it is a parameter and left alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from scisolve_batch.grounding.constants import Constant
from scisolve_batch.grounding.folding import BINDING, Bindings, Unfoldable, fold
from scisolve_batch.grounding.sources import Number, read_printed
from scisolve_batch.grounding.syntax import read_syntax, written

MOST_CODE = 200_000
"""Characters of code that are walked; longer code is left to the re-run."""


@dataclass(slots=True)
class _Session:
    """What can be seen in the codes of a session.

    Attributes:
        bindings: what its names stand for.
        reads: how often each name is read.
        prints: the calls that print, with the number of their code.
        shown: the constants that they print, with the names these came through.
        times: how often each of them is shown.
        parts: the expressions that show them.
    """

    bindings: Bindings = field(default_factory=Bindings)
    reads: Counter[str] = field(default_factory=Counter)
    prints: list[tuple[int, ast.Call]] = field(default_factory=list)
    shown: list[tuple[int, Number, frozenset[str]]] = field(default_factory=list)
    times: Counter[Decimal] = field(default_factory=Counter)
    parts: dict[int, ast.expr] = field(default_factory=dict)
    _known: dict[frozenset[str], bool] = field(default_factory=dict)

    def note(self, node: ast.AST, cell: int) -> None:
        """Take down what a node reads, binds and prints."""
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Load:  # type: ignore[attr-defined]
                self.reads[node.id] += 1  # type: ignore[attr-defined]
        elif kind is ast.Call:
            self.bindings.note(node)
            if called := _called(node):
                self.reads[called] += 1
            if written(node.func) in ("print", "sys.stdout.write"):  # type: ignore[attr-defined]
                self.prints.append((cell, node))  # type: ignore[arg-type]
        elif kind in BINDING:
            self.bindings.note(node)

    def fold_prints(self) -> None:
        """Find the constants that are printed."""
        for cell, call in self.prints:
            for argument in call.args:
                for number, names, part in _printed(argument, self):
                    self.shown.append((cell, number, frozenset(names)))
                    self.times[abs(number.value)] += 1
                    self.parts[id(part)] = part

    def only_printed(self, names: frozenset[str]) -> bool:
        """Whether names are read by copies, and by each other, alone. `print(2 * x)` is a use."""
        known = self._known.get(names)
        if known is None:
            known = self._known[names] = self._count_reads(names)
        return known

    def _count_reads(self, names: frozenset[str]) -> bool:
        inner = [value for name in names for value in self.bindings.values.get(name, ())]
        for name in names:
            known = sum(
                name in (_read(node), _called(node))
                for tree in (*self.parts.values(), *inner)
                for node in ast.walk(tree)
            )
            if self.reads[name] > known:
                return False
        return True


def find_static_copies(codes: Sequence[str], constants: Sequence[Constant]) -> set[tuple[int, str]]:
    """The numbers that each code prints as copied constants, as pairs of code and text."""
    if sum(map(len, codes)) > MOST_CODE:
        return set()
    session = _look_at(tuple(codes))
    if not session.shown:
        return set()
    # The digits stand nowhere in the code but in what is printed.
    times = Counter(one.value for one in constants)
    return {
        (cell, number.text)
        for cell, number, names in session.shown
        if times[abs(number.value)] <= session.times[abs(number.value)]
        and session.only_printed(names)
    }


@lru_cache(maxsize=2)
def _look_at(codes: tuple[str, ...]) -> _Session:
    """The session of some codes. An answer and the check that it names are asked about in turn."""
    session = _Session()
    for cell, code in enumerate(codes):
        syntax = read_syntax(code)
        for node in syntax.nodes if syntax else ():
            session.note(node, cell)
    session.fold_prints()
    return session


def _read(node: ast.AST) -> str:
    """The name that a node reads."""
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else ""


def _called(node: ast.AST) -> str:
    """The function that a node calls, as `f()`."""
    known = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return f"{node.func.id}()" if known else ""  # type: ignore[attr-defined]


def _printed(argument: ast.expr, session: _Session) -> Iterator[tuple[Number, set[str], ast.expr]]:
    """The numbers that an argument of print shows, with the names they came through."""
    for part in _parts(argument):
        names: set[str] = set()
        try:
            shown = str(fold(part, session.bindings, names))[:10_000]
        except Unfoldable:
            continue
        for number in read_printed(shown):
            yield number, names, part


def _parts(argument: ast.expr) -> Iterator[ast.expr]:
    """The pieces of a text that are shown one after the other."""
    if isinstance(argument, ast.JoinedStr):
        yield from argument.values
    elif isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Add):
        yield argument
        yield from _parts(argument.left)
        yield from _parts(argument.right)
    else:
        yield argument
