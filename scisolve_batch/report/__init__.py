"""Reports: run directories as tables, summaries, comparisons and pages.

They read run directories and nothing else. Importing this loads no numpy, pandas or pyarrow.
"""

from scisolve_batch.report.build import ReportPaths, build_report
from scisolve_batch.report.comparison import Comparison
from scisolve_batch.report.exports import citation, github_summary, latex_table, write_junit
from scisolve_batch.report.index import write_index
from scisolve_batch.report.load import Report, load_report
from scisolve_batch.report.merging import merge_runs
from scisolve_batch.report.pairing import compare
from scisolve_batch.report.rechecking import recheck, sensitivity
from scisolve_batch.report.render import render_summary
from scisolve_batch.report.render_comparison import render_comparison
from scisolve_batch.report.summary import Summary
from scisolve_batch.report.tally import summarize

__all__ = [
    "Comparison",
    "Report",
    "ReportPaths",
    "Summary",
    "build_report",
    "citation",
    "compare",
    "github_summary",
    "latex_table",
    "load_report",
    "merge_runs",
    "recheck",
    "render_comparison",
    "render_summary",
    "sensitivity",
    "summarize",
    "write_index",
    "write_junit",
]
