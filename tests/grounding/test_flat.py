"""The flat rule: each quirk of its reader, its tolerance, its digits and its small integers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.grounding import check_grounding
from scisolve_batch.grounding.flat import count_digits, read_flat
from scisolve_batch.records import Cell, CellStatus, GroundingVerdict, ReportedValue, Verdict


def values(text):
    return [number.values[0] for number in read_flat(text)]


def check(answer, *outputs, problem="", **more):
    cells = [Cell(index=i, stdout=out) for i, out in enumerate(outputs, 1)]
    return check_grounding(answer, cells, problem, policy="flat", **more)


def verdicts(answer, *outputs, **more):
    return [literal.verdict.value for literal in check(answer, *outputs, **more).literals]


@pytest.mark.parametrize(
    "text",
    [
        "x1",
        "RK45",
        "fig_001",
        "H2O",
        "T6.28",
        r"\approx6.28",
        "_6.28_",
        "周期6.28",
        "a²3",
        "v1.2.3",
    ],
)
def test_a_number_right_after_a_word_character_is_not_read(text):
    # The point after it is skipped as well: nothing starts after a dot.
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("6.28s", [6.28]),
        ("2nd", [2]),
        ("0xFF", [0]),
        ("3-5", [3, 5]),
        ("a -5", [-5]),
        ("- 5", [5]),
        ("\N{MINUS SIGN}5", [5]),
        ("+5", [5]),
        ("1,234,567.5", [1234567.5]),
        ("25.", [25]),
        ("1.e-05", [1, 5]),
        ("1.26.4", [1.26]),
        ("3,14159", [3141]),
        ("(1,234)", [1234]),
        ("(1, 234)", [1, 234]),
        (".5 -.5", [0.5, -0.5]),
        ("1e5 1E-3 2.5e+02", [1e5, 1e-3, 250]),
        ("1d5", [1]),
        ("3×10^5", [3, 10, 5]),
        ("12٣", [123]),
        ("2026-09-16", [2026, 9, 16]),
        ("12:30", [12, 30]),
        ("inf nan ten IV ½", []),
        ("$6.28$", [6.28]),
    ],
)
def test_numbers_are_read_as_the_rule_says(text, read):
    assert values(text) == read


def test_a_percent_sign_offers_two_values():
    (number,) = read_flat("12.5  %")
    assert number.values == (12.5, 0.125)
    assert number.text == "12.5  %"


@pytest.mark.parametrize("text", [r"12\%", "12 percent", "12‰"])
def test_other_percent_marks_are_not_known(text):
    assert next(iter(read_flat(text))).values == (12.0,)


@pytest.mark.parametrize(
    ("body", "digits"),
    [
        ("5.00", 1),
        ("100.0", 3),
        ("0.000123", 3),
        ("1500", 4),
        ("1.5", 2),
        ("1", 1),
        ("0", 1),
        ("0.0", 1),
        ("007", 1),
        ("10.50", 3),
    ],
)
def test_significant_digits(body, digits):
    assert count_digits(body) == digits


def test_an_exponent_adds_no_digits():
    assert [number.digits for number in read_flat("1.5e3 1e5 1,500")] == [2, 1, 4]


def test_the_tolerance_is_one_in_a_thousand():
    assert verdicts("12.345", "12.34567") == ["grounded"]
    assert verdicts("99.9", "100.0") == ["grounded"]
    assert verdicts("99.89", "100.00123") == ["ungrounded"]


def test_the_sign_matters():
    assert verdicts("-12.5", "12.5") == ["ungrounded"]


def test_two_numbers_below_1e_12_are_the_same_zero():
    assert verdicts("3e-13", "-9e-13") == ["grounded"]
    assert verdicts("3e-12", "9e-12") == ["ungrounded"]


def test_more_digits_than_printed_is_overprecise():
    report = check("3.14159", "3.14")
    (literal,) = report.literals
    assert (literal.verdict, literal.reason) == (Verdict.OVERPRECISE, "overprecise")
    assert (literal.nearest, literal.cell, literal.line) == ("3.14", 1, 1)
    assert report.verdict is GroundingVerdict.UNGROUNDED


def test_the_first_near_number_with_enough_digits_is_named():
    (literal,) = check("3.1416", "3.14", "x\n3.1417 3.1416").literals
    assert (literal.cell, literal.line, literal.printed) == (2, 2, "3.1417")
    assert (literal.relation, literal.source) == ("near", "cell")


def test_percentages_match_fractions_both_ways():
    assert verdicts("12.5 %", "0.125") == ["grounded"]
    assert verdicts("0.125", "12.5%") == ["grounded"]
    assert verdicts("12.5", "0.125") == ["ungrounded"]


@pytest.mark.parametrize("text", ["0", "10", "007", "-0", "+7", "00"])
def test_small_bare_integers_need_no_source(text):
    assert verdicts(text, "") == ["structural"]


@pytest.mark.parametrize("text", ["11", "-1", "3.0", "1e0", "5%", "5 %"])
def test_other_small_numbers_do(text):
    assert verdicts(text, "") == ["ungrounded"]


def test_the_problem_grounds_its_numbers():
    (literal,) = check("42.5", "", problem="with k = 42.5").literals
    assert (literal.source, literal.cell, literal.printed) == ("problem", None, "42.5")


def test_failed_cells_and_stderr_ground_nothing():
    cells = [
        Cell(index=1, stdout="42.5", status=CellStatus.ERROR),
        Cell(index=2, stdout="42.5", integrity=False),
        Cell(index=3, stderr="42.5", code="print(42.5)", traceback="42.5"),
    ]
    report = check_grounding("42.5", cells, policy="flat")
    assert report.literals[0].verdict is Verdict.UNGROUNDED
    assert report.literals[0].nearest is None


def test_every_occurrence_is_listed_with_its_place():
    first, second = check("7.25 and\n7.25", "7.25").literals
    assert (first.start, first.end, second.start, second.end) == (0, 4, 9, 13)


def test_overflow_supports_nothing():
    assert verdicts("5.5", "1e999") == ["ungrounded"]
    assert verdicts("1e999", "1e999") == ["ungrounded"]
    assert verdicts("1e-999", "0.0") == ["grounded"]


def test_the_nearest_printed_number_is_named():
    (literal,) = check("50.5", "10.5 47.5 90.5").literals
    assert literal.nearest == "47.5"


def test_reported_values_are_read_by_the_same_rule():
    reported = [ReportedValue(name="pi", value="3.15"), ReportedValue(name="e", value="2.718")]
    report = check("all good", "3.14159 2.718", values=reported)
    assert [literal.where for literal in report.literals] == ["values[pi]", "values[e]"]
    assert [literal.text for literal in report.ungrounded] == ["3.15"]


@given(st.text())
def test_no_text_raises_and_spans_are_true(text):
    for literal in check(text, text, problem=text).literals:
        assert text[literal.start : literal.end] == literal.text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_is_quoted_digit_for_digit_is_accepted(value):
    text = repr(value)
    if not math.isfinite(value) or "." not in text:
        return
    assert set(verdicts(f"x = {text}", f"x = {text}")) <= {"grounded", "structural"}
