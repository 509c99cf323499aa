"""The one rule: every number in an answer is traceable to what a successful cell printed."""

from scisolve_batch.grounding.check import (
    DEFAULT_POLICY,
    POLICIES,
    Rerun,
    check_grounding,
    explain_refusal,
)
from scisolve_batch.grounding.verification import check_verification

__all__ = [
    "DEFAULT_POLICY",
    "POLICIES",
    "Rerun",
    "check_grounding",
    "check_verification",
    "explain_refusal",
]
