"""The cut of long output: no number is ever cut, nothing before the cut is lost without need."""

import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisolve_batch.executor.output import CUT_MARKER, Capture, find_cut


def capture(data, *, limit):
    stream = Capture(limit)
    try:
        written = 0
        while written < len(data):
            written += os.write(stream.writer, data[written : written + 4096])
            while stream.read():
                pass
        return stream.finish()
    finally:
        stream.close()


def test_short_output_is_untouched():
    assert capture(b"x = 1.25\n", limit=100) == ("x = 1.25\n", 0)
    assert capture(b"x" * 100, limit=100) == ("x" * 100, 0)


def test_the_marker_holds_nothing_that_could_be_read_as_a_number():
    assert not re.search(r"\d", CUT_MARKER)
    assert CUT_MARKER.endswith("\n")


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (b"a = 1\nb = 3.14159", b"a = 1\n"),
        (b"1.5 2.5 3.5", b"1.5 2.5 "),
        (b"[1.25, 2.25, 3.2", b"[1.25, 2.25, "),
        (b"total 1 234 567", b"total "),
        (b"value 3.0 x 10^5", b"value "),
        (b"value 3.0 \xc3\x97 10", b"value "),
        (b"near 1.5 +/- 0.2", b"near "),
        (b"z = 1 + 2j", b"z = "),
        (b"share 12 %", b"share "),
        (b"count 12 apples an", b"count 12 apples "),
        (b"1" * 50, b""),
        (b"x" * 50, b"x" * 50),
        ("é".encode() * 3 + b"\xc3", "é".encode() * 3),
        (b"1.5 ", b""),
        (b"x = 1 2", b"x = "),
        (b"rate ", b"rate "),
    ],
)
def test_the_cut_stands_outside_of_numbers(kept, expected):
    assert kept[: find_cut(kept)] == expected


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers().map(str),
    st.integers(0, 10**9).map(lambda n: f"{n:,}".replace(",", " ")),
    st.tuples(st.floats(1, 9), st.integers(-9, 9)).map(lambda p: f"{p[0]:.3f} x 10^{p[1]}"),
    st.tuples(st.floats(1, 9), st.integers(-9, 9)).map(lambda p: f"{p[0]:.3f} × 10^{p[1]}"),
    st.floats(1, 9).map(lambda x: f"{x:.4f} +/- 0.02"),
    st.complex_numbers(allow_nan=False, allow_infinity=False).map(
        lambda z: f"{z.real:.3g} + {abs(z.imag):.3g}j"
    ),
    st.integers(0, 100).map(lambda n: f"{n} %"),
)
glue = st.sampled_from([" ", ", ", "\n", " rate is ", "\t", "] [", " -> ", "=", " m/s "])


@settings(max_examples=60, deadline=None)
@given(parts=st.lists(st.tuples(glue, numbers), min_size=1, max_size=12), limit=st.integers(1, 150))
def test_no_number_is_ever_cut(parts, limit):
    text, spans = "", []
    for join, number in parts:
        text += join
        start = len(text.encode())
        text += number
        spans.append((start, len(text.encode())))
    data = (text + "\n").encode()
    shown, dropped = capture(data, limit=limit)
    if len(data) <= limit:
        assert (shown, dropped) == (data.decode(), 0)
        return
    kept = len(data) - dropped
    assert shown.encode().startswith(data[:kept])
    assert shown.endswith(CUT_MARKER)
    for start, end in spans:
        assert not start < kept < end, (data[:kept], data[kept : kept + 20])


def test_draining_ends_although_a_writer_goes_on():
    stream = Capture(10)
    try:
        os.set_blocking(stream.writer, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(stream.writer, b"word " * 1000)
        stream.drain()
        text, dropped = stream.finish()
    finally:
        stream.close()
    assert text == "word word \n" + CUT_MARKER
    assert dropped > 10_000
