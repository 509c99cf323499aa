"""Digits glued to letters are a name."""

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

report = check_grounding("We call the area A417.", [Cell(index=1, stdout="area 12.5")])
assert report.grounded, "closed: move this to the red team"
