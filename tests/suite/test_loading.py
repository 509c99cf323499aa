import hashlib
import json
import subprocess
import sys

import pytest

from scisolve_batch.errors import SuiteError
from scisolve_batch.records import Limits, Problem
from scisolve_batch.suite import (
    bundled_names,
    bundled_suite,
    load_suite,
    problem_digest,
    suite_digest,
)

PROBLEM = """\
id: half
statement: Report half of one (name `x`) to 3 significant digits.
domain: arithmetic
difficulty: 1
values:
  - name: x
    value: "0.5"
    report_digits: 3
"""

SUITE = """\
format: 1
id: mine
version: "0.1"
limits: {cell_s: 5, max_turns: 4}
problems:
  - half.yaml
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "half.yaml").write_text(PROBLEM)
    (tmp_path / "mine.yaml").write_text(SUITE)
    return tmp_path


def fault(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    with pytest.raises(SuiteError) as caught:
        load_suite(folder / "mine.yaml")
    return str(caught.value).replace(f"{folder}/", "")


def test_a_suite_becomes_records(folder):
    suite = load_suite(folder / "mine.yaml")
    (problem,) = suite.problems
    assert (suite.ref.id, suite.ref.version, suite.ref.pin) == ("mine", "0.1", "none")
    assert suite.limits == Limits(cell_s=5, max_turns=4)
    assert problem.statement == "Report half of one (name `x`) to 3 significant digits."
    assert problem.values[0].rtol == 0.01
    assert problem.values[0].digits == 1
    assert problem.digest == problem_digest(problem)
    assert suite.ref.digest == suite_digest(suite.problems)


def test_a_problem_may_stand_in_the_suite_itself(folder):
    inline = "".join(f"    {line}\n" for line in PROBLEM.splitlines())
    (folder / "one.yaml").write_text(f"id: mine\nproblems:\n  -\n{inline}")
    inside, listed = load_suite(folder / "one.yaml"), load_suite(folder / "mine.yaml")
    assert inside.problems == listed.problems
    assert inside.ref.digest == listed.ref.digest


def test_a_single_problem_is_a_suite_of_one(folder):
    suite = load_suite(folder / "half.yaml")
    assert (suite.ref.id, len(suite.problems)) == ("half", 1)


def test_globs_and_included_suites_list_a_problem_once(folder):
    (folder / "more.yaml").write_text("id: more\nproblems: [mine.yaml, 'h*.yaml', half.yaml]\n")
    assert [problem.id for problem in load_suite(folder / "more.yaml").problems] == ["half"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"mine": "id: mine\n"}, "mine.yaml:1: the key `problems` is missing"),
        ({"mine": "problems: []\nid: mine\n"}, "problems: List should have at least 1 item"),
        ({"mine": "- a\n"}, "mine.yaml:1: must be a mapping (lines `key: value`), not a list"),
        ({"mine": SUITE + "  - hlaf.yaml\n"}, "mine.yaml:7: problems[1]: no such file: hlaf.yaml; did you mean `half.yaml`?"),
        ({"mine": SUITE + "  - x*.yaml\n"}, "mine.yaml:7: problems[1]: `x*.yaml` matches no file in"),
        ({"mine": SUITE + "  - 3\n"}, "mine.yaml:7: problems[1]: must be a path or a problem (a mapping), not a number"),
        ({"mine": SUITE + "  - mine.yaml\n"}, "problems[1]: the suite includes itself: mine.yaml -> mine.yaml"),
        ({"mine": SUITE + "  - b.yaml\n", "b": "id: b\nproblems: [mine.yaml]\n"}, "b.yaml:2: problems[0]: the suite includes itself: mine.yaml -> b.yaml -> mine.yaml"),
        ({"mine": SUITE + "  - b.yaml\n", "b": "a: 1\n"}, "b.yaml: must be a problem (a mapping with `statement`) or a suite (with `problems`), not a mapping with the keys a"),
        ({"mine": SUITE + "  - b.yaml\n", "b": PROBLEM}, "b.yaml:1: id: the id `half` is taken by half.yaml:1"),
        ({"mine": SUITE + "  - b.yaml\n", "b": PROBLEM.replace("half", "Half")}, "the id `Half` is taken by half.yaml:1"),
        ({"mine": SUITE.replace("format: 1", "format: 2")}, "mine.yaml:1: format: `2` is not one of"),
        ({"mine": SUITE.replace("cell_s", "cel_s")}, "mine.yaml:4: limits.cel_s: unknown key; did you mean `cell_s`?"),
        ({"mine": SUITE.replace('"0.1"', "0.1")}, 'mine.yaml:3: version: must be text; put it in quotes: "0.1"'),
        ({"half": PROBLEM.replace('"0.5"', "0.50")}, "half.yaml:7: values[0].value: a certified value is text, because a YAML number keeps only about 16 digits; put it in quotes"),
        ({"half": PROBLEM.replace('"0.5"', '"1/2"')}, "values[0].value: `1/2` is not a decimal like 0.5, -12 or 2.998e8"),
        ({"half": PROBLEM.replace("report_digits", "rtoll")}, "half.yaml:8: values[0].rtoll: unknown key; did you mean `rtol`?"),
        ({"half": PROBLEM.replace("    report_digits: 3\n", "")}, "half.yaml:6: values[0]: has no tolerance: give rtol, atol, exact: true or report_digits"),
        ({"half": PROBLEM.replace('"0.5"', '"0.0"')}, "values[0]: is zero: only `atol` or `exact` can be met there"),
        ({"half": PROBLEM + "    exact: true\n    rtol: 0.1\n"}, "values[0]: is exact, so `rtol` means nothing"),
        ({"half": PROBLEM.replace("report_digits: 3", "rtol: -1")}, "half.yaml:8: values[0].rtol: must be greater than or equal to 0"),
        ({"half": PROBLEM.replace("report_digits: 3", "rtol: .nan")}, "half.yaml:8: values[0].rtol: must be a finite number"),
        ({"half": PROBLEM.replace("report_digits: 3", "rtol: '1e-6'")}, "half.yaml:8: values[0].rtol: must be a number, not `1e-6`"),
        ({"half": PROBLEM.replace("difficulty: 1", "difficulty: 7")}, "half.yaml:4: difficulty: must be less than or equal to 5"),
        ({"half": PROBLEM.replace("id: half", "id: ../half")}, "half.yaml:1: id: `../half` cannot be an id: it names a folder"),
        ({"half": PROBLEM + "  - {name: x, value: '1', exact: true}\n"}, "half.yaml:9: values[1].name: the name `x` is given twice"),
        ({"half": PROBLEM.replace("name: x", "name: 2 x")}, "values[0].name: `2 x` cannot be a name"),
        ({"half": PROBLEM + "known_wrong: [{method: m, values: {z: '1'}}]\n"}, "half.yaml:9: known_wrong[0].values.z: no value is named `z`"),
        ({"half": PROBLEM + "expected_kinds: [convergense]\n"}, "half.yaml:9: expected_kinds[0]: `convergense` is not one of analytic, independent_method, limiting_case, invariant, convergence, dimensional; did you mean `convergence`?"),
        ({"half": PROBLEM + "solution: gone.yaml\n"}, "half.yaml:9: solution: no such script: gone.yaml"),
        ({"half": PROBLEM + "data: [{file: gone.csv}]\n"}, "half.yaml:9: data[0].file: no such data file: gone.csv"),
        ({"half": PROBLEM + "data: [{file: half.yaml, sha256: abc}]\n"}, "data[0].sha256: `abc` is no SHA-256: 64 digits 0-9, a-f"),
        ({"half": PROBLEM + f"data: [{{file: mine.yaml, sha256: '{'0' * 64}'}}]\n"}, "half.yaml:9: data[0].sha256: mine.yaml is not the file that was pinned: its SHA-256 is"),
        ({"half": PROBLEM + "data: [{file: mine.yaml}, {file: ./mine.yaml}]\n"}, "data[1].file: two data files are named `mine.yaml`"),
        ({"half": PROBLEM.replace("statement: Report", "statement: ''\ntitle: Report")}, "half.yaml:2: statement: is empty; write the question"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_clear_message_with_its_place(folder, files, message):
    assert message in fault(folder, **files)


def test_data_is_pinned_by_its_bytes(folder):
    (folder / "d.csv").write_bytes(b"1\n")
    (folder / "half.yaml").write_text(PROBLEM + "data: [{file: d.csv}]\n")
    before = load_suite(folder / "mine.yaml")
    assert before.problems[0].data[0].sha256 == hashlib.sha256(b"1\n").hexdigest()
    (folder / "d.csv").write_bytes(b"2\n")
    assert load_suite(folder / "mine.yaml").ref.digest != before.ref.digest


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda t: t + "traps: [a trap]\nsource: a book\ntags: [x]\ntitle: T\n", True),
        (lambda t: t + "limits: {cell_s: 1}\nexpected_kinds: [analytic]\n", True),
        (lambda t: t.replace("statement: Report", "statement: >-\n  Report\n "), True),
        (lambda t: t.replace("report_digits: 3", "rtol: 0.01"), True),
        (lambda t: t.replace("half of one", "the half of one"), False),
        (lambda t: t.replace('"0.5"', '"0.50"'), False),
        (lambda t: t.replace("report_digits: 3", "report_digits: 4"), False),
        (lambda t: t.replace("report_digits: 3", "exact: true"), False),
        (lambda t: t + "    unit: m\n", False),
        (lambda t: t + "seed: 1\n", False),
        (lambda t: t.replace("id: half", "id: halves"), False),
    ],
)
def test_the_digest_holds_graded_content_and_nothing_else(folder, change, same):
    before = load_suite(folder / "half.yaml").ref.digest
    (folder / "half.yaml").write_text(change(PROBLEM))
    assert (load_suite(folder / "half.yaml").ref.digest == before) is same


def test_the_digest_is_canonical_json_that_anybody_can_recompute(folder):
    (problem,) = load_suite(folder / "mine.yaml").problems
    text = (
        '{"data":{},"id":"half","seed":null,"statement":"Report half of one (name `x`) to 3 '
        'significant digits.","values":[{"atol":null,"exact":false,"name":"x","rtol":0.01,'
        '"unit":null,"value":"0.5"}]}'
    )
    assert json.loads(text)["id"] == "half"
    assert problem.digest == hashlib.sha256(text.encode()).hexdigest()


def test_the_order_of_problems_does_not_change_the_suites_digest():
    problems = [Problem(id=name, statement="s", digest=name * 64) for name in "abc"]
    assert suite_digest(problems) == suite_digest(reversed(problems))


def test_bundled_suites_are_found_by_name_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "core" in bundled_names()
    assert bundled_suite("core").name == "core.yaml"
    assert load_suite("smoke").ref.pin == "pinned"
    assert bundled_suite("../core") is None


def test_an_unknown_name_is_answered_with_the_nearest_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SuiteError, match="no suite is named `cor`; did you mean `core`"):
        load_suite("cor")
    with pytest.raises(SuiteError, match=r"cor\.yaml: no such file"):
        load_suite("cor.yaml")


def test_loading_a_suite_imports_nothing_heavy():
    code = (
        "import sys; from scisolve_batch.suite import load_suite; load_suite('smoke');"
        "heavy = {'numpy', 'scipy', 'pandas', 'pyarrow', 'anthropic', 'matplotlib'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_reference_is_found_beside_its_problem(tmp_path):
    problem = "id: p\nstatement: Report x.\nvalues: [{name: x, value: '1', exact: true}]\n"
    (tmp_path / "p.yaml").write_text(problem + "reference: values.py::one(1)\n")
    with pytest.raises(SuiteError, match=r"p.yaml:4: reference: no such file: .*values.py"):
        load_suite(tmp_path / "p.yaml")
    (tmp_path / "values.py").write_text("def one(x): return {'x': x}\n")
    suite = load_suite(tmp_path / "p.yaml")
    (reference,) = suite.references.values()
    assert (reference.path, reference.expression) == (str(tmp_path / "values.py"), "one(1)")
    bare = load_suite(tmp_path / "p.yaml").problems[0].digest
    (tmp_path / "p.yaml").write_text(problem)
    assert load_suite(tmp_path / "p.yaml").problems[0].digest == bare
    (tmp_path / "p.yaml").write_text(problem + "reference: values.py\n")
    with pytest.raises(SuiteError, match=r"write `file\.py::expression`"):
        load_suite(tmp_path / "p.yaml")
