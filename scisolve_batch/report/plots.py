"""Figures for papers, by matplotlib: the same numbers as in the summary, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from scisolve_batch.report.load import load_report
from scisolve_batch.report.summary import Slice, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = ("grounded", "correct")


def write_plots(report: Path, out: Path) -> list[Path]:
    """Draw rates with intervals, correct digits and time by domain.

    Args:
        report: a report's folder or a run directory.
        out: folder for the files; it is made.

    Returns:
        The files, a PNG and an SVG of each figure.

    Raises:
        RunDirError: there is no report, or more than one.
    """
    # Without pyplot no window and no global state is touched.
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    loaded = load_report(report)
    summary = loaded.summary
    out.mkdir(parents=True, exist_ok=True)
    domains = [item for item in summary.slices if item.by == "domain"]
    height = 0.38 * max(3, len(domains)) + 1.0

    def draw(name: str, paint: Callable[[Axes], None]) -> list[Path]:
        figure = Figure(figsize=(7, height), layout="constrained")
        FigureCanvasAgg(figure)
        paint(figure.add_subplot())
        paths = [out / f"{name}.{ending}" for ending in ("png", "svg")]
        for path in paths:
            figure.savefig(path, dpi=150)
        return paths

    digits = loaded.values.dropna(subset=["correct_digits"])
    by_domain = {str(key): list(part) for key, part in digits.groupby("domain")["correct_digits"]}
    times = {str(key): list(part) for key, part in loaded.solutions.groupby("domain")["duration_s"]}
    return [
        *draw("rates", lambda axes: _rates(axes, domains, summary)),
        *draw("correct_digits", lambda axes: _spread(axes, by_domain, "correct digits (LRE)")),
        *draw("time", lambda axes: _spread(axes, times, "time of a problem, s")),
    ]


def _rates(axes: Axes, domains: list[Slice], summary: Summary) -> None:
    """A dot with its interval for each domain and measure, and the rate of all behind it."""
    for shift, color, measure in zip((0.15, -0.15), ("C0", "C1"), MEASURES, strict=True):
        for place, item in enumerate(domains):
            rate = getattr(item, f"{measure}_rate")
            if rate.rate is None or rate.low is None or rate.high is None:
                continue
            label = measure if place == 0 else None
            axes.plot([rate.low, rate.high], [place + shift] * 2, color=color)
            axes.plot([rate.rate], [place + shift], "o", color=color, label=label)
        overall = getattr(summary, f"{measure}_rate").rate
        if overall is not None:
            axes.axvline(overall, color=color, alpha=0.3, linestyle="--")
    axes.set_yticks(range(len(domains)), [item.key for item in domains])
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(f"rate with {100 * summary.confidence:.0f} % interval")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left")


def _spread(axes: Axes, parts: dict[str, list[float]], label: str) -> None:
    """Every value as a dot, a domain a row."""
    names = sorted(parts)
    for place, name in enumerate(names):
        axes.plot(parts[name], [place] * len(parts[name]), "o", alpha=0.5)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(label)
