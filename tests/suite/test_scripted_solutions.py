import re
from decimal import Decimal

import pytest

from scisolve_batch.audit import audit_suite
from scisolve_batch.grading import grade
from scisolve_batch.grading.corrupt import corruptions
from scisolve_batch.suite import load_suite, select

NUMBER = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w]|\.[0-9])")


def unit_of_last_digit(text):
    exponent = Decimal(text).as_tuple().exponent
    return Decimal(1).scaleb(exponent)


def is_printed(text, printed):
    """Some printed number has at least these digits and rounds to this one."""
    value, unit = Decimal(text), unit_of_last_digit(text)
    return any(
        unit_of_last_digit(other) <= unit and abs(Decimal(other) - value) <= unit / 2
        for other in printed
    )


def check(solution, problem):
    assert solution.finished, (solution.stop_reason, solution.refusals)
    assert not solution.refusals
    assert solution.grounded, solution.ungrounded
    assert solution.verified, solution.verification
    for name, corrupted in corruptions(problem):
        regraded = grade(corrupted, answer=solution.answer, values=solution.values)
        assert not regraded.correct, name
    assert solution.correct, [(v.name, v.reported, v.certified) for v in solution.grade.values]
    assert [one.how for one in solution.grade.values] == ["structured"] * len(problem.values)
    assert solution.verification.evidence_cell > 1
    assert [cell.stderr for cell in solution.cells] == [""] * len(solution.cells)
    printed = [n for cell in solution.cells for n in NUMBER.findall(cell.stdout)]
    sources = printed + NUMBER.findall(problem.statement)
    # The rule above, written once more without the project's own grounding.
    for text in (*(value.value for value in solution.values), solution.answer):
        numbers = NUMBER.findall(text)
        assert numbers, text
        for number in numbers:
            assert is_printed(number, sources), number


def bundled(name, **chosen):
    return select(load_suite(name), **chosen).problems


@pytest.mark.parametrize("problem", bundled("smoke"), ids=lambda problem: problem.id)
def test_each_solution_of_smoke_is_finished_grounded_verified_and_correct(problem, run_script):
    check(run_script(problem, problem.solution, 1), problem)


@pytest.mark.slow
@pytest.mark.parametrize("problem", bundled("core"), ids=lambda problem: problem.id)
def test_each_solution_of_core_is_finished_grounded_verified_and_correct(problem, run_script):
    check(run_script(problem, problem.solution, 1), problem)


# A quarter of the other suites keeps the tests short; `run NAME --model scripted` runs the rest.
@pytest.mark.slow
@pytest.mark.parametrize(
    "problem",
    [
        *bundled("nist-strd", shard="1/4"),
        *(one for one in bundled("hard", shard="1/4") if one.id != "lorenz-t40"),
    ],
    ids=lambda problem: problem.id,
)
def test_other_solutions_are_finished_grounded_verified_and_correct(problem, run_script):
    check(run_script(problem, problem.solution, 1), problem)


CARELESS = [
    "blackman-harris-window",
    "cancellation-exponential",
    "fisher-exact-unbalanced",
    "hilbert-12-condition",
    "natural-cubic-spline",
    "nist-filip",
    "spanning-trees-8x8-grid",
    "wilkinson-21-gap",
]


@pytest.mark.parametrize("problem", bundled("core", ids=CARELESS), ids=lambda problem: problem.id)
def test_careless_solutions_are_grounded_wrong_and_caught_by_name(problem, run_script):
    solution = run_script(problem, problem.naive, 1)
    assert solution.grounded
    assert solution.correct is False
    # The noise that these two print is another one with every build of LAPACK.
    if problem.id not in ("hilbert-12-condition", "nist-filip"):
        assert any(value.trap for value in solution.grade.values)


SHAPED = [
    "antoine-boiling-point",
    "hermitian-3-eigenvector",
    "integer-matrix-spectrum",
    "pascal-5-eigenvector",
    "stirling-row-25",
]


@pytest.mark.parametrize("problem", bundled("all", ids=SHAPED), ids=lambda problem: problem.id)
def test_sets_eigenvectors_lists_and_temperatures_are_solved_and_careless_ones_caught(
    problem, run_script
):
    """Reported in another order, with another sign or phase, in another unit than certified."""
    check(run_script(problem, problem.solution, 1), problem)
    if problem.naive is not None:
        careless = run_script(problem, problem.naive, 1)
        assert careless.grounded
        assert careless.correct is False
        assert any(value.trap for value in careless.grade.values)


def test_solutions_do_not_depend_on_the_seed(run_script):
    few = select(load_suite("smoke"), ids=["birthday-and-coupon", "hilbert-6-condition"])
    assert audit_suite(few, run=run_script) == ()


@pytest.mark.parametrize("name", ["smoke", "core", "nist-strd", "hard", "all", "faults"])
def test_every_problem_has_a_solution(name):
    suite = load_suite(name)
    assert suite.ref.pin == "pinned"
    assert [problem.id for problem in suite.problems if problem.solution is None] == []


def test_core_spans_the_domains_and_levels_and_many_problems_have_careless_solutions():
    problems = load_suite("core").problems
    assert len(problems) >= 68
    assert len({problem.domain for problem in problems}) == 15
    assert {problem.difficulty for problem in problems} == {1, 2, 3, 4, 5}
    both = {p.id: p.naive for n in ("core", "hard") for p in load_suite(n).problems}
    assert sum(naive is not None for naive in both.values()) >= 35


def test_the_whole_collection_is_there():
    problems = load_suite("all").problems
    assert len(problems) == 314
    assert sum(len(problem.values) for problem in problems) == 565


def test_every_problem_has_a_title_of_its_own_that_fits_into_a_table():
    for name in ("all", "faults"):
        titles = [problem.title for problem in load_suite(name).problems]
        assert all(5 <= len(title) <= 72 for title in titles)
        assert len(set(titles)) == len(titles)
