"""Is a suite any good? Everything that can be asked of its content without running code.

A suite that loads may still be bad: an answer in the statement, a tolerance that accepts
anything, a gold solution that is wrong. Running the scripts is left to a function given in.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from scisolve_batch.documents import read_document
from scisolve_batch.errors import SuiteError
from scisolve_batch.grading import find_stated_numbers, grade
from scisolve_batch.grading.compare import compare, distance, modulus, tolerance
from scisolve_batch.grading.corrupt import change_digits, corruptions
from scisolve_batch.grading.entries import certified_entries, parse_entries
from scisolve_batch.grading.recompute import disagreements
from scisolve_batch.grading.units import is_unit
from scisolve_batch.records import CertifiedValue, Problem, Record, ReportedValue, Solution
from scisolve_batch.suite import Reference, Suite

RunScript = Callable[[Problem, str, int], Solution]
"""What a script (its path) does on a problem when it is run for the first or second time, through
the executor and the agent, with a seed of its own each time."""

Recompute = Callable[[Problem, Reference], Mapping[str, str] | str]
"""The values that a problem's reference computation gives, by name; or why it gives none."""

FAULT = "fault"
"""Tag of problems whose scripts misbehave on purpose, so that nothing is asked of them."""

EVALUATED = "(evaluated)"
"""Stands for the value of a report that is given as an expression."""

SLOW_S = 20.0
"""Seconds on one core in which every problem is meant to be solvable."""

NEAR = 0.9
"""Share of common word triples from which two statements are called nearly the same."""


class Finding(Record):
    """Something about a suite that somebody should look at."""

    problem_id: str
    """The problem."""
    what: str
    """What is wrong with it, and what to do."""
    serious: bool = True
    """False for what may be meant."""


def without_faults(suite: Suite) -> Suite:
    """The suite without the problems whose scripts misbehave on purpose."""
    return replace(suite, problems=tuple(p for p in suite.problems if FAULT not in p.tags))


def audit_suite(
    suite: Suite, *, run: RunScript | None = None, recompute: Recompute | None = None
) -> tuple[Finding, ...]:
    """Look for faults in the content of a suite.

    Args:
        suite: the suite.
        run: when given, gold scripts are run twice with different seeds, naive ones once.
        recompute: when given, certified values are recomputed where there is a reference for it.

    Returns:
        The findings, in the suite's order; first those of single problems.
    """
    findings: list[Finding] = []
    for problem in suite.problems:
        for what, serious in _faults(problem):
            findings.append(Finding(problem_id=problem.id, what=what, serious=serious))
        reference = suite.references.get(problem.id)
        if recompute is not None and reference is not None:
            for what, serious in _reference_faults(problem, recompute(problem, reference)):
                findings.append(Finding(problem_id=problem.id, what=what, serious=serious))
        if run is not None and FAULT not in problem.tags:
            findings.extend(
                Finding(problem_id=problem.id, what=what, serious=serious)
                for what, serious in _run_faults(problem, run)
            )
    return (*findings, *_duplicates(suite.problems))


def _faults(problem: Problem) -> Iterator[tuple[str, bool]]:
    yield from _value_faults(problem)
    yield from _statement_faults(problem)
    for what in (*_data_faults(problem), *_known_wrong_faults(problem)):
        yield what, True
    for kind in ("solution", "naive"):
        path = getattr(problem, kind)
        if path is not None and FAULT not in problem.tags:
            for what in _script_faults(problem, Path(path), gold=kind == "solution"):
                yield what, True


# ---- values --------------------------------------------------------------------------


def _value_faults(problem: Problem) -> Iterator[tuple[str, bool]]:
    for certified in problem.values:
        name = certified.name
        digits = certified.digits or 1
        if certified.report_digits and digits < certified.report_digits:
            yield f"`{name}` asks for {certified.report_digits} digits and certifies {digits}", True
        for entry in certified_entries(certified):
            size = modulus(entry.re, entry.im)
            accepted = tolerance(certified, size)
            last = Decimal(1).scaleb(size.adjusted() - digits + 1)
            if not certified.exact and size and accepted < last / 2:
                yield f"`{name}` has a tolerance finer than its last certified digit", True
                break
        if not certified.exact and _accepts_anything(certified):
            yield (
                f"`{name}` accepts numbers that share no digit with it; narrow its tolerance",
                True,
            )
        changed = list(change_digits(certified))
        if not changed:
            yield f"`{name}` has no digit that must be right; narrow its tolerance", True
        if any(_is_met(certified, text) for text in changed):
            yield f"`{name}` with one digit changed is graded correct", True
        if certified.unit is not None and not is_unit(certified.unit):
            yield f"`{name}` has the unit `{certified.unit}`, which only the same word meets", False
        if certified.any_order and _close_entries(certified):
            yield f"`{name}` has two entries that one number would meet; narrow its tolerance", True


