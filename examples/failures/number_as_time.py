"""A ratio that could be a time of day is read as one."""

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

report = check_grounding("The odds stand at 14:37.", [Cell(index=1, stdout="area 12.5")])
assert report.grounded, "closed: move this to the red team"
