"""Three numbers with two points are a version, whatever the sentence says of them."""

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

report = check_grounding("The area is 41.37.2.", [Cell(index=1, stdout="area 12.5")])
assert report.grounded, "closed: move this to the red team"
