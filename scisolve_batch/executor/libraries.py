"""Loads the scientific libraries that are ready in every session, and tells their versions.

Run once in the template, or once in each session that is an interpreter of its own.
"""

from __future__ import annotations

import importlib
import io
import platform
import sys
from collections.abc import Sequence

DEFAULT = (
    "multiprocessing",
    "concurrent.futures",
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "numpy.random",
    "numpy.polynomial",
    "scipy",
    "scipy.constants",
    "scipy.differentiate",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.io",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "scipy.special",
    "scipy.stats",
    "matplotlib.pyplot",
)
"""Modules that are ready in every session, as far as this installation has them."""


def preload(modules: Sequence[str] | None) -> None:
    """Import modules, by default the scientific stack, and draw one throw-away figure.

    Raises:
        ImportError: a package is missing.
    """
    optional = {"scipy.differentiate"}  # from SciPy 1.15 on
    for name in DEFAULT if modules is None else modules:
        try:
            importlib.import_module(name)
        except ImportError:
            if name not in optional:
                raise
    if "matplotlib" in sys.modules:
        sys.modules["matplotlib"].use("Agg")
        pyplot = sys.modules["matplotlib.pyplot"]
        figure = pyplot.figure()
        figure.add_subplot().plot([0, 1])
        figure.savefig(io.BytesIO())  # finds the fonts and loads the drawing code
        pyplot.close("all")
        _forget_fonts()


def _forget_fonts() -> None:
    """Empty matplotlib's cache of opened fonts, which it would do itself in every forked process."""
    cached = getattr(sys.modules.get("matplotlib.font_manager"), "_get_font", None)
    clear = getattr(cached, "cache_clear", None)
    if clear is not None:
        clear()


def versions() -> dict[str, str]:
    """Give the versions of Python and of the scientific libraries that are loaded."""
    found = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "matplotlib"):
        if name in sys.modules:
            found[name] = str(sys.modules[name].__version__)
    return found
