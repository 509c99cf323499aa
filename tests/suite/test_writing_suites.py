import re
from pathlib import Path

import numpy as np
import pytest

from scisolve_batch.audit import audit_suite
from scisolve_batch.errors import SuiteError
from scisolve_batch.grading import grade
from scisolve_batch.grading.units import Conversion, conversion
from scisolve_batch.records import ReportedValue
from scisolve_batch.suite import bundled_names, load_suite, write_lock

PAGE = (Path(__file__).parents[2] / "docs" / "writing-suites.md").read_text()
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```yaml\n(.*?)```", PAGE, re.DOTALL))
MESSAGES = dict(re.findall(r"<!-- message: (\w+) -->\n```text\n(.*?)\n```", PAGE, re.DOTALL))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(folder, old, new):
    file = folder / "orbits.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def message():
    with pytest.raises(SuiteError) as caught:
        load_suite("orbits.yaml")
    return str(caught.value)


def test_the_pages_suite_is_sound_and_its_solution_does_what_the_page_says(folder, run_script):
    (problem,) = load_suite("orbits.yaml").problems
    assert problem.values[0].rtol == 1e-8
    assert audit_suite(load_suite("orbits.yaml")) == ()
    solution = run_script(problem, problem.solution, 0)
    assert (solution.grounded, solution.verified, solution.correct) == (True, True, True)


def test_the_pages_lists_are_sound_and_graded_as_the_page_says(folder):
    suite = load_suite("shapes.yaml")
    assert audit_suite(suite) == ()
    cubic, vector = suite.problems
    printed = str(np.roots([1, 0, -2, -5]))
    upper = ReportedValue(name="upper", value="-1.0472757 + 1.1359399i")
    reported = [ReportedValue(name="roots", value=printed), upper]
    assert grade(cubic, answer=None, values=reported).correct
    _, vectors = np.linalg.eigh([[2, 1], [1, 3]])
    for sign in (1, -1):
        reported = [ReportedValue(name="v", value=str(sign * vectors[:, 1]))]
        assert grade(vector, answer=None, values=reported).correct


def test_the_pages_messages_are_what_the_program_says(folder):
    write_lock("orbits.yaml")
    assert load_suite("orbits.yaml").ref.pin == "pinned"
    change(folder, "Solve Kepler's", "Please solve Kepler's")
    assert message() == MESSAGES["changed"]
    change(folder, "report_digits", "report_digit")
    assert message().splitlines()[0] == MESSAGES["typo"]
    change(folder, "report_digit:", "report_digits:")
    change(folder, '"1.7861416032743135810"', "1.7861416032743135810")
    assert message() == MESSAGES["unquoted"]


def test_the_page_counts_the_bundled_suites():
    counted = dict(re.findall(r"^\| `([\w-]+)` \| (\d+) \|", PAGE, re.MULTILINE))
    assert counted == {name: str(len(load_suite(name).problems)) for name in bundled_names()}


def test_the_pages_table_of_units_is_what_the_grader_does():
    table = PAGE.split("## Units")[1].split("##")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 10
    for asked, reported, then in rows:
        for unit in re.findall("`([^`]*)`", reported):
            found = conversion(re.sub("^[0-9.]+ ", "", unit), asked.strip("`"))
            kind = "converted" if isinstance(found, Conversion) else None
            said = {"wrong": True, "unreadable": False}.get(then.split(":")[0], "converted")
            assert (kind or found.known) == said, (asked, unit)
            if quoted := re.search('"([^"]*)"', then):
                assert found.note.startswith(quoted[1])
