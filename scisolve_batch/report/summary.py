"""The summary of a run: the ledger first, then rates with intervals, then what went wrong.

Every rate is the mean of a column of the tables. No number of planned samples is ever lost
from sight: a summary whose parts do not add up cannot be made.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from scisolve_batch.records import Record, SuiteRef, Usage
from scisolve_batch.report.statistics import CONFIDENCE


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


class RateChange(Record):
    """A change of how many problems might run at once, for the service's sake."""

    at: str
    """UTC time, ISO 8601."""
    what: str
    """How many from then on, and why."""


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


class Repeats(Record):
    """What repeats of the same problem say about one measure."""

    measure: str
    """`grounded` or `correct`."""
    problems: int
    """Problems with more than one result."""
    any_of: dict[int, float]
    """pass@k: probability that one of k repeats succeeds at least; mean over problems."""
    all_of: dict[int, float]
    """pass^k: probability that all of k repeats succeed; mean over problems."""
    within: float | None
    """Variance of success within a problem; when it is large, more repeats help."""
    between: float | None
    """Variance of success between problems; when it is large, more problems help."""
    flaky: tuple[str, ...]
    """Problems that succeed sometimes, but not always."""


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
    weak_checks: int = 0
    """Valid checks that show little, like a value against itself."""
    failing_literals: int
    """Numbers that fail their answers."""
    undecided_literals: int = 0
    """Numbers of which a re-run could not tell whether they were copied; they neither pass nor fail."""
    loose: tuple[LooseLiteral, ...]
    """The first of them."""
    cells: dict[str, int]
    """Cells by how they ended."""
    replay: dict[str, int] = Field(default_factory=dict)
    """Cells by what became of them when the run was replayed; empty when it was not."""
    usage: Usage
    """Tokens of all samples; none where the service reported none."""
    cost_usd: float | None = None
    """US dollars of the samples that have a price; none when none has."""
    turns: int
    """Replies of the model."""
    duration_s: float
    """Seconds of all samples together."""
    rate_changes: tuple[RateChange, ...] = ()
    """What the service bore: each change of the problems that might run at once, in order."""
    near_limits: dict[str, int]
    """Samples that used more than 80 % of a limit, by limit."""
    retried: int
    """Samples of which some part was tried more than once."""
    digits: dict[str, int]
    """Graded values by whole correct digits, and `missing` or `unreadable` for the others."""
    slices: tuple[Slice, ...] = ()
    """Rates by group."""
    repeats: tuple[Repeats, ...] = ()
    """What repeats say; empty when no problem has two results."""
    smallest_difference: float | None = None
    """Smallest difference of the grounded rate that a second run like this would show
    (power 0.8, paired outcomes with correlation 0.5)."""

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
