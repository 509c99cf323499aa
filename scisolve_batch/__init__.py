"""Ask a language model scientific-computing questions by the hundred, and trust the numbers."""

from scisolve_batch._version import __version__

__all__ = ["__version__"]
