"""The one rule: every number in an answer is traceable to what a successful cell printed.

A policy reads the numbers of an answer and says for each where it comes from. Nothing here runs
code, opens a file or asks a model; re-running cells enters through the `Rerun` port.
"""

from scisolve_batch.grounding.check import DEFAULT_POLICY, POLICIES, check_grounding
from scisolve_batch.grounding.policy import Policy, Question, Rerun
from scisolve_batch.grounding.refusal import explain_refusal
from scisolve_batch.grounding.verification import check_verification, find_weakness

__all__ = [
    "DEFAULT_POLICY",
    "POLICIES",
    "Policy",
    "Question",
    "Rerun",
    "check_grounding",
    "check_verification",
    "explain_refusal",
    "find_weakness",
]
