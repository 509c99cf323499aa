"""Each example of docs/grounding.md gives the verdict that stands beside it."""

import re
from pathlib import Path

import pytest

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell, Verdict

PAGE = (Path(__file__).parents[2] / "docs" / "grounding.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| (.+?) \| (\w+): (\w+) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("printed", "answer", "verdict", "why"), ROWS)
def test_the_example_is_judged_as_the_page_says(printed, answer, verdict, why):
    literals = check_grounding(answer, [Cell(index=1, stdout=printed + "\n")]).literals
    judged = [
        (one.verdict.value, one.reason or one.relation)
        for one in literals
        if one.verdict not in (Verdict.STRUCTURAL, Verdict.NOT_A_NUMBER)
    ]
    assert (verdict, why) in judged


def test_the_page_has_an_example_of_each_kind():
    assert len(ROWS) >= 30
    assert {row[3] for row in ROWS} >= {
        "rounded",
        "percent",
        "prefix",
        "bound",
        "derived",
        "unread",
    }


def test_every_open_hole_is_told():
    told = PAGE.partition("## What it does not catch")[2]
    for word in (
        "coincidence",
        "small count",
        "name",
        "index 347",
        "version",
        "time",
        "reference",
        "product",
        "depends",
    ):
        assert word in " ".join(told.split())
