"""Choosing problems of a suite, for the command line and for scripts.

Choosing never changes the suite's digest: a run records which problems it planned.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from scisolve_batch.documents import suggest
from scisolve_batch.errors import UsageError
from scisolve_batch.records import Problem
from scisolve_batch.suite.loading import Suite


def select(
    suite: Suite,
    *,
    ids: Sequence[str] = (),
    domains: Sequence[str] = (),
    tags: Sequence[str] = (),
    difficulty: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    first: int | None = None,
    shard: str | None = None,
) -> Suite:
    """Keep the problems that meet every condition, in the suite's order.

    Args:
        suite: the suite to choose from.
        ids: ids or globs like `nist-*`; a leading `!` leaves out.
        domains: domains, globs, `!` leaves out.
        tags: tags of which a problem has at least one, globs, `!` leaves out.
        difficulty: a level like `3`, or a range like `4-5`.
        sample: keep this many, drawn at random.
        seed: seed of that draw; the same seed draws the same problems.
        first: then keep this many from the start.
        shard: then keep a part, `1/4` to `4/4`; the parts cover everything once.

    Raises:
        UsageError: a condition names nothing in the suite, or nothing is left.
    """
    kept = list(suite.problems)
    kept = _keep(kept, ids, what="problem", words=lambda problem: (problem.id,))
    kept = _keep(kept, domains, what="domain", words=lambda problem: (problem.domain,), among=suite)
    kept = _keep(kept, tags, what="tag", words=lambda problem: problem.tags, among=suite)
    if difficulty is not None:
        low, high = _range(difficulty)
        kept = [one for one in kept if one.difficulty and low <= one.difficulty <= high]
    if sample is not None:
        _at_least_one(sample, "sample")
        order = sorted(kept, key=lambda problem: problem.id)
        drawn = random.Random(seed).sample(order, min(sample, len(order)))  # noqa: S311
        names = {problem.id for problem in drawn}
        kept = [problem for problem in kept if problem.id in names]
    if first is not None:
        _at_least_one(first, "first")
        kept = kept[:first]
    if shard is not None:
        number, count = _shard(shard)
        kept = kept[number - 1 :: count]
        if not kept:
            return replace(suite, problems=())  # more parts than problems is no mistake
    if not kept:
        raise UsageError(
            f"no problem of the suite `{suite.ref.id}` meets all the conditions together"
        )
    return replace(suite, problems=tuple(kept))


def _keep(
    problems: list[Problem],
    patterns: Sequence[str],
    *,
    what: str,
    words: Callable[[Problem], Iterable[str]],
    among: Suite | None = None,
) -> list[Problem]:
    """Keep what some pattern wants and no `!` pattern leaves out."""
    if not patterns:
        return problems
    known = sorted({word for one in (among.problems if among else problems) for word in words(one)})
    for pattern in patterns:
        bare = pattern.removeprefix("!")
        if not any(fnmatchcase(word, bare) for word in known):
            near = suggest(bare, known)
            listed = "" if near or len(known) > 30 else f"; there are: {', '.join(known)}"
            raise UsageError(f"no {what} of the suite matches `{bare}`{near}{listed}")
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]

    def fits(problem: Problem, choice: list[str]) -> bool:
        return any(fnmatchcase(word, pattern) for word in words(problem) for pattern in choice)

    return [p for p in problems if (not wanted or fits(p, wanted)) and not fits(p, unwanted)]


def _range(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*([1-5])\s*(?:-\s*([1-5])\s*)?", text)
    if not found:
        raise UsageError(f"difficulty `{text}`: write a level from 1 to 5, or a range like 4-5")
    low, high = int(found[1]), int(found[2] or found[1])
    if low > high:
        raise UsageError(f"difficulty `{text}`: the range is empty; write {high}-{low}")
    return low, high


def _shard(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*([0-9]+)\s*/\s*([0-9]+)\s*", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"shard `{text}`: write part/parts, from 1/4 to 4/4")
    return int(found[1]), int(found[2])


def _at_least_one(number: int, what: str) -> None:
    if number < 1:
        raise UsageError(f"{what} must be at least 1, not {number}")
