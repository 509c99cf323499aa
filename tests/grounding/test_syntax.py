"""Code is read once, and names are written as Python writes them."""

import ast

import pytest

from scisolve_batch.grounding.syntax import read_syntax, written


def test_every_node_but_marks_is_there_from_the_top_down():
    code = "def f(x):\n    return [y * 2 for y in x if y > 0]\nprint(f'{f([1])}', end='')\n"
    syntax = read_syntax(code)
    marks = (ast.expr_context, ast.operator, ast.cmpop)
    walked = [type(node) for node in ast.walk(ast.parse(code)) if not isinstance(node, marks)]
    assert [type(node) for node in syntax.nodes] == walked
    assert syntax.nodes[0] is syntax.tree


@pytest.mark.parametrize("code", ["print(", "x = 1\x00", "f(" * 5000, "é" * 30_000 + "("])
def test_what_is_no_python_is_none(code):
    assert read_syntax(code) is None


@pytest.mark.parametrize("code", ["print", "np.linalg.eigvals", "f().g", "a[0].b", "(x + y).real"])
def test_a_function_is_written_as_python_writes_it(code):
    node = ast.parse(code, mode="eval").body
    assert written(node) == ast.unparse(node)
