"""Lists, complex numbers, sets without order, eigenvectors."""

import cmath
import itertools
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.grading import grade
from scisolve_batch.grading.compare import compare
from scisolve_batch.grading.entries import Entry, parse_entries
from scisolve_batch.records import CertifiedValue, KnownWrong, Problem, ReportedValue


def problem(value, *, known_wrong=(), **how):
    how = {"rtol": 1e-6} | how if "exact" not in how and "atol" not in how else how
    return Problem(
        id="p",
        statement="s",
        values=(CertifiedValue(name="x", value=value, **how),),
        known_wrong=known_wrong,
    )


def graded(asked, *given, answer=None, name="x", unit=None):
    values = [ReportedValue(name=name, value=text, unit=unit) for text in given]
    return grade(asked, answer=answer, values=values).values[0]


def verdict(asked, *given, **more):
    return graded(asked, *given, **more).verdict.value


def test_every_entry_of_a_list_must_be_within_tolerance():
    asked = problem("[1.0, -2.0, 3.0]")
    assert verdict(asked, "[1.000001, -2.000002, 2.999997]") == "correct"
    assert verdict(asked, "[1.0, -2.0, 3.000004]") == "wrong"
    assert verdict(asked, "[1.0, 3.0, -2.0]") == "wrong"


def test_the_worst_entry_gives_error_and_digits():
    one = graded(problem("[1.00000, 200.000, 3.00000]", digits=6), "[1.00000, 202.000, 3.00003]")
    assert (one.relative_error, one.correct_digits, one.claimed_digits) == (0.01, 2.0, 6)


def test_another_number_of_entries_is_wrong_and_says_so():
    one = graded(problem("[1.0, 2.0, 3.0]"), "[1.0, 2.0]")
    assert (one.verdict.value, one.note) == ("wrong", "2 numbers; 3 are asked for")


def test_nothing_wrong_and_unreadable_are_three_verdicts():
    asked = problem("[1.0, 2.0]")
    assert verdict(asked) == "missing"
    assert verdict(asked, "[1.0, 2.5]") == "wrong"
    unreadable = graded(asked, "[1.0, ..., 2.0]")
    assert unreadable.verdict.value == "unreadable"
    assert unreadable.note == "entries are left out (`...`)"


def test_entries_may_come_one_by_one():
    asked = problem("[1.0, 2.0, 3.0]")
    for names in (("x[0]", "x[1]", "x[2]"), ("x[3]", "x[1]", "x[2]"), ("x_1", "x_2", "x_3")):
        numbers = {"x[3]": "3"}
        plain = dict(zip(names, ["1", "2", "3"], strict=True))
        if "x[3]" in names:
            plain = {"x[1]": "1", "x[2]": "2"} | numbers
        values = [ReportedValue(name=name, value=text) for name, text in plain.items()]
        (one,) = grade(asked, answer=None, values=values).values
        assert (one.verdict.value, one.how) == ("correct", "structured"), names
    assert verdict(asked, "1", "2", "3") == "correct"
    assert verdict(asked, "1", "2") == "unreadable"
    gap = [ReportedValue(name=name, value="1") for name in ("x[0]", "x[2]")]
    (one,) = grade(asked, answer=None, values=gap).values
    assert one.note == "the indices leave gaps or stand twice"
    word = [ReportedValue(name=f"x[{k}]", value=text) for k, text in enumerate(["1", "two", "3"])]
    (one,) = grade(asked, answer=None, values=word).values
    assert (one.verdict.value, one.note) == ("unreadable", "`two` is not a number")


def test_a_name_with_an_index_that_is_asked_for_is_that_name():
    values = tuple(
        CertifiedValue(name=name, value=text, rtol=1e-6)
        for name, text in (("x", "[1.0, 2.0]"), ("x1", "7.0"))
    )
    asked = Problem(id="p", statement="s", values=values)
    reported = [
        ReportedValue(name=name, value=text) for name, text in (("x1", "7.0"), ("x", "[1, 2]"))
    ]
    assert grade(asked, answer=None, values=reported).correct


