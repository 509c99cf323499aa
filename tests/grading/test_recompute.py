import pytest

from scisolve_batch.grading.recompute import disagreements
from scisolve_batch.records import CertifiedValue, Problem


def found(value, recomputed, **changes):
    certified = CertifiedValue(name="x", value=value, **({"rtol": 1e-3} | changes))
    asked = Problem(id="p", statement="s", values=(certified,))
    return list(disagreements(asked, recomputed))


@pytest.mark.parametrize(
    ("value", "changes", "same", "other"),
    [
        ("0.73908513", {"digits": 8}, "0.7390851332151606", "0.73908515"),
        ("0.73908513", {"digits": 8}, "0.73908514", "0.739085"),
        ("-2.5e-7", {"digits": 2}, "-2.46e-7", "-2.7e-7"),
        ("66", {"exact": True, "rtol": None}, "66", "66.0000000000000000001"),
        ("[1.25, 3.50]", {"digits": 3}, "[1.2512, 3.4999]", "[1.25, 3.52]"),
        ("[1.25, 3.50]", {"digits": 3, "any_order": True}, "[3.4999, 1.2512]", "[3.5, 3.5]"),
        ("1.25+3.50j", {"digits": 3}, "1.2512+3.4999j", "1.25-3.50j"),
        ("0", {"atol": 1e-9, "rtol": None}, "1e-10", "1e-8"),
    ],
)
def test_recomputed_values_must_agree_to_the_last_certified_digit(value, changes, same, other):
    assert found(value, {"x": same}, **changes) == []
    assert found(value, {"x": other}, **changes) == [
        f"`x` is certified as {value}, and its reference computation gives {other}"
    ]


def test_a_value_that_is_not_recomputed_is_named():
    assert found("1.5", {"y": "1.5"}, digits=2) == ["the reference computation does not give `x`"]
