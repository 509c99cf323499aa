"""The lock beside a suite: the digest of every problem, so that a change of graded content shows.

`core.yaml` has its lock in `core.lock`. A suite without a lock is not pinned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from scisolve_batch.documents import parse, read_document
from scisolve_batch.errors import SuiteError
from scisolve_batch.records import GRADER
from scisolve_batch.suite.schema import Entry

if TYPE_CHECKING:
    from scisolve_batch.suite.loading import Suite

_HEAD = "# Pinned content of {name}. Written by `scisolve-batch suite lock`; do not edit.\n"


class LockEntry(Entry):
    """A lock file."""

    format: Literal[1] = 1
    """Version of this form: 1."""
    suite: str
    """Id of the suite."""
    version: str = ""
    """Version of the suite when it was locked."""
    grader: str
    """Rule by which values are graded."""
    digest: str
    """SHA-256 over the problems."""
    problems: dict[str, str]
    """SHA-256 of each problem's graded content, by id."""


def lock_file(suite_file: Path | str) -> Path:
    """Where the lock of a suite file stands."""
    return Path(suite_file).with_suffix(".lock")


def write_lock(path_or_name: Path | str, *, force: bool = False) -> Path:
    """Pin a suite as it is now.

    Args:
        path_or_name: the suite.
        force: also when problems changed or went under the same version of the suite.

    Returns:
        The lock file that was written.

    Raises:
        SuiteError: the suite cannot be read, the lock cannot be written, or problems that were
            locked are not the same any more although the suite's version is.
    """
    from scisolve_batch.suite.loading import find_suite, read_suite  # noqa: PLC0415  # a cycle

    suite = read_suite(find_suite(path_or_name))
    file = lock_file(suite.ref.path)
    if file.exists() and not force:
        _refuse_silent_change(suite, file)
    lines = [
        _HEAD.format(name=Path(suite.ref.path).name),
        "format: 1\n",
        f"suite: {suite.ref.id}\n",
        f'version: "{suite.ref.version}"\n',
        f"grader: {GRADER}\n",
        f'digest: "{suite.ref.digest}"\n',
        "problems:\n",
        *(f'  {one.id}: "{one.digest}"\n' for one in sorted(suite.problems, key=lambda p: p.id)),
    ]
    try:
        file.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise SuiteError(f"cannot be written: {error.strerror or error}", file=file) from error
    return file


def _refuse_silent_change(suite: Suite, file: Path) -> None:
    """One version must not stand for two contents: results would be compared that cannot be."""
    try:
        locked = parse(read_document(file), LockEntry)
    except SuiteError as error:
        raise SuiteError(f"{error}; --force writes it anew") from None
    now = {problem.id: problem.digest for problem in suite.problems}
    lines = [
        f"  {problem_id}: {digest[:12]} -> {now.get(problem_id, 'removed')[:12]}"
        for problem_id, digest in sorted(locked.problems.items())
        if now.get(problem_id) != digest
    ]
    if not lines or locked.version != suite.ref.version:
        return
    version = f'version "{suite.ref.version}"' if suite.ref.version else "no version"
    raise SuiteError(
        f"what was locked in {file.name} is not the same any more, and the suite still has "
        f"{version}:\n"
        + "\n".join(lines)
        + "\nRaise `version`, so that results of both can be told apart, or use --force",
        file=suite.ref.path,
    )


def compare(suite: Suite, *, unpinned: bool = False) -> str:
    """Compare a suite with its lock.

    Returns:
        `pinned`, `unpinned` (it differs, and may) or `none` (it has no lock).

    Raises:
        SuiteError: it differs, and may not.
    """
    file = lock_file(suite.ref.path)
    if not file.exists():
        return "none"
    locked = parse(read_document(file), LockEntry)
    difference = _difference(suite, locked)
    if not difference:
        return "pinned"
    if unpinned:
        return "unpinned"
    raise SuiteError(
        f"the suite differs from its lock {file.name}: {difference}. Its results would not be "
        "comparable with earlier ones. Restore the content, run it all the same with --unpinned, "
        "or raise its version and pin it anew with "
        f"`scisolve-batch suite lock {suite.ref.path}`",
        file=suite.ref.path,
    )


def _difference(suite: Suite, locked: LockEntry) -> str:
    now = {problem.id: problem.digest for problem in suite.problems}
    parts = [
        _count(sorted(i for i in now if i in locked.problems and locked.problems[i] != now[i]), "changed"),
        _count(sorted(now.keys() - locked.problems.keys()), "added"),
        _count(sorted(locked.problems.keys() - now.keys()), "removed"),
        f"graded by {GRADER}, was {locked.grader}" if locked.grader != GRADER else "",
    ]  # fmt: skip
    if not any(parts) and locked.digest != suite.ref.digest:
        parts = ["the lock's own digest does not fit its problems"]
    return "; ".join(part for part in parts if part)


def _count(ids: Collection[str], what: str) -> str:
    if not ids:
        return ""
    noun = "problem" if len(ids) == 1 else "problems"
    return f"{len(ids)} {noun} {what} ({_shorten(ids)})"


def _shorten(ids: Iterable[str], most: int = 5) -> str:
    listed = list(ids)
    more = f", and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
