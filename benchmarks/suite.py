"""What reading and checking a suite costs, and that it grows in proportion to the suite.

    python benchmarks/suite.py [COUNT ...]

Writes suites of generated problems, half of them in files of their own with a data file each, half
in one suite file; runs `suite check` on each in a fresh interpreter, with its lock, and prints the
processor time of the whole command, of the reading alone, and the audit's.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

COUNTS = (100, 1_000, 10_000)
ROUNDS = 3
LARGE = 5_000
"""Suites from this size on are measured once."""

PROBLEM = """\
id: {name}
title: Cubic number {number}
domain: {domain}
difficulty: {level}
tags: [generated, "part-{level}"]
statement: >-
  Let p(x) = x^3 - {a} x - {b} and let r be its largest real root. Report r (name `root`) to 9
  significant digits, and the sum of the numbers in the file {name}.csv times r (name `scaled`) to 8
  significant digits. Problem {number} of a generated collection.
values:
  - name: root
    value: "{root}"
    report_digits: 9
  - name: scaled
    value: "{scaled}"
    report_digits: 8
traps:
  - a start to the left of the local maximum leads to another root
known_wrong:
  - method: the smallest root
    versions: any
    values: {{root: "-{wrong}"}}
data:
  - file: {data}{name}.csv
expected_kinds: [independent_method, invariant]
source: generated
verified_by: [Newton's method, bisection]
"""

TIMED = """
import json, sys, time
from scisolve_batch.suite import load_suite
from scisolve_batch.audit import audit_suite
began = time.process_time()
suite = load_suite(sys.argv[1])
read = time.process_time() - began
audit_suite(suite)
print(json.dumps([read, time.process_time() - began - read]))
"""


def write_problem(folder: Path, number: int, *, data: str) -> str:
    draw = random.Random(number)
    a, b = draw.randint(2, 9_999), draw.randint(2, 9_999)
    root = max(a, b) ** 0.5 + 10
    for _ in range(60):  # Newton's method from the right
        root -= (root**3 - a * root - b) / (3 * root**2 - a)
    name = f"generated-{number:05d}"
    numbers = [draw.random() for _ in range(20)]
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / f"{name}.csv").write_text("x\n" + "\n".join(map(repr, numbers)) + "\n")
    return PROBLEM.format(
        name=name, number=number, domain=f"domain_{number % 15}", level=number % 5 + 1, a=a, b=b,
        root=repr(root), scaled=repr(root * sum(numbers)), wrong=repr(root / 2), data=data,
    )  # fmt: skip


def write_suite(folder: Path, count: int) -> Path:
    """A suite with its lock: half of its problems listed by a glob, half written in place."""
    (folder / "problems").mkdir()
    entries = []
    for number in range(count):
        if number % 2:
            text = write_problem(folder, number, data="data/")
            head, *rest = text.splitlines()
            entries.append("\n".join([f"  - {head}", *(f"    {line}" for line in rest)]))
        else:
            text = write_problem(folder, number, data="../data/")
            (folder / "problems" / f"{number:05d}.yaml").write_text(text)
    file = folder / "generated.yaml"
    listed = "\n".join(["  - problems/*.yaml", *entries])
    file.write_text(
        f'format: 1\nid: generated\nversion: "1"\nlicense: CC0-1.0\nproblems:\n{listed}\n'
    )
    return file


def run(*arguments: str) -> tuple[float, str]:
    """Processor time of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, *arguments], check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, ended.stdout


def measure(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="suite-") as name:
        rounds = 1 if count >= LARGE else ROUNDS
        file = str(write_suite(Path(name), count))
        run("-m", "scisolve_batch", "suite", "lock", file)
        checks = [run("-m", "scisolve_batch", "suite", "check", file) for _ in range(rounds)]
        assert all(f"{count} problems" in said and "pinned" in said for _, said in checks)
        read, audit = zip(
            *(json.loads(run("-c", TIMED, file)[1]) for _ in range(rounds)), strict=True
        )
    check = min(used for used, _ in checks)
    print(
        f"{count:>6} problems: suite check {check:6.2f} s of processor time, "
        f"{1e3 * min(read) / count:5.2f} ms a problem to read, "
        f"{1e3 * min(audit) / count:5.2f} ms to look for faults"
    )


if __name__ == "__main__":
    for given in [int(text) for text in sys.argv[1:]] or COUNTS:
        measure(given)
