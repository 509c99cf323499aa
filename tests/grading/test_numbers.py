from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.grading.numbers import MAX_TEXT, find_numbers, read_number, tidy


@pytest.mark.parametrize(
    ("text", "value", "digits"),
    [
        ("0.5", "0.5", 1),
        ("0.500", "0.5", 3),
        ("-12", "-12", 2),
        ("+.5", "0.5", 1),
        ("5.", "5", 1),
        ("1500", "1500", 4),
        ("0", "0", 1),
        ("1e-6", "1e-6", 1),
        ("1.50E+10", "1.5e10", 3),
        ("1.5d-3", "1.5e-3", 2),
        ("−3.2e−5", "-3.2e-5", 2),
        ("–3.2", "-3.2", 2),
        ("1,234.5", "1234.5", 5),
        ("126,231,322", "126231322", 9),
        ("12 345 678", "12345678", 8),
        ("12\u202f345", "12345", 5),
        ("1_000_000", "1e6", 7),
        ("1'234'567.8", "1234567.8", 8),
        ("3.8376×10⁻⁷", "3.8376e-7", 5),
        ("3.8376 × 10^-7", "3.8376e-7", 5),
        ("2.5 \\times 10^{-3}", "2.5e-3", 2),
        ("2.5\\cdot10^{3}", "2500", 2),
        ("2.5*10**-3", "2.5e-3", 2),
        ("2.5 x 10^(-3)", "2.5e-3", 2),
        ("10^-7", "1e-7", 1),
        ("10⁻⁷", "1e-7", 1),
        ("$0.25$", "0.25", 2),
        ("**0.25**", "0.25", 2),
        ("`0.25`", "0.25", 2),
        ("≈ 0.25", "0.25", 2),
        ("np.float64(1.5)", "1.5", 2),
        ("numpy.int64(3)", "3", 1),
        ("Decimal('0.10')", "0.1", 2),
        ("mpf('0.1')", "0.1", 1),
        ("7.16e-14.", "7.16e-14", 3),
        ("0.7391...", "0.7391", 4),
        ("0.7391…", "0.7391", 4),
        ("1.2345(67)", "1.2345", 5),
        ("1.5 ± 0.1", "1.5", 2),
        ("12{,}345", "12345", 5),
        ("0.739 085 133 2", "0.7390851332", 10),
        ("0.739\u202f085e-3", "0.739085e-3", 6),
        ("x = 0.25", "0.25", 2),
        ("b_1: 0.25", "0.25", 2),
        ("(0.25)", "0.25", 2),
        ("[0.25]", "0.25", 2),
    ],
)
def test_a_number_is_read_exactly_in_every_common_form(text, value, digits):
    found = read_number(text)
    assert found is not None
    assert found[:2] == (Decimal(value), digits)
    assert found[2] == ""


@pytest.mark.parametrize(
    "text",
    [
        "", "about", "nan", "inf", "-inf", "True", "None", "[1, 2]", "17/70", "2^53", "2**53", "1.2.3",
        "sqrt(2)", "1+2j", "3j", "1 + 2j", "2*3", "0,5", "1,23", "12,3456", "x", "0x1F", "e5", "--1",
        "pi", "3b2", "1e", "9" * (MAX_TEXT + 1), "1e99999999999999999999",
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused_and_never_half_read(text):
    found = read_number(text)
    assert found is None or found[2] != "", found


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("1.5 m", "m"),
        ("1.5m/s^2", "m/s^2"),
        ("12 %", "%"),
        ("3.0 \\text{kg}", "kg"),
        ("5 (say)", "(say)"),
    ],
)
def test_what_follows_a_number_is_handed_on(text, unit):
    found = read_number(text)
    assert found is not None
    assert found[2] == unit


def test_numbers_of_prose_are_found_without_the_digits_of_names_and_powers():
    prose = tidy("Between 0.7-0.8, b2 = np.float64(1.5), 3rd try: 1,234 and x^2 is 4.0e-3; v1.2.3.")
    assert [str(number.value) for number in find_numbers(prose)] == [
        "0.7", "0.8", "1.5", "3", "1234", "0.0040",
    ]  # fmt: skip


decimals = st.decimals(allow_nan=False, allow_infinity=False, places=None).filter(
    lambda d: -9000 < d.adjusted() < 9000
)


@given(decimals)
def test_every_decimal_that_python_writes_is_read_back(number):
    found = read_number(str(number))
    assert found is not None
    assert found[0] == number
    assert found[1] == max(
        1, len(str(number.copy_abs()).split("E")[0].replace(".", "").lstrip("0"))
    )


@given(st.integers(-(10**60), 10**60))
def test_thousands_separators_change_nothing(number):
    for written in (f"{number:,}", f"{number:_}", f"{number:,}".replace(",", "\u202f")):
        found = read_number(written)
        assert found is not None
        assert found[0] == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_printed_by_numpy_2_is_the_same_number(number):
    found = read_number(f"np.float64({number!r})")
    assert found is not None
    assert float(found[0]) == number


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    found = read_number(text)
    assert found is None or found[0].is_finite()
