"""The refusal of an ungrounded answer, in words that a model can act on.

It names each failing number, why it fails, the nearest printed number and what to do; never more
than about 4,000 characters, whatever the answer holds.
"""

from __future__ import annotations

from scisolve_batch.records import Grounding, GroundingVerdict, Literal, Verdict

MOST_NAMED = 12
"""Failing numbers that are described one by one."""
LONGEST_TEXT = 60
"""Characters of a number that are shown."""

_REASONS = {
    "absent": "no successful cell printed it",
    "overprecise": "it has more digits than were printed",
}
_ADVICE = {
    "absent": "print it in a cell if it was computed, correct it, or remove it",
    "overprecise": "print more digits, or round it to what was printed",
}


def explain_refusal(grounding: Grounding) -> str:
    """Say what fails an answer and what to do about it.

    Returns:
        Nothing when the answer is grounded; else a sentence, and a line for each failing number.
    """
    if grounding.verdict is GroundingVerdict.GROUNDED:
        return ""
    if grounding.verdict is GroundingVerdict.NOTHING_COMPUTED:
        return "no cell has succeeded, so nothing was computed; run cells that print the results"
    failing = _distinct(grounding.ungrounded)
    count = len(failing)
    head = "1 number is" if count == 1 else f"{count} numbers are"
    lines = [f"{head} not traceable to the output of a successful cell or to the problem:"]
    lines += [f"- {describe(literal)}" for literal in failing[:MOST_NAMED]]
    if count > MOST_NAMED:
        lines.append(f"- and {count - MOST_NAMED} more; check every number against the output")
    return "\n".join(lines)


def describe(literal: Literal) -> str:
    """Why one literal fails and what to do, in one line."""
    place = "" if literal.where == "answer" else f" in `{_short(literal.where)}`"
    reason = literal.reason or literal.verdict.value
    if literal.verdict is Verdict.OVERPRECISE:
        reason = "overprecise"
    why = _REASONS.get(reason, reason)
    if literal.nearest is not None:
        why += f"; the nearest is `{_short(literal.nearest)}`{_source(literal)}"
    return f"`{_short(literal.text)}`{place}: {why}. {_sentence(_ADVICE.get(reason, ''))}".rstrip()


def _source(literal: Literal) -> str:
    if literal.cell is not None:
        line = f", line {literal.line}" if literal.line else ""
        return f" (cell {literal.cell}{line})"
    return " (the problem)" if literal.source == "problem" else ""


def _distinct(literals: tuple[Literal, ...]) -> list[Literal]:
    """The same text at the same kind of place is described once."""
    return list({(one.text, one.where, one.reason): one for one in reversed(literals)}.values())[
        ::-1
    ]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." if text else ""
