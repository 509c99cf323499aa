"""`check_grounding`: an answer, the cells and the problem in; a verdict on every number out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding.flat import judge_flat
from scisolve_batch.grounding.judge import judge_decimal
from scisolve_batch.grounding.policy import Policy, Question, Rerun
from scisolve_batch.records import (
    FAILING,
    Cell,
    Grounding,
    GroundingVerdict,
    ReportedValue,
)

POLICIES: Mapping[str, Policy] = MappingProxyType({"decimal": judge_decimal, "flat": judge_flat})
"""The rules by which an answer may be judged, by name."""

DEFAULT_POLICY = "decimal"
"""The rule that is used when none is named."""


def check_grounding(
    answer: str,
    cells: Sequence[Cell],
    problem: str = "",
    *,
    policy: str = DEFAULT_POLICY,
    values: Sequence[ReportedValue] = (),
    rerun: Rerun | None = None,
    strict_names: bool = False,
) -> Grounding:
    """Say for every number of an answer where it comes from.

    Args:
        answer: the answer's text.
        cells: every cell of the session; only the stdout of successful ones is believed.
        problem: the problem statement, whose numbers may be quoted.
        policy: one of `POLICIES`.
        values: reported values; each is read by the same rule as the answer.
        rerun: runs cells again in a fresh session, to tell computed numbers from copied ones.
        strict_names: a number quoted under a wrong name fails instead of being warned about.

    Returns:
        The verdict and every literal, those of the answer first. The verdict is
        `nothing_computed` when no cell succeeded, whatever the answer says.

    Raises:
        UsageError: there is no such policy.
    """
    if policy not in POLICIES:
        raise UsageError(f"no grounding policy `{policy}`; choose one of {', '.join(POLICIES)}")
    question = Question(
        texts=(("answer", answer), *((f"values[{one.name}]", one.value) for one in values)),
        cells=tuple(cells),
        problem=problem,
        rerun=rerun,
        strict_names=strict_names,
    )
    literals = tuple(POLICIES[policy](question))
    if not any(cell.ok for cell in cells):
        verdict = GroundingVerdict.NOTHING_COMPUTED
    elif any(literal.verdict in FAILING for literal in literals):
        verdict = GroundingVerdict.UNGROUNDED
    else:
        verdict = GroundingVerdict.GROUNDED
    return Grounding(policy=policy, verdict=verdict, literals=literals)
