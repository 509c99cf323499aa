"""Real engines on this machine, for tests: a Dask scheduler with two workers, a Parsl config."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

from processes import wait_for

PARSL = """\
from parsl import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider

config = Config(
    executors=[
        HighThroughputExecutor(
            label="here",
            address="127.0.0.1",
            max_workers_per_node=2,
            cores_per_worker=0.1,
            heartbeat_period=2,
            heartbeat_threshold=6,
            provider=LocalProvider(init_blocks=1, max_blocks=1),
        )
    ],
    run_dir={folder!r},
    retries={retries},
)
"""


def write_parsl_config(folder, *, retries=0):
    path = folder / "here.py"
    path.write_text(PARSL.format(folder=str(folder / "parsl"), retries=retries))
    return path


@contextmanager
def dask(folder, *, allowed_failures=0, workers=2):
    """A scheduler and its workers; gives the address."""
    file = folder / "scheduler.json"
    env = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
    started = []

    def start(what, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments]
        log = (folder / f"{what}-{len(started)}.log").open("wb")
        with log:
            started.append(subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log))

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
              "--scheduler-file", str(file))  # fmt: skip
        wait_for(lambda: file.exists() and file.read_text().strip(), seconds=60)
        address = json.loads(file.read_text())["address"]
        for _ in range(workers):
            start("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                  "--local-directory", str(folder / "dask"))  # fmt: skip
        yield address
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGKILL)
            process.wait()
