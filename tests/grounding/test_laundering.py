"""Copied constants, parameters of a computation, and what a re-run can and cannot tell."""

from pathlib import Path

import pytest

from scisolve_batch.grounding import check_grounding, constants, explain_refusal
from scisolve_batch.grounding.replay import MOST_RERUNS
from scisolve_batch.records import Cell, GroundingVerdict


def session(codes, rerun):
    outputs = rerun(codes)
    rerun.runs = 0
    return [
        Cell(index=i, code=code, stdout=out)
        for i, (code, out) in enumerate(zip(codes, outputs, strict=True), 1)
    ]


def judge(answer, codes, rerun, problem="", **more):
    cells = session(codes, rerun)
    report = check_grounding(answer, cells, problem, rerun=rerun, **more)
    return [
        (one.text, one.verdict.value, one.reason or one.relation)
        for one in report.literals
        if one.verdict != "not_a_number"
    ]


PARAMETERS = {
    "step size": "h = 0.0125\nprint('h', h)\nx = 1.0\nfor _ in range(50):\n    x += h * x\nprint('x', x)",
    "sample size": "n = 1250\nprint('n', n)\nprint('sum', sum(1 / k for k in range(1, n)))",
    "tolerance": "tol = 1.25e-6\nprint('tol', tol)\nx, k = 1.0, 0\nwhile x > tol:\n    x /= 2\n    k += 1\nprint('halvings', k)",
    "limit": "limit = 125\nprint('limit', limit)\nx, k = 1.0, 0\nwhile x > 1e-9 and k < limit:\n    x /= 2\n    k += 1\nprint('halvings', k)",
    "written twice": "print('scale 1.375')\nprint('result', 3 * 1.375 ** 2)",
    "selection": "grid = [0.125, 0.275, 0.425]\nbest = min(grid, key=lambda u: (u - 0.3) ** 2)\nprint('best', best)\nprint('cost', (best - 0.3) ** 2)",
    "in a later cell": "k = 2.718\nprint('k', k)\n#cell\nprint('square', k * k)",
}  # fmt: skip


@pytest.mark.parametrize("way", sorted(PARAMETERS))
def test_a_printed_parameter_of_a_computation_is_grounded(way, rerun):
    codes = PARAMETERS[way].split("#cell\n")
    (first,) = [
        word
        for word in codes[0].replace("]", ",").split()
        if word.rstrip(",'")[:4] in ("0.01", "1250", "1.25", "125", "1.37", "0.27", "2.71")
    ][:1]
    text = first.rstrip(",')")
    (literal,) = judge(f"It was {text}.", codes, rerun)
    assert literal[1] == "grounded"


def test_a_parameter_is_named_as_such(rerun):
    codes = [PARAMETERS["step size"]]
    assert judge("With step 0.0125.", codes, rerun) == [("0.0125", "grounded", "parameter")]


def test_a_constant_of_the_problem_is_no_copy(rerun):
    codes = ["g = 9.80665\nprint('g', g)"]
    assert judge("g is 9.80665.", codes, rerun, problem="with g = 9.80665")[0][1] == "grounded"


def test_a_number_that_is_computed_as_well_is_grounded(rerun):
    codes = ["print('expected 1.4142')", "print('root', 2 ** 0.5)"]
    assert judge("It is 1.4142.", codes, rerun)[0][1] == "grounded"


def test_a_coincidence_with_a_constant_is_no_copy(rerun):
    codes = [
        "c = 1.4142\nx = 1.0\nfor _ in range(20):\n    x = (x + 2 / x) / 2\nprint('root', round(x, 4))\nassert abs(x - c) < 1"
    ]
    assert judge("It is 1.4142.", codes, rerun) == [("1.4142", "grounded", "exact")]


def test_small_sizes_cost_no_run(rerun):
    codes = ["n = 50\nprint('n', n)\nprint('sum', sum(range(n)))"]
    assert judge("With n = 50 the sum is 1225.", codes, rerun)[0][1] == "grounded"
    assert rerun.runs == 0


def test_a_small_count_needs_no_source_and_no_run(rerun):
    codes = ["v = 3.21\nassert v\nprint('v', v)"]
    assert judge("It took 3 steps.", codes, rerun)[0][1] != "ungrounded"
    assert rerun.runs == 0


def test_nothing_is_run_when_no_constant_could_have_been_copied(rerun):
    codes = ["x = 1.0\nfor _ in range(9):\n    x = (x + 2 / x) / 2\nprint(x)"]
    assert judge("It is 1.414214.", codes, rerun)[0][1] == "grounded"
    assert rerun.runs == 0


COPIED = "v = 41.372\nassert v > 0\nprint('area', v)"


def test_a_run_that_differs_leaves_the_answer_unknown(rerun):
    cells = session([COPIED], rerun)
    cells = [cells[0].model_copy(update={"stdout": "area 41.372\ntook 1.25 s\n"})]
    report = check_grounding("The area is 41.372.", cells, rerun=rerun)
    assert [(one.verdict, one.reason) for one in report.literals] == [("unknown", "not_reproduced")]
    assert report.verdict is GroundingVerdict.GROUNDED


def test_a_run_that_fails_leaves_the_answer_unknown(rerun):
    cells = session([COPIED], rerun)
    report = check_grounding("The area is 41.372.", cells, rerun=lambda codes: None)
    assert report.literals[0].verdict == "unknown"


