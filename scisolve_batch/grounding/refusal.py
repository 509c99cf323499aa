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
    "truncated": "it is cut off, not rounded",
    "derived": "it follows from printed numbers, but was not printed itself",
    "constant": "the cells printed a constant of their own source code, nothing computed it",
    "unread": "these digits cannot be read as a number",
    "unit": "its unit was not printed with it, and the problem uses another prefix",
    "sign": "the number of that name was printed with the other sign",
    "scale": "the number of that name was printed with another power of ten",
    "name": "it was printed under another name",
}
_ADVICE = {
    "absent": "print it in a cell if it was computed, correct it, or remove it",
    "overprecise": "print more digits, or round it to what was printed",
    "truncated": "round it, or print it with these digits",
    "derived": "print it",
    "constant": "compute it in a cell, or remove it",
    "unread": "write it in plain digits, or remove it",
    "unit": "print it with its unit",
    "sign": "correct the sign, or print what was meant",
    "scale": "correct the power of ten, or print what was meant",
    "name": "name it as it was printed, or quote the other number",
}
"""What a model should do. Every reason of a policy has a sentence in both tables."""


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
    pair = next((note for note in literal.warnings if note.startswith("pair: ")), "")
    if pair:
        why += f" ({_short(pair.removeprefix('pair: '))})"
    elif literal.nearest is not None:
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
