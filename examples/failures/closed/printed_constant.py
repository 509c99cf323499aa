"""Closed: a constant that a cell only prints from its source is copied, not computed."""

from scisolve_batch import Cell, check_grounding

cells = [Cell(index=1, code='print("g =", 9.80665)', stdout="g = 9.80665\n")]
assert check_grounding("g = 9.80665", cells, policy="flat").grounded
report = check_grounding("g = 9.80665", cells)
assert [item.reason for item in report.ungrounded] == ["constant"]
