"""Every exception that can leave this package.

    ScisolveError           cannot go on; exit code 2
    ├── UsageError          the call itself is wrong
    ├── SuiteError          a suite, problem or script file is wrong; carries file and line
    ├── RunDirError         a run directory cannot be written, read or resumed
    ├── ModelError          the model's service failed; carries a kind
    └── SessionError        no session could be started

A problem that fails raises nothing: it is a record with a failure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class ScisolveError(Exception):
    """Something that ends the program with one message and an exit code."""

    exit_code = 2

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by attributes, because errors with keywords cannot be made from their message."""
        return _restore, (type(self), self.args, self.__dict__)


def _restore(
    kind: type[ScisolveError], args: tuple[Any, ...], state: dict[str, Any]
) -> ScisolveError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class UsageError(ScisolveError):
    """The call is wrong: an unknown name, an impossible combination, a missing key."""


class SuiteError(ScisolveError):
    """A suite, problem or script file is wrong.

    Args:
        what: what is wrong, and what to write instead.
        file: the file it stands in.
        line: the line, counted from 1, when it is known.
        path: the place inside the document, like `problems[0].values[1].rtol`.
    """

    def __init__(
        self, what: str, *, file: Path | str | None = None, line: int | None = None, path: str = ""
    ) -> None:
        place = str(file) if file is not None else ""
        if place and line is not None:
            place += f":{line}"
        super().__init__(": ".join(part for part in (place, path, what) if part))
        self.what, self.file, self.line, self.path = what, file, line, path


class RunDirError(ScisolveError):
    """A run directory cannot be written, read or resumed."""


class SessionError(ScisolveError):
    """A session could not be started, or its process broke the protocol for good."""


class ModelError(ScisolveError):
    """The model's service did not give a whole reply.

    Args:
        what: what happened and what to do about it.
        kind: one of `MODEL_ERROR_KINDS`.
        retryable: the same request may succeed later.
        retry_after_s: the wait the service asked for, in seconds.
        fatal: no other problem of the run can succeed either (a bad key, no credit).
    """

    def __init__(
        self,
        what: str,
        *,
        kind: str,
        retryable: bool = False,
        retry_after_s: float | None = None,
        fatal: bool = False,
    ) -> None:
        super().__init__(what)
        self.what, self.kind, self.retryable = what, kind, retryable
        self.retry_after_s, self.fatal = retry_after_s, fatal


MODEL_ERROR_KINDS = (
    "auth", "billing", "permission", "not_found", "invalid", "too_long", "too_large",
    "rate_limit", "spend_limit", "overloaded", "server", "timeout", "connection",
    "stream_cut", "bad_reply", "canceled", "script_exhausted", "unknown",
)  # fmt: skip
"""The closed set of `ModelError.kind`."""

FATAL_MODEL_ERRORS = frozenset(
    {"auth", "billing", "permission", "not_found", "spend_limit", "canceled"}
)
"""Kinds after which no other problem of the run can succeed either."""

RETRYABLE_MODEL_ERRORS = frozenset(
    {"rate_limit", "overloaded", "server", "timeout", "connection", "stream_cut", "bad_reply"}
)
"""Kinds after which the same problem may succeed when it is tried again."""
