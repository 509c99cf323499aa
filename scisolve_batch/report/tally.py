"""Count a run: from the rows of its tables to its summary.

It loads no numpy and no pandas, so that the process of a run may call it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scisolve_batch.records import JournalLine, Manifest, Usage, Verdict, VerificationKind
from scisolve_batch.report.columns import NEAR
from scisolve_batch.report.results import NOT_RUN, SCRIPTED, UNREADABLE
from scisolve_batch.report.rows import Tables, collect_parts, collector_paused
from scisolve_batch.report.statistics import (
    Cluster,
    clusters_of,
    estimate,
    pass_all_k,
    pass_at_k,
    smallest_difference,
    variances,
)
from scisolve_batch.report.summary import (
    Crossed,
    Ledger,
    LooseLiteral,
    Rate,
    RateChange,
    Repeats,
    Slice,
    Summary,
)
from scisolve_batch.rundir import RunDir

SHOWN_LITERALS = 200
"""So many ungrounded literals are kept in a summary; the table has them all."""

SCRIPTED_NOTE = (
    "scripted solutions: says how the suite and the tool behave, nothing about any model"
)
UNPINNED_NOTE = (
    "the suite was not the pinned one: it differed from its lock file and was run all the same"
)
NO_PIN_NOTE = "the suite has no lock file: nothing says that its problems are still the same"


Row = dict[str, Any]


def rate_of(rows: Iterable[Row], column: str, *, planned: int | None = None) -> Rate:
    """The mean of a truth column, with its interval and its bounds.

    Args:
        rows: rows of `solutions`.
        column: `grounded`, `verified` or `correct`; rows without a value are missing.
        planned: how many of the rows were to count; none means all of them.
    """
    rows = list(rows)
    outcomes = [(row["problem_id"], bool(row[column])) for row in rows if row[column] is not None]
    found = estimate(clusters_of(outcomes))
    planned = len(rows) if planned is None else planned
    missing = planned - found.trials
    return Rate(
        successes=found.successes,
        trials=found.trials,
        problems=found.problems,
        effective=round(found.effective, 6),
        rate=found.rate,
        low=found.low,
        high=found.high,
        planned=planned,
        floor=found.successes / planned if planned else None,
        ceiling=(found.successes + missing) / planned if planned else None,
    )


def _correct_rate(rows: Sequence[Row], graded: set[str]) -> Rate:
    gradable = [row for row in rows if row["correct"] is not None or row["problem_id"] in graded]
    return rate_of(gradable, "correct")


COUNTED_TABLES = ("solutions", "literals", "cells", "values")
"""The tables that a summary stands on."""

_COUNTED = (  # columns of `solutions` that a summary stands on
    "problem_id", "domain", "difficulty", "tags", "outcome", "cause", "missing", "finished",
    "grounded", "verified", "correct", "verification_kind", "verification_valid",
    "verification_weakness", "turns",
    "duration_s", "cost_usd", "retried", "near_limits", *Usage.model_fields,
)  # fmt: skip


class Tally:
    """Counts the tables of a run part by part, keeping of each only what a summary needs."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.failing = self.undecided = 0
        self.loose: list[LooseLiteral] = []
        self.cells: Counter[str] = Counter()
        self.replay: Counter[str] = Counter()
        self.digits: Counter[int] = Counter()
        self.words: Counter[str] = Counter()

    def add(self, tables: Tables) -> None:
        """Count the next part."""
        self.rows.extend(tables["solutions"].pick(*_COUNTED))
        literals, values = tables["literals"], tables["values"]
        failing = [number for number, fails in enumerate(literals["failing"]) if fails]
        self.failing += len(failing)
        self.undecided += literals["verdict"].count(Verdict.UNKNOWN)
        for number in failing[: SHOWN_LITERALS - len(self.loose)]:
            self.loose.append(LooseLiteral.model_validate(literals.row(number)))
        self.cells.update(tables["cells"]["status"])
        self.replay.update(word for word in tables["cells"]["replay"] if word)
        for digits, verdict in zip(values["correct_digits"], values["verdict"], strict=True):
            if digits is None or not math.isfinite(digits):
                self.words[verdict] += 1
            else:
                self.digits[max(0, math.floor(digits))] += 1

    def summary(self, manifest: Manifest, *, history: Sequence[JournalLine] = ()) -> Summary:
        """What all parts came to; `history` is that of the rate at which the service was asked."""
        rows = self.rows
        graded = {problem.id for problem in manifest.problems if problem.values}
        samples = Counter(planned.problem_id for planned in manifest.planned)
        limits = Counter(name for row in rows for name in row["near_limits"])
        grounded = rate_of(rows, "grounded")
        return Summary(
            run_id=manifest.run_id,
            created_at=manifest.created_at,
            suite=manifest.suite,
            model=manifest.model,
            scripted=manifest.model == SCRIPTED,
            grounding=manifest.grounding,
            notes=tuple(_notes(manifest, rows)),
            problems=len(samples),
            samples=max(samples.values(), default=0),
            ledger=ledger_of(rows),
            grounded_rate=grounded,
            correct_rate=_correct_rate(rows, graded),
            verified_rate=rate_of(rows, "verified"),
            crossed=cross(rows),
            verification_kinds=_kinds(rows),
            weak_checks=sum(1 for row in rows if row["verification_weakness"]),
            failing_literals=self.failing,
            undecided_literals=self.undecided,
            loose=tuple(self.loose),
            cells=dict(sorted(self.cells.items())),
            replay=dict(sorted(self.replay.items())),
            usage=Usage(**{name: _total(rows, name) for name in Usage.model_fields}),
            cost_usd=_cost(rows),
            turns=sum(row["turns"] for row in rows),
            duration_s=sum(row["duration_s"] for row in rows if _finite(row["duration_s"])),
            rate_changes=tuple(RateChange(at=line.at, what=line.detail) for line in history),
            near_limits=dict(sorted(limits.items())),
            retried=sum(row["retried"] for row in rows),
            slices=tuple(slices_of(rows, graded)),
            repeats=tuple(repeats_of(rows)),
            digits={str(n): self.digits[n] for n in sorted(self.digits)}
            | dict(sorted(self.words.items())),
            smallest_difference=_smallest(grounded),
        )


