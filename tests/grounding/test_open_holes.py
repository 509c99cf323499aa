"""Each known hole is open: a script that stops being accepted must move to the red team."""

import runpy
from pathlib import Path

import pytest

FAILURES = Path(__file__).parents[2] / "examples" / "failures"
HOLES = sorted(FAILURES.glob("*.py"))
CLOSED = sorted((FAILURES / "closed").glob("*.py"))


@pytest.mark.parametrize("hole", HOLES, ids=lambda path: path.stem)
def test_the_hole_is_still_open(hole):
    runpy.run_path(str(hole))


def test_there_are_holes_to_look_at():
    assert len(HOLES) > 8


@pytest.mark.parametrize("hole", CLOSED, ids=lambda path: path.stem)
def test_a_closed_hole_stays_closed(hole):
    runpy.run_path(str(hole))
