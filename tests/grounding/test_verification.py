"""The named check: each fault with its sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.grounding import check_verification
from scisolve_batch.records import Cell, CellStatus, VerificationKind

CELLS = [
    Cell(index=1, stdout="1.5"),
    Cell(index=2, stdout="1.5", status=CellStatus.ERROR),
    Cell(index=3, stdout=" \n"),
    Cell(index=4, stdout="1.5", integrity=False),
]


def read(kind="analytic", cell=1, cells=CELLS, **more):
    return check_verification({"kind": kind, "evidence_cell": cell, **more}, cells)


@pytest.mark.parametrize("kind", [kind.value for kind in VerificationKind])
@pytest.mark.parametrize("cell", [1, "1", " 1 "])
def test_a_known_kind_with_a_cell_that_printed_is_valid(kind, cell):
    result = read(kind, cell, description="energy is kept")
    assert result.valid and result.reason == ""
    assert (result.kind, result.evidence_cell, result.description) == (kind, 1, "energy is kept")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (None, "nothing was given; send an object like {"),
        ("analytic", "it is 'analytic'; send an object like {"),
        ([1], "it is [1]; send an object like {"),
        ({}, "`kind` is missing; it must be one of analytic, independent_method, limiting_case"),
        ({"kind": "guess", "evidence_cell": 1}, "`kind` is 'guess'; it must be one of analytic"),
        ({"kind": ["analytic"], "evidence_cell": 1}, "`kind` is ['analytic']; it must be one of"),
        ({"kind": "analytic"}, "`evidence_cell` is missing; give the number of the cell whose"),
    ],
)
def test_faults_of_shape_and_kind_say_what_to_send(raw, message):
    result = check_verification(raw, CELLS)
    assert not result.valid
    assert result.reason.startswith(message)


@pytest.mark.parametrize("cell", [True, 1.0, "one", "", "1.0", "-1", [1], "٣", "1" * 5000])
def test_only_whole_numbers_and_their_digits_name_a_cell(cell):
    result = read(cell=cell)
    assert not result.valid and result.evidence_cell is None
    assert "not a whole number; give the number of the cell" in result.reason


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (5, "`evidence_cell` is 5, but the cells run are 1, 2, 3, 4; give the number"),
        (0, "`evidence_cell` is 0, but the cells run are 1, 2, 3, 4; give the number"),
        (-1, "`evidence_cell` is -1, but"),
        (2, "`evidence_cell` is 2, but cell 2 failed (error), so its output is no evidence; run"),
        (3, "`evidence_cell` is 3, but cell 3 printed nothing; print what the check shows"),
        (4, "`evidence_cell` is 4, but cell 4 failed (it interfered with its session)"),
    ],
)
def test_faults_of_the_cell_say_which_and_what_to_do(cell, message):
    result = read(cell=cell)
    assert not result.valid and result.evidence_cell == cell
    assert result.reason.startswith(message)


def test_without_cells_it_says_to_run_one():
    assert "no cell was run; run a check and name its cell" in read(cells=[]).reason


def test_many_cells_are_named_as_a_range():
    cells = [Cell(index=i, stdout="1") for i in range(1, 31)]
    assert "the cells run are 1 to 30;" in read(cell=31, cells=cells).reason


def test_a_huge_number_does_not_raise():
    assert "a huge number" in read(cell=10**6000).reason


def test_a_huge_number_inside_a_list_does_not_raise():
    assert "a huge number" in read(kind=[10**6000]).reason
    assert "a huge number" in check_verification([10**6000], CELLS).reason
    assert read(description=[10**6000]).description == "a huge number"


def test_the_kind_is_looked_at_before_the_cell():
    assert "`kind`" in read(kind="guess", cell=99).reason


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(_anything | st.fixed_dictionaries({"kind": _anything, "evidence_cell": _anything}))
def test_no_argument_raises_and_invalid_ones_have_a_reason(raw):
    result = check_verification(raw, CELLS)
    assert result.valid == (result.reason == "")
