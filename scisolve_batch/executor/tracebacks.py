"""What a cell raised: how that ends it, and the traceback from its own first frame on."""

from __future__ import annotations

import os
import traceback

TRACEBACK_CHARACTERS = 20_000

# Bound before model code can replace them.
_TracebackException, _StackSummary = traceback.TracebackException, traceback.StackSummary
_HERE = os.path.dirname(__file__)  # noqa: PTH120 - compared with the names in code objects


class CellTimeout(BaseException):
    """The cell used up its time. Not an `Exception`, so that ordinary handlers let it pass."""

    __module__ = "builtins"  # a traceback then calls it by its bare name


def status(error: BaseException) -> str:
    """Name how a cell ended that raised."""
    if isinstance(error, CellTimeout):
        return "soft_timeout"
    if isinstance(error, SystemExit):
        return "exit"
    return "memory" if isinstance(error, MemoryError) else "error"


def tell(error: BaseException) -> str:
    """Write the traceback from the cell's own first frame on."""
    try:
        told = _TracebackException(type(error), error, error.__traceback__)
        _leave_out_own_frames(told)
        text = "".join(told.format())
    except BaseException:  # noqa: BLE001 - exceptions of the cell may misbehave while described
        text = f"{type(error).__name__} (it cannot be described)\n"
    if len(text) > TRACEBACK_CHARACTERS:
        half = TRACEBACK_CHARACTERS // 2
        text = f"{text[:half]}\n[... traceback cut ...]\n{text[-half:]}"
    return text


def _leave_out_own_frames(told: traceback.TracebackException) -> None:
    """Remove the executor's frames, at the start and where the alarm raised, causes included."""
    todo: list[traceback.TracebackException | None] = [told]
    for part in todo:
        if part is not None:
            frames = [frame for frame in part.stack if not frame.filename.startswith(_HERE)]
            part.stack = _StackSummary.from_list(frames)
            todo += [part.__cause__, part.__context__]
