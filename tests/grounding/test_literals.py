"""Each written form is one item, with its value, its last digit and what stands around it."""

from decimal import Decimal

import pytest

from scisolve_batch.grounding.items import Bound, Kind
from scisolve_batch.grounding.literals import read_literals

NUMBERS = {
    # plain
    "x = 3.14": ["3.14"],
    ".5 and 5. and +2.5": ["0.5", "5", "2.5"],
    "0.30000000000000004": ["0.30000000000000004"],
    # signs
    "from -2.5 to −1.5": ["-2.5", "-1.5"],
    "slope –3.25": ["-3.25"],
    "1.5–2.5": ["1.5", "2.5"],
    "3-5": ["3", "5"],
    "y = - 5.2": ["-5.2"],
    "- 52 items": ["52"],
    "value—7.5": ["7.5"],
    'it is "-7.5"': ["-7.5"],
    "-$3.20": ["-3.20"],
    "minus 3.01": ["-3.01"],
    "$-$5.2 and {-}5.3": ["-5.2", "-5.3"],
    # groups
    "1,234,567.89": ["1234567.89"],
    "14 951 100": ["14951100"],
    "5&nbsp;000": ["5000"],
    "1'234.5": ["1234.5"],
    "10_000": ["10000"],
    r"12\,345 and 12{,}345": ["12345", "12345"],
    "6.626 070 15 × 10^−34": ["6.62607015e-34"],
    "10 973 731.568 160(21)": ["10973731.568160", "0.000021"],
    # decimal commas
    "Der Wert ist 3,14 und 1.234,56": ["3.14", "1234.56"],
    "soit 0,32 et 63 600 pas": ["0.32", "63600"],
    "points 1,2,3 and 4.5": ["1", "2", "3", "4.5"],
    # powers of ten
    "1.25e-6, 2.5E+03, 5e+04, 1.e-05": ["1.25e-6", "2500", "50000", "1e-5"],
    "1.25e−6": ["1.25e-6"],
    "3.2d-5": ["3.2e-5"],
    "3·10⁻³⁵": ["3e-35"],
    "1.5 x 10^-8.": ["1.5e-8"],
    "1.5 x 10-5": ["1.5e-5"],
    r"$1.6\times10^{-16}$": ["1.6e-16"],
    "2*10**5": ["2e5"],
    "10 <sup>x</sup> and 4 &times; 10<sup>-3</sup>": ["10", "0.004"],
    "10^-8, 10⁻⁸, 10^{-8}, 10**-8": ["1e-8"] * 4,
    "(2.31 ± 0.04)×10⁻⁵": ["2.31e-5", "4e-7"],
    r"[1.2, 3.4] \times 10^{3}": ["1200", "3400"],
    "1e-3..1e-2": ["1e-3", "1e-2"],
    # uncertainties
    "2.298(39)": ["2.298", "0.039"],
    "1.2345(67)×10⁻³": ["1.2345e-3", "6.7e-6"],
    "5.2±0.3 and 5.2 +/- 0.3": ["5.2", "0.3", "5.2", "0.3"],
    # scale words and suffixes
    "5.6 million": ["5600000"],
    "$12.34 million and US$1.5bn": ["12340000", "1500000000"],
    "two dozen": ["24"],
    # exact values
    r"\frac{1}{3}": [Decimal(1) / 3],
    r"\frac13": [Decimal(1) / 3],
    r"\frac{\sqrt{3}}{2}": [Decimal(3).sqrt() / 2],
    "22/7": [Decimal(22) / 7],
    "½, 2½, 2 1/2": ["0.5", "2.5", "2.5"],
    "3π/4": ["2.356194490192345"],
    "π²/6": ["1.6449340668482264"],
    "2√3": ["3.4641016151377546"],
    "sqrt(2)/2": ["0.7071067811865476"],
    "pi/4": ["0.7853981633974483"],
    "2^10 and 2⁵³": ["1024", "9007199254740992"],
    "0xFF": ["255"],
    # words
    "twenty-six": ["26"],
    "two hundred and five": ["205"],
    "two thirds": [Decimal(2) / 3],
    "twenty-one thousand": ["21000"],
    # complex numbers
    "-0.14+3.38j": ["-0.14", "3.38"],
    "1.5 - 2.5i": ["1.5", "-2.5"],
    # other scripts
    "１２．５": ["12.5"],
    "٣٫١٤": ["3.14"],
    "𝟏.𝟓": ["1.5"],
    "周期为6.28秒": ["6.28"],
    # invisible characters do not split a number
    "3\u200b.1\u00ad4": ["3.14"],
    "7<b>4</b>": ["74"],
    # glued
    "0.5814Hz, T6.28, h^{1.98}, e^{-2.5}": ["0.5814", "6.28", "1.98", "-2.5"],
    "np.float64(1.5)": ["1.5"],
    "200×200": ["200", "200"],
    r"\num{1.25e-3}": ["1.25e-3"],
    "5(2)": ["5", "2"],
}  # fmt: skip


def numbers(text):
    return [item for item in read_literals(text).items if item.kind is Kind.NUMBER]


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_read_with_their_values(text):
    read = [item.value for item in numbers(text)]
    wanted = [Decimal(value) for value in NUMBERS[text]]
    assert len(read) == len(wanted)
    assert all(
        abs(one - two) <= abs(two) * Decimal("1e-15") for one, two in zip(read, wanted, strict=True)
    )


