"""A check that could not have failed is valid, and not even marked when algebra hides it."""

from scisolve_batch import Cell
from scisolve_batch.grounding import check_grounding, check_verification, find_weakness

cells = [
    Cell(index=1, code="print('x', x)", stdout="x 1.2345\n"),
    Cell(index=2, code="print('difference', 2 * x / 2 - x)", stdout="difference 0.0\n"),
]
claim = {"kind": "invariant", "description": "half of its double is x", "evidence_cell": 2}
verification = check_verification(claim, cells)
assert verification.valid, "closed: a check that cannot fail is refused now"
report = check_grounding("x = 1.2345", cells)
assert find_weakness(verification, cells, report) == "", "closed: it is marked now"
