"""The check that an answer names: one of six kinds, with a cell that is its evidence.

Whether the check was a good one is not judged here; that it was run and printed something is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scisolve_batch.records import Cell, Verification, VerificationKind

KINDS = tuple(kind.value for kind in VerificationKind)


def check_verification(raw: Any, cells: Sequence[Cell]) -> Verification:
    """Read what a model gave as its verification, and say whether it holds.

    Args:
        raw: the `verification` argument of the call, of any type.
        cells: every cell of the session.
    """
    if not isinstance(raw, dict):
        return Verification(
            kind="",
            reason="is missing; give an object with kind, description and evidence_cell",
        )
    kind = raw.get("kind")
    description = raw.get("description")
    index = _as_index(raw.get("evidence_cell"))
    read = Verification(
        kind=kind if isinstance(kind, str) else "",
        description=description if isinstance(description, str) else "",
        evidence_cell=index,
    )
    reason = _fault(read, raw, cells)
    return read.model_copy(update={"valid": not reason, "reason": reason})


def _as_index(raw: Any) -> int | None:
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int):
        return raw
    if isinstance(raw, float) and raw.is_integer():
        return int(raw)
    if isinstance(raw, str) and raw.strip().isascii() and raw.strip().isdigit():
        return int(raw.strip()[:9])
    return None


def _fault(read: Verification, raw: dict[str, Any], cells: Sequence[Cell]) -> str:
    """Why it does not hold, in words a model can act on; empty when it does."""
    if read.kind not in KINDS:
        return f"kind {raw.get('kind')!r} is none of {', '.join(KINDS)}"
    if read.evidence_cell is None:
        return f"evidence_cell {raw.get('evidence_cell')!r} is not the number of a cell"
    found = next((cell for cell in cells if cell.index == read.evidence_cell), None)
    if found is None:
        known = f"cells 1 to {len(cells)} exist" if cells else "no cell was run"
        return f"there is no cell {read.evidence_cell}; {known}"
    if not found.ok:
        return f"cell {found.index} did not succeed, so it shows nothing; name one that did"
    if not found.stdout.strip():
        return f"cell {found.index} printed nothing; print what the check shows and name that cell"
    return ""
