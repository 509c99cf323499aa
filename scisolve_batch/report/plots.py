"""Figures for papers, by matplotlib: the numbers of the summary and the tables, as PNG and SVG.

Colours are told apart by the colour-blind and shapes in print; the same report gives the same bytes.
A figure without anything to show says so, and none raises on what a record may hold.
"""

# ruff: noqa: PLC0415 - matplotlib is loaded when a figure is drawn

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scisolve_batch.report.load import Report, load_report
from scisolve_batch.report.render import clean
from scisolve_batch.report.summary import Rate, Slice
from scisolve_batch.report.tally import rate_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEASURES = {"grounded": ("#0072B2", "o"), "correct": ("#D55E00", "s"), "verified": ("#009E73", "^")}
"""Colour (Okabe and Ito's, which the colour-blind tell apart) and shape of each measure."""

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "svg.hashsalt": "scisolve-batch",
    "svg.fonttype": "none",
}
_UNDATED: Any = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
_INK, _MUTED = "#222222", "#767676"

Values = dict[str, list[float]]


def write_plots(
    report: Path | str, out: Path | str, *, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Draw rates with intervals, correct digits, time and cost, and what `grounded` is worth.

    Args:
        report: a report's folder or a run directory.
        out: folder for the files; it is made.
        formats: endings of the files of each figure, like `pdf`.

    Returns:
        The files.

    Raises:
        RunDirError: there is no report, or more than one.
    """
    import matplotlib as mpl

    loaded = load_report(report)
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Callable[[Report], Figure]] = {
        "rates": draw_rates,
        "correct_digits": draw_digits,
        "time_and_cost": draw_use,
        "reliability": draw_reliability,
    }
    paths = []
    for name, draw in figures.items():
        with mpl.rc_context(STYLE):
            figure = draw(loaded)
            figure.draw_without_rendering()  # arranges everything, once for all formats
            figure.set_layout_engine("none")
            for ending in formats:
                paths.append(out / f"{name}.{ending}")
                figure.savefig(paths[-1], dpi=200, metadata=_UNDATED.get(ending))
    return paths


def _axes(rows: int, *, panels: int = 1, width: float = 6.5) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, high enough for its rows."""
    # Without pyplot no window and no global state is touched.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 0.3 * max(3, rows) + 1.1), layout="constrained")
    FigureCanvasAgg(figure)
    made = figure.subplots(1, panels, sharey=True, squeeze=False)
    return figure, list(made[0])


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [clean(name, 40) or " " for name in names])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)  # a `$` in a name is no formula
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)


def _say_nothing(axes: Axes, why: str) -> None:
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", color=_MUTED)
    axes.set_xticks([])


# ---- rates ---------------------------------------------------------------------------


