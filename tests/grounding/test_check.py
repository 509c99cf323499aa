"""The check as a whole: its verdicts, its policies, its import cost."""

import subprocess
import sys

import pytest

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding import DEFAULT_POLICY, POLICIES, check_grounding
from scisolve_batch.records import Cell, CellStatus, GroundingVerdict


@pytest.mark.parametrize("policy", sorted(POLICIES))
@pytest.mark.parametrize("answer", ["42.5", "no numbers", ""])
def test_nothing_is_computed_when_no_cell_succeeded(policy, answer):
    failed = Cell(index=1, stdout="42.5", status=CellStatus.ERROR)
    for cells in ([], [failed]):
        report = check_grounding(answer, cells, "given 42.5", policy=policy)
        assert report.verdict is GroundingVerdict.NOTHING_COMPUTED
        assert not report.grounded


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_an_answer_without_numbers_is_grounded_once_something_ran(policy):
    report = check_grounding("It converges.", [Cell(index=1)], policy=policy)
    assert report.verdict is GroundingVerdict.GROUNDED
    assert report.policy == policy


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_the_cells_own_number_is_named(policy):
    cells = [Cell(index=4, stdout="a 1.5"), Cell(index=9, stdout="one\n\nb 271.25")]
    (literal,) = check_grounding("b = 271.25", cells, policy=policy).literals
    assert (literal.cell, literal.line, literal.printed) == (9, 3, "271.25")


def test_an_unknown_policy_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match=r"no grounding policy `strict`; choose one of .*flat"):
        check_grounding("1", [], policy="strict")


def test_the_default_is_a_policy():
    assert DEFAULT_POLICY in POLICIES


def test_importing_the_check_loads_no_numpy():
    code = (
        "import sys, scisolve_batch.grounding; "
        "print([m for m in ('numpy', 'pandas', 'anthropic', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
