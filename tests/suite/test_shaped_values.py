"""Lists and complex numbers in suite files: form, digests, audit."""

import pytest

from scisolve_batch.audit import audit_suite, change_digits
from scisolve_batch.errors import SuiteError
from scisolve_batch.records import CertifiedValue
from scisolve_batch.suite import load_suite, problem_digest


def load(folder, keys, *, statement="Report x to the digits asked for."):
    text = f"id: p\nstatement: {statement}\nvalues:\n  - name: x\n    {keys}\n"
    (folder / "p.yaml").write_text(text)
    return load_suite(folder / "p.yaml")


def value(folder, keys):
    return load(folder, keys).problems[0].values[0]


def faults(folder, keys):
    return [one.what for one in audit_suite(load(folder, keys))]


def test_a_list_and_a_complex_number_become_text(tmp_path):
    listed = value(tmp_path, 'value: ["1.50", "-2.0e3+1.0j"]\n    report_digits: 2')
    assert listed.value == "[1.50, -2.0e3+1.0j]"
    assert listed.entries == ("1.50", "-2.0e3+1.0j")
    assert (listed.digits, listed.rtol) == (2, 0.1)
    assert value(tmp_path, 'value: "2.00j"\n    rtol: 1e-3').digits == 3
    assert value(tmp_path, 'value: ["0", "1.25"]\n    atol: 1e-3').digits == 3


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("value: [1.5, 2.5]", 'put each in quotes: "1.5"'),
        ("value: []", "is an empty list; give at least one number"),
        ('value: ["1.5", "two"]', "`two` is not a decimal like 0.5"),
        ('value: ["1.5", "nan"]', "`nan` is not a decimal like 0.5"),
        ('value: "1+2i"', "`1+2i` is not a decimal like 0.5"),
        ('value: ["1.5", "0.0"]', "is zero: only `atol` or `exact` can be met there"),
        ('value: "1.5+0j"\n    by_parts: true', "is zero: only `atol` or `exact`"),
        ('value: "1.5"\n    any_order: true', "is one number, so `any_order` means nothing"),
        ('value: "1.5"\n    by_parts: true', "is real, so `by_parts` means nothing"),
        (
            'value: ["1.5", "2"]\n    any_order: true\n    up_to_phase: true',
            "cannot be compared in any order and up to a phase together",
        ),
        (
            'value: ["1.5", "2"]\n    up_to_sign: true\n    up_to_phase: true',
            "is up to a phase, and a sign is one",
        ),
        (f"value: {['1'] * 1001}", "has 1001 entries; at most 1000 can be compared"),
        (f"value: {['1'] * 101}\n    any_order: true", "has 101 entries; at most 100 can"),
    ],
)
def test_what_means_nothing_is_refused_with_its_place(tmp_path, keys, message):
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, keys + "\n    rtol: 1e-6")
    assert message in str(caught.value)
    assert "p.yaml:4: values[0]" in str(caught.value) or "p.yaml:5: values[0]" in str(caught.value)


def test_the_way_of_comparing_is_inside_the_digest_when_it_is_used(tmp_path):
    plain = load(tmp_path, 'value: ["1.5", "2.5"]\n    rtol: 1e-6').problems[0]
    digests = {problem_digest(plain)}
    for way in ("any_order", "up_to_sign", "up_to_phase"):
        keys = f'value: ["1.5", "2.5"]\n    rtol: 1e-6\n    {way}: true'
        digests.add(load(tmp_path, keys).problems[0].digest)
    assert len(digests) == 4
    said = load(tmp_path, 'value: ["1.5", "2.5"]\n    rtol: 1e-6\n    any_order: false')
    assert said.problems[0].digest == plain.digest


def test_a_list_is_audited_entry_by_entry(tmp_path):
    good = 'value: ["1.500000", "2.500000"]\n    rtol: 1e-6'
    assert faults(tmp_path, good) == []
    coarse = 'value: ["1.500000", "2.5"]\n    rtol: 1e-6'
    assert faults(tmp_path, coarse) == ["`x` has a tolerance finer than its last certified digit"]
    close = 'value: ["1.500000", "1.500001"]\n    rtol: 1e-6\n    any_order: true'
    assert faults(tmp_path, close) == [
        "`x` has two entries that one number would meet; narrow its tolerance"
    ]
    wide = 'value: ["1.500000", "2.500000"]\n    rtol: 0.5'
    assert "accepts numbers that share no digit" in faults(tmp_path, wide)[0]
    small = faults(tmp_path, 'value: ["1", "2"]\n    exact: true')
    assert "is a small integer or stands in the statement" in small[0]
    trap = good + "\nknown_wrong: [{method: m, values: {x: ['1.500001', '2.5']}}]"
    assert faults(tmp_path, trap) == ["the known wrong value of `x` is graded correct"]


def test_digits_of_entries_and_parts_are_changed_one_at_a_time():
    listed = CertifiedValue(name="x", value="[1.5, -2.5]", rtol=1e-2)
    assert list(change_digits(listed)) == [
        "[2.5, -2.5]", "[1.6, -2.5]", "[1.5, -3.5]", "[1.5, -2.6]",
    ]  # fmt: skip
    number = CertifiedValue(name="x", value="1.5-2.5j", rtol=1e-2)
    assert list(change_digits(number)) == ["2.5-2.5j", "1.6-2.5j", "1.5-3.5j", "1.5-2.6j"]