@pytest.mark.parametrize(
    "answer",
    [
        "so x = [1.0, 2.0], as checked",
        "x: [1. 2.]",
        "`x` = `[1.0, 2.0]`.",
        "x = (1.0, 2.0)",
        "x = array([1., 2.])",
        "x = [9, 9] at first; then x = [1.0, 2.0].",
        "x = [[1.0], [2.0]]",
        "x[0] = 1.0 and x[1] = 2.0",
        "x[1] = 1.0, x[2] = 2.0.",
        "$x = \\begin{pmatrix}1.0\\\\2.0\\end{pmatrix}$",
        "x ≈ {1.0, 2.0}",
        "x is [1.0, 2.0]",
    ],
)
def test_a_list_is_found_in_prose(answer):
    one = graded(problem("[1.0, 2.0]"), answer=answer)
    assert (one.verdict.value, one.how) == ("correct", "labelled")


@pytest.mark.parametrize("answer", ["x = 1.0 and 2.0", "[1.0, 2.0]", "x[0] = 1.0", "x = [a, b]"])
def test_a_list_is_not_guessed_from_prose(answer):
    assert verdict(problem("[1.0, 2.0]"), answer=answer) != "correct"


@pytest.mark.parametrize(
    "answer", ["x = 1+2j", "x is 1 + 2i.", "x = (1+2j), checked", "$x = 1 + 2 i$"]
)
def test_a_complex_number_is_found_in_prose(answer):
    assert verdict(problem("1+2j"), answer=answer) == "correct"


def test_units_of_lists_are_converted():
    asked = problem("[0.25, 0.5]", unit="m", rtol=1e-6)
    assert verdict(asked, "[25, 50] cm") == "correct"
    assert verdict(asked, "[25, 50]", unit="cm") == "correct"
    assert verdict(asked, "25 cm, 50 cm") == "correct"
    assert verdict(asked, "[0.25, 0.5] kg") == "wrong"


def test_complex_numbers_are_compared_by_their_distance():
    asked = problem("3.0+4.0j", rtol=1e-6)  # |3 + 4i| is 5, so 5e-6 is accepted
    assert verdict(asked, "3.000003+4.000004j") == "correct"
    assert verdict(asked, "3.000005+4j") == "correct"
    assert verdict(asked, "3.000004+4.000004j") == "wrong"
    assert verdict(asked, "3-4j") == "wrong"
    assert graded(asked, "3.05+4j").relative_error == pytest.approx(0.01)


def test_by_parts_each_part_must_be_right():
    asked = problem("1000.0+0.001j", by_parts=True, rtol=1e-6)
    assert verdict(asked, "1000.0+0.001j") == "correct"
    assert verdict(asked, "1000.0+0.0011j") == "wrong"
    assert verdict(problem("1000.0+0.001j"), "1000.0+0.0011j") == "correct"


def test_a_real_number_may_be_printed_as_a_complex_one():
    assert verdict(problem("2.5"), "(2.5+0j)") == "correct"
    assert verdict(problem("2.5"), "2.5+1e-12j") == "correct"
    assert verdict(problem("2.5"), "2.5+0.1j") == "wrong"
    assert verdict(problem("25", exact=True), "25+1e-12j") == "wrong"
    assert verdict(problem("[2.5, 3.5]"), "[2.5+0.j 3.5-0.j]") == "correct"


def test_two_reals_are_no_complex_number():
    one = graded(problem("1+2j"), "[1.0, 2.0]")
    assert one.verdict.value == "unreadable"
    assert one.note == "2 numbers; a complex number is written like 1+2j"


def test_exact_lists_are_compared_exactly():
    asked = problem("[9007199254740993, 2]", exact=True)
    assert verdict(asked, "[9007199254740993, 2.0]") == "correct"
    assert verdict(asked, "[9007199254740992, 2]") == "wrong"


def test_a_set_may_come_in_any_order():
    asked = problem("[-1.0, 2.0, 2.0, 0.5+1.5j, 0.5-1.5j]", any_order=True)
    assert verdict(asked, "[0.5-1.5j, 2, -1, 0.5+1.5j, 2]") == "correct"
    assert verdict(asked, "[0.5-1.5j, -1, -1, 0.5+1.5j, 2]") == "wrong"  # another multiplicity
    assert verdict(asked, "[0.5-1.5j, 2, -1, 0.5-1.5j, 2]") == "wrong"
    missed = graded(asked, "[2, -1, 2.02, 0.5+1.5j, 0.5-1.5j]")
    assert missed.relative_error == pytest.approx(0.01)


