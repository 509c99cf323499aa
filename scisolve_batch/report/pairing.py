"""Compare two runs on the problems they share, problem by problem.

Only results of problems with the same digest are paired, and nothing that is left out is left
unmentioned.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scisolve_batch.report.comparison import (
    Comparison,
    Difference,
    Flip,
    LiteralFlip,
    Ratio,
    Side,
)
from scisolve_batch.report.load import open_rows
from scisolve_batch.report.statistics import (
    CONFIDENCE,
    bootstrap_interval,
    holm,
    mcnemar_exact,
    paired_interval,
    problems_needed,
    ratio_interval,
    sign_flip,
)
from scisolve_batch.report.summary import Summary

MEASURES = ("grounded", "correct", "verified")
_QUANTITIES = (
    ("tokens", "tokens", "total_tokens"),
    ("cost", "US$", "cost_usd"),
    ("turns", "replies", "turns"),
    ("time", "s", "duration_s"),
    ("cell time", "s", "cell_s"),
)

Row = dict[str, Any]
_Pair = tuple[str, list[Row], list[Row]]


def compare(first: Path | str, second: Path | str) -> Comparison:
    """Compare two runs, each named by its run directory or its report.

    Args:
        first: the run to compare against.
        second: the run to judge: `better` means that it is.

    Raises:
        RunDirError: a path is neither, or holds several runs.
    """
    (one, tables1), (two, tables2) = open_rows(first), open_rows(second)
    rows1, rows2 = _by_problem(tables1["solutions"]), _by_problem(tables2["solutions"])
    shared = [name for name in rows1 if name in rows2]
    same = [name for name in shared if _digest(rows1[name]) == _digest(rows2[name])]
    pairs: list[_Pair] = [(name, rows1[name], rows2[name]) for name in same]
    lost = [name for name, a, b in pairs if not (_has_result(a) and _has_result(b))]
    return Comparison(
        first=_side(one),
        second=_side(two),
        notes=tuple(_notes(one, two)),
        paired=len(pairs),
        changed=tuple(name for name in shared if name not in set(same)),
        added=tuple(name for name in rows2 if name not in rows1),
        dropped=tuple(name for name in rows1 if name not in rows2),
        lost=tuple(lost),
        overall=tuple(difference(pairs, measure) for measure in MEASURES),
        groups=tuple(_groups(pairs)),
        used=tuple(_used(pairs)),
        flips=tuple(_flips(pairs)),
        literals=tuple(_literal_flips(tables1["literals"], tables2["literals"], set(same))),
    )


def _by_problem(rows: Iterable[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["problem_id"], []).append(row)
    return groups


def _digest(rows: Sequence[Row]) -> str:
    return str(rows[0]["problem_digest"])


def _has_result(rows: Sequence[Row]) -> bool:
    return any(not row["missing"] for row in rows)


def _side(summary: Summary) -> Side:
    return Side(
        run_id=summary.run_id,
        model=summary.model,
        suite=f"{summary.suite.id} {summary.suite.version}".strip(),
        suite_digest=summary.suite.digest,
        grounding=summary.grounding,
    )


def _notes(one: Summary, two: Summary) -> Iterable[str]:
    for name, summary in (("first", one), ("second", two)):
        for note in summary.notes:
            yield f"{name} run: {note}"
    if one.grounding != two.grounding:
        yield (
            f"the runs were checked by different rules (`{one.grounding}`, `{two.grounding}`): "
            "recheck one of them before comparing `grounded`"
        )
    if one.suite.id != two.suite.id:
        yield f"different suites (`{one.suite.id}`, `{two.suite.id}`): only shared problems count"
    elif one.suite.digest != two.suite.digest:
        yield "the suite changed between the runs: only unchanged problems count"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Results of one problem in both runs."""

    first: list[bool]
    second: list[bool]

    @property
    def rates(self) -> tuple[float, float]:
        return sum(self.first) / len(self.first), sum(self.second) / len(self.second)


def _outcomes(pairs: Iterable[_Pair], measure: str) -> dict[str, _Outcome]:
    found = {}
    for name, one, two in pairs:
        results = [
            [bool(row[measure]) for row in rows if row[measure] is not None] for rows in (one, two)
        ]
        if all(results):
            found[name] = _Outcome(*results)
    return found


