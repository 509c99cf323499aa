"""When two outputs of one cell count as the same."""

import pytest

from scisolve_batch.replay import compare_outputs, same_output


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("x = 1.4142135623730951\n", "x = 1.414213562373095\n"),
        ("x = 1.4142135623730951\n", "x = 1.4142135623730949\n"),
        ("n = 42\n", "n = 42\n"),
        ("<f at 0x7f00deadbeef>\n", "<f at 0x7f11cafe0000>\n"),
        ("took 1.25 s\n", "took 3.5 s\n"),
        ("saved /tmp/a/x.csv\n", "saved /tmp/b/x.csv\n"),
        ("", ""),
    ],
)
def test_the_same_within_print_precision(before, now):
    assert same_output(before, now) == ""


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("x = 1.41421\n", "x = 1.41431\n", "line 1"),
        ("n = 42\n", "n = 43\n", "'n = 42' -> 'n = 43'"),
        ("a\nb 2\n", "a\nc 2\n", "line 2"),
        ("a\n", "a\nb\n", "1 lines -> 2 lines"),
        ("x = 1.5\n", "x = 1.5 1.5\n", "line 1"),
        ("x = 1e-5\n", "x = 3e-5\n", "line 1"),
    ],
)
def test_another_number_word_or_line_differs_and_is_named(before, now, said):
    assert said in same_output(before, now)


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("x = 1e999999999999999999999\n", "x = 1e999999999999999999998\n", False),
        ("x = 1e999999999999999999999\n", "x = 1e999999999999999999999\n", True),
        ("x = 1e-99999999999999\n", "x = 2e-99999999999999\n", False),
        ("n = " + "9" * 5000 + "\n", "n = " + "9" * 4999 + "8\n", False),
        ("n = " + "9" * 40 + "\n", "n = " + "9" * 39 + "8\n", False),
        ("n = +7\n", "n = 7\n", True),
        ("x = nan\n", "x = nan\n", True),
        ("x = nan\n", "x = inf\n", False),
        ("x = 1.4142135\n", "x = 1.5\n", False),
        ("x = 1e3\n", "x = 1.2e3\n", False),
        ("x = 0.3\n", "x = 0.30000000000000004\n", True),
        ("x = 1.5\n", "x = 1.50001\n", True),
        ("x = 0.30000\n", "x = 0.30001\n", True),
    ],
)
def test_numbers_of_any_size_can_be_compared(before, now, same):
    assert (same_output(before, now) == "") is same


def test_times_and_addresses_that_are_left_out_are_named():
    assert compare_outputs("a\nT = 2.006 s\n", "a\nT = 2.1 s\n") == (
        "",
        "times, addresses or paths in line 2 were not compared",
    )
    assert compare_outputs("T = 2.006 s\n", "T = 2.006 s\n") == ("", "")
    assert compare_outputs("T = 2.006 s, x = 1\n", "T = 2.1 s, x = 2\n")[0].startswith("line 1")
