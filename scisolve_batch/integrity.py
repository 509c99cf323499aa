"""Whether a run directory was changed after it was written.

Each line of the journal is chained to the one before by SHA-256, and each settled problem's line
holds a digest over its files. This finds any changed, removed or added byte of evidence; it does
not know who wrote the chain's first link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scisolve_batch.problemdir import SOLUTION, folder_name
from scisolve_batch.records import JournalEvent, JournalLine
from scisolve_batch.rundir import RunDir, link

_ATTEMPT = re.compile(r"\.a\d+$")  # what a lost attempt's folder is called after


@dataclass(frozen=True, slots=True)
class Integrity:
    """What a check found.

    Attributes:
        head: the chain's last link, to quote beside a result.
        settled: settled samples whose files were compared.
        faults: what is not as it was written, a sentence each.
    """

    head: str
    settled: int
    faults: tuple[str, ...]


def check_integrity(run: RunDir) -> Integrity:
    """Compare a run directory with its journal's chain of digests."""
    try:
        lines = run.journal()
        faults = list(_chain_faults(lines))
    except ValueError:
        lines, faults = [], ["journal.jsonl: a line is none that a run writes"]
    started = [line for line in lines if line.event is JournalEvent.STARTED and line.digest]
    if not started:
        faults.append("the journal has no start that names a manifest")
    elif started[-1].digest != run.manifest_digest():
        faults.append("manifest.json was changed")
    last: dict[str, JournalLine] = {}
    for line in lines:
        if line.event is JournalEvent.SETTLED and line.problem_id is not None:
            last[folder_name(line.problem_id, line.sample or 1)] = line
    for name, line in last.items():
        folder = run.problem(line.problem_id or "", line.sample or 1)
        if not folder.path.is_dir():
            faults.append(f"{name}: its folder is gone")
        elif line.digest is not None and folder.digest() != line.digest:
            faults.append(f"{name}: its files are not what was settled")
    faults.extend(_folder_faults(run, last))
    return Integrity(lines[-1].chain or "" if lines else "", len(last), tuple(faults))


def _folder_faults(run: RunDir, settled: Mapping[str, JournalLine]) -> Iterator[str]:
    """Folders that should not be there, or that hold what the journal does not know."""
    planned = {folder_name(item.problem_id, item.sample) for item in run.manifest.planned}
    place = run.path / "problems"
    if not place.is_dir():
        yield "problems: the folder is gone"
        return
    for path in sorted(place.iterdir()):
        if path.name not in planned and _ATTEMPT.sub("", path.name) not in planned:
            yield f"{path.name}: a folder that was never planned"
        elif path.name in planned and (path / SOLUTION).exists() and path.name not in settled:
            yield f"{path.name}: a record that the journal does not know"


def _chain_faults(lines: list[JournalLine]) -> list[str]:
    chain = ""
    for number, line in enumerate(lines, 1):
        if line.chain != link(chain, line):
            return [f"journal.jsonl: line {number} is not what was written after line {number - 1}"]
        chain = line.chain or ""
    return []
