"""Saves the figures that a cell leaves open, and closes them.

A figure that cannot be saved is named with the reason; it never fails the cell.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any


def open_figures() -> list[Any]:
    """List matplotlib's open figures, oldest first; empty when pyplot was never imported."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None:
        return []
    managers = helpers.Gcf.figs  # in the order of use
    return [managers[number].canvas.figure for number in sorted(managers)]


def close_figures() -> None:
    """Close every open figure."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


def save_figures(figures: list[Any], *, folder: str, first: int) -> tuple[list[str], list[str]]:
    """Write figures as `fig_001.png` and so on, from number `first`.

    Returns the names of the files, and a sentence for each figure that could not be saved.
    Whatever is raised from outside, like a time limit, ends the saving and is said too.
    """
    names: list[str] = []
    problems: list[str] = []
    for figure in figures:
        name = f"fig_{first + len(names):03d}.png"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                figure.savefig(f"{folder}/{name}", format="png")
        except BaseException as error:  # noqa: BLE001 - drawing runs code of the cell
            problems.append(f"figure {figure_number(figure)} was not saved: {describe(error)}")
            continue
        names.append(name)
    return names, problems


def figure_number(figure: Any) -> str:
    """Name a figure the way its cell may know it."""
    return str(getattr(figure, "number", "") or "without a number")


def describe(error: BaseException) -> str:
    """Put an exception into one line, whatever its own words do."""
    try:
        text = " ".join(str(error).split())[:300]
    except BaseException:  # noqa: BLE001 - the message is code of the cell
        text = "(its message raised an exception too)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