@pytest.mark.parametrize(
    "text",
    ["2024-05-01", "2024-05-01T12:30:00Z", "1 May 2024", "May 1, 2024", "16.09.2026", "05/01/2024", "12:30", "3:45 pm",
     "v1.11.4", "1.26.4", "Python 3.11", "version 1.2", "192.168.0.1", "RK45", "H2O", "x_1", "x_{12}", "x₁", "h^2", "x^{3}",
     "s⁻¹", "4th", "21st", "97.5th", "2D", "3-D", "64-bit", "float64", "log10", "IEEE 754", "CO2", "C6H12O6", "3fa9c1e",
     "https://x.org/3.14", "doi:10.1137/0914050", "arXiv:2101.00123", "COVID-19", "Gauss-7", "the 1990s", "as of 2024",
     "Smith et al. (2019)", "(Smith and Jones, 2019)", "Simpson's 3/8 rule", "O(n^2)", r"\ref{eq:3}", "Q3", "fig_001.png"],
)  # fmt: skip
def test_names_dates_and_versions_are_no_numbers(text):
    assert {item.kind for item in read_literals(text).items} == {Kind.NAME}


@pytest.mark.parametrize(
    "text",
    ["Section 3.2", "Eq. (4)", "Equation (4)", "Fig. 12", "Table 4", "§ 3.1", "cell 2", "line 14", "index 347", "step 12",
     "95% confidence interval", "the 95 % CI", "at the 5% significance level", "1. First", "#12", "three cases", "Ⅳ", "①",
     "α = 0.05"],
)  # fmt: skip
def test_references_markers_levels_and_counts_are_structural(text):
    assert {item.kind for item in read_literals(text).items} == {Kind.STRUCTURAL}


def test_references_go_on_in_lists():
    kinds = [item.kind for item in read_literals("Figures 12 and 13, Eqs. (14)–(16)").items]
    assert kinds == [Kind.STRUCTURAL] * 4


@pytest.mark.parametrize(
    "text", ["number of steps 400", "steps (433)", "the imaginary part 2.20", "item 41.37"]
)
def test_what_only_looks_like_a_reference_is_a_number(text):
    assert len(numbers(text)) == 1


def test_a_list_marker_follows_the_one_before_it():
    assert [item.kind for item in read_literals("1. a\n2. b\n41. That is all").items][
        -1
    ] is Kind.NUMBER


@pytest.mark.parametrize("text", ["⁴¹ alone", "1O4.5", "4" * 3000, "1e9999999", "㊶"])
def test_digits_that_no_rule_reads_are_unread(text):
    assert [item.kind for item in read_literals(text).items] == [Kind.UNREAD]


def test_after_a_reversing_character_nothing_is_believed():
    first, second = read_literals("1.5 \u202e5.21").items
    assert (first.kind, second.kind) == (Kind.NUMBER, Kind.UNREAD)


def test_the_span_is_that_of_the_text_as_it_stands():
    text = "a\u200bb 10<sup>-3</sup> and 5&nbsp;000"
    reading = read_literals(text)
    spans = [reading.text.span(item.start, item.end) for item in reading.items]
    assert [text[start:end] for start, end in spans] == ["10<sup>-3</sup>", "5&nbsp;000"]


@pytest.mark.parametrize(
    ("text", "shift"),
    [("5%", -2), (r"5\%", -2), ("5 percent", -2), ("5 per cent", -2), ("5‰", -3), ("5 ppm", -6), ("5 basis points", -4), ("5k", 3), ("5", 0)],
)  # fmt: skip
def test_percent_signs_and_suffixes_offer_another_value(text, shift):
    assert numbers(text)[0].shifts[-1] == shift


def test_a_percent_sign_counts_for_the_numbers_joined_to_it():
    assert [item.shifts[-1] for item in numbers("3.1 and 4.2 %, 12.5 ± 0.3 %, 7.5 (5%)")] == [
        -2,
        -2,
        -2,
        -2,
        0,
        -2,
    ]


@pytest.mark.parametrize(
    ("text", "bound"),
    [("less than 1e-9", Bound.UPPER), ("< **1e-9**", Bound.UPPER), ("at most 5", Bound.UPPER), ("≥ 5", Bound.LOWER),
     ("more than 5", Bound.LOWER), ("no more than 5", Bound.UPPER), ("exceeds 5", Bound.LOWER), ("not exceeding 5", Bound.UPPER),
     ("is 5", Bound.NONE), ("more than enough: it is 5", Bound.NONE)],
)  # fmt: skip
def test_bounds_are_heard(text, bound):
    assert numbers(text)[0].bound is bound


@pytest.mark.parametrize(
    "text", ["about 400", "≈ 400", "approx. 400", "roughly `400`", "of order 400", "~400"]
)
def test_approximations_are_heard(text):
    assert numbers(text)[0].loose


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("decreases by 14", True),
        ("a negative amount of size 14", True),
        ("|x| = 14", True),
        ("It fell. Now 14", False),
        ("is 14", False),
    ],
)
def test_sizes_of_decreases_are_heard(text, heard):
    assert numbers(text)[0].magnitude is heard


@pytest.mark.parametrize(
    ("text", "place"), [("3.140", -3), ("1500", 0), ("1.5e3", 2), ("2.5 million", 5), ("10^-8", -8)]
)
def test_the_last_digit_is_known(text, place):
    assert numbers(text)[0].place == place
