"""Checks any text against printed output, and says which of its numbers are supported."""

from scisolve_batch import Cell, check_grounding

printed = """\
slope = 2.0345
intercept = -0.1182
r_squared = 0.98713
"""
text = "The slope is 2.03, R² is 98.7 %, and the intercept is about −0.12; the p-value is 0.004."

found = check_grounding(text, [Cell(index=1, code="fit(x, y)", stdout=printed)])
for number in found.literals:
    source = f"line {number.line}: {number.printed}" if number.line else f"nearest {number.nearest}"
    print(f"{number.text:>8}  {number.verdict:<11} {number.relation or number.reason:<9} {source}")

assert found.verdict == "ungrounded"
assert [number.text for number in found.ungrounded] == ["0.004"]