def summarize(run: RunDir) -> Summary:
    """Read a run directory and say what it came to. Loads no numpy and no pandas."""
    tally = Tally()
    with collector_paused():
        for part in collect_parts(run, texts=False, names=COUNTED_TABLES):
            tally.add(part)
        return tally.summary(run.manifest, history=run.rate_history())


def summarize_rows(
    manifest: Manifest, tables: Tables, *, history: Sequence[JournalLine] = ()
) -> Summary:
    """The summary of a run whose rows are already read."""
    tally = Tally()
    tally.add(tables)
    return tally.summary(manifest, history=history)


def _finite(value: float | None) -> bool:
    """A time or cost that can be added up; a record may hold any float."""
    return value is not None and math.isfinite(value)


def _cost(rows: Sequence[Row]) -> float | None:
    priced = [row["cost_usd"] for row in rows if _finite(row["cost_usd"])]
    return math.fsum(priced) if priced else None


def _total(rows: Sequence[Row], name: str) -> int | None:
    reported = [row[name] for row in rows if row[name] is not None]
    return sum(reported) if reported else None


def _notes(manifest: Manifest, rows: Sequence[Row]) -> Iterable[str]:
    if manifest.model == SCRIPTED:
        yield SCRIPTED_NOTE
    if manifest.suite.pin == "unpinned":
        yield UNPINNED_NOTE
    elif manifest.suite.pin != "pinned":
        yield NO_PIN_NOTE
    broken = [row["problem_id"] for row in rows if row["cause"] == UNREADABLE]
    if broken:
        several = f"{len(broken)} records cannot be read, the first that of"
        yield f"{several if len(broken) > 1 else 'one record cannot be read, that of'} {broken[0]}"
    waiting = sum(row["cause"] == NOT_RUN for row in rows)
    if waiting:
        yield f"the run is not complete: {waiting} of {len(rows)} samples were not run"
    near = sum(bool(row["near_limits"]) for row in rows)
    if near:
        one = near == 1
        yield (
            f"{near} sample{'' if one else 's'} used more than {100 * NEAR:.0f} % of a limit: on "
            f"another machine {'it' if one else 'they'} may end otherwise"
        )


