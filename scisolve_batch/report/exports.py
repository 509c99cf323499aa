"""A run for other readers: JUnit XML for CI, Markdown for a step summary, LaTeX for a paper.

Text of a model or a suite is escaped for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from scisolve_batch._version import __version__
from scisolve_batch.files import write_whole
from scisolve_batch.records import Manifest
from scisolve_batch.report.render import (
    clean,
    interval,
    percent,
    pin_word,
    replay_line,
    tokens_line,
)
from scisolve_batch.report.rows import collect
from scisolve_batch.report.summary import Crossed, Rate, Slice, Summary
from scisolve_batch.rundir import RunDir

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(text: object) -> str:
    """Text without the characters that XML 1.0 cannot hold."""
    return _NO_XML.sub("�", str(text))


def write_junit(run: RunDir | Path | str, file: Path | str) -> None:
    """Write a run as JUnit XML: a test case a planned sample.

    A finished, grounded sample passes; another finished one, or one that the solver did not
    finish, is a failure; one that was lost or is unreadable is an error; one that was not run is
    skipped.

    Raises:
        RunDirError: it is not a run directory, or the file cannot be written.
    """
    run = run if isinstance(run, RunDir) else RunDir.read(run)
    rows = list(collect(run, texts=False, names=("solutions",))["solutions"])
    kinds = [_junit_kind(row) for row in rows]
    counts = {
        "tests": str(len(rows)),
        "failures": str(sum(kind == "failure" for kind in kinds)),
        "errors": str(sum(kind == "error" for kind in kinds)),
        "skipped": str(sum(kind == "skipped" for kind in kinds)),
        "time": f"{sum(row['duration_s'] or 0.0 for row in rows):.3f}",
    }
    name = _xml(f"{run.manifest.suite.id} ({run.manifest.model})")
    root = ET.Element("testsuites", {"name": _xml(run.manifest.run_id), **counts})
    suite = ET.SubElement(root, "testsuite", {"name": name, **counts})
    if run.manifest.created_at:
        suite.set("timestamp", _xml(run.manifest.created_at.rstrip("Z")))
    for row, kind in zip(rows, kinds, strict=True):
        case = ET.SubElement(
            suite,
            "testcase",
            {
                "classname": _xml(f"{run.manifest.suite.id}.{row['domain']}"),
                "name": _xml(_sample_name(row["problem_id"], row["sample"])),
                "time": f"{row['duration_s'] or 0.0:.3f}",
            },
        )
        if kind:
            child = ET.SubElement(case, kind, {"message": _xml(_why(row))})
            if kind != "skipped":
                child.set("type", row["cause"] if kind == "error" else row["outcome"])
                child.text = _xml(row["failure_message"] or row["answer"] or "")
    ET.indent(root)
    data = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    write_whole(Path(file), data + b"\n")


def _sample_name(problem: str, sample: int) -> str:
    return problem if sample == 1 else f"{problem} sample {sample}"


def _junit_kind(row: dict[str, object]) -> str:
    if row["cause"] == "not_run":
        return "skipped"
    if row["missing"]:
        return "error"
    return "" if row["outcome"] == "grounded" else "failure"


def _why(row: dict[str, object]) -> str:
    if row["outcome"] == "ungrounded":
        texts = row["failing_texts"]
        assert isinstance(texts, list)
        return "nothing printed supports " + ", ".join(texts[:10]) if texts else "ungrounded"
    if row["outcome"] == "unfinished":
        return str(row["cause"]).replace("_", " ")
    return str(row["outcome"]).replace("_", " ")


def _markdown(text: object, width: int = 60) -> str:
    """Text of others inside a Markdown table: no markup, no cell border, no mention."""
    shown = clean(str(text), width)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        shown = shown.replace(char, entity)
    return re.sub(r"([\\`*_{}\[\]()#+!|@~$:])", lambda found: f"&#{ord(found[1])};", shown)


def github_summary(summary: Summary) -> str:
    """The summary as Markdown, for `$GITHUB_STEP_SUMMARY`."""
    suite = summary.suite
    lines = [
        f"## {_markdown(summary.run_id)}",
        "",
        f"Suite {_markdown(suite.id)} {_markdown(suite.version)} ({pin_word(suite.pin)}), "
        f"model {_markdown(summary.model)}",
        "",
    ]
    lines += [f"> ⚠ {_markdown(note, 400)}\n" for note in summary.notes]
    ledger = summary.ledger
    causes = ", ".join(f"{_markdown(cause)} {count}" for cause, count in ledger.causes.items())
    unchecked = f" + unchecked **{ledger.unchecked}**" if ledger.unchecked else ""
    lines += [
        f"planned **{ledger.planned}** = finished **{ledger.finished}** + unfinished "
        f"**{ledger.unfinished}**" + (f" ({causes})" if causes else "") + "  ",
        f"finished **{ledger.finished}** = grounded **{ledger.grounded}** + ungrounded "
        f"**{ledger.ungrounded}** + nothing computed **{ledger.nothing_computed}**{unchecked}",
        "",
        "| | rate | 95 % interval | count | results | if the rest failed / succeeded |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name in ("grounded", "correct", "verified"):
        rate: Rate = getattr(summary, f"{name}_rate")
        bounds = f"{percent(rate.floor)} / {percent(rate.ceiling)}"
        lines.append(
            f"| {name} | {percent(rate.rate)} | {interval(rate)} | {rate.successes}/{rate.trials} "
            f"| {rate.trials}/{rate.planned} | {bounds} |"
        )
    lines += ["", *_markdown_crossed(summary.crossed), *_markdown_slices(summary.slices)]
    lines += [f"Tokens: {tokens_line(summary)}", ""]
    if summary.replay:
        lines += [f"Cells run again: {replay_line(summary.replay)}", ""]
    if summary.loose:
        lines += [
            f"<details><summary>Numbers that nothing printed supports: {summary.failing_literals}"
            "</summary>\n",
            "| problem | number | why | nearest printed |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {_markdown(_sample_name(item.problem_id, item.sample))} | {_markdown(item.text)} "
            f"| {_markdown(item.reason or item.verdict)} | {_markdown(item.nearest or '-')} |"
            for item in summary.loose
        ]
        lines += ["", "</details>", ""]
    return "\n".join(lines)


def _markdown_crossed(crossed: Crossed) -> list[str]:
    return [
        "| of the graded answers | correct | wrong | correct if so |",
        "|---|--:|--:|--:|",
        f"| grounded | {crossed.grounded_correct} | {crossed.grounded_wrong} "
        f"| {percent(crossed.correct_if_grounded.rate)} |",
        f"| not grounded | {crossed.ungrounded_correct} | {crossed.ungrounded_wrong} "
        f"| {percent(crossed.correct_if_ungrounded.rate)} |",
        "",
    ]


def _markdown_slices(slices: Sequence[Slice]) -> list[str]:
    part = [item for item in slices if item.by == "domain"]
    if not part:
        return []
    lines = [
        "| domain | planned | grounded | interval | correct | interval |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for item in part:
        grounded, correct = item.grounded_rate, item.correct_rate
        lines.append(
            f"| {_markdown(item.key)} | {item.planned} | {percent(grounded.rate)} "
            f"| {interval(grounded)} | {percent(correct.rate)} | {interval(correct)} |"
        )
    return [*lines, ""]


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}


def _latex(text: object) -> str:
    return "".join(_LATEX.get(char, char) for char in clean(str(text), 80))


def latex_table(summary: Summary) -> str:
    r"""The rates by domain as a LaTeX table; it needs `\usepackage{booktabs}`."""
    whole = Slice(
        by="domain",
        key="all",
        planned=summary.ledger.planned,
        grounded_rate=summary.grounded_rate,
        correct_rate=summary.correct_rate,
        verified_rate=summary.verified_rate,
    )
    parts = [item for item in summary.slices if item.by == "domain"]
    body = [_latex_row(item) for item in parts]
    suite = summary.suite
    warning = " Scripted solutions, no model." if summary.scripted else ""
    caption = (
        f"Suite {_latex(suite.id)} {_latex(suite.version)} ({_latex(pin_word(suite.pin))}), "
        f"{_latex(summary.model)}: {summary.ledger.finished} of {summary.ledger.planned} samples "
        f"finished. Rates in percent with 95\\,\\% Wilson intervals.{warning}"
    )
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{caption}}}",
            r"\begin{tabular}{lrrrrr}",
            r"\toprule",
            r"domain & samples & \multicolumn{2}{c}{grounded} & \multicolumn{2}{c}{correct} \\",
            r"\midrule",
            *body,
            *([r"\midrule"] if body else []),
            _latex_row(whole),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _latex_row(item: Slice) -> str:
    fields = [_latex(item.key), str(item.planned)]
    for rate in (item.grounded_rate, item.correct_rate):
        if rate.rate is None or rate.low is None or rate.high is None:
            fields += ["--", ""]
        else:
            fields += [f"{100 * rate.rate:.1f}", f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}]"]
    return " & ".join(fields) + r" \\"


def citation(summary: Summary, manifest: Manifest | None = None) -> str:
    """How to cite the run: software, suite with its digest, model, policy and dates."""
    suite = summary.suite
    libraries = ""
    if manifest is not None and manifest.versions:
        libraries = "; " + ", ".join(f"{k} {v}" for k, v in sorted(manifest.versions.items()))
    made = f"scisolve-batch {__version__}"
    who = "scripted solutions (no model)" if summary.scripted else f"model {summary.model}"
    ledger = summary.ledger
    text = (
        f"{made}; suite {suite.id} {suite.version or '(no version)'}, "
        f"{pin_word(suite.pin)}, digest {suite.digest}; {who}; {summary.grounding} grounding; "
        f"run {summary.run_id} of {summary.created_at[:10]}: "
        f"{ledger.finished} of {ledger.planned} samples finished, "
        f"{ledger.grounded} grounded{libraries}."
    )
    return clean(text, 2000)
