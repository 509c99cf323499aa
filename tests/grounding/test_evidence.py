"""Checks that could not have failed, and real ones that only look like them."""

import pytest

from scisolve_batch.grounding import check_grounding, find_weakness
from scisolve_batch.grounding.evidence import find_empty_check
from scisolve_batch.records import Cell, Verification

FIRST = "import numpy as np\nA = np.eye(3)\nb = np.ones(3)\nx = np.linalg.solve(A, b)\nprint(x[0])"

WITH_ITSELF = {
    "difference": "print('residual', x - x)",
    "another name": "y = x\nprint(abs(y - x).max())",
    "a copy of it": "y = np.array(x)\nprint('agree', np.allclose(y, x), 1.0)",
    "the same computation again": "y = np.linalg.solve(A, b)\nprint('difference', np.max(np.abs(x - y)))",
    "within a tolerance": "y = x\nprint('ok', np.max(np.abs(x - y)) < 1e-9, 3)",
    "ratio": "print('ratio', x[0] / x[0])",
    "comparison": "print(x[0] == x[0], 1)",
}  # fmt: skip

REAL = {
    "residual": "print('residual', np.max(np.abs(A @ x - b)))",
    "another computation": "y = np.linalg.inv(A) @ b\nprint('difference', np.max(np.abs(x - y)))",
    "changed in place": "y = np.linalg.solve(A, b)\ny[0] = 2\nprint('difference', x[0] - y[0])",
    "changed by a function": "y = np.linalg.solve(A, b)\nnp.fill_diagonal(y, 0)\nprint(x[0] - y[0])",
    "changed by a method": "y = np.linalg.solve(A, b)\ny.sort()\nprint(x[0] - y[0])",
    "bound again": "y = np.linalg.solve(A, b)\nfor y in (1, 2): pass\nprint(x[0] - y)",
    "by chance": "p = np.random.rand(9)\nq = np.random.rand(9)\nprint((p - q).mean())",
    "from a generator": "g = np.random.default_rng(1)\np = g.normal()\nq = g.normal()\nprint(p - q)",
    "own function": "def f(n): return n\np = f(1)\nq = f(1)\nprint(p - q)",
    "one difference of two": "print(x - x, np.max(np.abs(A @ x - b)))",
    "filled": "p = np.zeros(3)\nq = np.zeros(3)\np[0] = 1\nprint(p - q)",
    "nothing compared": "print('norm', np.linalg.norm(x))",
    "the same words about changed data": "A[0, 0] = 2.0\ny = np.linalg.solve(A, b)\nprint(x[0] - y[0])",
    "the same words about a name bound again": "b = np.zeros(3)\ny = np.linalg.solve(A, b)\nprint(x[0] - y[0])",
    "a chain": "print(0 < x[0] <= 1, 1)",
}  # fmt: skip

CONSTANT = ["print('error 1e-12, passed')", "e = 2.5e-13\nprint(f'residual {e}')"]


def reason(code, output="0.0\n"):
    return find_empty_check([FIRST, code], 1, output)


@pytest.mark.parametrize("way", WITH_ITSELF)
def test_a_comparison_of_a_value_with_itself_is_seen(way):
    assert reason(WITH_ITSELF[way]).startswith("compares a value with itself (`")


@pytest.mark.parametrize("way", REAL)
def test_a_check_that_could_fail_is_left_alone(way):
    assert reason(REAL[way]) == ""


@pytest.mark.parametrize("code", CONSTANT)
def test_a_verdict_that_is_written_into_the_code_is_seen(code):
    printed = "error 1e-12, passed\n" if "1e-12" in code else "residual 2.5e-13\n"
    assert reason(code, printed) == "prints nothing but constants of its own code"


@pytest.mark.parametrize(
    "code", ["x = = 1", "x" * 300_000, "a = " + "(" * 400 + "1" + ")" * 400, "\0", ""]
)
def test_code_that_cannot_be_read_says_nothing(code):
    assert find_empty_check([code], 0, "1\n") == ""


def test_definitions_that_run_in_circles_or_explode_end():
    circle = "a = b\nb = a\nprint(a - b)"
    assert find_empty_check([circle], 0, "0\n") in (
        "",
        "compares a value with itself (`a against b`)",
    )
    doubling = "x0 = 1\n" + "\n".join(f"x{n} = x{n - 1} + x{n - 1}" for n in range(1, 60))
    assert find_empty_check([doubling + "\nprint(x59 - x58)"], 0, "0\n") == ""


def test_it_is_recorded_as_weak_evidence():
    cells = [
        Cell(index=1, code=FIRST, stdout="1.0\n"),
        Cell(index=2, code="broken", status="error"),
        Cell(index=3, code="print('residual', x - x)", stdout="residual [0. 0. 0.]\n"),
    ]
    verification = Verification(
        kind="independent_method", description="again", evidence_cell=3, valid=True
    )
    weak = find_weakness(verification, cells, check_grounding("x is 1.0", cells))
    assert weak == "cell 3 compares a value with itself (`x against x`)"


@pytest.mark.parametrize(
    ("description", "quoted"),
    [
        ("the series of pi^2/6 with 60 digits, modulo 2^100, within 0.02", ""),
        ("Simpson's rule on 24 panels gives 1.3725", "1.3725"),
        ("agrees to 4.21e-9", "4.21e-9"),
        ("a simulation of 35712 paths", "35712"),
    ],
)
def test_a_description_may_say_how_but_not_invent_what_came_out(description, quoted):
    cells = [Cell(index=1, stdout="x 1.2345\n"), Cell(index=2, stdout="again 1.23450\n")]
    verification = Verification(
        kind="independent_method", description=description, evidence_cell=2, valid=True
    )
    weak = find_weakness(verification, cells, check_grounding("x is 1.2345", cells))
    assert weak == (f"its description quotes {quoted}, which nothing printed" if quoted else "")
