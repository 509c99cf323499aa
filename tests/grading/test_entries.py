import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.grading.entries import parse_entries, read_entries
from scisolve_batch.grading.numbers import MAX_TEXT


def read(text):
    found = read_entries(text)
    assert found.note == "", found.note
    return [complex(one.re, one.im) if one.im else float(one.re) for one in found.values]


@pytest.mark.parametrize(
    "text",
    [
        "[1.5, -2.0]",
        "[1.5,-2.0]",
        "[1.5 -2. ]",
        "[ 1.5\n -2. ]",
        "(1.5, -2.0)",
        "{1.5, -2}",
        "\\{1.5, -2\\}",
        "1.5, -2.0",
        "1.5; -2.0",
        "1.5 -2.0",
        "[1.5; -2.0]",
        "[[1.5], [-2.0]]",
        "[[ 1.5]\n [-2. ]]",
        "[1.5, −2.0]",
        "array([ 1.5, -2. ])",
        "np.array([1.5, -2.0], dtype=float64)",
        "[np.float64(1.5), np.float64(-2.0)]",
        "[mpf('1.5'), mpf('-2.0')]",
        '["1.5", "-2.0"]',
        "x = [1.5, -2.0]",
        "x1 = 1.5, x2 = -2.0",
        "x[0] = 1.5, x[1] = -2.0",
        "$[1.5, -2.0]$",
        "`[1.5, -2.0]`",
        "[1.5, -2.0]^T",
        "(1.5, -2.0)ᵀ",
        "[1.5, -2.0,]",
        "[0.15e1, -2.0E0]",
        "[15 × 10^-1, -20×10⁻¹]",
        "[15 \\times 10^{-1}, -2]",
        "\\begin{pmatrix} 1.5 \\\\ -2.0 \\end{pmatrix}",
        "\\begin{bmatrix} 1.5 & -2.0 \\end{bmatrix}",
        "[1.5..., -2.0…]",
        "[1.5+0j, -2-0j]",
    ],
)
def test_a_list_is_read_in_every_form_that_is_printed(text):
    assert read(text) == [1.5, -2.0]


@pytest.mark.parametrize(
    "text",
    [
        "1.5-2j",
        "1.5 - 2j",
        "(1.5-2j)",
        "1.5-2.0i",
        "1.5 - 2*I",
        "1.5 - 2 \\mathrm{i}",
        "1.5 − 2i",
        "1.5 - j2",
        "-2j+1.5",
        "z = 1.5-2j",
        "$1.5 - 2i$",
        "np.complex128(1.5-2j)",
        "mpc(real='1.5', imag='-2.0')",
        '{"re": 1.5, "im": -2.0}',
        "(1.5 - 2.0j)",
        "0.15e1-0.2e1j",
        "15×10^-1 - 20×10⁻¹ i",
    ],
)
def test_a_complex_number_is_read_in_every_form_that_is_printed(text):
    assert read(text) == [1.5 - 2j]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("j", [1j]),
        ("-i", [-1j]),
        ("2.5j", [2.5j]),
        ("1+j", [1 + 1j]),
        ("[1.+0.j 0.-2.j]", [1.0, -2j]),
        ("[ 1.5 +0.j  -2.25+1.j ]", [1.5, -2.25 + 1j]),
        ("[1.  +0.5j 2.25+1.j  ]", [1 + 0.5j, 2.25 + 1j]),
        ("[(1+2j), (3-4j), 5]", [1 + 2j, 3 - 4j, 5.0]),
        ("(1+2j), (3-4j)", [1 + 2j, 3 - 4j]),
        ("[1 -2 3]", [1.0, -2.0, 3.0]),
        ("[[1, 2], [3, 4]]", [1.0, 2.0, 3.0, 4.0]),
        ("[1, 2], [3, 4]", [1.0, 2.0, 3.0, 4.0]),
        ("[1 2; 3 4]", [1.0, 2.0, 3.0, 4.0]),
        ("[1,234, 5]", [1.0, 234.0, 5.0]),
        ("[0.739 085, 1.2]", [0.739085, 1.2]),
        ("7", [7.0]),
    ],
)
def test_lists_and_complex_numbers_mix(text, values):
    assert read(text) == values


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("[1.5, 2.5] m", "m"),
        ("[1.5 2.5] m", "m"),
        ("1.5 m, 2.5 m", "m"),
        ("(1.5+2j) ohm", "ohm"),
        ("1.5+2j ohm", "ohm"),
        ("[1, 2] m s^-2", "m s^-2"),
        ("[1, 2]", None),
    ],
)
def test_a_unit_follows_the_list_or_each_number(text, unit):
    found = read_entries(text)
    assert (found.note, found.unit) == ("", unit)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", "no number"),
        ("[]", "no number"),
        ("[1.0, 2.0, ..., 9.0]", "entries are left out (`...`)"),
        ("[1. 2. ... 8. 9.]", "entries are left out (`...`)"),
        ("[1.0, nan]", "`nan` is not a number"),
        ("[1.0, sqrt(2)]", "is not a number"),
        ("[1/2, 1/3]", "`1/2` is not a number"),
        ("[1.0, abc]", "`abc` is not a number"),
        ("not converged", "`not converged` is not a number"),
        ("2^53", "`2^53` is not a number"),
        ("1.2.3", "`1.2.3` is not a number"),
        ("(1+2j)*3", "follows the number"),
        ("[1, 2] or [3, 4]", "`or [3, 4]` follows the numbers"),
        ("1.5 m, 2.5 s", "the units m, s stand side by side"),
        ("1 " * MAX_TEXT, "longer than"),
        ("1 " * 2500, "more than 2000 entries"),
    ],
)
def test_what_cannot_be_read_says_why(text, note):
    found = read_entries(text)
    assert found.values == ()
    assert note in found.note


finite = st.floats(allow_nan=False, allow_infinity=False)
floats = st.lists(finite, min_size=1, max_size=9)
complexes = st.lists(
    st.complex_numbers(allow_nan=False, allow_infinity=False), min_size=1, max_size=9
)


@given(st.one_of(floats, complexes))
def test_what_python_prints_is_read_back(numbers):
    assert read(str(numbers)) == numbers
    assert read(str(tuple(numbers))) == numbers
    assert read(str(numbers[0])) == numbers[:1]


@given(floats)
def test_what_json_writes_is_read_back(numbers):
    assert read(json.dumps(numbers)) == numbers


@given(st.one_of(floats, complexes))
def test_what_numpy_prints_is_read_back(numbers):
    array = np.array(numbers)
    with np.printoptions(floatmode="unique"):
        assert read(str(array)) == list(array)
        assert read(repr(array)) == list(array)
        assert read(str(array.reshape(-1, 1))) == list(array)
        assert read(str(array[0])) == [array[0]]
        assert read(repr(list(array))) == list(array)


@given(st.text("0123456789.+-ejij,;[](){} \n*^×10…m", max_size=60))
def test_no_text_is_an_error(text):
    found = read_entries(text)
    assert bool(found.values) != bool(found.note)


def test_certified_numbers_are_exact():
    (one,) = parse_entries(("1.00000000000000000000000001-2e-30j",))
    assert (one.re, one.im) == (Decimal("1.00000000000000000000000001"), Decimal("-2e-30"))


@pytest.mark.parametrize(
    "text",
    [
        "1" * 20000,
        "[" * 20000,
        "1 + " * 5000,
        "(1" * 9000,
        "1 j" * 6000,
        "-.1j+" * 4000,
        "x[1] = " * 2500,
    ],
)
def test_long_text_takes_no_time_that_matters(text):
    read_entries(text)
