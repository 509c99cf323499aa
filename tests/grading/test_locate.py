from decimal import Decimal

import pytest

from scisolve_batch.grading.locate import locate
from scisolve_batch.records import CertifiedValue, Problem, ReportedValue


def problem(*names, statement="Start at 0.7 and report.", unit=None):
    values = tuple(CertifiedValue(name=name, value="1", exact=True, unit=unit) for name in names)
    return Problem(id="p", statement=statement, values=values)


def found(names, answer=None, statement="Start at 0.7 and report.", **values):
    reported = [ReportedValue(name=name, value=value) for name, value in values.items()]
    located = locate(problem(*names, statement=statement), answer=answer, values=reported)
    return {name: (one.how, one.value) for name, one in located.items()}


def test_structured_values_come_first():
    assert found(["x"], "x = 2", x="3") == {"x": ("structured", Decimal(3))}


def test_a_structured_value_that_is_no_number_is_not_replaced_by_prose():
    assert found(["x"], "x = 2", x="17/70") == {"x": ("structured", None)}


def test_an_empty_structured_value_is_as_good_as_none():
    assert found(["x"], "x = 2", x=" ") == {"x": ("labelled", Decimal(2))}


def test_the_same_name_with_two_numbers_is_no_answer():
    values = [ReportedValue(name="x", value="1"), ReportedValue(name="x", value="2")]
    located = locate(problem("x"), answer="", values=values)["x"]
    assert (located.value, located.note) == (None, "reported twice, differently")
    same = [ReportedValue(name="x", value="1"), ReportedValue(name="x", value="1.0")]
    assert locate(problem("x"), answer="", values=same)["x"].value == 1


def test_names_may_differ_in_case_and_decoration_when_that_is_unambiguous():
    assert found(["b_max"], B_Max="2") == {"b_max": ("structured", Decimal(2))}
    reported = [ReportedValue(name="`b-max`", value="2")]
    assert locate(problem("b_max"), answer=None, values=reported)["b_max"].value == 2
    reported = [ReportedValue(name="b_max [m/s]", value="2")]
    assert locate(problem("b_max"), answer=None, values=reported)["b_max"].value == 2
    assert found(["k", "K"], K="2") == {"K": ("structured", Decimal(2))}


@pytest.mark.parametrize(
    "prose",
    [
        "x = 2.5",
        "x=2.5",
        "The value is x: 2.5.",
        "so `x` = `2.5`",
        "**x** = 2.5",
        "$x = 2.5$",
        "$x \\approx 2.5$",
        "x is 2.5",
        "x is approximately 2.5",
        "x ≈ 2.5",
        "x equals 2.5, as checked",
        "| x | 2.5 |",
        "x = 0.74 at first, refined: x = 2.5",
        "x = 5/2 = 2.5",
        "max_x = 7, y_x = 8 and x = 2.5",
        "x = np.float64(2.5)",
        "x = 2.5e0 (from 3 runs)",
    ],
)
def test_a_label_in_prose_is_enough(prose):
    assert found(["x"], prose) == {"x": ("labelled", Decimal("2.5"))}


@pytest.mark.parametrize(
    "prose",
    [
        "max_x = 2.5 and xs = 3.5",
        "x.y = 2.5 and 1.5",
        "x = 5/2 and 7",
        "between 2 and 3",
        "x lies near 2 or 3",
        "x(20) = 3 and x(10) = 2",
    ],
)
def test_nothing_is_guessed_among_several_numbers(prose):
    assert found(["x"], prose) == {}


def test_the_only_number_of_a_one_value_answer_counts():
    assert found(["x"], "The root is 0.7390851332.") == {
        "x": ("sole_number", Decimal("0.7390851332"))
    }
    assert found(["x"], "From 0.7 it goes to 0.739.") == {"x": ("sole_number", Decimal("0.739"))}
    assert found(["x", "y"], "The root is 0.739.") == {}


def test_a_number_of_the_statement_is_no_answer():
    assert found(["x"], "It is 0.70.") == {}


def test_units_follow_numbers_in_values_and_in_prose():
    values = [ReportedValue(name="x", value="2.5 mm")]
    long = problem("x", unit="m")
    assert locate(long, answer=None, values=values)["x"].unit == "mm"
    assert locate(long, answer="x = 2.5 mm, then", values=[])["x"].unit == "mm"
    for words in ("and so on", "in all", "at most", "as said"):
        assert locate(long, answer=f"x = 2.5 {words}", values=[])["x"].unit is None
    assert locate(problem("x"), answer="x = 2.5 %, then", values=[])["x"].unit == "%"
    assert locate(problem("x"), answer="x = 2.5 mm, then", values=[])["x"].unit is None
    two = [ReportedValue(name="x", value="2.5 or 3.5")]
    assert locate(problem("x"), answer=None, values=two)["x"].note == "`or 3.5` follows the number"
    odd = [ReportedValue(name="x", value="2.5 or so", unit="m")]
    assert locate(problem("x"), answer=None, values=odd)["x"].note == "`or so` follows the number"


@pytest.mark.parametrize("name", ["x", "b1", "f_min", "σ"])
def test_long_prose_takes_no_time_that_matters(name):
    prose = (f"{name} = - " * 300) + ("1 " * 2000) + ("= " * 2000) + f"{name} = 2"
    assert found([name, "other"], prose)[name] == ("labelled", Decimal(2))
