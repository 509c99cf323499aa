"""With many printed numbers an invented one with two digits meets one of them; it is only warned about."""

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

printed = " ".join(f"{i}.{i % 7}" for i in range(10, 100))
report = check_grounding("The area is 42.", [Cell(index=1, stdout=printed)])
assert report.grounded, "closed: move this to the red team"
(literal,) = report.literals
assert any("weak" in warning for warning in literal.warnings)
