"""Reports: run directories as tables, summaries, comparisons and pages.

They read run directories and nothing else. Importing this loads no numpy, pandas or pyarrow.
"""

from scisolve_batch.report.build import ReportPaths, build_report
from scisolve_batch.report.load import Report, load_report
from scisolve_batch.report.render import render_summary
from scisolve_batch.report.summary import Summary, summarize

__all__ = [
    "Report",
    "ReportPaths",
    "Summary",
    "build_report",
    "load_report",
    "render_summary",
    "summarize",
]
