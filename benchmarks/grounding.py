"""How much the decimal rule costs: against the flat rule on the same rows, and on a large output.

    python benchmarks/grounding.py [CORPUS.jsonl]

Prints ratios of processor time, measured side by side in this process; the second part times 50
literals against 100,000 printed numbers, reading and sorting apart from asking. What one check
keeps for the next is forgotten before each, because every problem is asked about for the first time.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
from pathlib import Path
from time import process_time

from scisolve_batch.grounding import check_grounding, constants, sources, static, syntax
from scisolve_batch.grounding.literals import read_literals
from scisolve_batch.grounding.match import find_matches
from scisolve_batch.grounding.sources import gather
from scisolve_batch.records import Cell, CellStatus

CORPUS = Path(__file__).parent.parent / "tests" / "grounding" / "corpus.jsonl"
ROUNDS = 5
KEPT = [
    one
    for module in (constants, sources, static, syntax)
    for one in vars(module).values()
    if hasattr(one, "cache_clear")
]
"""What the check keeps."""


def seconds(action) -> float:
    """Processor time of the fastest of a few rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        for kept in KEPT:
            kept.cache_clear()
        began = process_time()
        action()
        best = min(best, process_time() - began)
    return best


def compare_rules(path: Path) -> None:
    ratios, flats = [], []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        cells = [
            Cell(
                index=i,
                code=one["code"],
                stdout=one["stdout"],
                status=CellStatus.OK if one["ok"] else CellStatus.ERROR,
            )
            for i, one in enumerate(row["cells"], 1)
        ]

        def check(policy: str, row=row, cells=cells) -> None:
            check_grounding(row["answer"], cells, row["problem"], policy=policy)

        flat = seconds(lambda check=check: check("flat"))
        ratios.append(seconds(lambda check=check: check("decimal")) / flat)
        flats.append(flat)
    print(
        f"rows {len(ratios)}: decimal / flat median {statistics.median(ratios):.1f}, mean {statistics.mean(ratios):.1f}"
    )
    print(f"flat median {1e3 * statistics.median(flats):.2f} ms")


def ask_a_large_output(count: int = 100_000, literals: int = 50) -> None:
    chance = random.Random(1)
    values = [chance.lognormvariate(0, 4) for _ in range(count)]
    cell = Cell(index=1, stdout="\n".join(f"{value:.6g}" for value in values))
    began = process_time()
    pool = gather([cell], "")
    reading = process_time() - began
    text = " ".join(f"{value:.4g}" for value in chance.sample(values, literals))
    items = read_literals(text).items
    asking = seconds(lambda: [find_matches(item, pool) for item in items])
    flat = seconds(lambda: check_grounding(text, [cell], policy="flat"))
    whole = seconds(lambda: check_grounding(text, [cell]))
    print(
        f"{literals} literals, {count} printed numbers: reading and sorting {1e3 * reading:.0f} ms, asking {1e3 * asking:.2f} ms"
    )
    print(
        f"whole check: decimal / flat {whole / flat:.1f} ({1e3 * whole:.0f} ms / {1e3 * flat:.0f} ms)"
    )


if __name__ == "__main__":
    compare_rules(Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS)
    ask_a_large_output()
