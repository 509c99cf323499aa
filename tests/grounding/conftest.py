"""A re-run port for tests: cells in a fresh interpreter, in a folder of their own."""

import itertools
import json
import subprocess
import sys

import pytest

RUNNER = """
import contextlib, io, json, sys
codes, outputs, space = json.load(sys.stdin), [], {"__name__": "__main__"}
real = sys.stdout
for code in codes:
    caught = io.StringIO()
    with contextlib.redirect_stdout(caught):
        exec(compile(code, "<cell>", "exec"), space)
    outputs.append(caught.getvalue())
json.dump(outputs, real)
"""


@pytest.fixture
def rerun(tmp_path):
    """Runs codes again; counts its runs in `rerun.runs`."""

    folders = itertools.count()

    def run(codes):
        run.runs += 1
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-I", "-c", RUNNER],
            input=json.dumps(list(codes)),
            capture_output=True,
            text=True,
            cwd=folder,
            timeout=60,
            check=False,
        )
        return json.loads(done.stdout) if done.returncode == 0 else None

    run.runs = 0
    return run
