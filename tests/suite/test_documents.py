import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from scisolve_batch.documents import parse, place, read_document, read_text
from scisolve_batch.errors import SuiteError


def data_of(text):
    return read_text(text).data


def fault_of(text):
    with pytest.raises(SuiteError) as caught:
        read_text(text, file="f.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1e-6", 1e-6),
        ("1.0e-6", 1e-6),
        (".5", 0.5),
        ("-3", -3),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("true", True),
        ("null", None),
        ("~", None),
    ],
)
def test_numbers_and_constants_mean_what_they_look_like(written, meant):
    value = data_of(f"key: {written}")["key"]
    assert value == meant
    assert type(value) is type(meant)


@pytest.mark.parametrize(
    "written",
    [
        "no",
        "on",
        "off",
        "yes",
        "y",
        "n",
        "No",
        "2024-01-02",
        "12:30:00",
        "190:20:30",
        "1_000",
        "0b1",
    ],
)
def test_words_that_yaml_1_1_turns_into_something_else_stay_text(written):
    assert data_of(f"key: {written}")["key"] == written
    assert data_of(f"{written}: 1") == {written: 1}


def test_quoted_numbers_stay_text():
    assert data_of("key: '1e-6'")["key"] == "1e-6"
    assert data_of('key: "12"')["key"] == "12"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "f.yaml: is empty"),
        ("# only a comment\n", "f.yaml: is empty"),
        ("---\n", "f.yaml: is empty"),
        ("a: 1\nb: 2\na: 3\n", "f.yaml:3: the key `a` stands twice, first in line 1"),
        ("a:\n  b: 1\n  b: 2\n", "f.yaml:3: a: the key `b` stands twice, first in line 2"),
        ("a:\n\tb: 1\n", "f.yaml:2: a tab stands in the indentation; YAML wants spaces"),
        ("a: b: c\n", "f.yaml:1: `: ` stands where no key can; quote the text, or check the"),
        ("a: 1\nb: @x\n", "f.yaml:2: unquoted text cannot begin with @, ` or %; put it in quotes"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2: a second document begins here (`---`)"),
        ("a: 1\nb: \x01\n", "f.yaml:2: holds a control character"),
        ("a: [1, 2\n", "f.yaml:2: is not YAML: did not find expected ',' or ']'"),
        ("a: *lost\n", "f.yaml:1: is not YAML: found undefined alias"),
        ("a: !!python/name:os.system x\n", "f.yaml:1: the tag `!!python/name:os.system` has no"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "f.yaml:3: `<<` merges nothing here; write the keys"),
        ("[a]: 1\n", "f.yaml:1: a key must be a word"),
        ("&a [*a]\n", "f.yaml:1: is nested deeper than 50 levels"),
        ("[" * 60 + "]" * 60, "f.yaml:1: is nested deeper than 50 levels"),
        ("[" * 20_000, "f.yaml:1: is not YAML: exceeded maximum nesting depth"),
    ],
)
def test_a_fault_is_named_with_its_file_and_line(text, fault):
    assert fault_of(text).startswith(fault)


def test_repeated_aliases_cannot_blow_up_the_document(monkeypatch):
    monkeypatch.setattr("scisolve_batch.documents.MAX_NODES", 5000)
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 8)]
    assert "holds more than 5000 values (aliases counted)" in fault_of("\n".join(lines))


def test_an_integer_that_python_refuses_to_read_stays_text():
    assert data_of("key: " + "9" * 5000)["key"] == "9" * 5000


def test_a_byte_order_mark_and_windows_line_ends_are_no_trouble(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes("﻿a: 1\r\nb: |\r\n  x\r\n".encode())
    assert read_document(file).data == {"a": 1, "b": "x\n"}


@pytest.mark.parametrize(
    ("prepare", "fault"),
    [
        (lambda p: None, "no such file; did you mean `mine.yaml`?"),
        (lambda p: p.mkdir(), "is a folder; name a file in it, or write min.yaml/*.yaml"),
        (lambda p: p.write_bytes(b"a: 1\nb: \xff\n"), "2: byte 0xff is not UTF-8; save the file"),
        (lambda p: p.write_bytes(b"a" * (16 * 1024 * 1024 + 1)), "is larger than 16 MiB"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_message(tmp_path, prepare, fault):
    (tmp_path / "mine.yaml").write_text("a: 1\n")
    file = tmp_path / "min.yaml"
    prepare(file)
    with pytest.raises(SuiteError) as caught:
        read_document(file)
    assert fault in str(caught.value)
    assert str(caught.value).startswith(str(file))


TEXT = """\
head: 1
problems:
  - id: first
    values:
      - name: x
        rtol: 1e-6
  - id: second
    values: [{name: y, rtol: 2.50}]
"""


def test_places_are_paths_with_lines_and_the_text_as_written():
    document = read_text(TEXT, file="f.yaml")
    loc = ("problems", 0, "values", 0, "rtol")
    assert place(loc) == "problems[0].values[0].rtol"
    assert document.line(loc) == 6
    assert document.text(loc) == "1e-6"
    assert document.text(("problems", 1, "values", 0, "rtol")) == "2.50"
    assert document.line(("problems", 1, "missing", "deeper")) == 7
    assert str(document.error("is wrong", loc)) == "f.yaml:6: problems[0].values[0].rtol: is wrong"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    size: float
    name: str = ""


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    count: int = 1
    items: list[Inner] = []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "items:\n  - sise: 1\n    size: 2\n",
            "f.yaml:2: items[0].sise: unknown key; did you mean",
        ),
        ("nothing: 1\n", "f.yaml:1: nothing: unknown key; known keys: count, items"),
        ("items:\n  - name: a\n", "f.yaml:2: items[0]: the key `size` is missing"),
        ("items:\n  - size: big\n", "f.yaml:2: items[0].size: must be a number, not `big`"),
        ("items:\n  - {size: 1, name: 1.0}\n", 'must be text; put it in quotes: "1.0"'),
        (
            "items: {size: 1}\n",
            "items: must be a list (`[a, b]`, or lines that begin with `- `), not",
        ),
        ("count: 1.5\n", "f.yaml:1: count: must be a whole number, not `1.5`"),
        ("count: true\n", "f.yaml:1: count: must be a whole number, not `true`"),
        ("- a\n", "f.yaml:1: must be a mapping (lines `key: value`), not a list"),
    ],
)
def test_what_does_not_fit_a_model_is_said_in_the_words_of_the_file(text, fault):
    with pytest.raises(SuiteError) as caught:
        parse(read_text(text, file="f.yaml"), Outer)
    assert fault in str(caught.value)


def test_every_fault_of_a_document_is_listed_at_once():
    with pytest.raises(SuiteError) as caught:
        parse(read_text("count: x\nitems:\n  - size: y\n    nam: z\n", file="f.yaml"), Outer)
    assert [line.split(":")[1] for line in str(caught.value).splitlines()] == ["1", "3", "4"]
    assert caught.value.line == 1


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**30), 10**30))
def test_any_number_that_python_writes_is_read_back(number):
    assert data_of(f"key: {number!r}")["key"] == number


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_any_text_is_read_or_refused_with_a_suite_error(text):
    try:
        read_text(text)
    except SuiteError as error:
        assert str(error).startswith("<text>")


def test_a_pipe_is_read_to_its_end(tmp_path):
    """`run <(generator)`: a pipe has no size, and gives 64 KiB at a time."""
    path, long = tmp_path / "pipe.yaml", "x" * 300_000
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(f"a: {long}\n",))
    writer.start()
    document = read_document(path)
    writer.join()
    assert document.data == {"a": long}
