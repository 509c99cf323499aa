"""Values that the program prints and quotes itself."""

import pytest
from loop_support import CHECK, PlayedSession, play

from scisolve_batch.agent.binding import binding_code
from scisolve_batch.agent.tools import ArgumentError
from scisolve_batch.model.scripted import finish, run_python
from scisolve_batch.records import Cell, CellStatus

BOUND = [{"name": "x", "expression": "root"}]


def test_an_expression_is_evaluated_in_a_recorded_cell_and_quoted_with_all_its_digits():
    session = PlayedSession("root = 42.50000000001\n", "x = 42.50000000001\n")
    end = finish("x = {x}, about {x:.3g}; not {y} or 10^{-3}", verification=CHECK, values=BOUND)
    solution, _, _ = play(run_python("print(root)"), end, session=session)
    assert session.codes[1] == "print('x = ' + str(root))"
    assert solution.values[0].value == "42.50000000001"
    assert solution.answer.startswith("x = 42.50000000001, about 42.5; not {y} or 10^{-3}")
    bound = [item for item in solution.grounding.literals if item.relation == "bound"]
    assert {item.where for item in bound} == {"answer", "values[x]"}
    assert [item.text for item in bound] == ["42.50000000001", "42.5", "42.50000000001"]
    assert solution.correct


def test_an_expression_that_fails_says_why_and_costs_no_refusal():
    failed = Cell(index=2, status=CellStatus.ERROR, traceback="...\nNameError: name 'root'")
    session = PlayedSession("x = 42.5\n", failed)
    end = finish("x = {x}", verification=CHECK, values=BOUND)
    typed = finish("x = 42.5", verification=CHECK, values=[{"name": "x", "value": "42.5"}])
    solution, messages, _ = play(run_python("print(x)"), end, typed, session=session)
    assert solution.grounded and solution.correct and not solution.refusals
    assert "NameError: name 'root'" in str(messages)


@pytest.mark.parametrize("expression", ["x = 5", "import os", "", "1 +", "print(1); 2"])
def test_only_a_single_expression_is_evaluated(expression):
    with pytest.raises(ArgumentError, match="no Python expression"):
        binding_code({"x": expression})


def test_an_answers_own_cell_is_weak_evidence_and_refuses_nothing():
    end = finish("x = 42.5", verification=CHECK)
    solution, _, _ = play(run_python("print(x)"), end, session=PlayedSession("x = 42.5\n"))
    assert solution.verified and "answer's own numbers" in solution.verification.weakness
    check = {**CHECK, "evidence_cell": 2}
    both = [run_python("print(x)"), run_python("print(r)")]
    end = finish("x = 42.5", verification=check)
    solution, _, _ = play(*both, end, session=PlayedSession("x = 42.5\n", "residual 0.25\n"))
    assert solution.verification.weakness == ""


def test_evidence_without_a_number_or_with_invented_ones_is_weak():
    both = [run_python("print(x)"), run_python("print(ok)")]
    end = finish("x = 42.5", verification={**CHECK, "evidence_cell": 2})
    solution, _, _ = play(*both, end, session=PlayedSession("x = 42.5\n", "all fine\n"))
    assert "printed no number" in solution.verification.weakness
    words = {**CHECK, "evidence_cell": 2, "description": "the residual is 1.25e-17"}
    end = finish("x = 42.5", verification=words)
    solution, _, _ = play(*both, end, session=PlayedSession("x = 42.5\n", "residual 0.25\n"))
    assert "1.25e-17" in solution.verification.weakness
