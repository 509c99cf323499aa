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

from scisolve_batch.grounding.constants import Constant
from scisolve_batch.grounding.folding import Bindings, Unfoldable, fold
from scisolve_batch.grounding.sources import Number, read_printed
from scisolve_batch.grounding.syntax import read_syntax, written

MOST_CODE = 200_000
"""Characters of code that are walked; longer code is left to the re-run."""


@dataclass(slots=True)
class _Session:
    """The bindings of a session, how often each name is read, and what is printed."""

    bindings: Bindings = field(default_factory=Bindings)
    reads: dict[str, int] = field(default_factory=dict)
    prints: list[tuple[int, ast.Call]] = field(default_factory=list)


def find_static_copies(codes: Sequence[str], constants: Sequence[Constant]) -> set[tuple[int, str]]:
    """The numbers that each code prints as copied constants, as pairs of code and text."""
    session = _Session()
    if sum(map(len, codes)) > MOST_CODE:
        return set()
    for cell, code in enumerate(codes):
        syntax = read_syntax(code)
        for node in syntax.nodes if syntax else ():
            _note(node, session, cell)
    shown = [
        (cell, number, names, part)
        for cell, call in session.prints
        for argument in call.args
        for number, names, part in _printed(argument, session)
    ]
    # The digits stand nowhere in the code but in what is printed.
    times = Counter(abs(number.value) for _, number, _, _ in shown)
    copies = list({id(part): part for _, _, _, part in shown}.values())
    return {
        (cell, number.text)
        for cell, number, names, _ in shown
        if _only_printed(names, session, copies)
        and sum(one.value == abs(number.value) for one in constants) <= times[abs(number.value)]
    }


def _note(node: ast.AST, session: _Session, cell: int) -> None:
    if isinstance(node, ast.Constant):
        return
    if read := _read(node):
        session.reads[read] = session.reads.get(read, 0) + 1
        return
    session.bindings.note(node)
    if called := _called(node):
        session.reads[called] = session.reads.get(called, 0) + 1
    if isinstance(node, ast.Call) and written(node.func) in ("print", "sys.stdout.write"):
        session.prints.append((cell, node))


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


def _only_printed(names: set[str], session: _Session, copies: Sequence[ast.expr]) -> bool:
    """Whether names are read by copies, and by each other, alone. `print(2 * x)` is a use."""
    inner = [value for name in names for value in session.bindings.values.get(name, ())]
    for name in names:
        known = sum(
            name in (_read(node), _called(node))
            for tree in (*copies, *inner)
            for node in ast.walk(tree)
        )
        if session.reads.get(name, 0) > known:
            return False
    return True
