"""Figures of a page as inline SVG: no script, no font, no network; colours come from its CSS.

Every figure has its numbers in words as well, for readers that do not see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from scisolve_batch.report.render import interval, percent
from scisolve_batch.report.summary import Ledger, Rate

OUTCOMES = ("grounded", "ungrounded", "nothing_computed", "unchecked", "unfinished")
"""Parts of the ledger, in the order in which they are drawn."""
SYMBOLS = {
    "grounded": "✓",
    "ungrounded": "✗",
    "nothing_computed": "∅",
    "unchecked": "?",
    "unfinished": "…",
}
"""A sign for each part, so that no colour stands alone."""

MOST_DIGITS = 16
"""Values with so many correct digits, as many as a double has, or more share a bar."""


def _svg(width: float, height: float, body: str, *, label: str, css: str) -> str:
    return (
        f'<svg class="{css}" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(label)}"><title>{escape(label)}</title>{body}</svg>'
    )


def ledger_bar(ledger: Ledger) -> str:
    """One bar for all planned samples, divided by outcome."""
    counts = {name: getattr(ledger, name) for name in OUTCOMES}
    label = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in counts.items() if n)
    width, left, body = 1000.0, 0.0, ""
    for name, count in counts.items():
        if not count:
            continue
        span = width * count / max(1, ledger.planned)
        body += (
            f'<rect class="o-{name}" x="{left:.2f}" y="0" width="{max(span - 2, 1):.2f}" '
            f'height="36" rx="3"/>'
        )
        if span > 46:
            body += (
                f'<text x="{left + span / 2 - 1:.2f}" y="24" text-anchor="middle">'
                f"{SYMBOLS[name]} {count}</text>"
            )
        left += span
    return _svg(width, 36, body, label=label or "nothing planned", css="ledger-bar")


def outcome_bar(counts: Mapping[str, int]) -> str:
    """The outcomes of a group as one small bar; their order and colours are the ledger's."""
    total = sum(counts.values())
    label = ", ".join(f"{name.replace('_', ' ')} {counts[name]}" for name in OUTCOMES if counts.get(name))  # fmt: skip
    width, left, body = 160.0, 0.0, ""
    for name in OUTCOMES:
        span = width * counts.get(name, 0) / max(1, total)
        if span:
            body += (
                f'<rect class="o-{name}" x="{left:.2f}" y="1" width="{max(span - 1, 0.8):.2f}" '
                'height="14" rx="2"/>'
            )
        left += span
    return _svg(width, 16, body, label=label or "nothing planned", css="outcome-bar")


def whisker(rate: Rate, *, name: str) -> str:
    """A rate as a dot on its interval, from 0 to 100 %."""
    if rate.rate is None or rate.low is None or rate.high is None:
        return ""
    width = 160
    at = [4 + (width - 8) * value for value in (rate.low, rate.rate, rate.high)]
    grid = "".join(
        f'<line class="grid" x1="{4 + (width - 8) * x:g}" x2="{4 + (width - 8) * x:g}" y1="1" y2="17"/>'
        for x in (0, 0.5, 1)
    )
    body = (
        f'{grid}<line class="span" x1="{at[0]:.2f}" x2="{at[2]:.2f}" y1="9" y2="9"/>'
        f'<line class="span" x1="{at[0]:.2f}" x2="{at[0]:.2f}" y1="5" y2="13"/>'
        f'<line class="span" x1="{at[2]:.2f}" x2="{at[2]:.2f}" y1="5" y2="13"/>'
        f'<circle class="dot" cx="{at[1]:.2f}" cy="9" r="4"/>'
    )
    label = f"{name}: {percent(rate.rate)}, interval {interval(rate)}"
    return _svg(width, 18, body, label=label, css="whisker")


def digits_bars(digits: Mapping[str, int]) -> str:
    """How many graded values have how many correct digits."""
    numbers = {int(key): count for key, count in digits.items() if key.isdigit()}
    words = {key: count for key, count in digits.items() if not key.isdigit()}
    top = max(numbers, default=-1)
    names = [(str(n), numbers.get(n, 0)) for n in range(min(top, MOST_DIGITS - 1) + 1)]
    if top >= MOST_DIGITS:  # exact numbers may have any number of digits
        more = sum(count for n, count in numbers.items() if n >= MOST_DIGITS)
        names.append((f"{MOST_DIGITS}+", more))
    bars: Sequence[tuple[str, int]] = [*words.items(), *names]
    if not bars:
        return ""
    step, tall, wide = 44, 130, 28 * len(words)  # words need more room than numbers
    most = max(count for _, count in bars)
    body = ""
    for place, (name, count) in enumerate(bars):
        height = tall * count / most if most else 0
        numeral = name[0].isdigit()
        x = place * step + 30 + (wide if numeral else 28 * place + 14)
        css = "bar" if numeral else "bar none"
        middle = x + (step - 10) / 2
        body += (
            f'<rect class="{css}" x="{x}" y="{tall + 18 - height:.1f}" width="{step - 10}" '
            f'height="{height:.1f}" rx="2"/>'
            f'<text class="count" x="{middle}" y="{tall + 12 - height:.1f}" '
            f'text-anchor="middle">{count or ""}</text>'
            f'<text class="tick" x="{middle}" y="{tall + 34}" text-anchor="middle">'
            f"{escape(name)}</text>"
        )
    width = len(bars) * step + wide + 50
    body += f'<line class="axis" x1="24" x2="{width - 20}" y1="{tall + 18}" y2="{tall + 18}"/>'
    body += (
        f'<text class="tick" x="{width / 2}" y="{tall + 54}" text-anchor="middle">'
        "whole correct digits</text>"
    )
    label = "values by whole correct digits: " + ", ".join(f"{n}: {c}" for n, c in bars if c)
    return _svg(width, tall + 60, body, label=label, css="digits")
