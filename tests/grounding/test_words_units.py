"""Numbers in words, and units with prefixes."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.grounding.units import read_unit
from scisolve_batch.grounding.words import SCALES, TENS, UNITS, read_phrase


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("eleven", 11, 1),
        ("twenty six", 26, 2),
        ("two hundred and five apples", 205, 4),
        ("a hundred", 100, 2),
        ("one hundred thousand", 100_000, 3),
        ("twenty one thousand three hundred and forty five", 21_345, 8),
        ("two million", 2_000_000, 2),
        ("a dozen", 12, 2),
        ("two dozen", 24, 2),
        ("two thirds", Fraction(2, 3), 2),
        ("a third", Fraction(1, 3), 2),
        ("three quarters", Fraction(3, 4), 2),
        ("two and three", 2, 1),
        ("zero", 0, 1),
    ],
)
def test_phrases_are_read(text, value, words):
    phrase = read_phrase(text.split())
    assert (phrase.value, phrase.words) == (value, words)


@pytest.mark.parametrize("text", ["one", "a", "a case", "and", "thousand", "one of"])
def test_prose_is_no_number(text):
    assert read_phrase(text.split()) is None


@given(
    st.lists(
        st.sampled_from([*UNITS, *TENS, *SCALES, "and", "a", "dozen", "half", "thirds", "x"]),
        min_size=1,
        max_size=8,
    )
)
def test_no_words_raise(words):
    phrase = read_phrase(words)
    assert phrase is None or 0 < phrase.words <= len(words)


@pytest.mark.parametrize(
    ("word", "unit"),
    [("m", ("m^1", 0)), ("km", ("m^1", 3)), ("kg", ("g^1", 3)), ("µs", ("s^1", -6)), ("us", ("s^1", -6)), ("milliseconds", ("s^1", -3)),
     ("kilometre", ("m^1", 3)), ("Pa", ("Pa^1", 0)), ("hPa", ("Pa^1", 2)), ("min", ("min^1", 0)), ("MeV", ("eV^1", 6)),
     ("mm²", ("m^2", -6)), ("m/s", ("m^1*s^-1", 0)), ("km/s", ("m^1*s^-1", 3))],
)  # fmt: skip
def test_units_are_read(word, unit):
    assert read_unit(word) == unit


@pytest.mark.parametrize(
    "word", ["iterations", "of", "steps", "at", "and", "x", "percent", "m/q", "ppm"]
)
def test_other_words_are_no_units(word):
    assert read_unit(word) is None
