"""A whole number up to 10 needs no source in prose; a wrong one is at most warned about."""

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

report = check_grounding("There are 4 roots.", [Cell(index=1, stdout="roots 3")])
assert report.grounded, "closed: move this to the red team"
