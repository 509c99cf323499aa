"""What may be loaded when: counted in fresh interpreters, so that it is the same everywhere."""

import subprocess
import sys

import pytest

HEAVY = {"numpy", "scipy", "matplotlib", "pandas", "pyarrow", "anthropic", "jinja2", "tqdm", "pint"}


def loaded_by(code):
    """Top-level modules in `sys.modules` after some code ran in a fresh interpreter."""
    program = (
        f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n"
        "print('\\nLOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("LOADED ")]
    return set(line.split()[1:])


def call(*arguments):
    return f"sys.argv = {['scisolve-batch', *arguments]!r}; from scisolve_batch.cli import main; main()"


@pytest.mark.parametrize(
    "code",
    [
        call("--help"),
        call("--version"),
        call("run", "--help"),
        call("suite", "check", "smoke"),
        "import scisolve_batch.batch.runner, scisolve_batch.report",
        "import scisolve_batch.agent.loop, scisolve_batch.model.live",
    ],
)
def test_nothing_heavy_is_loaded_by(code):
    assert not loaded_by(code) & HEAVY


def test_importing_the_package_loads_none_of_its_parts():
    loaded = loaded_by("import scisolve_batch")
    assert "pydantic" not in loaded and "click" not in loaded and "yaml" not in loaded


def test_the_parent_of_a_run_holds_nothing_that_starts_threads(tmp_path):
    (tmp_path / "p.yaml").write_text(
        "- run_python: print(1.5)\n- run_python: print(3.0 / 2)\n"
        "- finish_solution: {answer: '1.5', verification: "
        "{kind: analytic, description: d, evidence_cell: 2}}\n"
    )
    (tmp_path / "s.yaml").write_text(
        "format: 1\nid: s\nproblems: [{id: p, statement: '3/2?', values: "
        "[{name: x, value: '1.5', rtol: 1e-3}], solution: p.yaml}]\n"
    )
    code = call(
        "run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "r"), "--no-report", "--quiet"
    )
    assert not loaded_by(code) & HEAVY
    assert (tmp_path / "r/problems/p/solution.json").exists()