def draw_rates(report: Report) -> Figure:
    """Each measure over all samples and by domain, with its interval and its count."""
    summary = report.summary
    slices = [item for item in summary.slices if item.by == "domain"]
    rows: list[tuple[str, Any]] = [("all", summary), *((item.key, item) for item in slices)]
    figure, (axes,) = _axes(math.ceil(1.4 * len(rows)))
    for shift, (measure, (color, shape)) in zip((-0.25, 0.0, 0.25), MEASURES.items(), strict=True):
        rates = [_rate(item, measure) for _, item in rows]
        _dots(axes, rates, color=color, shape=shape, shift=shift, label=measure)
    _name_rows(axes, [name for name, _ in rows])
    if len(rows) > 1:
        axes.axhline(0.5, color=_MUTED, linewidth=0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.grid(axis="x")
    axes.set_xlabel(f"rate, with its {100 * summary.confidence:.0f} % interval")
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper right", ncols=3, frameon=False)
    return figure


def _rate(item: Slice | Any, measure: str) -> Rate:
    rate: Rate = getattr(item, f"{measure}_rate")
    return rate


def _dots(
    axes: Axes,
    rates: Sequence[Rate],
    *,
    color: str,
    shape: str = "o",
    shift: float = 0.0,
    label: str | None = None,
) -> None:
    """A rate a row: a dot with its interval, and at the right how many of how many."""
    for place, rate in enumerate(rates):
        if rate.rate is None or rate.low is None or rate.high is None:
            continue
        y = place + shift
        axes.plot([rate.low, rate.high], [y, y], color=color, linewidth=1.4, solid_capstyle="butt")
        axes.plot([rate.rate], [y], shape, color=color, markersize=4.5, label=label)
        axes.annotate(
            f"{rate.successes}/{rate.trials}",
            (1.0, y),
            xycoords=axes.get_yaxis_transform(),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=6.5,
        )
        label = None  # one entry of the legend


# ---- correct digits, time, cost ------------------------------------------------------


def draw_digits(report: Report) -> Figure:
    """Correct digits of every graded value by domain, with the median."""
    frame = report.values
    values = _grouped(frame["domain"], frame["correct_digits"])
    figure, (axes,) = _axes(len(values))
    if any(values.values()):
        _spread(axes, values)
        axes.set_xlim(left=min(-0.3, axes.get_xlim()[0]))
        axes.set_xlabel("correct digits (LRE: −log₁₀ of the relative error)")
    else:
        _say_nothing(axes, "no value was graded")
    without = sum(not _shown(value) for value in frame["correct_digits"])
    if without:
        axes.set_title(f"{without} of {len(frame)} values have no number to compare", color=_MUTED)
    return figure


def draw_use(report: Report) -> Figure:
    """Time of every sample by domain, and beside it what it cost: dollars, or else tokens."""
    frame = report.solutions
    worked = frame[~frame["missing"]]
    times = _grouped(worked["domain"], worked["duration_s"])
    costs = _grouped(worked["domain"], worked["cost_usd"])
    tokens = _grouped(worked["domain"], worked["total_tokens"].where(worked["total_tokens"] > 0))
    panels = [(times, "time of a sample, s")]
    if any(costs.values()):
        panels.append((costs, "cost of a sample, US$"))
    elif any(tokens.values()):
        panels.append((tokens, "tokens of a sample"))
    figure, every = _axes(len(times), panels=len(panels))
    for axes, (values, label) in zip(every, panels, strict=True):
        if any(values.values()):
            _spread(axes, values, logarithmic=True, named=values is times)
            axes.set_xlabel(label)
        else:
            _say_nothing(axes, "no sample was worked on")
    return figure


def _shown(value: Any) -> bool:
    return not _missing(value) and math.isfinite(value)


def _grouped(names: Iterable[str], values: Iterable[Any]) -> Values:
    """The finite values of each name, names in order."""
    groups: Values = {}
    for name, value in zip(names, values, strict=True):
        group = groups.setdefault(str(name), [])
        if _shown(value):
            group.append(float(value))
    return dict(sorted(groups.items()))


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _spread(axes: Axes, groups: Values, *, logarithmic: bool = False, named: bool = True) -> None:
    """Every value as a dot, a name a row, the median as a line."""
    if logarithmic and all(value > 0 for values in groups.values() for value in values):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    for place, values in enumerate(groups.values()):
        # Equal values stand beside each other: by turns above and below, always the same way.
        heights = [place + 0.22 * ((number * 0.618034) % 1 - 0.5) for number in range(len(values))]
        axes.plot(
            sorted(values), heights, "o", color="#0072B2", alpha=0.45, markersize=4, markeredgewidth=0
        )  # fmt: skip
        if values:
            middle = statistics.median(values)
            axes.plot([middle, middle], [place - 0.28, place + 0.28], color=_INK, linewidth=1.6)
    if named:
        _name_rows(axes, [f"{name} ({len(values)})" for name, values in groups.items()])
    axes.grid(axis="x")


# ---- what the flag is worth ----------------------------------------------------------


def draw_reliability(report: Report) -> Figure:
    """How often an answer is right, by how many of its numbers nothing supports."""
    graded = [
        row
        for row in report.solutions.to_dict("records")
        if row["finished"] and not _missing(row["correct"]) and not _missing(row["grounded"])
    ]
    rows: list[tuple[str, Rate]] = [
        (f"{name} ({len(part)})", rate_of(part, "correct"))
        for name, part in _by_support(graded).items()
        if part
    ]
    figure, (axes,) = _axes(len(rows) + 1)
    if rows:
        _dots(axes, [rate for _, rate in rows], color="#D55E00", shape="s")
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel(
            f"share of answers that are right, with its {100 * report.summary.confidence:.0f} % interval"
        )
        axes.grid(axis="x")
        _name_rows(axes, [name for name, _ in rows])
        crossed = report.summary.crossed
        if crossed.correct_if_grounded.rate is not None:
            axes.axvline(
                crossed.correct_if_grounded.rate, color=_MUTED, linewidth=0.8, linestyle="--"
            )
    else:
        _say_nothing(axes, "no finished answer was graded")
    return figure


def _by_support(rows: Sequence[Any]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {
        "grounded": [],
        "1 number unsupported": [],
        "2 numbers unsupported": [],
        "3 or more unsupported": [],
        "nothing computed": [],
        "not checked": [],
    }
    names = list(groups)
    for row in rows:
        if row["grounded"]:
            name = "grounded"
        elif row["outcome"] == "ungrounded":
            name = names[min(3, max(1, row["failing_literals"]))]
        else:
            name = "nothing computed" if row["outcome"] == "nothing_computed" else "not checked"
        groups[name].append(row)
    return groups
