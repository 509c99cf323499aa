"""What holds for every text: nothing raises, every digit is in exactly one item, time is linear."""

import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisolve_batch.grounding.items import Kind
from scisolve_batch.grounding.literals import read_literals

PIECES = [
    "1", "23", "4.5", ".5", "5.", "1,234", "1,234.5", "0,25", "1.2.3", "e-5", "E+3", "d-2", "×10", "^", "-8",
    "10^-8", "10⁻⁸", "²", "₂", "½", "Ⅳ", "①", "٣", "２", "π", "√2", "\\frac{1}{2}", "\\sqrt{3}", "\\times", "{,}",
    "(", ")", "[", "]", "{", "}", " ", "  ", "\n", "\u2009", "\u00a0", "\u200b", "\u202e", "-", "−", "–", "—", "+",
    "±", "%", "\\%", " percent", " million", "k", "x", "×", "/", "*", "**", "_", "^{", "x_", "x^", "h^2", "m/s²",
    "about ", "~", "<", "≥", "minus ", "twenty", "-six", " and ", "two", " thirds", "a", "dozen", "Section ", "Eq. (",
    "cell ", "v", "2024-05-01", "12:30", "RK45", "H2O", "0x1F", "0b1", "…", "...", ".", ",", "'", "$", "`", "|", "#",
    "<b>", "</b>", "<sup>", "&minus;", "i", "j", "O", "l", "st", "th", "-norm", "respectively", "周", "é", "Ω", "µm",
]  # fmt: skip
texts = st.text() | st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def digits(text):
    return [i for i, char in enumerate(text) if unicodedata.category(char) in ("Nd", "Nl", "No")]


@settings(max_examples=600)
@given(texts)
def test_every_digit_is_in_exactly_one_item(text):
    reading = read_literals(text)
    covered = []
    for item in reading.items:
        start, end = reading.text.span(item.start, item.end)
        assert 0 <= start < end <= len(text)
        covered += [i for i in digits(text) if start <= i < end]
    assert sorted(covered) == digits(text)


@given(texts)
def test_items_stand_in_order_and_apart(text):
    items = read_literals(text).items
    assert all(one.end <= two.start for one, two in pairwise(items))


@given(texts)
def test_a_number_is_finite_and_says_its_last_digit(text):
    for item in read_literals(text).items:
        if item.kind is Kind.NUMBER:
            assert item.value.is_finite()


def count_steps(text):
    """Lines of our own code that run while a text is read; regular expressions count as one."""
    steps = 0

    def trace(frame, event, arg):
        nonlocal steps
        if "grounding" not in frame.f_code.co_filename:
            return None
        steps += event == "line"
        return trace

    sys.settrace(trace)
    try:
        read_literals(text)
    finally:
        sys.settrace(None)
    return steps


@pytest.mark.parametrize(
    "piece",
    ["1,111,", "1 111 ", "1.1.", "(1)", "1(1)", "3 + ", "x1", "1x", "a ", "two ", "1/", "√", "\\frac{1}", "½", "-",
     "2024-05-", "10^", "1e", "))×10^3", "([1 ", "~about 5 ", "1 % and "],
)  # fmt: skip
def test_steps_grow_with_the_length_alone(piece):
    one, two = count_steps(piece * 60), count_steps(piece * 120)
    assert two <= 2.4 * one + 200


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1.1.",
        "x",
        " ",
        "(",
        "\\",
        "{",
        "周",
        "v1.",
        "=",
        "\u200b",
        "-",
        "^2**",
        "e5",
        "https://a/",
    ],
)
def test_a_megabyte_of_anything_is_read(piece):
    # Quadratic reading of a megabyte would take hours and end in the test run's own time limit.
    text = (
        piece * 1_000_000 if len(piece) == 1 and piece != "周" else piece * (100_000 // len(piece))
    )
    reading = read_literals(text)
    assert all(one.end <= len(reading.text.clean) for one in reading.items)
