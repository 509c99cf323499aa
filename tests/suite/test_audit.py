from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisolve_batch import audit
from scisolve_batch.audit import audit_suite
from scisolve_batch.cli.script_runner import recomputer
from scisolve_batch.grading import grade, tolerance
from scisolve_batch.grading.corrupt import change_digits, corruptions
from scisolve_batch.records import (
    Cell,
    CertifiedValue,
    DataFile,
    Grade,
    Grounding,
    GroundingVerdict,
    KnownWrong,
    Limits,
    Problem,
    ReportedValue,
    Solution,
    StopReason,
    SuiteRef,
    Verification,
)
from scisolve_batch.suite import Reference, Suite, bundled_names, load_suite, select

VALUE = CertifiedValue(name="x", value="0.73908513", rtol=1e-6, digits=8, report_digits=7)
GOOD = Problem(
    id="p", statement="Solve cos x = x (name `x`) to 7 digits.", values=(VALUE,), digest="d"
)


def findings(*problems, run=None):
    suite = Suite(SuiteRef(id="s", digest="d"), problems, Limits())
    return [(one.problem_id, one.what) for one in audit_suite(suite, run=run)]


def one_finding(**changes):
    (found,) = findings(GOOD.model_copy(update=changes))
    return found[1]


def certified(**changes):
    return (VALUE.model_copy(update=changes),)


def test_a_good_problem_has_no_finding():
    assert findings(GOOD) == []


def test_the_bundled_suites_have_no_serious_finding():
    whole = {problem.id for name in ("all", "faults") for problem in load_suite(name).problems}
    for name in bundled_names():
        if name not in ("all", "faults"):
            assert {problem.id for problem in load_suite(name).problems} <= whole
    for name in ("all", "faults"):
        assert [one for one in audit_suite(load_suite(name)) if one.serious] == [], name


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"values": certified(digits=6)}, "`x` asks for 7 digits and certifies 6"),
        ({"values": certified(rtol=1e-9)}, "`x` has a tolerance finer than its last certified"),
        ({"values": certified(rtol=0.5)}, "`x` accepts numbers that share no digit with it"),
        ({"statement": "Solve it."}, "the statement does not name `x`"),
        ({"statement": "Report x, which is 0.7390851."}, "every value (`x`) is a small integer or stands"),
        ({"values": certified(value="7", exact=True, rtol=None, digits=1, report_digits=None)}, "every value (`x`) is a small"),
        ({"data": (DataFile(file="d.csv", path="/nonexistent/d.csv", sha256="0"),), "statement": "x of d.csv"}, "the data file /nonexistent/d.csv cannot be read"),
        ({"data": (DataFile(file="d.csv", path=__file__, sha256="0"),), "statement": "x of d.csv"}, "changed since the suite was read"),
        ({"values": certified(unit="wizards")}, "`x` has the unit `wizards`, which only the same word meets"),
        ({"known_wrong": (KnownWrong(method="m", values={"x": "0.7390851"}),)}, "the known wrong value of `x` is graded correct"),
    ],
)  # fmt: skip
def test_each_kind_of_fault_is_found(changes, what):
    assert what in " / ".join(found for _, found in findings(GOOD.model_copy(update=changes)))


def test_a_data_file_must_be_named_in_the_statement(tmp_path):
    file = tmp_path / "d.csv"
    file.write_bytes(b"")
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    data = (DataFile(file="d.csv", path=str(file), sha256=digest),)
    assert one_finding(data=data) == "the statement does not name the data file d.csv"


SCRIPT = '- finish_solution: {{answer: "x = {0}", values: [{{name: x, value: "{0}"}}]}}\n'


def write_script(tmp_path, text):
    file = tmp_path / "script.yaml"
    file.write_text(text)
    return str(file)


def test_the_answers_of_scripts_are_graded(tmp_path):
    right = write_script(tmp_path, SCRIPT.format("0.7390851"))
    assert findings(GOOD.model_copy(update={"solution": right})) == []
    assert one_finding(naive=right) == "the careless solution's answer is graded correct"
    wrong = write_script(tmp_path, SCRIPT.format("0.7390861"))
    assert one_finding(solution=wrong) == "the solution's answer is graded wrong: x"
    assert findings(GOOD.model_copy(update={"naive": wrong})) == []
    nothing = write_script(tmp_path, "- text: no\n")
    assert "reports no answer (`finish_solution`)" in one_finding(solution=nothing)


