"""Notebooks of every shape are checked as far as they go, and none is executed."""

import json
from random import Random

import pytest

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding import check_grounding
from scisolve_batch.notebooks import MAX_OUTPUT, check_notebook, check_text
from scisolve_batch.records import FAILING, Cell


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def code(*outputs, source="fit()"):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def prose(text):
    return {"cell_type": "markdown", "source": text}


def write(folder, *cells):
    path = folder / "n.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    return path


@pytest.fixture
def check(tmp_path):
    def run(*cells, **top):
        path = tmp_path / "n.ipynb"
        path.write_text(json.dumps({"cells": list(cells), "nbformat": 4, **top}))
        return [
            (item.cell, item.line, item.literal.text) for item in check_notebook(path).unsupported
        ]

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
    assert [item.literal.text for item in check_notebook(path).unsupported] == ["5.5"]


def test_a_huge_output_is_read_at_both_ends_and_that_is_said(tmp_path):
    middle = "word " * 40_000
    cells = [code(stream(f"1.25 {middle} 6.625 {middle} 3.75")), prose("1.25, 6.625 and 3.75")]
    checked = check_notebook(write(tmp_path, *cells))
    assert [item.literal.text for item in checked.unsupported] == ["6.625"]
    assert checked.cut == (1,) and checked.numbers == 3


def test_all_outputs_together_have_a_limit_too(tmp_path):
    wide = code(stream("word " * MAX_OUTPUT))
    cells = [wide] * 7 + [code(stream("2.5")), prose("2.5")]
    checked = check_notebook(write(tmp_path, *cells))
    assert checked.cut[:5] == (1, 2, 3, 4, 5) and 7 in checked.cut


@pytest.mark.parametrize("filler", ["x", "x\n"])
def test_no_number_is_cut_in_two(tmp_path, filler):
    half = filler * (MAX_OUTPUT // (2 * len(filler)) - 2)
    for shift in range(6):
        printed = f"{half[shift:]} 12.345 {half * 3} 67.891{half[shift:]}"
        checked = check_notebook(write(tmp_path, code(stream(printed)), prose("12.3, 12, 891, 91")))
        supported = 4 - len(checked.unsupported)
        assert supported in (0, 2), (shift, checked.unsupported)
        assert {one.literal.text for one in checked.unsupported} >= {"891", "91"}


def test_long_prose_is_read_at_both_ends_and_that_is_said(tmp_path):
    text = prose("word " * 40_000 + " 4.75 " + "word " * 40_000 + " 6.25")
    checked = check_notebook(write(tmp_path, text))
    assert checked.cut == (1,) and [one.literal.text for one in checked.unsupported] == ["6.25"]


def test_arrays_of_the_same_number_are_read_as_far_as_needed(check):
    array = code(stream("0.00 " * 9_000 + "7.25 " + "1,0,0," * 800 + "1 " + "0.00 m "))
    found = check(array, *[prose("0.0 and 0.00, 7.25, 1 of 2.5 " * 40)] * 10)
    assert {text for _, _, text in found} == {"2.5"}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        "\x00\x01",
        '"text"',
        "{}",
        '{"cells": {}}',
        '{"worksheets": 3}',
        "[" * 100_000,
    ],
)
def test_what_is_no_notebook_is_refused(tmp_path, content):
    path = tmp_path / "x.ipynb"
    path.write_text(content)
    with pytest.raises(UsageError, match="is no notebook"):
        check_notebook(path)


def test_a_plain_text_is_checked_against_an_output():
    found = check_text("The mean is 4.5.\nThe spread is 1.75.", "mean 4.5\n")
    assert [(item.line, item.literal.text) for item in found.unsupported] == [(2, "1.75")]
    assert found.numbers == 2


def reasons(path, **how):
    return {one.literal.text: one.literal.reason for one in check_notebook(path, **how).unsupported}


@pytest.mark.parametrize("policy", ["decimal", "flat"])
def test_a_number_that_is_printed_only_further_down_says_so(tmp_path, policy):
    cells = [code(stream("x 2.75")), prose("17.25, 2.75, 88.5"), code(stream("17.25\n2.75"))]
    path = write(tmp_path, *cells, prose("17.25"))
    assert reasons(path, policy=policy) == {"17.25": "below", "88.5": reasons(path)["88.5"]}


def test_a_source_above_is_found_although_a_better_one_stands_below(check):
    above, below = code(stream("gap 2.75")), code(stream("slope 2.75"))
    assert check(above, prose("The slope is 2.75."), below, prose("2.75")) == []
    listed, joined = code(stream("12 345")), code(stream("n 12345"))
    assert check(listed, prose("12,345"), joined, prose("n is 12345.")) == []
    assert check(prose("12,345"), joined, prose("n is 12345.")) == [(1, 1, "12,345")]


