"""Closed: a number that stands only in the structured values needs a source like any other."""

from scisolve_batch import Cell, ReportedValue, check_grounding

cells = [Cell(index=1, stdout="x = 1.5\n")]
report = check_grounding("x is as computed", cells, values=[ReportedValue(name="x", value="1.75")])
assert [item.where for item in report.ungrounded] == ["values[x]"]
