"""A whole suite asked over the wire, recorded, and played back without the service."""

import json
from pathlib import Path

import pytest
import yaml
from service import service

from scisolve_batch.suite import load_suite

MEASURED = ("started_at", "peak_memory_mb")


def read_script(text):
    """A script as the service plays it: one tool call a turn."""
    return [
        {tool: arguments}
        for turn in yaml.safe_load(text)
        for tool, arguments in turn.items()
        if tool in ("run_python", "finish_solution")
    ]


def timeless(value):
    """A record without what was measured: seconds and memory."""
    if isinstance(value, dict):
        return {
            name: timeless(one)
            for name, one in value.items()
            if name not in MEASURED and not name.endswith("_s")
        }
    return [timeless(one) for one in value] if isinstance(value, list) else value


@pytest.mark.slow
def test_the_core_suite_is_played_back_to_the_same_records(command, tmp_path):
    suite = load_suite("core")
    scripts = {one.statement: read_script(Path(one.solution).read_text()) for one in suite.problems}
    with service(script=scripts) as server:
        asked = command(
            "run", "core", "--model", "anthropic:claude-haiku-5-5", "--out", "asked", "--no-report",
            "--record", "tapes", env=server.env, timeout=600,
        )  # fmt: skip
    assert asked.returncode == 0, asked.stdout + asked.stderr
    played = command(
        "run", "core", "--model", "replay:tapes", "--out", "played", "--no-report", timeout=600
    )
    assert played.returncode == 0, played.stdout + played.stderr
    for problem in suite.problems:
        first, second = (
            json.loads((tmp_path / run / "problems" / problem.id / "solution.json").read_text())
            for run in ("asked", "played")
        )
        assert first["grounding"]["verdict"] == "grounded"
        assert second.pop("model") == "replay:" + first.pop("model")
        assert timeless(second) == timeless(first)
