"""A summary as plain text of at most 100 columns, without colour codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import shorten, wrap

from scisolve_batch.report.summary import Crossed, Ledger, Rate, Slice, Summary

WIDTH = 100
"""No line is longer."""
SHOWN = 12
"""So many failing numbers are shown; the tables have them all."""


def percent(value: float | None) -> str:
    """A share as percent with one decimal, `-` for none."""
    return "-" if value is None else f"{100 * value:.1f} %"


def interval(rate: Rate) -> str:
    """The interval of a rate, in percent."""
    if rate.low is None or rate.high is None:
        return "-"
    return f"{100 * rate.low:.1f} to {100 * rate.high:.1f} %"


def clean(text: str, width: int) -> str:
    """Text of a model on one line: no control characters, nothing that turns a terminal around."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    return shorten(shown, width, placeholder=" ...") if shown.strip() else ""


def columns(rows: Sequence[Sequence[str]], *, left: int = 1, indent: str = "  ") -> list[str]:
    """Rows as aligned columns; the first `left` ones to the left, the others to the right."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip()[:WIDTH])
    return lines


def render_summary(summary: Summary) -> str:
    """The summary as a table for a terminal."""
    lines = list(_lines(summary))
    return "\n".join(lines)


def _fold(text: str, indent: int) -> list[str]:
    """A line of names with counts, broken between the pairs and never within one."""
    pairs = re.sub(r"(\S) (?=[\d,.]+(?:[,;)]|$))", "\\1\0", text)
    return [line.replace("\0", " ") for line in wrap(pairs, WIDTH, subsequent_indent=" " * indent)]


def _lines(summary: Summary) -> Iterator[str]:
    suite = summary.suite
    name = f"{suite.id} {suite.version}".strip()
    yield clean(
        f"{summary.run_id}: suite {name} ({pin_word(suite.pin)}), model {summary.model}", WIDTH
    )
    for note in summary.notes:
        yield from wrap(f"! {clean(note, 500)}", WIDTH, subsequent_indent="  ")
    yield ""
    yield from ledger_lines(summary.ledger)
    yield ""
    yield from _rates(summary)
    yield ""
    yield from _crossed(summary.crossed)
    if summary.verification_kinds:
        kinds = ", ".join(f"{clean(k, 40)} {n}" for k, n in summary.verification_kinds.items())
        weak = f"; {summary.weak_checks} of them weak" if summary.weak_checks else ""
        yield from _fold(f"checks   {kinds}{weak}", 9)
    if summary.undecided_literals:
        yield f"numbers  {summary.undecided_literals} undecided: their sessions do not run again alike"
    if summary.cells:
        cells = ", ".join(f"{name} {count}" for name, count in summary.cells.items())
        yield from _fold(f"cells    {cells}", 9)
    if summary.replay:
        yield f"replay   {replay_line(summary.replay)}"
    yield from _fold(f"tokens   {tokens_line(summary)}", 9)
    if summary.rate_changes:
        last = clean(summary.rate_changes[-1].what, 200)
        yield from _fold(f"rate     {len(summary.rate_changes)} changes, the last: {last}", 9)
    if summary.retried or summary.near_limits:
        near = ", ".join(f"{name} {count}" for name, count in summary.near_limits.items())
        yield f"flags    retried {summary.retried}; near a limit: {near or 'none'}"
    yield from _slices(summary.slices)
    yield from _loose(summary)


def pin_word(pin: str) -> str:
    """How a suite stands to its lock file, in words."""
    return {"pinned": "pinned", "unpinned": "NOT the pinned one"}.get(pin, "no lock file")


def ledger_lines(ledger: Ledger) -> list[str]:
    """The ledger as sums that can be checked by eye."""
    causes = ", ".join(f"{cause} {count}" for cause, count in ledger.causes.items())
    unchecked = f" + unchecked {ledger.unchecked}" if ledger.unchecked else ""
    text = f"unfinished {ledger.unfinished}" + (f" ({causes})" if causes else "")
    first = f"planned {ledger.planned} = finished {ledger.finished} + {text}"
    return [
        *_fold(first, 4),
        f"finished {ledger.finished} = grounded {ledger.grounded} + ungrounded {ledger.ungrounded}"
        f" + nothing computed {ledger.nothing_computed}{unchecked}",
    ]


def _rates(summary: Summary) -> list[str]:
    rows = [["", "rate", "95 % interval", "count", "results", "if the rest failed / succeeded"]]
    for name in ("grounded", "correct", "verified"):
        rate: Rate = getattr(summary, f"{name}_rate")
        bounds = "-"
        if rate.planned != rate.trials:
            bounds = f"{percent(rate.floor)} / {percent(rate.ceiling)}"
        rows.append(
            [
                name,
                percent(rate.rate),
                interval(rate),
                f"{rate.successes}/{rate.trials}",
                f"{rate.trials}/{rate.planned}",
                bounds,
            ]
        )
    return columns(rows, indent="")


def _crossed(crossed: Crossed) -> list[str]:
    rows = [
        ["of the graded answers", "correct", "wrong", "correct if so"],
        [
            "grounded",
            str(crossed.grounded_correct),
            str(crossed.grounded_wrong),
            percent(crossed.correct_if_grounded.rate),
        ],
        [
            "not grounded",
            str(crossed.ungrounded_correct),
            str(crossed.ungrounded_wrong),
            percent(crossed.correct_if_ungrounded.rate),
        ],
    ]
    return columns(rows, indent="")


def tokens_line(summary: Summary) -> str:
    """Tokens by kind, or that none were reported."""
    usage = summary.usage
    parts = [
        f"{label} {count:,}"
        for label, count in (
            ("read", usage.input_tokens),
            ("written", usage.output_tokens),
            ("cache written", usage.cache_write_tokens),
            ("cache read", usage.cache_read_tokens),
        )
        if count is not None
    ]
    work = f"in {summary.turns:,} turns, {summary.duration_s:,.1f} s of work"
    cost = f", {dollars(summary.cost_usd)}" if summary.cost_usd is not None else ""
    return f"{', '.join(parts) or 'none reported'}, {work}{cost}"


def dollars(value: float) -> str:
    """An amount of US dollars, with digits enough for small ones."""
    return f"US$ {value:,.2f}" if value >= 1 or value == 0 else f"US$ {value:.2g}"


def replay_line(replay: dict[str, int]) -> str:
    """How many cells came out the same when the run was replayed."""
    words = {"differs": "differ", "not_run": "were not run"}
    others = "".join(f", {replay[name]} {word}" for name, word in words.items() if name in replay)
    return f"{replay.get('reproduced', 0)} of {sum(replay.values())} reproduce{others}"


def _slices(slices: Sequence[Slice]) -> Iterator[str]:
    for by in ("domain", "difficulty"):
        part = [item for item in slices if item.by == by]
        if not part:
            continue
        rows = [[by, "planned", "grounded", "interval", "correct", "interval"]]
        rows += [
            [
                clean(item.key, 30),
                str(item.planned),
                percent(item.grounded_rate.rate),
                interval(item.grounded_rate),
                percent(item.correct_rate.rate),
                interval(item.correct_rate),
            ]
            for item in part
        ]
        yield ""
        yield from columns(rows, indent="")


def _loose(summary: Summary) -> Iterator[str]:
    if not summary.failing_literals:
        return
    yield ""
    yield f"numbers that nothing printed supports: {summary.failing_literals}"
    rows = [["problem", "number", "why", "nearest printed"]]
    for item in summary.loose[:SHOWN]:
        sample = f" s{item.sample}" if summary.samples > 1 else ""
        rows.append(
            [
                clean(item.problem_id, 34) + sample,
                clean(item.text, 24),
                clean(item.reason or item.verdict, 14),
                clean(item.nearest or "-", 22),
            ]
        )
    yield from columns(rows, left=4)
    rest = summary.failing_literals - min(SHOWN, len(summary.loose))
    if rest:
        yield f"  and {rest} more in literals.parquet"
