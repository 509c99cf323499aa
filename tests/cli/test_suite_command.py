"""`scisolve-batch suite`: what is checked, pinned, listed, begun and tested."""

import json

import pytest
import yaml
from scripts import GOOD, changed


def test_a_problem_that_was_just_begun_works_as_it_is(call_here, tmp_path):
    code, out, _ = call_here("suite", "new", "my-root")
    assert code == 0 and "wrote my-root.yaml" in out
    (tmp_path / "mine.yaml").write_text("format: 1\nid: mine\nproblems: [my-root.yaml]\n")
    code, out, _ = call_here("suite", "selftest", "mine.yaml", "--no-run")
    assert code == 0 and "1 problems, 0 faults" in out
    code, out, _ = call_here("suite", "check", "mine.yaml")
    assert code == 0 and "1 with a scripted solution; none" in out
    code, _, err = call_here("suite", "new", "my-root")
    assert code == 2 and "exists already" in err


def reporting(code, text):
    """A checked report of what some code makes of x."""
    finish = {**GOOD[-1]["finish_solution"], "answer": f"x = {text}"}
    finish["values"] = [{"name": "x", "value": text}]
    return [{"run_python": code}, GOOD[1], {"finish_solution": finish}]


BAD = {
    "wrong": (
        reporting("x = 1.4142138\nprint('x =', x)", "1.4142138"),
        "the solution is not correct when it is run",
    ),
    "invented": (changed("x = 1.42421356"), "the solution is not grounded when it is run"),
    "unchecked": (
        [GOOD[0], {"finish_solution": {**GOOD[-1]["finish_solution"], "verification": {
            "kind": "invariant", "description": "none", "evidence_cell": 9}}}] * 2,
        "the solution is not verified when it is run",
    ),
    "mute": ([{"text": "I give up."}, {"text": "Still."}], "the solution is not finished when it is run (no_tool_calls)"),
    "drawn": (  # with the seeds that its runs have, once right and once wrong
        [
            {"run_python": "r = np.random.rand()\nx = 2**0.5 + (r > 0.5) * 1.0\nprint('x =', x)"},
            GOOD[1],
            {"finish_solution": {**GOOD[-1]["finish_solution"], "answer": "x = {x}",
                                 "values": [{"name": "x", "expression": "x"}]}},
        ],
        "the solution depends on the seed of the session",
    ),
}  # fmt: skip


def test_selftest_runs_the_solutions_and_names_each_kind_of_fault(command, write_suite):
    suite = write_suite({"good": GOOD, **{name: script for name, (script, _) in BAD.items()}})
    careless = yaml.safe_load(suite.read_text())
    careless["problems"][0]["naive"] = "good.yaml"
    suite.write_text(yaml.safe_dump(careless))
    ended = command("suite", "selftest", suite, "--quiet")
    assert ended.returncode == 1, ended.stderr
    *lines, verdict, times = ended.stdout.splitlines()
    for name, (_, what) in BAD.items():
        assert any(line.startswith(f"! {name}: {what}") for line in lines), (name, lines)
    about_good = [line for line in lines if line.startswith("! good: ")]
    assert about_good == [
        "! good: the careless solution's answer is graded correct",
        "! good: the careless solution is not grounded and wrong when it is run",
    ]
    assert verdict.startswith("small: 6 problems, ")
    assert times.startswith("12 runs, 2") and "longest: " in times


@pytest.mark.slow
def test_selftest_runs_what_suites_share_once(command, write_suite):
    one, other = write_suite({"good": GOOD}), write_suite({"good": GOOD}, name="other")
    ended = command("suite", "selftest", one, other, "--quiet")
    assert ended.returncode == 0, ended.stdout
    small, other, times = ended.stdout.splitlines()
    assert small == "small: 1 problems, 0 faults, 0 remarks, 0 without a scripted solution"
    assert other.startswith("other: 1 problems, 0 faults")
    assert times.startswith("2 runs, 4 cells, ")
    ended = command("suite", "selftest", one, "--once", "--quiet")
    assert ended.stdout.splitlines()[-1].startswith("1 runs, 2 cells, ")


def test_the_bundled_suites_are_listed_with_their_problems(call_here):
    _, out, _ = call_here("suite", "list")
    assert {"core", "smoke", "hard", "all"} <= {line.split()[0] for line in out.splitlines()}
    _, out, _ = call_here("suite", "list", "smoke")
    assert len(out.splitlines()) == 15
    (line,) = [line for line in out.splitlines() if line.startswith("hilbert-6-condition ")]
    title = "Condition number of the 6x6 Hilbert matrix"
    assert line.split(maxsplit=4)[1:] == ["linear_algebra", "1", "s-", title]


def test_a_problem_is_shown_with_its_certified_values(call_here):
    code, out, _ = call_here("suite", "show", "core", "black-scholes-call")
    assert code == 0 and "price = 10.0683173608807316" in out and "rtol 1e-07" in out
    assert out.startswith(
        "Price and delta of a European call\nblack-scholes-call  (pde, difficulty"
    )
    code, _, err = call_here("suite", "show", "core", "black-sholes-call")
    assert code == 2 and "did you mean" in err


@pytest.mark.parametrize("kind", ["suite", "problem", "script"])
def test_the_schema_is_json(call_here, kind):
    _, out, _ = call_here("suite", "schema", "--kind", kind)
    assert json.loads(out)["$schema"].startswith("https://json-schema.org/")
