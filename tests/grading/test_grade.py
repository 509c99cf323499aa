import re
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.grading import grade
from scisolve_batch.records import CertifiedValue, KnownWrong, Problem, ReportedValue, ValueVerdict
from scisolve_batch.suite import load_suite


def problem(value="0.7390851332151606", *, known_wrong=(), **tolerance):
    certified = CertifiedValue(name="x", value=value, **(tolerance or {"rtol": 1e-6}))
    return Problem(id="p", statement="s", values=(certified,), known_wrong=known_wrong)


def graded(asked, value, unit=None):
    reported = [ReportedValue(name="x", value=value, unit=unit)]
    return grade(asked, answer=None, values=reported).values[0]


def verdict(asked, value, unit=None):
    return graded(asked, value, unit).verdict.value


@pytest.mark.parametrize(
    ("tolerance", "value", "right", "wrong"),
    [
        ({"rtol": 1e-6}, "2.0", ["2.000002", "1.999998"], ["2.0000021", "1.9999979", "-2.0"]),
        ({"atol": 0.5}, "0", ["0.5", "-0.5", "0"], ["0.51"]),
        ({"rtol": 0.1, "atol": 0.1}, "1", ["1.2", "0.8"], ["1.21", "0.79"]),
        ({"exact": True}, "9007199254740993", ["9007199254740993", "9,007,199,254,740,993", "9007199254740993.0"], ["9007199254740992", "9.007199254740992e15", "9.00719925474099e15"]),
        ({"exact": True}, "126231322912498539682594816", ["126231322912498539682594816"], ["1.2623132291249854e26", "126231322912498539682594817"]),
        ({"report_digits": 3}, "0.5", ["0.505", "0.495"], ["0.5051", "0.4949"]),
        ({"rtol": 1e-5}, "2.08334014970e-8", ["2.08334e-8", "2.08334 × 10⁻⁸", "20.8334e-9"], ["0", "-3.3e7", "2.0834e-8"]),
        ({"rtol": 1e-6}, "3e-99999", ["3e-99999"], ["3e-99998", "0", "1e999999"]),
    ],
)  # fmt: skip
def test_a_value_is_right_inside_its_tolerance_and_wrong_outside(tolerance, value, right, wrong):
    asked = problem(value, **tolerance)
    assert [verdict(asked, text) for text in right] == ["correct"] * len(right)
    assert [verdict(asked, text) for text in wrong] == ["wrong"] * len(wrong)


def test_the_comparison_is_decimal_and_not_binary():
    assert verdict(problem("0.3", atol=0.1), "0.4") == "correct"
    assert verdict(problem("0.3", atol=0.1), "0.40000000000000000001") == "wrong"


def test_units_are_converted_or_refused():
    asked = Problem(
        id="p",
        statement="s",
        values=(CertifiedValue(name="x", value="0.25", unit="m", rtol=1e-6),),
    )
    assert verdict(asked, "0.25") == "correct"
    assert verdict(asked, "0.25", "m") == "correct"
    assert verdict(asked, "250", "mm") == "correct"
    assert verdict(asked, "25 cm") == "correct"
    assert verdict(asked, "0.25", "dimensionless") == "correct"
    assert verdict(asked, "0.25", "mm") == "wrong"
    refused = graded(asked, "0.25", "kg")
    assert refused.verdict is ValueVerdict.WRONG
    assert refused.note == "the unit `kg` cannot be converted to `m`"


def test_a_percent_sign_scales_a_pure_number_and_other_words_do_not():
    asked = problem("0.125")
    assert verdict(asked, "12.5 %") == "correct"
    assert verdict(asked, "12.5", "percent") == "correct"
    assert verdict(asked, "0.125", "dimensionless") == "correct"
    assert verdict(asked, "12.5") == "wrong"


@pytest.mark.parametrize(
    ("certified", "digits", "reported", "correct_digits", "relative_error"),
    [
        ("1.0000000000", 11, "1.0000000000", 11.0, 0.0),
        ("1.0000000000", 11, "1.001", 3.0, 1e-3),
        ("1.0000000000", 11, "1.00000000000000001", 11.0, 1e-17),
        ("1.0000000000", 11, "2", 0.0, 1.0),
        ("1.0000000000", 11, "1e500", 0.0, 1e300),
        ("100", 3, "99.9", 3.0, 1e-3),
        ("8.0e-30", 2, "8.8e-30", 1.0, 0.1),
    ],
)
def test_correct_digits_are_nists_log_relative_error(
    certified, digits, reported, correct_digits, relative_error
):
    one = graded(problem(certified, rtol=1e-6, digits=digits), reported)
    assert one.correct_digits == correct_digits
    assert one.relative_error == pytest.approx(relative_error)


def test_at_a_certified_zero_the_absolute_error_is_measured():
    one = graded(problem("0.000", atol=1e-3, digits=4), "0.01")
    assert (one.correct_digits, one.relative_error, one.verdict.value) == (2.0, None, "wrong")


