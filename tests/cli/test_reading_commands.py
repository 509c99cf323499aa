"""The commands that read a run: show, report, compare, recheck, replay, status."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from scripts import GOOD, VALUES, after, changed


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One run of a good problem, a sly one and one whose output is never the same."""
    folder = tmp_path_factory.mktemp("made")
    moving = after("import os; print('draw', int.from_bytes(os.urandom(4), 'big'))")
    problems = []
    for name, script in {"good": GOOD, "sly": changed("x = 1.5"), "moving": moving}.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(script))
        problems.append(
            {"id": name, "statement": "Root of 2?", "values": VALUES, "solution": f"{name}.yaml"}
        )
    (folder / "s.yaml").write_text(yaml.safe_dump({"format": 1, "id": "s", "problems": problems}))
    ended = subprocess.run(
        [sys.executable, "-m", "scisolve_batch", "run", "s.yaml", "--out", "r", "--quiet",
         "--fail-on", "unfinished", "--fail-on", "error", "--junit", "j.xml"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture
def read(made, call_here, tmp_path):
    """Call a command on a copy of the run, named `r`."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return call_here


def test_show_tells_a_problem_number_by_number(read):
    code, out, _ = read("show", "r", "sly")
    assert code == 0
    for words in (
        "Root of 2?",
        "[1] ok",
        "    x = np.sqrt(2.0)",
        "  out x = 1.4142135623730951",
        "refused:",
        "answer: x = 1.5",
        "NO  1.5",
        "x: correct",
    ):
        assert words in out
    code, _, err = read("show", "r", "slyy")
    assert code == 2 and "did you mean sly?" in err
    code, _, err = read("show", "r", "sly", "--sample", "2")
    assert code == 2 and "r has no sample 2 of sly" in err


def test_what_a_model_wrote_cannot_steer_the_terminal_that_shows_it(read, tmp_path):
    folder = tmp_path / "r/problems/sly"
    (folder / "cells/01.out").write_bytes(
        b"\x1b]52;c;cm0=\x07\x1b[2Jx = 1.5\rx = 9.9\r\nend\xc2\x9b1m\n"
    )
    file = folder / "solution.json"
    record = json.loads(file.read_text())
    record |= {"answer": "x = \x1b[31m1.5\u202e", "refusals": ["\x1b[A not"]}
    file.write_text(json.dumps(record))
    code, out, _ = read("show", "r", "sly")
    assert code == 0
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", out)
    assert "⟨U+001B⟩[2Jx = 1.5⟨U+000D⟩" in out and "⟨U+202E⟩" in out


def test_a_problem_with_torn_records_is_told_as_far_as_it_goes(read, tmp_path):
    folder = tmp_path / "r/problems/sly"
    (folder / "cells/01.json").write_text("{")
    code, out, _ = read("show", "r", "sly")
    assert code == 0 and "the cells cannot be read" in out and "answer: x = 1.5" in out
    (folder / "solution.json").unlink()
    code, out, _ = read("show", "r", "sly")
    assert code == 0 and "no record yet" in out


def test_a_report_is_built_again_from_the_run_alone(read, tmp_path):
    shutil.rmtree(tmp_path / "reports")
    code, out, err = read("report", "r")
    assert code == 0 and "planned 3 = finished 3 + unfinished 0" in out
    assert "report: reports/r" in err
    assert (tmp_path / "reports/r/solutions.parquet").exists()
    _, again, _ = read("report", "r", "--json")
    assert json.loads(again)["ledger"]["grounded"] == 2


def test_a_run_compared_with_itself_is_not_distinguishable(read):
    code, out, _ = read("compare", "r", "r")
    assert code == 0 and "not distinguishable" in out
    _, as_json, _ = read("compare", "r", "r", "--json")
    assert json.loads(as_json)["paired"] == 3


def test_recorded_answers_judged_by_the_same_rules_do_not_flip(read):
    code, out, _ = read("recheck", "r")
    assert code == 0 and "no verdict flips" in out
    code, _, err = read("recheck", "r", "--grounding", "vibes")
    assert code == 2 and "vibes" in err


def test_replay_finds_the_cell_that_prints_something_else_each_time(read):
    code, out, _ = read("replay", "r")
    assert code == 1
    assert "moving cell 1: differs (line 1: 'draw" in out
    assert "6 of 7 cells reproduce, 1 differ, 0 were not run" in out
    code, out, _ = read("replay", "r", "--id", "good", "--json")
    assert code == 0
    assert [cell["verdict"] for cell in json.loads(out)["cells"]] == ["reproduced"] * 2
    code, _, err = read("replay", "r", "--id", "god")
    assert code == 2 and "no problem `god` in r" in err


def test_a_replay_is_a_column_and_a_line_of_later_reports_and_changes_nothing(read, tmp_path):
    shutil.rmtree(tmp_path / "rr", ignore_errors=True)
    before = read("report", "r", "--out", "rr")[1]
    assert "replay" not in before
    read("replay", "r", "--workers", "3")
    assert read("verify", "r")[0] == 0
    code, out, _ = read("report", "r", "--out", "rr")
    assert code == 0 and "replay   6 of 7 reproduce, 1 differ\n" in out
    assert out.replace("replay   6 of 7 reproduce, 1 differ\n", "") == before
    _, out, _ = read("report", "r", "--out", "rr", "--as", "markdown")
    assert "Cells run again: 6 of 7 reproduce, 1 differ" in out


def test_the_junit_file_names_what_failed(made):
    text = (made / "j.xml").read_text()
    assert text.startswith("<?xml") and "sly" in text and "1.5" in text


def test_status_of_a_finished_run_is_complete(read):
    code, out, _ = read("status", "r")
    assert code == 0 and "complete, 3 of 3 settled" in out
    code, out, _ = read("status", "r", "--json")
    assert code == 0 and json.loads(out)["settled"] == 3


def test_verify_finds_a_changed_byte(read, tmp_path):
    code, out, _ = read("verify", "r")
    assert code == 0 and "as it was written; 3 settled" in out
    path = tmp_path / "r/problems/good/cells/01.out"
    path.write_text(path.read_text().replace("1.41", "1.42"))
    code, out, _ = read("verify", "r")
    assert code == 1 and "! good: its files are not what was settled" in out


def test_ground_lists_unsupported_numbers_of_a_notebook_and_of_a_text(call_here, tmp_path):
    cells = [
        {"cell_type": "code", "source": "f()", "outputs": [
            {"output_type": "stream", "name": "stdout", "text": "x = 2.5\n"}]},
        {"cell_type": "markdown", "source": "x is 2.5, y is 9.75"},
    ]  # fmt: skip
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
    code, out, _ = call_here("ground", "n.ipynb")
    assert code == 1 and "cell 2, line 1: 9.75: absent" in out and "1 numbers" in out
    (tmp_path / "t.md").write_text("x is 2.5")
    (tmp_path / "o.txt").write_text("x = 2.5\n")
    code, out, _ = call_here("ground", "t.md", "--outputs", "o.txt")
    assert code == 0 and "0 numbers without support" in out
    code, _, err = call_here("ground", "t.md")
    assert code == 2 and "--outputs FILE" in err
    code, out, _ = call_here("ground", "n.ipynb", "--json")
    assert json.loads(out)["text"] == "9.75"


def test_a_report_is_printed_for_papers_and_pages_and_drawn(read, tmp_path):
    code, out, _ = read("report", "r", "--as", "markdown", "--csv", "--figures", "--out", "o")
    assert code == 0 and out.lstrip().startswith("#")
    assert (tmp_path / "o/solutions.csv").read_text().startswith("run_id,problem_id")
    assert (tmp_path / "o/figures/rates.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "o/figures/correct_digits.svg").read_text()
    assert read("report", "r", "--markdown", "--out", "o")[1] == out
    code, _, err = read("report", "r", "--markdown", "--json")
    assert code == 2 and "--json and --markdown cannot both be printed" in err
    _, out, _ = read("report", "r", "--as", "latex")
    assert r"\toprule" in out
    _, out, _ = read("report", "r", "--as", "citation")
    assert "scisolve-batch" in out


def test_the_printed_summary_is_the_golden_one(read, tmp_path):
    golden = Path(__file__).with_name("golden_summary.txt")
    _, out, _ = read("report", "r")
    assert re.sub(r"\d+\.\d s of work", "# s of work", out) == golden.read_text()
