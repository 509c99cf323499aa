"""Suites of pinned problems: read, checked, compared with their lock, selected from.

What can be loaded is sound in form; whether its content is any good is asked by
`scisolve_batch.audit`. Nothing here runs code or loads numpy.
"""

from scisolve_batch.suite.editors import json_schema
from scisolve_batch.suite.loading import (
    Reference,
    Suite,
    bundled_names,
    bundled_suite,
    load_suite,
    problem_digest,
    suite_digest,
)
from scisolve_batch.suite.lock import write_lock
from scisolve_batch.suite.provenance import provenance, write_provenance
from scisolve_batch.suite.selection import select

__all__ = [
    "Reference",
    "Suite",
    "bundled_names",
    "bundled_suite",
    "json_schema",
    "load_suite",
    "problem_digest",
    "provenance",
    "select",
    "suite_digest",
    "write_lock",
    "write_provenance",
]
