"""The summary of a run: the ledger first, then rates with intervals, then what went wrong.

Every rate is the mean of a column of the tables. No number of planned samples is ever lost
from sight: a summary whose parts do not add up cannot be made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from pydantic import model_validator

from scisolve_batch.records import Manifest, Record, SuiteRef, Usage, VerificationKind
from scisolve_batch.report.rows import NEAR, NOT_RUN, SCRIPTED, UNREADABLE, Tables, collect
from scisolve_batch.report.statistics import CONFIDENCE, clusters_of, estimate
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


class Rate(Record):
    """A share of samples with its interval."""

    successes: int
    """Samples that succeeded."""
    trials: int
    """Samples that could have: those with a result."""
    problems: int
    """Problems they belong to."""
    effective: float
    """Independent samples that would say as much; less than `trials` when repeats agree."""
    rate: float | None
    """successes / trials; none when there are no trials."""
    low: float | None
    """Lower end of the 95 % interval (Wilson, on `effective`)."""
    high: float | None
    """Upper end of it."""
    planned: int
    """Samples that were planned to count here."""
    floor: float | None
    """The rate if every missing sample had failed."""
    ceiling: float | None
    """The rate if every missing sample had succeeded."""

    @property
    def coverage(self) -> float | None:
        """Share of the planned samples that have a result."""
        return self.trials / self.planned if self.planned else None


class Ledger(Record):
    """Where every planned sample went. The parts add up, or there is no ledger."""

    planned: int
    """Samples that were planned."""
    finished: int
    """An answer was reported."""
    unfinished: int
    """None was."""
    grounded: int
    """Finished, and every number is supported."""
    ungrounded: int
    """Finished, with numbers that nothing supports."""
    nothing_computed: int
    """Finished, though no cell succeeded."""
    unchecked: int = 0
    """Finished, without a check of its numbers in the record."""
    missing: int
    """Unfinished for no fault of the solver: the service, the machine, an interruption."""
    causes: dict[str, int]
    """The unfinished ones by cause."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        parts = self.grounded + self.ungrounded + self.nothing_computed + self.unchecked
        if self.planned != self.finished + self.unfinished:
            raise ValueError("planned = finished + unfinished does not hold")
        if self.finished != parts:
            raise ValueError("finished = grounded + ungrounded + nothing computed does not hold")
        if self.unfinished != sum(self.causes.values()):
            raise ValueError("unfinished = sum of its causes does not hold")
        if not 0 <= self.missing <= self.unfinished:
            raise ValueError("missing samples are unfinished ones")
        return self


class Crossed(Record):
    """Grounded against correct, over the finished samples that can be graded."""

    grounded_correct: int
    """Supported and right."""
    grounded_wrong: int
    """Supported and wrong: computed, but not the right thing."""
    ungrounded_correct: int
    """Right, though not everything is supported."""
    ungrounded_wrong: int
    """Neither."""
    correct_if_grounded: Rate
    """Share of the grounded answers that are right."""
    correct_if_ungrounded: Rate
    """Share of the other answers that are right."""


class LooseLiteral(Record):
    """A number that fails an answer."""

    problem_id: str
    """The problem."""
    sample: int
    """Its sample."""
    text: str
    """The number as the answer writes it."""
    where: str
    """`answer` or `values[NAME]`."""
    verdict: str
    """`ungrounded` or `overprecise`."""
    reason: str
    """Why, in one word."""
    nearest: str | None
    """Nearest printed number."""


class Slice(Record):
    """The rates of a part of the samples."""

    by: str
    """What the samples are grouped by: `domain`, `difficulty`, `tag`, `verification`."""
    key: str
    """The group."""
    planned: int
    """Samples planned in it."""
    grounded_rate: Rate
    """Share that is grounded."""
    correct_rate: Rate
    """Share that is correct."""
    verified_rate: Rate
    """Share with a valid check."""


