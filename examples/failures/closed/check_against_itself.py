"""Closed: a check that compares a value with itself is marked as weak, under any name."""

from scisolve_batch import Cell
from scisolve_batch.grounding import check_grounding, check_verification, find_weakness

solve = "x = np.linalg.solve(A, b)\nprint('x', x)"
again = "y = np.linalg.solve(A, b)\nprint('difference', abs(x - y).max())"
cells = [
    Cell(index=1, code=solve, stdout="x 1.2345\n"),
    Cell(index=2, code=again, stdout="difference 0.0\n"),
]
claim = {"kind": "independent_method", "description": "solved again", "evidence_cell": 2}
verification = check_verification(claim, cells)
report = check_grounding("x = 1.2345", cells)
weakness = find_weakness(verification, cells, report)
assert weakness == "cell 2 compares a value with itself (`x against y`)"
