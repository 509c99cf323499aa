"""Reported values against certified ones, by the rule `numeric-v1`.

Whether a number was computed is grounding's question; this asks only whether it is right.
"""

from scisolve_batch.grading.grade import grade
from scisolve_batch.grading.numbers import Number, read_number

__all__ = ["Number", "grade", "read_number"]
