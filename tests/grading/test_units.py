from decimal import Decimal

import pytest

from scisolve_batch.grading.units import conversion, read_unit


@pytest.mark.parametrize(
    ("reported", "certified", "factor"),
    [
        ("m", "m", "1"),
        ("km", "m", "1000"),
        ("meters", "m", "1"),
        ("mm", "cm", "0.1"),
        ("mm^2", "cm^2", "0.01"),
        ("cm²", "m^2", "0.0001"),
        ("m³/mol", "m^3/mol", "1"),
        ("m^3 mol^-1", "m^3/mol", "1"),
        ("m³·mol⁻¹", "m^3/mol", "1"),
        ("cm^3/mol", "m^3/mol", "1E-6"),
        ("L/mol", "m^3/mol", "0.001"),
        ("J/(mol K)", "J K^-1 mol^-1", "1"),
        ("kJ/mol/K", "J/(mol K)", "1000"),
        ("kg m/s^2", "N", "1"),
        ("m per s", "m/s", "1"),
        ("1/s", "Hz", "1"),
        ("kHz", "Hz", "1000"),
        ("ms", "s", "0.001"),
        ("µs", "s", "1E-6"),
        ("min", "s", "60"),
        ("hours", "min", "60"),
        ("h", "h", "1"),
        ("kΩ", "ohm", "1000"),
        ("Ohm", "ohm", "1"),
        ("mmol/L", "mM", "1"),
        ("radians", "rad", "1"),
        ("mrad", "rad", "0.001"),
        ("Hartree", "hartree", "1"),
        ("Eh", "hartree", "1"),
        ("bin", "bins", "1"),
        ("dB", "dB", "1"),
        ("decibels", "dB", "1"),
        ("m K", "m K", "1"),
        ("mm K", "m K", "0.001"),
        ("m·K", "m K", "1"),
    ],
)
def test_the_same_unit_in_other_words_or_with_another_prefix_is_converted(
    reported, certified, factor
):
    assert conversion(reported, certified) == Decimal(factor)


def test_degrees_become_radians_with_all_digits():
    assert conversion("degrees", "rad") * 180 == pytest.approx(
        Decimal("3.14159265358979323846264338327950288")
    )
    assert conversion("°", "rad") == conversion("deg", "rad")


@pytest.mark.parametrize(
    ("reported", "certified", "reason"),
    [
        ("kg", "m", "the unit `kg` cannot be converted to `m`"),
        ("S", "s", "the unit `S` cannot be converted to `s`"),
        ("K", "m K", "the unit `K` cannot be converted to `m K`"),
        ("furlong", "m", "the unit `furlong` is not known; asked for `m`"),
        ("m", "bins", "the unit `m` cannot be converted to `bins`"),
        ("%", "m", "the unit `%` cannot be converted to `m`"),
        ("m^99", "m", "the unit `m^99` is not known; asked for `m`"),
    ],
)
def test_another_quantity_or_an_unknown_word_is_refused_with_the_reason(
    reported, certified, reason
):
    assert conversion(reported, certified) == reason


@pytest.mark.parametrize("text", ["", "/", "m/", "(m", "m)", "m^", "^2", "m//s)", "3m"])
def test_what_is_no_unit_is_none(text):
    assert read_unit(text) is None