def difference(pairs: Iterable[_Pair], measure: str, *, by: str = "", key: str = "") -> Difference:
    """One measure over pairs of problems; its adjusted p is the plain one."""
    outcomes = list(_outcomes(pairs, measure).values())
    rates = [outcome.rates for outcome in outcomes]
    shifts = [second - first for first, second in rates]
    common: dict[str, Any] = {"measure": measure, "by": by, "key": key, "problems": len(rates)}
    if not rates:
        empty = (
            "first",
            "second",
            "difference",
            "low",
            "high",
            "p",
            "adjusted_p",
            "table",
            "needed",
        )
        return Difference(**common, **dict.fromkeys(empty), method="none", verdict="no results")
    table = None
    if all(len(outcome.first) == len(outcome.second) == 1 for outcome in outcomes):
        table = _table(rates)
        low, high = paired_interval(*table)
        p = mcnemar_exact(table[1], table[2])
        method = "exact McNemar test, Newcombe's paired interval"
    else:
        low, high = bootstrap_interval(shifts)
        p = sign_flip(shifts)
        method = "sign-flip test and bootstrap over problems"
    mean = math.fsum(shifts) / len(shifts)
    return Difference(
        **common,
        first=math.fsum(rate[0] for rate in rates) / len(rates),
        second=math.fsum(rate[1] for rate in rates) / len(rates),
        difference=mean,
        low=low,
        high=high,
        p=p,
        adjusted_p=p,
        method=method,
        table=table,
        verdict=_verdict(mean, p),
        needed=problems_needed(shifts),
    )


def _table(rates: Sequence[tuple[float, float]]) -> tuple[int, int, int, int]:
    counts = [(bool(first), bool(second)) for first, second in rates]
    return (
        counts.count((True, True)),
        counts.count((True, False)),
        counts.count((False, True)),
        counts.count((False, False)),
    )


def _verdict(mean: float, p: float) -> str:
    if p >= 1 - CONFIDENCE:
        return "not distinguishable"
    return "better" if mean > 0 else "worse"


def _groups(pairs: Sequence[_Pair]) -> Iterable[Difference]:
    """Each measure by domain and difficulty, with p adjusted over all groups of the measure."""
    for measure in MEASURES:
        found = []
        for by in ("domain", "difficulty"):
            keys = sorted({str(one[0][by]) for _, one, _ in pairs if one[0][by] is not None})
            for key in keys:
                part = [pair for pair in pairs if str(pair[1][0][by]) == key]
                found.append(difference(part, measure, by=by, key=key))
        found = [item for item in found if item.p is not None]
        adjusted = holm([item.p for item in found if item.p is not None])
        for item, p in zip(found, adjusted, strict=True):
            verdict = _verdict(item.difference or 0.0, p)
            yield item.model_copy(update={"adjusted_p": p, "verdict": verdict})


def _used(pairs: Iterable[_Pair]) -> Iterable[Ratio]:
    worked = [
        (one, two)
        for _, one, two in (
            (name, [r for r in one if r["attempt"]], [r for r in two if r["attempt"]])
            for name, one, two in pairs
        )
        if one and two
    ]
    for quantity, unit, column in _QUANTITIES:
        known = [
            pair
            for pair in worked
            if all(any(row.get(column) is not None for row in rows) for rows in pair)
        ]
        means = [(_mean(one, column), _mean(two, column)) for one, two in known]
        if not means:
            continue
        ratio = ratio_interval(means)
        yield Ratio(
            quantity=quantity,
            unit=unit,
            problems=len(means),
            first=math.fsum(mean[0] for mean in means) / len(means),
            second=math.fsum(mean[1] for mean in means) / len(means),
            ratio=ratio[0] if ratio else None,
            low=ratio[1] if ratio else None,
            high=ratio[2] if ratio else None,
        )


def _mean(rows: Sequence[Row], column: str) -> float:
    return math.fsum(row[column] or 0 for row in rows) / len(rows)


def _flips(pairs: Sequence[_Pair]) -> Iterable[Flip]:
    for measure in MEASURES:
        for name, outcome in _outcomes(pairs, measure).items():
            first, second = outcome.rates
            if first != second:
                yield Flip(problem_id=name, measure=measure, first=first, second=second)


def _literal_flips(one: Iterable[Row], two: Iterable[Row], same: set[str]) -> Iterable[LiteralFlip]:
    """Numbers with another verdict, and failing ones that stand in one of the answers only."""
    before, after = _literals(one, same), _literals(two, same)
    for key in dict.fromkeys([*before, *after]):
        first, second = before.get(key), after.get(key)
        verdicts = [item["verdict"] if item else None for item in (first, second)]
        fails = any(item and item["failing"] for item in (first, second))
        if verdicts[0] != verdicts[1] and fails:
            yield LiteralFlip(
                problem_id=key[0],
                sample=key[1],
                where=key[2],
                text=key[3],
                first=verdicts[0],
                second=verdicts[1],
            )


def _literals(rows: Iterable[Row], same: set[str]) -> dict[tuple[str, int, str, str], Row]:
    found: dict[tuple[str, int, str, str], Row] = {}
    for row in rows:
        if row["problem_id"] in same:
            key = (row["problem_id"], row["sample"], row["where"], row["text"])
            found.setdefault(key, row)
    return found
