"""Every example runs as it is, and the table of examples is complete."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAIN = sorted(
    path for path in EXAMPLES.glob("*.py") if path.stem not in ("run_a_batch", "plot_a_report")
)


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_the_example_checks_itself(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    assert len(path.read_text().splitlines()) < 80


@pytest.mark.slow
def test_a_batch_from_python_and_its_picture(tmp_path):
    subprocess.run([sys.executable, str(EXAMPLES / "run_a_batch.py")], check=True, cwd=tmp_path)


def test_a_report_is_drawn(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "format: 1\nid: s\nproblems: [{id: p, domain: ode, statement: '3/2?', values: "
        "[{name: x, value: '1.5', rtol: 1e-3}], solution: p.yaml}]\n"
    )
    (tmp_path / "p.yaml").write_text(
        "- run_python: print('x', np.float64(3) / 2)\n- run_python: print(1.5 * 2)\n"
        "- finish_solution: {answer: 'x = 1.5', values: [{name: x, value: '1.5'}], verification: "
        "{kind: analytic, description: d, evidence_cell: 2}}\n"
    )
    run = [sys.executable, "-m", "scisolve_batch", "run", "s.yaml", "--out", "r", "--quiet"]
    subprocess.run(run, check=True, cwd=tmp_path, capture_output=True)
    drawn = subprocess.run(
        [sys.executable, str(EXAMPLES / "plot_a_report.py"), "reports/r", "picture.png"],
        check=True, cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert "ode" in drawn.stdout
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_names_every_script():
    words = (EXAMPLES / "README.md").read_text()
    for path in (*EXAMPLES.glob("*.py"), *EXAMPLES.glob("failures/**/*.py")):
        assert f"({path.relative_to(EXAMPLES).as_posix()})" in words, path.name
