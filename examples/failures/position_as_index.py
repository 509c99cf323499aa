"""A place (`index 347`, `step 12`) is taken for a reference, although it may be the result asked for."""

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

report = check_grounding("The maximum is at index 347.", [Cell(index=1, stdout="area 12.5")])
assert report.grounded, "closed: move this to the red team"
