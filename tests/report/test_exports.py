"""JUnit, Markdown, LaTeX and citation say what the summary says, escaped for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from handmade import literal, problem, solved, stopped

from scisolve_batch._version import __version__
from scisolve_batch.records import (
    Failure,
    Grounding,
    GroundingVerdict,
    StopReason,
    SuiteRef,
    Verdict,
)
from scisolve_batch.report import citation, github_summary, latex_table, summarize, write_junit
from scisolve_batch.report.summary import Summary
from scisolve_batch.rundir import RunDir

MakeRun = Callable[..., Path]


def mixed(make_run: MakeRun, **fields: object) -> Path:
    return make_run(
        [
            solved("p1"),
            solved("p2", grounded=False),
            stopped("p3", StopReason.MAX_TURNS),
            stopped(
                "p4", StopReason.MODEL_ERROR, failure=Failure(kind="server", message="\x00 500")
            ),
        ],
        problems=[problem(f"p{n}") for n in range(1, 6)],
        **fields,
    )


def summary_of(run: Path) -> Summary:
    return summarize(RunDir.read(run))


def test_junit_has_a_case_for_every_sample(make_run: MakeRun, tmp_path: Path) -> None:
    write_junit(mixed(make_run), tmp_path / "junit.xml")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("5", "2")
    assert (root.get("errors"), root.get("skipped"), root.get("time")) == ("1", "1", "4.000")
    cases = list(root.iter("testcase"))
    assert [case.get("name") for case in cases] == ["p1", "p2", "p3", "p4", "p5"]
    assert [[child.tag for child in case] for case in cases] == [
        [], ["failure"], ["failure"], ["error"], ["skipped"],
    ]  # fmt: skip
    assert cases[0].get("classname") == "core.ode"
    assert cases[1][0].get("message") == "nothing printed supports 2.718"
    assert cases[2][0].get("message") == "max turns"
    assert cases[3][0].text == "\ufffd 500"


def test_junit_accepts_an_open_run_and_any_text(make_run: MakeRun, tmp_path: Path) -> None:
    bad = "<&\"'>\x00\x1b\ufffe]]>"
    run = make_run([solved("p1", grounded=False, answer=bad)], model=bad)
    write_junit(RunDir.read(run), tmp_path / "junit.xml")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    failure = next(root.iter("failure"))
    assert failure.text == "<&\"'>\ufffd\ufffd\ufffd]]>"


def test_the_step_summary_has_ledger_rates_and_loose_numbers(make_run: MakeRun) -> None:
    text = github_summary(summary_of(mixed(make_run)))
    assert text.startswith("## run-1\n")
    assert "planned **5** = finished **2** + unfinished **3**" in text
    assert "finished **2** = grounded **1** + ungrounded **1** + nothing computed **0**" in text
    assert "| grounded | 33.3 % | 6.1 to 79.2 % | 1/3 | 3/5 | 20.0 % / 60.0 % |" in text
    assert "| p2 | 2.718 | absent | 2.5 |" in text
    assert "scripted solutions" in text


def test_markdown_of_others_cannot_break_out(make_run: MakeRun) -> None:
    bad = literal("|`<img src=x>` @team [a](http://b) \n\n# h", Verdict.UNGROUNDED, reason="*b*")
    grounding = Grounding(policy="flat", verdict=GroundingVerdict.UNGROUNDED, literals=(bad,))
    text = github_summary(summary_of(make_run([solved("p1", grounding=grounding)])))
    row = next(line for line in text.splitlines() if line.startswith("| p1 "))
    assert row.count("|") == 5
    for piece in ("<img", "`", "@team", "](", "http:", "*b*"):
        assert piece not in row


def test_the_latex_table_uses_booktabs_and_escapes(make_run: MakeRun) -> None:
    run = make_run(
        [solved("p1")],
        problems=[problem("p1", domain="a_b & 100% {x} \\input{y} #$~^")],
        model="m_1",
    )
    text = latex_table(summary_of(run))
    assert r"\toprule" in text
    assert (
        r"a\_b \& 100\% \{x\} \textbackslash{}input\{y\} \#\$\textasciitilde{}\textasciicircum{}"
        in text
    )
    assert r"all & 1 & 100.0 & [20.7, 100.0] & 100.0 & [20.7, 100.0] \\" in text
    assert "Scripted" not in text
    assert text.count("{") == text.count("}")
    assert r"all & 0 & -- &  & -- &  \\" in latex_table(
        summary_of(make_run([], problems=[], name="e"))
    )


def test_a_citation_names_versions_digest_and_date(make_run: MakeRun) -> None:
    run = mixed(make_run, suite=SuiteRef(id="core", version="1.0", digest="abc", pin="unpinned"))
    manifest = RunDir.read(run).manifest.model_copy(update={"versions": {"numpy": "2.4.6"}})
    text = citation(summary_of(run), manifest)
    assert text == (
        f"scisolve-batch {__version__}; suite core 1.0, NOT the pinned one, digest abc; scripted "
        "solutions (no model); decimal grounding; run run-1 of 2026-09-16: 2 of 5 samples finished, "
        "1 grounded; numpy 2.4.6."
    )


@pytest.mark.parametrize("export", [github_summary, latex_table, citation])
def test_an_empty_run_can_be_exported(make_run: MakeRun, export: Callable[[Summary], str]) -> None:
    assert export(summary_of(make_run([], problems=[])))
