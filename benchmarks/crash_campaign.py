"""Kill -9 at random instants of real runs, and count what was lost, doubled or left behind.

    python benchmarks/crash_campaign.py --instants 200

Each round starts a run of short scripted problems, kills one victim (the run itself, a worker, the
template, a session, or everything) at a random instant, continues the run until it is complete,
and checks: a settled record is never changed, every problem is settled once, no process is left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PROBLEMS = 10
VICTIMS = ("run", "worker", "template", "session", "everything")
SCRIPT = """\
- run_python: |
    import time
    time.sleep(0.05)
    x = np.sqrt(2.0)
    print("x =", x)
- run_python: print("squared:", x**2)
- finish_solution:
    answer: x = 1.41421356
    verification: {kind: invariant, description: its square, evidence_cell: 2}
    values: [{name: x, value: "1.41421356"}]
"""


def write_suite(folder: Path) -> Path:
    (folder / "script.yaml").write_text(SCRIPT)
    entries = "\n".join(
        f"- {{id: p{n}, statement: Root of 2?, solution: script.yaml, "
        f'values: [{{name: x, value: "1.4142135623730950", rtol: 1.0e-8}}]}}'
        for n in range(PROBLEMS)
    )
    suite = folder / "campaign.yaml"
    suite.write_text(f"format: 1\nid: campaign\nproblems:\n{entries}\n")
    return suite


def processes() -> dict[int, tuple[int, str]]:
    """Parent and command line of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            fields = stat.rpartition(")")[2].split()
            if fields[0] != "Z":
                found[int(entry.name)] = (int(fields[1]), line)
    return found


def family(root: int) -> dict[str, list[int]]:
    """The living processes of a run by their role."""
    everybody = processes()
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in everybody.items():
        children.setdefault(parent, []).append(pid)

    def below(pid: int) -> list[int]:
        return [found for child in children.get(pid, []) for found in (child, *below(child))]

    roles: dict[str, list[int]] = {"run": [root] if root in everybody else []}
    direct = children.get(root, [])
    roles["template"] = [pid for pid in direct if "boot.py" in everybody[pid][1]]
    roles["worker"] = [pid for pid in direct if pid not in roles["template"]]
    roles["session"] = [pid for template in roles["template"] for pid in below(template)]
    roles["everything"] = [root, *below(root)] if root in everybody else []
    return roles


def kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def settled(run: Path) -> dict[str, bytes]:
    """The record of each problem that the journal calls settled."""
    try:
        lines = (run / "journal.jsonl").read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    names = {line["problem_id"] for line in map(json.loads, lines) if line["event"] == "settled"}
    return {name: (run / "problems" / name / "solution.json").read_bytes() for name in names}


def start(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "scisolve_batch", "run", *arguments, "--no-report", "--quiet"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def play_round(rng: random.Random, folder: Path, suite: Path, *, victim: str) -> Counter[str]:
    """One run with one kill; what went wrong, by kind."""
    wrong: Counter[str] = Counter()
    run = folder / "run"
    first = ["-j", "3", "--max-attempts", "2"]
    process = start([str(suite), "--out", str(run), *first], folder)
    ever: set[int] = set()
    end = time.monotonic() + 60
    while not (run / "journal.jsonl").exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(rng.random() * 1.2)
    roles = family(process.pid)
    ever.update(roles["everything"])
    targets = roles[victim]
    if targets:
        kill(targets if victim == "everything" else [rng.choice(targets)])
    if victim in ("run", "everything"):
        process.wait()
    else:
        try:
            process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            wrong["hung"] += 1
            ever.update(family(process.pid)["everything"])
            process.kill()
            process.wait()
    assert process.stderr is not None
    words = process.stderr.read().decode()
    process.stderr.close()
    if not (run / "manifest.json").exists() and victim in ("run", "everything"):
        return wrong  # killed before there was a run
    if not (run / "manifest.json").exists():
        wrong["never started"] += 1
        print(words[-2000:])
        return wrong
    if "Traceback" in words:
        wrong["traceback"] += 1
        print(words[-2000:])
    before = settled(run)
    if (run / "manifest.json").exists():
        for _ in range(3):
            again = start(["--resume", str(run), *first], folder)
            again.communicate(timeout=180)
            if again.returncode in (0, 1):
                break
        else:
            wrong["cannot be continued"] += 1
    after = settled(run)
    wrong["lost"] += len(before.keys() - after.keys()) + PROBLEMS - len(after)
    wrong["changed"] += sum(after.get(name) != record for name, record in before.items())
    wrong["doubled"] += count_doubled(run)
    end = time.monotonic() + 10
    while (left := ever & processes().keys()) and time.monotonic() < end:
        time.sleep(0.05)
    wrong["orphans"] += len(left)
    return wrong


def count_doubled(run: Path) -> int:
    """Samples that were settled more than once."""
    lines = (run / "journal.jsonl").read_bytes().split(b"\n")[:-1]
    counts = Counter(
        line["problem_id"] for line in map(json.loads, lines) if line["event"] == "settled"
    )
    return sum(count - 1 for count in counts.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    total: Counter[str] = Counter()
    victims: Counter[str] = Counter()
    for number in range(options.instants):
        victim = VICTIMS[number % len(VICTIMS)]
        with tempfile.TemporaryDirectory(prefix="campaign-") as name:
            folder = Path(name)
            wrong = play_round(rng, folder, write_suite(folder), victim=victim)
        victims[victim] += 1
        total.update(wrong)
        if any(wrong.values()):
            print(f"round {number} ({victim}): {dict(+wrong)}", flush=True)
        if (number + 1) % 20 == 0:
            print(f"{number + 1} of {options.instants} kills", file=sys.stderr, flush=True)
    print(f"{options.instants} kills: {dict(victims)}")
    kinds = (
        "lost",
        "changed",
        "doubled",
        "orphans",
        "hung",
        "traceback",
        "never started",
        "cannot be continued",
    )
    print(", ".join(f"{total[kind]} {kind}" for kind in kinds))
    return 1 if any(total.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
