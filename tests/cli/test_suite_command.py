"""`scisolve-batch suite`: what is checked, pinned, listed, begun and tested."""

import json

import pytest


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


def test_selftest_runs_the_solutions_and_exits_1_when_one_is_wrong(command, tmp_path):
    assert command("suite", "new", "good").returncode == 0
    assert command("suite", "new", "bad").returncode == 0
    script = tmp_path / "bad.solution.yaml"
    script.write_text(script.read_text().replace("1.4142136", "1.4142138"))
    (tmp_path / "s.yaml").write_text("format: 1\nid: s\nproblems: [good.yaml, bad.yaml]\n")
    ended = command("suite", "selftest", "s.yaml")
    assert ended.returncode == 1, ended.stderr
    assert "! bad: " in ended.stdout and "good:" not in ended.stdout


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
