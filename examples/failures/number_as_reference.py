"""A small decimal after `Table` or `Section` is a reference, even where none can be meant."""

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

report = check_grounding("As in Table 4.17, that is the area.", [Cell(index=1, stdout="area 12.5")])
assert report.grounded, "closed: move this to the red team"
