"""`scisolve-batch solve`: the steps as they happen, the end, the record and the exit code."""

import json

import pytest
import yaml
from scripts import GOOD, changed


@pytest.fixture
def script(tmp_path):
    def write(turns):
        path = tmp_path / "script.yaml"
        path.write_text(yaml.safe_dump(turns))
        return f"scripted:{path}"

    return write


def test_each_step_is_shown_and_the_end_names_answer_check_and_folder(command, script, tmp_path):
    ended = command("solve", "-", "--model", script(GOOD), "--out", "r", stdin="Root of 2?\n")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0] == "[1] run_python"
    assert "    x = np.sqrt(2.0)" in lines
    assert "  out x = 1.4142135623730951" in lines
    assert "answer: x = 1.41421356" in lines
    assert "checked: invariant: its square is 2 (evidence: cell 2)" in lines
    assert lines[-1] == "run: r"
    (folder,) = (tmp_path / "r" / "problems").iterdir()
    found = json.loads((folder / "solution.json").read_text())
    assert found["stop_reason"] == "finished" and found["grounding"]["verdict"] == "grounded"
    problem = json.loads((tmp_path / "r" / "manifest.json").read_text())["problems"][0]
    assert problem["statement"] == "Root of 2?\n"


def test_an_ungrounded_answer_warns_and_exits_1(command, script):
    ended = command("solve", "Root of 2?", "--model", script(changed("x = 1.5")), "--quiet")
    assert ended.returncode == 1
    assert "WARNING: not grounded: 1.5" in ended.stderr
    assert "run_python" not in ended.stdout


def test_json_prints_the_record_and_nothing_else(command, script):
    ended = command("solve", "Root of 2?", "--model", script(GOOD[:1]), "--json")
    assert ended.returncode == 1
    found = json.loads(ended.stdout)
    assert found["stop_reason"] == "model_error"
    assert found["failure"]["kind"] == "script_exhausted"
