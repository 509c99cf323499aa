import subprocess
import sys
from decimal import Decimal, localcontext

import pytest

from scisolve_batch.grading import grade
from scisolve_batch.grading.units import SAME, conversion, is_unit, is_unit_in_prose
from scisolve_batch.records import CertifiedValue, Problem, ReportedValue


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
        ("cm-1", "1/m", "100"),
        ("cm⁻¹", "m^{-1}", "100"),
        ("W/(m² °C)", "W m^-2 K^-1", "1"),
        ("W/m^2/degC", "W/(m^2 K)", "1"),
        ("Nm", "J", "1"),
        ("AU", "km", "149597870.700"),
        ("mmHg", "Torr", None),
        ("inch", "cm", "2.54"),
        ("lb", "kg", "0.45359237"),
        ("ATM", "Pa", "101325"),
        ("ppm", "%", "0.0001"),
        ("Å", "nm", "0.1"),
        ("Å", "nm", "0.1"),
        ("rad/s", "s^-1", "1"),
        ("deg/s", "rad/s", None),
        ("MHz", "1/s", "1000000"),
        ("E_h", "hartree", "1"),
        ("Kelvin", "K", "1"),
        ("delta_degF", "K", None),
        ("gram per mole", "kg/mol", "0.001"),
        ("kWh", "MJ", "3.6"),
        ("dBm", "dBm", "1"),
    ],
)
def test_the_same_unit_in_other_words_or_with_another_prefix_is_converted(
    reported, certified, factor
):
    found = conversion(reported, certified)
    assert found.offset == 0
    if factor is None:  # no short decimal; its inverse is the inverse conversion
        back = conversion(certified, reported).factor
        assert abs(found.factor * back - 1) < Decimal("1e-55")
    else:
        assert found.factor == Decimal(factor)


def test_degrees_become_radians_with_all_digits():
    pi = Decimal("3.14159265358979323846264338327950288419716939937")
    with localcontext(prec=60):
        assert abs(conversion("degrees", "rad").factor * 180 - pi) < Decimal("1e-46")
    assert conversion("°", "rad") == conversion("deg", "rad")


@pytest.mark.parametrize(
    ("reported", "certified", "reason"),
    [
        ("kg", "m", "the unit `kg` cannot be converted to `m`"),
        ("S", "s", "the unit `S` cannot be converted to `s`"),
        ("K", "m K", "the unit `K` cannot be converted to `m K`"),
        ("wizards", "m", "the unit `wizards` is not known; asked for `m`"),
        ("m", "bins", "the unit `m` cannot be converted to `bins`"),
        ("%", "m", "the unit `%` cannot be converted to `m`"),
        ("m^99", "m", "the unit `m^99` is not known; asked for `m`"),
    ],
)
def test_another_quantity_or_an_unknown_word_is_refused_with_the_reason(
    reported, certified, reason
):
    assert conversion(reported, certified).note == reason


@pytest.mark.parametrize("text", ["", "/", "m/", "(m", "m)", "m^", "^2", "m//s)", "3m"])
def test_what_is_no_unit_is_none(text):
    assert not is_unit(text)


@pytest.mark.parametrize(
    ("reported", "unit", "certified"),
    [
        ("25", "°C", "K"),
        ("25", "degC", "K"),
        ("25", "celsius", "K"),
        ("25", "deg C", "K"),
        ("25", "degrees Celsius", "K"),
        ("25", "℃", "kelvin"),
        ("77", "°F", "K"),
        ("77", "degrees Fahrenheit", "K"),
        ("298.15", "K", "degC"),
        ("0.29815", "kK", "degC"),
        ("77", "degF", "degC"),
        ("536.67", "degR", "degC"),
    ],
)
def test_temperatures_are_converted_with_their_offset(reported, unit, certified):
    found = conversion(unit, certified)
    value = Decimal(reported) * found.factor + found.offset
    assert abs(value - Decimal("298.15" if certified.lower().startswith("k") else "25")) < Decimal(
        "1e-50"
    )


@pytest.mark.parametrize("reported", ["K", "°C", "degC", "delta_degC"])
def test_a_difference_of_temperatures_has_no_offset(reported):
    assert conversion(reported, "delta_degC") == SAME


@pytest.mark.parametrize(
    ("reported", "certified"),
    [
        ("Hz", "rad/s"),
        ("rad/s", "kHz"),
        ("rpm", "Hz"),
        ("dB", "%"),
        ("%", "dB"),
        ("dB", "dBm"),
        ("dBm", "mW"),
        ("C", "K"),
        ("degC m", "K"),
    ],
)
def test_what_a_careless_conversion_would_mix_up_is_refused(reported, certified):
    refusal = conversion(reported, certified)
    assert refusal.known
    assert refusal.note == f"the unit `{reported}` cannot be converted to `{certified}`"


def test_a_word_of_the_sentence_is_no_unit():
    for word in ("in", "at", "as", "a", "are", "and", "is", "or"):
        assert not is_unit_in_prose(word, certified="m")
    assert is_unit_in_prose("mm", certified="m") and is_unit_in_prose("inch", certified="m")
    assert is_unit_in_prose("bins", certified="bins")


def test_another_quantity_is_wrong_an_unknown_word_cannot_be_read():
    value = CertifiedValue(name="T", value="298.15", unit="K", rtol=1e-6)
    asked = Problem(id="p", statement="s", values=(value,))

    def graded(text, unit=None):
        return grade(asked, answer=None, values=[ReportedValue(name="T", value=text, unit=unit)])

    right, unit, word = graded("25 °C"), graded("298.15", "J"), graded("298.15", "kelvinos")
    assert right.correct and right.values[0].correct_digits == 5
    assert (unit.values[0].verdict.value, unit.values[0].note) == (
        "wrong",
        "the unit `J` cannot be converted to `K`",
    )
    assert (word.values[0].verdict.value, word.values[0].note) == (
        "unreadable",
        "the unit `kelvinos` is not known; asked for `K`",
    )
    assert grade(asked, answer="We find T = 25 °C in the end.", values=[]).correct
    assert grade(asked, answer="We find T = 298.15 in the end.", values=[]).correct


@pytest.mark.parametrize(
    "text", ["m^13", "m" * 81, "lambda: m", "__import__('os')", "m.real", "10 m"]
)
def test_what_is_too_long_or_no_product_of_powers_is_no_unit(text):
    assert not is_unit(text)


PROGRAM = """
import sys
from scisolve_batch.grading import grade
from scisolve_batch.records import CertifiedValue, Problem, ReportedValue
for asked, given in ((None, None), (None, "m"), ("m/s", "m/s"), ("m/s", None), ("bins", "bins")):
    value = CertifiedValue(name="x", value="1.5", unit=asked, rtol=1e-6)
    problem = Problem(id="p", statement="s", values=(value,))
    reported = [ReportedValue(name="x", value="1.5", unit=given)]
    assert grade(problem, answer=None, values=reported).correct
    assert grade(problem, answer=f"So x = 1.5 {given or ''}.", values=[]).correct
assert "pint" not in sys.modules and "numpy" not in sys.modules
"""


def test_nothing_is_loaded_while_units_are_the_same_words():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