def test_the_best_assignment_counts_and_not_the_sorted_one():
    # Sorted by real part, noise swaps a conjugate pair and the real root between them.
    asked = problem("[1.0+1.0j, 1.0-1.0j, 1.0]", any_order=True)
    assert verdict(asked, "[0.9999999, 1.0000001-1j, 1+1j]") == "correct"


def test_in_an_exact_set_every_number_must_find_its_own():
    asked = problem("[1, 1, 2]", exact=True, any_order=True)
    assert verdict(asked, "[1, 2, 1]") == "correct"
    assert verdict(asked, "[1, 2, 2]") == "wrong"


def test_a_value_may_be_right_up_to_its_sign():
    asked = problem("[0.6, -0.8]", up_to_sign=True)
    assert verdict(asked, "[-0.6, 0.8]") == "correct"
    assert verdict(asked, "[0.6, 0.8]") == "wrong"  # one sign for all entries
    assert graded(asked, "[-0.6, 0.8]").relative_error == 0
    assert verdict(problem("[0.6, -0.8]"), "[-0.6, 0.8]") == "wrong"
    assert verdict(problem("0.6", up_to_sign=True), "-0.6") == "correct"


def test_a_vector_may_be_right_up_to_its_phase():
    asked = problem("[0.6, 0.0+0.8j]", up_to_phase=True)
    for angle in (0.0, 0.3, 2.0, -1.2):
        turn = cmath.exp(1j * angle)
        assert verdict(asked, str([0.6 * turn, 0.8j * turn])) == "correct"
    assert verdict(asked, "[0.6, 0.8]") == "wrong"
    assert verdict(asked, "[0, 0]") == "wrong"


def test_a_trap_can_be_a_list():
    trap = KnownWrong(method="ascending", values={"x": "[3.00001, 2.0]"})
    asked = problem("[2.0, 3.0]", known_wrong=(trap,))
    assert graded(asked, "[3.00001, 2.0]").trap == "ascending"
    assert graded(asked, "[3.1, 2.0]").trap is None
    assert graded(asked, "[2.0, 3.0]").trap is None
    assert graded(asked, "[1.0]").trap is None
    unordered = asked.values[0].model_copy(update={"any_order": True})
    either = asked.model_copy(update={"values": (unordered,)})
    assert graded(either, "[2.0, 3.00001]").trap == "ascending"
    nothing = KnownWrong(method="diverges", values={"x": "[nan, inf]"})
    assert graded(problem("[2.0, 3.0]", known_wrong=(nothing,)), "[1.0, 1.0]").trap is None


few = st.lists(st.builds(complex, st.integers(-30, 30), st.integers(-2, 2)), min_size=1, max_size=5)


@given(few, few, st.floats(0.05, 3.0))
def test_the_assignment_is_the_best_of_all(truth, reported, rtol):
    reported = (reported * 5)[: len(truth)]
    value = f"[{', '.join(f'{one.real:.0f}{one.imag:+.0f}j' for one in truth)}]"
    certified = CertifiedValue(name="x", value=value, rtol=rtol, atol=0.5, any_order=True)
    entries = [Entry(Decimal(one.real), Decimal(one.imag)) for one in reported]
    fixed = certified.model_copy(update={"any_order": False})
    every = [compare(fixed, order) for order in itertools.permutations(entries)]
    assert compare(certified, entries).met == any(one.met for one in every)


def test_a_long_set_is_assigned():
    numbers = [f"{k}.0" for k in range(1, 101)]
    asked = problem(f"[{', '.join(numbers)}]", any_order=True)
    assert verdict(asked, f"[{', '.join(reversed(numbers))}]") == "correct"
    assert verdict(asked, f"[{', '.join([*numbers[:-1], '99.0'])}]") == "wrong"


def test_infinite_certified_numbers_are_parsed_for_traps_only():
    assert not parse_entries(("inf",))[0].re.is_finite()


@pytest.mark.parametrize("prose", ["x = [", "x = (1, ", "x = \\begin{", "x[1] = 1+", "x = 1 + 1 "])
def test_long_prose_takes_no_time_that_matters(prose):
    assert verdict(problem("[1.0, 2.0]"), answer=prose * 3000) == "missing"