def test_without_a_rerun_only_what_the_code_shows_is_refused(rerun):
    plain, used = session(["print('area', 41.372)"], rerun), session([COPIED], rerun)
    assert check_grounding("The area is 41.372.", plain).literals[0].reason == "constant"
    assert check_grounding("The area is 41.372.", used).literals[0].verdict == "grounded"


def test_the_runs_are_budgeted(rerun):
    names = [f"v{i} = {i}.{i}37\nassert v{i} > 0\nprint(v{i})" for i in range(11, 31)]
    cells = session(["\n".join(names)], rerun)
    report = check_grounding(" ".join(f"{i}.{i}37" for i in range(11, 31)), cells, rerun=rerun)
    assert rerun.runs <= MOST_RERUNS + 1
    verdicts = [one.verdict.value for one in report.literals]
    assert verdicts[0] == "ungrounded" and verdicts[-1] == "unknown"


def test_the_refusal_says_that_it_was_copied(rerun):
    cells = session(["print('area', 41.372)"], rerun)
    text = explain_refusal(check_grounding("The area is 41.372.", cells))
    assert "`41.372`: the cells printed a constant of their own source code" in text
    assert "(cell 1, line 1)" in text


@pytest.mark.parametrize(
    "code", ["def broken(", "x = '", "print(1.25", "\x00", "((((" * 500 + "1.25", "f'{" * 50]
)
def test_code_that_cannot_be_read_raises_nothing(code):
    report = check_grounding("It is 1.25.", [Cell(index=1, code=code, stdout="1.25")])
    assert report.literals[0].verdict == "grounded"


# ---- cells that failed ---------------------------------------------------------------


def judge_with_failed(answer, pairs, rerun):
    """The verdict on the only number of an answer; `None` as output stands for a cell that raised."""
    cells = [
        Cell(index=i, code=code, stdout=out or "", status="ok" if out is not None else "error")
        for i, (code, out) in enumerate(pairs, 1)
    ]
    (literal,) = [
        one
        for one in check_grounding(answer, cells, "", rerun=rerun).literals
        if one.verdict != "not_a_number"
    ]
    return literal.verdict.value, literal.reason or literal.relation


def test_a_constant_that_a_failed_cell_left_behind_is_a_copy(rerun):
    pairs = [("x = 3.7251\n1 / 0", None), ("print('root', x)", "root 3.7251\n")]
    assert judge_with_failed("The root is 3.7251.", pairs, rerun) == ("ungrounded", "constant")
    assert judge_with_failed("The root is 3.7251.", pairs, None) == ("ungrounded", "constant")


def test_a_session_that_goes_on_from_a_failed_cell_is_reproduced(rerun):
    pairs = [
        ("h = 0.0125\nx = 1.0\nfor _ in range(50): x += h * x\nraise ValueError", None),
        ("print('h', h)\nprint('x', x)", "h 0.0125\nx 1.8610\n"),
    ]
    pairs[1] = (pairs[1][0], rerun([pairs[0][0].replace("raise ValueError", ""), pairs[1][0]])[1])
    assert judge_with_failed("It took steps of 0.0125.", pairs, rerun) == ("grounded", "parameter")


@pytest.mark.parametrize("code", ["x = = 2", "import sys\nsys.exit(3)", "raise Exception('}{')"])
def test_what_failed_may_fail_again(code, rerun):
    pairs = [
        (code, None),
        ("k = 2.718\nprint('k', k)\nprint('square', k * k)", "k 2.718\nsquare 7.387524\n"),
    ]
    assert judge_with_failed("With k = 2.718.", pairs, rerun) == ("grounded", "parameter")


def test_a_cell_that_was_killed_is_not_run_again(rerun):
    codes = []

    def watched(some):
        codes.extend(some)
        return rerun(some)

    cells = [
        Cell(index=1, code="while True: pass", status="hard_timeout", state="restored"),
        Cell(index=2, code="k = 2.718\nprint(k, k * k)", stdout="2.718 7.387524\n"),
    ]
    report = check_grounding("k is 2.718.", cells, "", rerun=watched)
    assert [one.verdict.value for one in report.literals] == ["grounded"]
    assert "while True: pass" not in codes


LINE_ENDS = {
    "a comment that a return ends": "# a note\rvalue = 0.731246\n",
    "a comment that a return and a line feed end": "# a note\r\nvalue = 0.731246\r\n",
    "a form feed in a text": "s = 'a\x0cb'\nvalue = 0.731246\n",
    "separators that Python takes for letters": "s = '\u2028\x1c\x85\u2029'  # \x0b\nvalue = 0.731246\n",
}


@pytest.mark.parametrize("shown", ["print('result', value)", "print(f'result {value}')"])
@pytest.mark.parametrize("way", sorted(LINE_ENDS))
def test_a_constant_hides_behind_no_line_end(way, shown, rerun):
    code = LINE_ENDS[way] + shown
    assert judge("The result is 0.731246.", [code], rerun)[0][1] == "ungrounded"
    cells = session([code], rerun)
    (literal,) = check_grounding("The result is 0.731246.", cells, "").literals
    assert literal.verdict == "ungrounded", "without a re-run"


def test_both_ways_of_finding_constants_find_the_same():
    codes = [path.read_text() for path in Path(constants.__file__).parent.glob("*.py")]
    codes += [
        code + "print(1.5, '2.5', r'\\3.5', b'4', f'{value} 5.5', 0x1f, 1_000, .5e-3j)\n"
        for code in LINE_ENDS.values()
    ]
    for code in codes:
        assert list(constants._pieces(code)) == list(constants._tokens(code))