def _accepts_anything(certified: CertifiedValue) -> bool:
    """A tenth of the largest entry: a small entry of a list may drown in an absolute tolerance."""
    sizes = [modulus(one.re, one.im) for one in certified_entries(certified)]
    return bool(max(sizes)) and tolerance(certified, max(sizes)) * 10 > max(sizes)


def _close_entries(certified: CertifiedValue) -> bool:
    """Two different entries closer than their tolerances: a wrong multiplicity would pass."""
    entries = certified_entries(certified)
    return any(
        0 < distance(one, other) <= tolerance(certified, modulus(one.re, one.im))
        for place, one in enumerate(entries)
        for other in entries[:place]
    )


def _is_met(certified: CertifiedValue, text: str) -> bool:
    """Whether a value that is written like a certified one meets it."""
    other = parse_entries(certified.model_copy(update={"value": text}).entries)
    return len(other) == len(certified.entries) and compare(certified, other).met


# ---- statements ----------------------------------------------------------------------


def _statement_faults(problem: Problem) -> Iterator[tuple[str, bool]]:
    stated = find_stated_numbers(problem.statement)
    given = [v for v in problem.values if _is_stated(v, stated)]
    empty = [v for v in problem.values if v in given or _is_small_integer(v)]
    if problem.values and len(empty) == len(problem.values):
        names = ", ".join(f"`{value.name}`" for value in empty)
        yield (
            f"every value ({names}) is a small integer or stands in the statement, so that an "
            "answer would count as computed without a computation; ask for more",
            True,
        )
    for value in given:
        yield f"the statement holds the certified value of `{value.name}`", False
    for value in problem.values:
        if not re.search(rf"(?<!\w){re.escape(value.name)}(?!\w)", problem.statement):
            yield f"the statement does not name `{value.name}`, so nobody can report it", True
    for file in problem.data:
        if file.file not in problem.statement:
            yield f"the statement does not name the data file {file.file}", True


def _is_stated(certified: CertifiedValue, stated: set[Decimal]) -> bool:
    """Every number of a value stands in the statement."""
    for entry in certified_entries(certified):
        for part in (entry.re, entry.im) if entry.im else (entry.re,):
            accepted = tolerance(certified, modulus(entry.re, entry.im))
            if not any(abs(number - part) <= accepted for number in stated):
                return False
    return True


def _is_small_integer(certified: CertifiedValue) -> bool:
    parts = [part for one in certified_entries(certified) for part in (one.re, one.im)]
    return all(part == part.to_integral_value() and abs(part) <= 10 for part in parts)


# ---- files ---------------------------------------------------------------------------


def _data_faults(problem: Problem) -> Iterator[str]:
    for file in problem.data:
        try:
            digest = hashlib.sha256(Path(file.path).read_bytes()).hexdigest()
        except OSError as error:
            yield f"the data file {file.path} cannot be read: {error.strerror or error}"
            continue
        if digest != file.sha256:
            yield f"the data file {file.path} changed since the suite was read"


def _known_wrong_faults(problem: Problem) -> Iterator[str]:
    for wrong in problem.known_wrong:
        for certified in problem.values:
            text = wrong.values.get(certified.name)
            if text is not None and _is_met(certified, text):
                yield f"the known wrong value of `{certified.name}` is graded correct"


def read_report(path: Path) -> tuple[str | None, list[ReportedValue]]:
    """The last answer of a script, with its values.

    Raises:
        SuiteError: the file is no script, or reports nothing.
    """
    document = read_document(path)
    turns = document.data if isinstance(document.data, list) else []
    finishes = [found for turn in turns for found in _finishes(turn)]
    if not finishes or not isinstance(finishes[-1], dict):
        raise SuiteError("reports no answer (`finish_solution`)", file=path)
    last = finishes[-1]
    values = [
        ReportedValue(
            name=str(one.get("name")),
            value=EVALUATED if one.get("expression") else str(one.get("value")),
            unit=None if one.get("unit") is None else str(one["unit"]),
        )
        for one in _list(last.get("values"))
        if isinstance(one, dict)
    ]
    answer = last.get("answer")
    return (answer if isinstance(answer, str) else None), values


def _list(data: Any) -> list[Any]:
    return data if isinstance(data, list) else []


def _finishes(turn: Any) -> Iterator[Any]:
    if isinstance(turn, dict):
        if "finish_solution" in turn:
            yield turn["finish_solution"]
        for call in _list(turn.get("calls")):
            yield from _finishes(call)


