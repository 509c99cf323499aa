"""Which printed number supports which literal, by which relation, and why others do not."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell


def judge(answer, *outputs, problem="", **more):
    cells = [Cell(index=i, stdout=out) for i, out in enumerate(outputs, 1)]
    report = check_grounding(answer, cells, problem, **more)
    return [one for one in report.literals if one.verdict != "not_a_number"]


SUPPORTED = [
    ("12.5", "12.5", "exact"),
    ("12.5", "12.4987", "rounded"),
    ("12.5", "12.45", "rounded"),  # half up
    ("12.4", "12.45", "rounded"),  # half even
    ("-3.5", "x=-3.5", "exact"),
    ("475,367,000", "4.75367e+08", "exact"),
    ("12.0", "12", "exact"),
    ("0.050", "1.e-05 5.e-02 0.0501", "rounded"),
    ("57.5%", "0.575", "percent"),
    ("0.575", "57.5%", "exact"),
    ("57.5 percent", "57.5", "exact"),
    ("5‰", "0.005", "percent"),
    ("2.53 ms", "t = 0.00253 s", "prefix"),
    ("1500 Hz", "f [kHz] 1.5", "prefix"),
    ("7110 ms", "t 7.1103 s", "prefix"),
    ("1/3", "0.3333", "symbol"),
    ("π/4", "0.785398", "symbol"),
    ("$\\frac{2}{3}$", "0.66667", "symbol"),
    ("decreases by 14.2", "-14.2", "magnitude"),
    ("minus 14.2", "-14.2", "exact"),
    ("about 6000", "6247.1", "loose"),
    ("3.14…", "3.14976", "truncated"),
    ("of order 10^-8", "3.2e-08", "order"),
    ("~1e-3", "2.2e-03", "order"),
    ("below 1e-9", "2.2e-10", "bound"),
    ("p < 0.001", "p 3.1e-15", "bound"),
    ("above 90", "93.7", "bound"),
    ("1 in 3,000", "0.000333", "odds"),
    ("thirteen", "13", "exact"),
    ("2.298(39)", "2.2981 0.0388", "rounded"),
    ("12k samples", "12000", "percent"),
    ("1.5 million", "1503212", "rounded"),
    ("-0.23+2.20j", "(-0.2349+2.2012j)", "rounded"),
    ("0.5 ± 2.2i", "(0.5-2.2j)", "exact"),
    ("1.234e400", "1.234e400", "exact"),
    ("9" * 400, "9" * 400, "exact"),
    ("0.0", "1e-400", "rounded"),
    ("-0.0", "0.0", "exact"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "printed", "relation"), SUPPORTED)
def test_a_printed_number_supports(answer, printed, relation):
    literals = judge(f"It is {answer}.", printed)
    assert {one.verdict.value for one in literals} <= {"grounded", "structural"}
    assert relation in {one.relation for one in literals}


REFUSED = [
    ("12.6", "12.5", "absent"),
    ("12.503", "12.5", "overprecise"),
    ("0.50", "0.5", "overprecise"),
    ("3.14", "3.14976", "truncated"),
    ("12.5", "-12.5", "absent"),
    ("6000", "6247.1", "absent"),
    ("57.5", "0.575", "absent"),
    ("2.5 km", "2.5 m", "absent"),
    ("1/3", "0.33", "absent"),
    ("below 1e-9", "2.2e-08", "absent"),
    ("below 11.07", "9.5", "absent"),
    ("10^-8", "3.2e-08", "absent"),
    ("12.5", "version 12.5.1", "absent"),
    ("64.5", "float64.5", "absent"),
    ("255", "0xff", "absent"),
    ("1e400", "inf", "absent"),
    ("12.5", "nan", "absent"),
    ("2.2i and -2.2", "2.2j", "absent"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "printed", "reason"), REFUSED)
def test_a_printed_number_does_not_support(answer, printed, reason):
    literals = judge(f"It is {answer}.", printed)
    assert reason in {one.reason for one in literals}


def test_the_nearest_printed_number_is_named():
    (literal,) = judge("It is 12.6.", "a 12.5\nb 14.0")
    assert (literal.nearest, literal.cell, literal.line, literal.source) == ("12.5", 1, 1, "cell")


def test_the_problem_supports_with_either_sign():
    (literal,) = judge("The rate is 0.35.", "", problem="x' = -0.35 x")
    assert (literal.verdict, literal.source, literal.cell) == ("grounded", "problem", None)


def test_words_and_typography_of_the_problem_are_read():
    assert all(
        one.verdict == "grounded"
        for one in judge("50, 1200 and 3.5e-7.", "", problem="fifty dates, 1\u202f200 and 3.5×10⁻⁷")
    )


def test_a_cell_goes_before_the_problem():
    assert judge("It is 12.5.", "r 12.5", problem="r = 12.5")[0].cell == 1


def test_the_label_decides_between_equal_numbers():
    outputs = ("mean 12.5\nwidth 12.5", "height 12.5")
    assert [
        (one.cell, one.line) for one in judge("The width is 12.5. The height is 12.5.", *outputs)
    ] == [(1, 2), (2, 1)]


def test_a_number_printed_both_ways_is_read_both_ways():
    assert [one.verdict.value for one in judge("100 and 200 and 100,200", "100,200")] == [
        "grounded"
    ] * 3


def test_pieces_of_a_doubtful_form_may_be_printed_apart():
    assert [one.text for one in judge("Nodes 12 345 and 17/20.", "12 345 17 20")] == [
        "12",
        "345",
        "17",
        "20",
    ]


def test_a_unit_without_any_source_is_refused():
    literals = judge("The mass is 23.3 g.", "mass 23.3", problem="in kg")
    assert [(one.verdict.value, one.reason) for one in literals] == [("ungrounded", "unit")]


def test_coherent_units_are_not_asked_about():
    assert (
        judge("The wavelength is 5.3e-07 m.", "lam 5.3e-07", problem="530 nm")[0].verdict
        == "grounded"
    )


def test_the_chance_of_a_coincidence_falls_with_the_digits():
    output = " ".join(f"{x / 7:.4f}" for x in range(10, 70))
    chances = [judge(f"It is {text}.", output)[0].chance for text in ("5.0", "5.00", "5.000")]
    assert chances[0] > chances[1] > chances[2] > 0
    assert chances[0] / chances[1] == pytest.approx(10, rel=0.3)


def test_weak_support_is_warned_about():
    output = " ".join(f"{x / 7:.4f}" for x in range(10, 70))
    assert any("weak" in warning for warning in judge("It is 5.0.", output)[0].warnings)


@pytest.mark.parametrize(
    ("answer", "pair"),
    [("The gap between 12.5 and 7.25 is 5.25.", "12.5 - 7.25"), ("From 12.5 to 10.0 it changed by 20%.", "10.0 / 12.5 - 1"), ("12.5 is 1.724 times 7.25.", "12.5 / 7.25")],
)  # fmt: skip
def test_a_derived_number_is_refused_with_its_pair(answer, pair):
    literals = judge(answer, "12.5\n7.25\n10.0")
    (derived,) = [one for one in literals if one.verdict == "ungrounded"]
    assert derived.reason == "derived" and pair in derived.warnings[-1]


def test_a_derived_number_is_not_explained_across_sentences():
    assert judge("We saw 12.5. We saw 7.25. The gap is 5.25.", "12.5\n7.25")[-1].reason == "absent"


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6
    ),
    st.integers(0, 6),
)
def test_every_correct_rounding_is_grounded_and_every_other_last_digit_is_not(value, places):
    shown = value.quantize(Decimal(1).scaleb(-places))
    if abs(shown) <= 10 and places == 0:
        return
    unit = Decimal(1).scaleb(-places)
    (good,) = judge(f"v = {shown:f}", f"v = {value:f}")
    assert good.verdict == "grounded"
    (bad,) = judge(f"v = {shown + 2 * unit:f}", f"v = {value:f}")
    assert bad.verdict in ("ungrounded", "structural")