class Summary(Record):
    """What a run came to: `summary.json`."""

    format: int = 1
    """Version of this record."""
    run_id: str
    """Name of the run."""
    created_at: str
    """UTC time of its start, ISO 8601."""
    suite: SuiteRef
    """The suite."""
    model: str
    """The model asked for."""
    scripted: bool
    """The suite's own solutions were run, not a model."""
    grounding: str
    """The grounding policy."""
    notes: tuple[str, ...] = ()
    """What a reader must know before believing any number."""
    problems: int
    """Planned problems."""
    samples: int
    """Most planned samples of one problem."""
    confidence: float = CONFIDENCE
    """Confidence of every interval."""
    ledger: Ledger
    """Where every planned sample went."""
    grounded_rate: Rate
    """Share of samples whose every number is supported."""
    correct_rate: Rate
    """Share of gradable samples that meet all certified values."""
    verified_rate: Rate
    """Share of samples that name a valid check."""
    crossed: Crossed
    """Grounded against correct."""
    verification_kinds: dict[str, int]
    """Valid checks of finished samples by kind; `invalid` and `none` for the others."""
    failing_literals: int
    """Numbers that fail their answers."""
    loose: tuple[LooseLiteral, ...]
    """The first of them."""
    cells: dict[str, int]
    """Cells by how they ended."""
    usage: Usage
    """Tokens of all samples; none where the service reported none."""
    turns: int
    """Replies of the model."""
    duration_s: float
    """Seconds of all samples together."""
    near_limits: dict[str, int]
    """Samples that used more than 80 % of a limit, by limit."""
    retried: int
    """Samples of which some part was tried more than once."""
    slices: tuple[Slice, ...] = ()
    """Rates by group."""

    @property
    def planned(self) -> int:
        """Samples that were planned."""
        return self.ledger.planned

    @property
    def finished(self) -> int:
        """Samples with an answer."""
        return self.ledger.finished

    @property
    def grounded(self) -> int:
        """Samples whose every number is supported."""
        return self.ledger.grounded


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


def summarize(run: RunDir) -> Summary:
    """Read a run directory and say what it came to. Loads no numpy and no pandas."""
    return summarize_rows(run.manifest, collect(run, texts=False))


def summarize_rows(manifest: Manifest, tables: Tables) -> Summary:
    """The summary of a run whose rows are already read."""
    rows = list(tables["solutions"])
    graded = {problem.id for problem in manifest.problems if problem.values}
    samples = Counter(planned.problem_id for planned in manifest.planned)
    limits = Counter(name for row in rows for name in row["near_limits"])
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
        grounded_rate=rate_of(rows, "grounded"),
        correct_rate=_correct_rate(rows, graded),
        verified_rate=rate_of(rows, "verified"),
        crossed=cross(rows),
        verification_kinds=_kinds(rows),
        failing_literals=sum(tables["literals"]["failing"]),
        loose=tuple(_loose(tables)),
        cells=dict(sorted(Counter(tables["cells"]["status"]).items())),
        usage=Usage(**{name: _total(rows, name) for name in Usage.model_fields}),
        turns=sum(row["turns"] for row in rows),
        duration_s=sum(row["duration_s"] or 0.0 for row in rows),
        near_limits=dict(sorted(limits.items())),
        retried=sum(row["retried"] for row in rows),
        slices=tuple(slices_of(rows, graded)),
    )


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
        yield f"{len(broken)} records cannot be read, first that of {broken[0]}"
    waiting = sum(row["cause"] == NOT_RUN for row in rows)
    if waiting:
        yield f"the run is not complete: {waiting} of {len(rows)} samples were not run"
    near = sum(bool(row["near_limits"]) for row in rows)
    if near:
        yield f"{near} samples used more than {NEAR:.0%} of a limit: on another machine they may end otherwise"


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


def _loose(tables: Tables) -> Iterable[LooseLiteral]:
    left = SHOWN_LITERALS
    for row in tables["literals"]:
        if row["failing"] and left:
            left -= 1
            yield LooseLiteral.model_validate(row)


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