@pytest.mark.parametrize(
    "report",
    [
        "{answer: [1], values: 3}",
        "{values: [1, {name: 1, value: 0.5, unit: 2}]}",
        "{answer: 0.7390851}",
        "{values: {x: 0.7390851}}",
    ],
)
def test_a_report_of_an_odd_form_is_graded_and_not_an_error(tmp_path, report):
    path = write_script(tmp_path, f"- finish_solution: {report}\n")
    assert one_finding(solution=path) == "the solution's answer is graded wrong: x"


def test_the_last_answer_of_a_script_counts(tmp_path):
    text = SCRIPT.format("1.5") + "- calls:\n  " + SCRIPT.format("0.7390851")
    path = write_script(tmp_path, text)
    assert findings(GOOD.model_copy(update={"solution": path})) == []


def test_scripts_that_misbehave_on_purpose_are_left_alone(tmp_path):
    nothing = write_script(tmp_path, "- text: no\n")
    assert findings(GOOD.model_copy(update={"solution": nothing, "tags": ("fault",)})) == []


def test_the_same_question_twice_is_found():
    other = GOOD.model_copy(update={"id": "q"})
    assert findings(GOOD, other) == [("q", "asks the same as `p`")]


def test_nearly_the_same_question_is_found_unless_it_is_a_twin_or_has_other_data():
    words = " ".join(f"word{k}" for k in range(60))
    one = GOOD.model_copy(update={"statement": f"Report x. {words} end"})
    other = GOOD.model_copy(update={"id": "q", "statement": f"Report x. {words} finish"})
    assert findings(one, other) == [("q", "asks nearly the same as `p`")]
    assert findings(one, other.model_copy(update={"twin_of": "p"})) == []


def test_each_problem_is_held_against_the_first_one_that_it_repeats():
    repeats = [GOOD.model_copy(update={"id": name}) for name in "qrs"]
    assert findings(GOOD, *repeats) == [(name, "asks the same as `p`") for name in "qrs"]
    short = GOOD.model_copy(update={"statement": "Report x."})
    assert findings(short, short.model_copy(update={"id": "q"})) == [("q", "asks the same as `p`")]


WORDS = st.lists(st.sampled_from("abcdefghijklmnop"), min_size=12, max_size=60)


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=2, max_size=5), st.integers(0, 11), st.sampled_from("abc"))
def test_the_quick_search_finds_what_a_comparison_of_all_pairs_finds(texts, place, word):
    texts.append([*texts[0][:place], word, *texts[0][place + 1 :]])  # one word changed
    problems = [
        GOOD.model_copy(update={"id": f"p{k}", "statement": " ".join(["Report x.", *text])})
        for k, text in enumerate(texts)
    ]
    triples = [audit._triples(problem.statement) for problem in problems]
    expected = {
        f"p{k}"
        for k, mine in enumerate(triples)
        if any(len(mine & other) >= audit.NEAR * len(mine | other) for other in triples[:k])
    }
    assert {name for name, what in findings(*problems) if "the same as" in what} == expected


@pytest.mark.parametrize(
    ("value", "changes", "changed"),
    [
        ("0.7390851", {"rtol": 1e-3, "exact": False}, ["0.8390851", "0.7490851", "0.7400851"]),
        ("-12", {"exact": True, "rtol": None}, ["-22", "-13"]),
        ("0.50", {"atol": 0.1, "rtol": None}, []),
    ],
)  # fmt: skip
def test_digits_that_must_be_right_are_changed_one_by_one(value, changes, changed):
    (asked,) = certified(value=value, **changes)
    assert list(change_digits(asked)) == changed
    assert tolerance(asked, abs(Decimal(value))) >= 0


def test_scripts_are_run_when_a_runner_is_given(tmp_path):
    path = write_script(tmp_path, SCRIPT.format("0.7390851"))
    problem = GOOD.model_copy(update={"solution": path})
    seen = []

    def run(asked, script, seed):
        seen.append((asked.id, script, seed))
        grade = Grade(correct=seed == 1, fraction=1.0)
        return Solution(
            problem_id=asked.id, model="scripted", stop_reason=StopReason.MAX_TURNS, grade=grade
        )

    found = [what for _, what in findings(problem, run=run)]
    assert seen == [("p", path, 1), ("p", path, 2)]
    assert found == [
        "the solution is not finished when it is run (max_turns)",
        "the solution is not grounded when it is run (max_turns)",
        "the solution is not verified when it is run (max_turns)",
        "the solution depends on the seed of the session",
    ]