def _script_faults(problem: Problem, path: Path, *, gold: bool) -> Iterator[str]:
    try:
        answer, values = read_report(path)
    except SuiteError as error:
        yield str(error)
        return
    if not problem.values or any(one.value == EVALUATED for one in values):
        return  # only a run can tell
    result = grade(problem, answer=answer, values=values)
    if gold and not result.correct:
        wrong = [one.name for one in result.values if one.verdict != "correct"]
        yield f"the solution's answer is graded wrong: {', '.join(wrong)}"
    if not gold and result.correct:
        yield "the careless solution's answer is graded correct"


def _run_faults(problem: Problem, run: RunScript) -> Iterator[tuple[str, bool]]:
    """Gold scripts must be reproducible, grounded, verified and correct; naive ones wrong."""
    if problem.solution is not None:
        first, again = run(problem, problem.solution, 1), run(problem, problem.solution, 2)
        for fact in ("finished", "grounded", "verified"):
            if not getattr(first, fact):
                yield f"the solution is not {fact} when it is run ({first.stop_reason})", True
        if problem.values and not first.correct:
            yield "the solution is not correct when it is run", True
        facts = ("finished", "grounded", "verified", "correct")
        if any(getattr(first, fact) != getattr(again, fact) for fact in facts):
            yield "the solution depends on the seed of the session", True
        if first.correct:
            for name in _passing_corruptions(problem, first):
                yield f"the solution stays correct when `{name}` is corrupted", True
        if (took := sum(cell.wall_s for cell in first.cells)) > SLOW_S:
            yield f"the solution takes {took:.0f} s; {SLOW_S:.0f} s are meant to be enough", False
    if problem.naive is not None:
        careless = run(problem, problem.naive, 1)
        if not careless.grounded or careless.correct:
            yield "the careless solution is not grounded and wrong when it is run", True


def _reference_faults(
    problem: Problem, found: Mapping[str, str] | str
) -> Iterator[tuple[str, bool]]:
    """The recomputed values must agree in all digits that are certified."""
    if isinstance(found, str):
        # A library that is not there says nothing about the values.
        serious = "ModuleNotFoundError" not in found
        yield f"the reference computation gave no values: {found}", serious
        return
    for what in disagreements(problem, found):
        yield what, True


def _passing_corruptions(problem: Problem, solution: Solution) -> Iterator[str]:
    """Names of certified values that may be wrong in a digit without the gold's answer failing."""
    for name, corrupted in corruptions(problem):
        if grade(corrupted, answer=solution.answer, values=solution.values).correct:
            yield name


# ---- duplicates ----------------------------------------------------------------------


def _triples(statement: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", statement.lower())
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _duplicates(problems: Iterable[Problem]) -> Iterator[Finding]:
    """Same question twice, or two that differ in a few words and are not said to be twins.

    Each problem is held against the first one that it repeats. Two sets of which NEAR of the union
    is common share one of the rarest triples of each, so that only these are looked up (prefix
    filtering, Chaudhuri, Ganti and Kaushik 2006); the work grows with the suite, not its square.
    """
    listed = [(problem, _triples(problem.statement)) for problem in problems]
    counts = Counter(triple for _, triples in listed for triple in triples)
    owners: dict[tuple[str, ...], list[int]] = defaultdict(list)
    same: dict[str, int] = {}
    for number, (problem, triples) in enumerate(listed):
        rarest = sorted(triples, key=lambda triple: (counts[triple], triple))
        rarest = rarest[: len(rarest) - math.ceil(NEAR * len(rarest)) + 1]
        earlier = same.setdefault(problem.statement, number)
        candidates = dict.fromkeys([earlier] * (earlier != number))
        for triple in rarest:
            candidates.update(dict.fromkeys(owners[triple]))
            owners[triple].append(number)
        for candidate in candidates:
            other, theirs = listed[candidate]
            if _is_near(triples, theirs) and not _may_be_alike(other, problem):
                exactly = other.statement == problem.statement
                words = "asks the same as" if exactly else "asks nearly the same as"
                what = f"{words} `{other.id}`"
                yield Finding(problem_id=problem.id, what=what, serious=exactly)
                break


def _is_near(mine: frozenset[tuple[str, ...]], theirs: frozenset[tuple[str, ...]]) -> bool:
    return len(mine & theirs) >= NEAR * len(mine | theirs)


def _may_be_alike(one: Problem, other: Problem) -> bool:
    """Twins, and the same question about other data."""
    if one.id in (other.twin_of, other.id) or other.id == one.twin_of:
        return True
    return {file.sha256 for file in one.data} != {file.sha256 for file in other.data}
