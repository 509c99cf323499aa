"""A printed number quoted under another name is grounded; it is warned about, and fails under strict names."""

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

cells = [Cell(index=1, stdout="energy 12.5\nmomentum 7.25")]
report = check_grounding("The momentum is 12.5.", cells)
assert report.grounded, "closed: move this to the red team"
assert any("name" in warning for warning in report.literals[0].warnings)
assert not check_grounding("The momentum is 12.5.", cells, strict_names=True).grounded