def finished(values, *, cells=()):
    """A finished, grounded and checked solution that reports these values."""
    return Solution(
        problem_id=GOOD.id,
        model="scripted",
        stop_reason=StopReason.FINISHED,
        answer="See the values.",
        values=values,
        verification=Verification(kind="invariant", description="d", evidence_cell=2, valid=True),
        grounding=Grounding(policy="decimal", verdict=GroundingVerdict.GROUNDED),
        grade=grade(GOOD, answer=None, values=values),
        cells=cells,
    )


def test_every_corruption_of_a_certified_value_fails_the_gold_or_is_named(tmp_path, monkeypatch):
    path = write_script(tmp_path, SCRIPT.format("0.7390851"))
    problem = GOOD.model_copy(update={"solution": path})
    right = finished((ReportedValue(name="x", value="0.73908513"),))
    corrupted = [one.values[0].value for _, one in corruptions(problem)]
    assert corrupted == ["0.83908513", "0.74908513", "0.74008513", "0.73918513", "0.73909513"]
    assert findings(problem, run=lambda *_: right) == []
    # A grader that lets everything pass is noticed.
    monkeypatch.setattr(audit, "grade", lambda *_, **__: Grade(correct=True, fraction=1.0))
    found = [what for _, what in findings(problem, run=lambda *_: right)]
    assert found == ["the solution stays correct when `x` is corrupted"] * 5


def test_a_slow_solution_is_a_remark(tmp_path):
    path = write_script(tmp_path, SCRIPT.format("0.7390851"))
    slow = finished(
        (ReportedValue(name="x", value="0.7390851"),), cells=(Cell(index=1, wall_s=21.0),)
    )
    suite = Suite(
        SuiteRef(id="s", digest="d"), (GOOD.model_copy(update={"solution": path}),), Limits()
    )
    (found,) = audit_suite(suite, run=lambda *_: slow)
    assert found.what == "the solution takes 21 s; 20 s are meant to be enough"
    assert not found.serious


EIGHTHS = [pytest.param(k, marks=[pytest.mark.slow] * (k > 1)) for k in range(1, 9)]


@pytest.mark.parametrize("part", EIGHTHS)
def test_every_corruption_of_a_bundled_certified_value_is_graded_wrong(part):
    count = 0
    for problem in select(load_suite("all"), shard=f"{part}/8").problems:
        values = [ReportedValue(name=v.name, value=v.value, unit=v.unit) for v in problem.values]
        assert grade(problem, answer=None, values=values).correct
        for which, corrupted in corruptions(problem):
            verdicts = {
                one.name: one.verdict.value
                for one in grade(corrupted, answer=None, values=values).values
            }
            assert verdicts.pop(which) == "wrong"
            assert set(verdicts.values()) <= {"correct"}
            count += 1
    assert count > 300


def test_reference_computations_must_give_the_certified_values():
    suite = Suite(
        SuiteRef(id="s", digest="d"), (GOOD,), Limits(), references={"p": Reference("r.py", "f()")}
    )

    def audited(outcome):
        found = audit_suite(suite, recompute=lambda problem, reference: outcome)
        return [(one.what, one.serious) for one in found]

    assert audited({"x": "0.739085133215"}) == []
    assert audited({"x": "0.739085199"}) == [
        ("`x` is certified as 0.73908513, and its reference computation gives 0.739085199", True)
    ]
    gave = "the reference computation gave no values: "
    assert audited("NameError: f") == [(f"{gave}NameError: f", True)]
    missing = "ModuleNotFoundError: No module named 'mpmath'"
    assert audited(missing) == [(gave + missing, False)]


REFERENCED = [
    "hermitian-3-eigenvector",
    "hilbert-14-solve",
    "nist-longley",
]


def test_references_of_the_bundled_problems_are_run_in_sessions():
    suite = select(load_suite("all"), ids=REFERENCED)
    assert len(suite.references) >= 200
    with recomputer() as recompute:
        assert [one for one in audit_suite(suite, recompute=recompute) if one.serious] == []
        wrong = [
            one.model_copy(update={"values": (corruption.values[0], *one.values[1:])})
            for one in suite.problems
            for _, corruption in list(corruptions(one))[:1]
        ]
        found = audit_suite(replace(suite, problems=tuple(wrong)), recompute=recompute)
    named = {one.problem_id for one in found if "its reference computation gives" in one.what}
    assert named == set(REFERENCED)
