"""Suites written for a test, and the command line called as a user calls it."""

import os
import subprocess
import sys

import pytest
import yaml
from scripts import VALUES

from scisolve_batch.cli import main


@pytest.fixture
def write_suite(tmp_path):
    """Write a suite of scripts by problem id; each problem asks for the root of 2."""

    def write(scripts, *, name="small", **header):
        problems = []
        for problem_id, script in scripts.items():
            path = tmp_path / f"{problem_id}.yaml"
            path.write_text(yaml.safe_dump(script))
            problems.append(
                {
                    "id": problem_id,
                    "domain": "root_finding",
                    "difficulty": 1,
                    "statement": "Report the positive root x of x^2 = 2.",
                    "values": VALUES,
                    "solution": path.name,
                }
            )
        suite = tmp_path / f"{name}.yaml"
        suite.write_text(yaml.safe_dump({"format": 1, "id": name, **header, "problems": problems}))
        return suite

    return write


@pytest.fixture
def command(tmp_path):
    """Call the command line in a folder of its own."""

    def call(*arguments, stdin=None, env=None, timeout=60):
        return subprocess.run(
            [sys.executable, "-m", "scisolve_batch", *map(str, arguments)],
            check=False,
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **(env or {})},
        )

    return call


@pytest.fixture
def call_here(tmp_path, monkeypatch, capsys):
    """Call the command line in this process, for calls that end before anything is started."""

    def call(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["scisolve-batch", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return call


@pytest.fixture
def start(tmp_path):
    """Start the command line and go on; whatever is left of it at the end is killed."""
    started = []

    def begin(*arguments, env=None):
        process = subprocess.Popen(
            [sys.executable, "-m", "scisolve_batch", *map(str, arguments)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **(env or {})},
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