def ledger_of(rows: Iterable[Row]) -> Ledger:
    """Where every planned sample went.

    Raises:
        ValidationError: the parts do not add up.
    """
    rows = list(rows)
    outcomes = Counter(row["outcome"] for row in rows)
    unfinished = [row for row in rows if not row["finished"]]
    causes = Counter(row["cause"] for row in unfinished)
    return Ledger(
        planned=len(rows),
        finished=sum(row["finished"] for row in rows),
        unfinished=len(unfinished),
        grounded=outcomes["grounded"],
        ungrounded=outcomes["ungrounded"],
        nothing_computed=outcomes["nothing_computed"],
        unchecked=outcomes["unchecked"],
        missing=sum(row["missing"] for row in rows),
        causes=dict(sorted(causes.items(), key=lambda item: (-item[1], item[0]))),
    )


def cross(rows: Iterable[Row]) -> Crossed:
    """Grounded against correct, over the finished samples that can be graded."""
    graded = [row for row in rows if row["finished"] and row["correct"] is not None]
    count = Counter((bool(row["grounded"]), bool(row["correct"])) for row in graded)
    return Crossed(
        grounded_correct=count[True, True],
        grounded_wrong=count[True, False],
        ungrounded_correct=count[False, True],
        ungrounded_wrong=count[False, False],
        correct_if_grounded=rate_of((row for row in graded if row["grounded"]), "correct"),
        correct_if_ungrounded=rate_of((row for row in graded if not row["grounded"]), "correct"),
    )


def kind_of(row: Row) -> str:
    """The kind of a sample's check: one of the six, `invalid`, or `none`."""
    if row["verification_kind"] is None:
        return "none"
    if not row["verification_valid"]:
        return "invalid"
    return str(row["verification_kind"])


def _kinds(rows: Iterable[Row]) -> dict[str, int]:
    found = Counter(kind_of(row) for row in rows if row["finished"])
    known = [kind.value for kind in VerificationKind]
    order = [*known, *sorted(set(found) - {*known, "invalid", "none"}), "invalid", "none"]
    return {name: found[name] for name in order if found[name]}


def slices_of(rows: Sequence[Row], graded: set[str]) -> Iterable[Slice]:
    """The rates by domain, difficulty, tag and kind of check; single groups are left out."""
    groupings: dict[str, Callable[[Row], Sequence[str]]] = {
        "domain": lambda row: [row["domain"]],
        "difficulty": lambda row: [] if row["difficulty"] is None else [str(row["difficulty"])],
        "tag": lambda row: sorted(set(row["tags"])),
        "verification": lambda row: [kind_of(row)] if row["finished"] else [],
    }
    for by, keys in groupings.items():
        groups: dict[str, list[Row]] = {}
        for row in rows:
            for key in keys(row):
                groups.setdefault(key, []).append(row)
        for key, part in sorted(groups.items()):
            yield Slice(
                by=by,
                key=key,
                planned=len(part),
                grounded_rate=rate_of(part, "grounded"),
                correct_rate=_correct_rate(part, graded),
                verified_rate=rate_of(part, "verified"),
            )


def _counts(rows: Iterable[Row], measure: str) -> dict[str, Cluster]:
    """Successes and results of each problem."""
    groups: dict[str, list[bool]] = {}
    for row in rows:
        if row[measure] is not None:
            groups.setdefault(row["problem_id"], []).append(bool(row[measure]))
    return {name: Cluster(sum(group), len(group)) for name, group in groups.items()}


def repeats_of(rows: Sequence[Row]) -> Iterable[Repeats]:
    """pass@k and pass^k, the spread and the flaky problems, for problems with repeats.

    k runs to the largest number of results that every such problem has.
    """
    for measure in ("grounded", "correct"):
        counts = {n: c for n, c in _counts(rows, measure).items() if c.trials > 1}
        spread = variances(list(counts.values()))
        if not counts:
            continue
        ks = range(1, min(count.trials for count in counts.values()) + 1)
        within, between = spread if spread is not None else (None, None)
        yield Repeats(
            measure=measure,
            problems=len(counts),
            any_of={k: _mean_over(counts, k, pass_at_k) for k in ks},
            all_of={k: _mean_over(counts, k, pass_all_k) for k in ks},
            within=within,
            between=between,
            flaky=tuple(n for n, c in counts.items() if 0 < c.successes < c.trials),
        )


def _mean_over(
    counts: dict[str, Cluster], k: int, score: Callable[[int, int, int], float]
) -> float:
    scores = [score(count.trials, count.successes, k) for count in counts.values()]
    return math.fsum(scores) / len(scores)


def _smallest(rate: Rate) -> float | None:
    if rate.rate is None or rate.effective <= 0:
        return None
    return smallest_difference(rate.rate, rate.effective)
