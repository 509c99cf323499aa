"""Closed: a number within one part in a thousand of a printed one is not that number."""

from scisolve_batch import Cell, check_grounding

cells = [Cell(index=1, stdout="mass = 1.23456\n")]
assert check_grounding("mass = 1.2351", cells, policy="flat").grounded
assert not check_grounding("mass = 1.2351", cells).grounded
