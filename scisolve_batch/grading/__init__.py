"""Reported values against certified ones, by the rule `numeric-v1`.

Whether a number was computed is grounding's question; this asks only whether it is right.
"""

from scisolve_batch.grading.compare import is_met, tolerance
from scisolve_batch.grading.grade import grade
from scisolve_batch.grading.numbers import Number, find_stated_numbers, read_number

__all__ = ["Number", "find_stated_numbers", "grade", "is_met", "read_number", "tolerance"]
