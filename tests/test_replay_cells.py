"""When two outputs of one cell count as the same."""

import pytest

from scisolve_batch.replay import same_output


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
