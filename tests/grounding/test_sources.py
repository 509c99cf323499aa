"""The numbers of outputs: arrays, tables, JSON, complex numbers, and what is none."""

import pytest

from scisolve_batch.grounding.sources import gather, read_printed
from scisolve_batch.records import Cell


def texts(output):
    return [one.text for one in read_printed(output)]


@pytest.mark.parametrize(
    ("output", "read"),
    [
        ("[1.e-05 2.5e+00 -3. ]", ["1.e-05", "2.5e+00", "-3."]),
        ("array([1, 2.5, 3.])", ["1", "2.5", "3."]),
        ("[0.1 0.2 ... 0.8]", ["0.1", "0.2", "0.8"]),
        ("np.float64(1.5) float64 int32", ["1.5"]),
        ("(1.5-2.5j)", ["1.5", "-2.5"]),
        ("(-1.5+2.5j)", ["-1.5", "+2.5"]),
        ('{"x": 1.25, "n": 12}', ["1.25", "12"]),
        ("a,b\n1.5,2.5", ["1.5", "2.5"]),
        ("   x    y\n0  1.5  -2.0\n1  2.5  nan", ["0", "1.5", "-2.0", "1", "2.5"]),
        ("1,234.5", ["1,234.5"]),
        ("1_000", ["1_000"]),
        ("nan inf -inf NaN", []),
        ("SciPy 1.11.4", []),
        ("0xff 0b11", []),
        ("x1 H2O RK45", []),
        ("1.5 × 10⁻³ and 2 x 10^-5", ["1.5 × 10⁻³", "2 x 10^-5"]),
        ("1.5D+03", ["1.5D+03"]),
        ("-0.0 007", ["-0.0", "007"]),
    ],
)
def test_printed_numbers_are_read(output, read):
    assert texts(output) == read


def test_values_are_exact():
    values = {
        one.text: one.value for one in read_printed("0.1 1,234.5 1_000 1.5D+03 2 x 10^-5 1e-400")
    }
    assert [str(value) for value in values.values()] == [
        "0.1",
        "1234.5",
        "1000",
        "1.5E+3",
        "0.00002",
        "1E-400",
    ]


def test_a_comma_may_separate_numbers_too():
    assert texts("100,200") == ["100,200", "100", "200"]


def test_a_printed_percentage_is_a_share_as_well():
    assert [str(one.value) for one in read_printed("12.5 %")] == ["12.5", "0.125"]


def test_a_huge_exponent_is_no_number():
    assert texts("1e99999999999999999999") == []


def test_places_are_kept():
    pool = gather([Cell(index=3, stdout="a\nb 1.5")], "c 2.5")
    first, second = pool.numbers
    assert (pool.texts[first.source].cell, pool.line(first)) == (3, 2)
    assert pool.texts[second.source].cell is None


@pytest.mark.parametrize(
    ("output", "unit"),
    [("t 1.5 s", ("s^1", 0)), ("t 1.5 ms", ("s^1", -3)), ("f [kHz] 1.5", ("Hz^1", 3)), ("{'t (ms)': 1.5", ("s^1", -3)),
     ("v 1.5 km/s", ("m^1*s^-1", 3)), ("a 1.5 cm²", ("m^2", -4)), ("n 1.5 iterations", None), ("n 1.5", None)],
)  # fmt: skip
def test_units_are_found_after_a_number_or_in_brackets_before_it(output, unit):
    pool = gather([Cell(index=1, stdout=output)], "")
    assert pool.unit(pool.numbers[0]) == unit
