"""A comparison as plain text of at most 100 columns: verdict first, then why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from scisolve_batch.report.comparison import Comparison, Difference
from scisolve_batch.report.render import WIDTH, clean, columns, percent

_SHOWN = 20


def render_comparison(comparison: Comparison) -> str:
    """The comparison as a text for a terminal."""
    return "\n".join(_lines(comparison))


def points(value: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return "-" if value is None else f"{100 * value:+.1f}"


def _lines(comparison: Comparison) -> Iterator[str]:
    first, second = comparison.first, comparison.second
    yield clean(f"second: {second.run_id}, model {second.model}, suite {second.suite}", WIDTH)
    yield clean(f"first:  {first.run_id}, model {first.model}, suite {first.suite}", WIDTH)
    for note in comparison.notes:
        yield from wrap(f"! {clean(note, 500)}", WIDTH, subsequent_indent="  ")
    yield ""
    yield f"{comparison.paired} problems are the same in both runs"
    for word in ("changed", "added", "dropped", "lost"):
        yield from _names(word, getattr(comparison, word))
    yield ""
    for item in comparison.overall:
        yield from _overall(item)
    yield from _table(comparison.groups)
    if comparison.used:
        rows = [["mean of a sample", "first", "second", "ratio", "95 % interval"]]
        rows += [
            [
                f"{item.quantity} ({item.unit})" if item.unit != item.quantity else item.quantity,
                f"{item.first:,.1f}",
                f"{item.second:,.1f}",
                "-" if item.ratio is None else f"{item.ratio:.2f}",
                "-" if item.low is None else f"{item.low:.2f} to {item.high:.2f}",
            ]
            for item in comparison.used
        ]
        yield ""
        yield from columns(rows, indent="")
    yield from _flips(comparison)


def _names(word: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    shown = ", ".join(clean(name, 60) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    label = {"lost": "no result in one run"}.get(word, word)
    return wrap(f"  {label} {len(names)}: {shown}{more}", WIDTH, subsequent_indent="    ")


def _overall(item: Difference) -> Iterator[str]:
    if item.difference is None:
        yield f"{item.measure}: no results to compare"
        return
    yield (f"{item.measure}: {percent(item.first)} -> {percent(item.second)}, {item.words}")
    table = ""
    if item.table is not None:
        both, first, second, neither = item.table
        table = f"; both {both}, only first {first}, only second {second}, neither {neither}"
    text = (
        f"  {points(item.difference)} points, 95 % interval {points(item.low)} to "
        f"{points(item.high)}, p = {item.p:.3g}, {item.problems} problems{table}"
    )
    yield from wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _table(groups: Sequence[Difference]) -> Iterator[str]:
    rows = [["group", "measure", "problems", "first", "second", "points", "p (Holm)", "verdict"]]
    rows += [
        [
            clean(f"{item.by} {item.key}", 28),
            item.measure,
            str(item.problems),
            percent(item.first),
            percent(item.second),
            points(item.difference),
            "-" if item.adjusted_p is None else f"{item.adjusted_p:.2g}",
            item.verdict,
        ]
        for item in groups
        if item.measure != "verified"
    ]
    if len(rows) > 1:
        yield ""
        yield from columns(rows, left=2, indent="")


def _flips(comparison: Comparison) -> Iterator[str]:
    if comparison.flips:
        yield ""
        yield f"came out otherwise: {len(comparison.flips)}"
        rows = [
            [
                clean(item.problem_id, 50),
                item.measure,
                f"{percent(item.first)} -> {percent(item.second)}",
            ]
            for item in comparison.flips[:_SHOWN]
        ]
        yield from columns(rows, left=3)
        yield from _more(len(comparison.flips))
    if comparison.literals:
        yield ""
        yield f"numbers judged otherwise: {len(comparison.literals)}"
        rows = [
            [clean(i.problem_id, 40), clean(i.text, 24), f"{i.first or '-'} -> {i.second or '-'}"]
            for i in comparison.literals[:_SHOWN]
        ]
        yield from columns(rows, left=3)
        yield from _more(len(comparison.literals))


def _more(count: int) -> Iterator[str]:
    if count > _SHOWN:
        yield f"  and {count - _SHOWN} more"