def test_claimed_digits_show_overclaiming():
    one = graded(problem(), "0.73910000000")
    assert (one.claimed_digits, one.verdict.value) == (11, "wrong")


def test_a_wrong_value_names_the_trap_that_gives_it():
    trap = KnownWrong(method="degrees", values={"x": "0.99984774"})
    asked = problem(known_wrong=(trap,))
    assert graded(asked, "0.99984774").trap == "degrees"
    assert graded(asked, "0.9998478").trap == "degrees"
    assert graded(asked, "0.9998").trap == "degrees"  # the same, rounded
    assert graded(asked, "0.9999").trap is None
    assert graded(asked, "1.00").trap is None  # too few digits to say
    assert graded(asked, "0.7390851332").trap is None


def test_a_trap_close_to_the_truth_is_named_only_when_it_is_nearer():
    trap = KnownWrong(method="float64", values={"x": "1.00000002"})
    asked = problem("1.00000000", rtol=1e-9, known_wrong=(trap,))
    assert graded(asked, "1.000000019").trap == "float64"
    assert graded(asked, "1.000000009").trap is None


def test_missing_and_unreadable_values_are_told_apart():
    asked = problem()
    nothing = grade(asked, answer=None, values=[])
    assert nothing.values[0].verdict is ValueVerdict.MISSING
    assert (nothing.correct, nothing.fraction) == (False, 0.0)
    unreadable = graded(asked, "sqrt(2)")
    assert (unreadable.verdict, unreadable.note) == (ValueVerdict.UNREADABLE, "not a number")
    assert unreadable.reported == "sqrt(2)"


def test_a_problem_that_certifies_nothing_has_no_grade():
    empty = Problem(id="p", statement="s")
    assert grade(empty, answer="x = 1", values=[]).correct is None


def test_a_problem_is_correct_only_when_all_values_are():
    values = tuple(CertifiedValue(name=n, value="1", exact=True) for n in ("x", "y"))
    asked = Problem(id="p", statement="s", values=values)
    half = grade(asked, answer="x = 1, y = 2", values=[])
    assert (half.correct, half.fraction) == (False, 0.5)
    assert [one.how for one in half.values] == ["labelled", "labelled"]


nonzero = st.decimals(min_value="1e-40", max_value="1e40", allow_nan=False).map(
    lambda d: Decimal(f"{d:.12e}")
)
digits = st.integers(3, 12)


@given(nonzero, digits)
def test_a_certified_value_rounded_to_the_digits_asked_for_is_right(value, asked):
    certified = problem(str(value), rtol=float(f"1e{1 - asked}"))
    assert verdict(certified, f"{value:.{asked - 1}e}") == "correct"


@given(nonzero, digits, st.sampled_from([-1, 1]))
def test_a_difference_of_more_than_the_tolerance_is_wrong(value, asked, sign):
    certified = problem(str(value), rtol=float(f"1e{1 - asked}"))
    with localcontext(prec=60):
        off = value * (1 + sign * Decimal(f"1.000001e{1 - asked}"))
    assert verdict(certified, str(off)) == "wrong"


@given(st.integers(-(10**50), 10**50), st.integers(1, 10**20))
def test_exact_integers_of_any_length_are_told_apart(number, difference):
    asked = problem(str(number), exact=True)
    assert verdict(asked, f"{number:,}") == "correct"
    assert verdict(asked, str(number + difference)) == "wrong"


@pytest.fixture(scope="module")
def everything():
    return load_suite("all").problems


def rounded_to(text, digits):
    """Every number of a value, rounded; signs between the parts of complex ones stay."""
    return re.sub(
        r"[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?",
        lambda n: f"{Decimal(n[0]):.{digits - 1}e}",
        text,
    )


def test_every_certified_value_is_right_to_its_last_certified_digit(everything):
    for asked in everything:
        whole = [ReportedValue(name=v.name, value=v.value, unit=v.unit) for v in asked.values]
        rounded = [
            ReportedValue(
                name=v.name,
                value=v.value if v.exact else rounded_to(v.value, v.report_digits),
            )
            for v in asked.values
        ]
        assert grade(asked, answer=None, values=whole).correct, asked.id
        assert grade(asked, answer=None, values=rounded).correct, asked.id
        for one in grade(asked, answer=None, values=whole).values:
            assert one.relative_error == 0


def test_every_measured_wrong_value_is_wrong_and_names_its_method(everything):
    seen = 0
    for asked in everything:
        for wrong in asked.known_wrong:
            for name, text in wrong.values.items():
                result = grade(asked, answer=None, values=[ReportedValue(name=name, value=text)])
                one = next(one for one in result.values if one.name == name)
                assert (one.verdict, one.trap) == (ValueVerdict.WRONG, wrong.method), (
                    asked.id,
                    name,
                )
                seen += 1
    assert seen == 265


def test_one_number_is_shown_as_it_was_reported():
    assert graded(problem(), "0.7390851").reported == "0.7390851"
    twice = [ReportedValue(name="x", value=text) for text in ("0.7390851", "0.73908510")]
    assert grade(problem(), answer=None, values=twice).values[0].reported == "0.73908510"
