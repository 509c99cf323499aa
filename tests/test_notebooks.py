"""Notebooks of every shape are checked as far as they go, and none is executed."""

import json

import pytest

from scisolve_batch.errors import UsageError
from scisolve_batch.notebooks import check_notebook, check_text


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def code(*outputs, source="fit()"):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def prose(text):
    return {"cell_type": "markdown", "source": text}


@pytest.fixture
def check(tmp_path):
    def run(*cells, **top):
        path = tmp_path / "n.ipynb"
        path.write_text(json.dumps({"cells": list(cells), "nbformat": 4, **top}))
        return [(item.cell, item.line, item.literal.text) for item in check_notebook(path)]

    return run


def test_prose_is_checked_against_the_outputs_above_it(check):
    found = check(
        prose("We will find 2.71828 later."),
        code(stream("slope 2.0345\n")),
        prose("The slope is 2.03.\n\nThe offset is 7.25."),
        code(stream("offset 7.25\n")),
    )
    assert found == [(1, 1, "2.71828"), (3, 3, "7.25")]


def test_results_count_and_errors_and_stderr_do_not(check):
    result = {"output_type": "execute_result", "data": {"text/plain": ["array([1.25, 2.75])"]}}
    failed = {"output_type": "error", "ename": "E", "traceback": []}
    found = check(
        code(result),
        code(stream("9.125"), failed),
        code(stream("8.375", name="stderr")),
        prose("1.25, 9.125 and 8.375"),
    )
    assert [text for _, _, text in found] == ["9.125", "8.375"]


@pytest.mark.parametrize(
    "cells",
    [
        [{}],
        [None, 5, "x", []],
        [{"cell_type": "code"}],
        [{"cell_type": "code", "outputs": "none"}],
        [{"cell_type": "markdown", "source": {"a": 1}}],
        [{"cell_type": "code", "outputs": [None, {}, {"output_type": "stream", "text": 5}]}],
        [{"cell_type": "code", "outputs": [{"output_type": "display_data", "data": {"image/png": "iVBOR"}}]}],
    ],
)  # fmt: skip
def test_odd_cells_are_passed_over(check, cells):
    assert check(*cells, prose("nothing to see")) == []


def test_the_old_format_is_read(tmp_path):
    old = {"cell_type": "code", "input": "f()", "outputs": [
        {"output_type": "pyout", "text": ["3.25"]}, {"output_type": "stream", "stream": "stdout", "text": "4.75"}]}  # fmt: skip
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"worksheets": [{"cells": [old, prose("3.25, 4.75, 5.5")]}]}))
    assert [item.literal.text for item in check_notebook(path)] == ["5.5"]


def test_a_huge_output_is_read_only_so_far(check):
    assert check(code(stream("1.5 " * 1_000_000 + "6.625")), prose("1.5 and 6.625")) == [
        (2, 1, "6.625")
    ]


@pytest.mark.parametrize("content", ["", "[]", "{", "\x00\x01", '"text"'])
def test_what_is_no_notebook_is_refused(tmp_path, content):
    path = tmp_path / "x.ipynb"
    path.write_text(content)
    with pytest.raises(UsageError, match="is no notebook"):
        check_notebook(path)


def test_a_plain_text_is_checked_against_an_output():
    found = check_text("The mean is 4.5.\nThe spread is 1.75.", "mean 4.5\n")
    assert [(item.line, item.literal.text) for item in found] == [(2, "1.75")]
