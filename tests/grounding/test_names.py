"""Numbers under another number's name: warned about, and failed only on demand."""

import pytest

from scisolve_batch.grounding import check_grounding
from scisolve_batch.grounding.names import words_of
from scisolve_batch.records import Cell

OUTPUT = "kinetic energy 12.5\nmomentum 7.25\nmax error 3.2e-07\naccepted sweeps 3\nrms out 0.951\n{'mean life': 2.51646}\n"


def judge(answer, output=OUTPUT, **more):
    return list(check_grounding(answer, [Cell(index=1, stdout=output)], **more).literals)


def doubted(answer, **more):
    return [any(note.startswith("name") for note in one.warnings) for one in judge(answer, **more)]


@pytest.mark.parametrize(
    "answer",
    [
        "The momentum is 12.5.",
        "| momentum | 12.5 |",
        "- kinetic energy: 7.25",
        "The maximum error comes to 12.5.",
        "Mean life: 7.25.",
    ],
)
def test_a_number_under_another_name_is_doubted(answer):
    assert doubted(answer) == [True]
    assert judge(answer)[0].verdict == "grounded"


@pytest.mark.parametrize(
    "answer",
    ["The momentum is 7.25.", "The maximum error is 3.2e-7.", "We got 7.25.", "The output rms is 0.951.", "The mean life is 2.516.",
     "The momentum, 7.25, is kept while the kinetic energy is 12.5.", "Both 12.5 and 7.25 were printed."],
)  # fmt: skip
def test_a_number_under_its_own_name_is_not(answer):
    assert not any(doubted(answer))


def test_respectively_pairs_names_and_numbers():
    assert doubted("The kinetic energy and the momentum are 12.5 and 7.25, respectively.") == [
        False,
        False,
    ]
    assert doubted("The kinetic energy and the momentum are 7.25 and 12.5, respectively.") == [
        True,
        True,
    ]


def test_a_wrong_small_count_is_doubted():
    assert doubted("The number of accepted sweeps is 5.") == [True]
    assert doubted("The number of accepted sweeps is 3.") == [False]
    assert doubted("There are 2 cases.") == [False]


def test_under_strict_names_it_fails():
    (literal,) = judge("The momentum is 12.5.", strict_names=True)
    assert (literal.verdict, literal.reason, literal.nearest) == ("ungrounded", "name", "7.25")
    assert judge("The momentum is 7.25.", strict_names=True)[0].verdict == "grounded"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("The bias is -0.951.", "sign"), ("The bias is 9.51.", "scale")],
)
def test_a_coincidence_with_the_digits_of_the_named_number_fails(answer, reason):
    output = "bias 0.951\nlist [3.1, -0.951, 9.51]\n"
    assert judge(answer, output)[0].reason == reason


def test_an_uncertainty_is_printed_under_a_name_of_its_own():
    output = "price 12.512\nstandard error 0.0388\n"
    assert not any(
        one.warnings and "name" in one.warnings[0]
        for one in judge("The price is 12.512 ± 0.039.", output)
    )


def test_words_are_compared_without_endings_and_abbreviations():
    assert words_of("max errors of the maxError") == ("maximum", "error", "maximum", "error")
