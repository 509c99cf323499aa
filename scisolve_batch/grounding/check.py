"""`check_grounding`: every number of an answer with its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding.flat import check_flat
from scisolve_batch.grounding.sources import Source, collect_sources
from scisolve_batch.records import (
    FAILING,
    Cell,
    Grounding,
    GroundingVerdict,
    Literal,
    ReportedValue,
    Verdict,
)

DEFAULT_POLICY = "flat"
"""The policy that is used when none is named."""

Policy = Callable[[str, Sequence[Source]], list[Literal]]
POLICIES: Mapping[str, Policy] = {"flat": check_flat}
"""Every policy by its name."""

MOST_NAMED = 8
"""Literals that a refusal names; more are counted."""


class Rerun(Protocol):
    """Runs cells again in a fresh session."""

    def __call__(self, codes: Sequence[str]) -> list[str] | None:
        """What each cell prints this time, or None when one does not succeed."""
        ...


def check_grounding(
    answer: str,
    cells: Sequence[Cell],
    problem: str = "",
    *,
    policy: str = DEFAULT_POLICY,
    values: Sequence[ReportedValue] = (),
    rerun: Rerun | None = None,  # noqa: ARG001 - for policies that tell copied from computed
    strict_names: bool = False,  # noqa: ARG001 - for policies that read names
) -> Grounding:
    """Trace every number of an answer to what printed it.

    Args:
        answer: the answer's text.
        cells: every cell of the session; only successful ones support anything.
        problem: the statement, whose numbers may be quoted.
        policy: name of the rule.
        values: the reported values, whose numbers are traced by the same rule.
        rerun: runs cells again, to tell computed numbers from copied ones.
        strict_names: a number quoted under a wrong name fails too.

    Raises:
        UsageError: there is no such policy.
    """
    if policy not in POLICIES:
        raise UsageError(f"no grounding policy {policy!r}; there are {', '.join(POLICIES)}")
    sources = collect_sources(cells, problem)
    check = POLICIES[policy]
    literals = check(answer, sources)
    for value in values:
        found = check(value.value, sources)
        literals += [item.model_copy(update={"where": f"values[{value.name}]"}) for item in found]
    if not any(cell.ok for cell in cells):
        verdict = GroundingVerdict.NOTHING_COMPUTED
    elif any(item.verdict in FAILING for item in literals):
        verdict = GroundingVerdict.UNGROUNDED
    else:
        verdict = GroundingVerdict.GROUNDED
    return Grounding(policy=policy, verdict=verdict, literals=tuple(literals))


def explain_refusal(grounding: Grounding) -> str:
    """What a model is told about each number that fails: why, and what to do."""
    failing: dict[tuple[str, Verdict], Literal] = {}
    for item in grounding.ungrounded:
        failing.setdefault((item.text, item.verdict), item)
    lines = [_explain(item) for item in list(failing.values())[:MOST_NAMED]]
    if len(failing) > MOST_NAMED:
        lines.append(f"- and {len(failing) - MOST_NAMED} more")
    return "These numbers are not supported by what successful cells printed:\n" + "\n".join(lines)


def _explain(item: Literal) -> str:
    place = "" if item.where == "answer" else f" in {item.where}"
    if item.verdict is Verdict.OVERPRECISE:
        return (
            f"- {item.text}{place} has more digits than {item.printed}, which was printed: print "
            "more digits, or round"
        )
    near = f" (the nearest printed number is {item.nearest})" if item.nearest else ""
    return f"- {item.text}{place} was not printed{near}: print it, or remove it"