def test_a_small_count_stays_one_when_it_is_printed_further_down(check):
    assert check(prose("There are 3 roots."), code(stream("roots 3.2")), prose("3.2")) == []


def test_what_is_printed_below_cannot_fail_a_number_above(check):
    above, below = code(stream("x 12.5")), code(stream("binding energy = -12.5"))
    claim = prose("The binding energy is 12.5.")
    assert check(above, claim, below, prose("The end.")) == []
    assert check(above, below, claim) == [(3, 1, "12.5")]


def alternating(random):
    """Numbers, texts, signs and labels that collide, in any order."""
    numbers = ["2.5", "-2.5", "0.25", "25", "3", "2.47", "1,250", "99 %"]
    names = ["loss", "gap", "the loss", ""]
    cells = []
    for _ in range(random.randint(2, 9)):
        words = " ".join(f"{random.choice(names)} {random.choice(numbers)}" for _ in range(3))
        failed = [{"output_type": "error"}] if random.random() < 0.1 else []
        cells.append(random.choice([prose(f"The {words}."), code(stream(words), *failed)]))
    return cells


@pytest.mark.parametrize("seed", range(80))
def test_one_look_at_all_outputs_finds_what_a_look_at_each_finds(tmp_path, seed):
    cells = alternating(Random(seed))
    found = check_notebook(write(tmp_path, *cells)).unsupported
    slow, outputs = [], []
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            ok = "ok" if len(cell["outputs"]) == 1 else "error"
            text = cell["outputs"][0]["text"]
            outputs.append(Cell(index=number, code="fit()", stdout=text, status=ok))
        else:
            literals = check_grounding(cell["source"], outputs).literals
            slow += [(number, one.text) for one in literals if one.verdict in FAILING]
    assert [(one.cell, one.literal.text) for one in found] == slow


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "display_data", "data": {"text/markdown": "**45.6**", "text/plain": "<IPython.core.display.Markdown object>"}},
        {"output_type": "display_data", "data": {"text/html": ["<td a='3'>45.6", "</td>"], "text/plain": ["<IPython.core.display.HTML object>"]}},
        {"output_type": "update_display_data", "data": {"text/latex": "$45.6$"}},
        {"output_type": "execute_result", "data": {"text/plain": "<Quantity 45.6 m>", "text/html": "1"}},
        {"output_type": "pyout", "html": "<b>45.6</b>", "text": "<pandas.core.frame at 0x7f>"},
        {"output_type": "stream", "name": "stdout", "text": "\x1b[32m45.6\x1b[0m"},
        {"output_type": "stream", "text": ["4", "5.6", None, 7]},
    ],
)  # fmt: skip
def test_what_a_reader_sees_in_an_output_counts(check, output):
    assert check(code(output), prose("It is 45.6.")) == []


@pytest.mark.parametrize(
    "data",
    [
        {"text/plain": "<Figure size 640x480 with 1 Axes>", "image/png": "iVBOR640"},
        {"text/plain": "[<matplotlib.lines.Line2D at 0x640>]"},
        {"text/plain": "<IPython.core.display.HTML object>", "text/html": "<img width='640'><script>640</script>"},
        {"application/vnd.plotly.v1+json": {"data": [640]}},
        {"text/plain": {"a": 640}},
    ],
)  # fmt: skip
def test_pictures_and_names_of_objects_support_nothing(check, data):
    found = check(code({"output_type": "display_data", "data": data}), prose("It is 640."))
    assert found == [(2, 1, "640")]


def test_a_heading_of_the_old_format_is_prose(tmp_path):
    path = tmp_path / "old.ipynb"
    cells = [{"cell_type": "heading", "level": 2, "source": text} for text in ("1.1 A", "45.6 B")]
    path.write_text(json.dumps({"worksheets": [{"cells": cells}, 5, {"cells": 3}]}))
    assert reasons(path) == {"45.6": "absent"}


def test_huge_attachments_and_odd_values_are_passed_over(tmp_path):
    picture = prose("![p](data:image/png;base64," + "a4/5+" * 400_000 + ")\n\nIt is 45.6.")
    long = {"cell_type": "code", "execution_count": 1, "outputs": [{"output_type": "display_data",
        "data": {"image/png": "45.6" * 500_000, "application/json": {"x": 45.6}}}]}  # fmt: skip
    path = write(tmp_path, long, picture)
    path.write_text(
        path.read_text().replace('"execution_count": 1', '"execution_count": ' + "9" * 5000)
    )
    assert reasons(path) == {"45.6": "absent"}


def test_half_a_character_is_no_obstacle(check):
    assert check(prose("\ud83d 45.6 \udc00")) == [(1, 1, "45.6")]


def test_an_unknown_policy_is_named(tmp_path):
    with pytest.raises(UsageError, match="no grounding policy `strict`; choose one of"):
        check_notebook(write(tmp_path, prose("1.5")), policy="strict")
