"""What two runs of the same problems say about each other, as records."""

from __future__ import annotations

from scisolve_batch.records import Record


class Side(Record):
    """One of the two runs."""

    run_id: str
    """Name of the run."""
    model: str
    """The model asked for."""
    suite: str
    """Id and version of the suite."""
    suite_digest: str
    """Digest of the suite."""
    grounding: str
    """The grounding policy."""


class Difference(Record):
    """One measure, paired by problem; positive when the second run is higher."""

    measure: str
    """`grounded`, `correct` or `verified`."""
    by: str = ""
    """What the problems were grouped by; empty for all of them."""
    key: str = ""
    """The group."""
    problems: int
    """Problems with a result in both runs."""
    first: float | None
    """Mean over these problems in the first run."""
    second: float | None
    """Mean in the second."""
    difference: float | None
    """second - first."""
    low: float | None
    """Lower end of its 95 % interval."""
    high: float | None
    """Upper end of it."""
    p: float | None
    """Two-sided p of no difference."""
    adjusted_p: float | None
    """The same, adjusted for the number of groups (Holm)."""
    method: str
    """How interval and p were found."""
    table: tuple[int, int, int, int] | None
    """Problems that succeed in both, only in the first, only in the second, in neither; with one
    result each."""
    verdict: str
    """`better`, `worse`, `not distinguishable` or `no results`."""
    needed: int | None
    """Problems at which a difference of this size would show (power 0.8)."""

    @property
    def words(self) -> str:
        """The verdict, with what it would have taken."""
        if self.verdict == "not distinguishable" and self.needed is not None:
            return f"not distinguishable (would need about {self.needed:,} problems)"
        return self.verdict


class Ratio(Record):
    """What the runs used on the same problems."""

    quantity: str
    """`tokens`, `turns`, `time` or `cell time`."""
    unit: str
    """Its unit."""
    problems: int
    """Problems with a record in both runs."""
    first: float
    """Mean a sample in the first run."""
    second: float
    """Mean a sample in the second."""
    ratio: float | None
    """second / first."""
    low: float | None
    """Lower end of its 95 % interval (bootstrap over problems)."""
    high: float | None
    """Upper end of it."""


class Flip(Record):
    """A problem that came out otherwise."""

    problem_id: str
    """The problem."""
    measure: str
    """`grounded`, `correct` or `verified`."""
    first: float
    """Share of its results that succeeded in the first run."""
    second: float
    """Share in the second."""


class LiteralFlip(Record):
    """A number whose verdict is another one in the second run."""

    problem_id: str
    """The problem."""
    sample: int
    """Its sample."""
    where: str
    """`answer` or `values[NAME]`."""
    text: str
    """The number."""
    first: str | None
    """Its verdict in the first run; none when it does not stand there."""
    second: str | None
    """Its verdict in the second."""


class Comparison(Record):
    """Two runs, paired by problem."""

    first: Side
    """The run that is compared against."""
    second: Side
    """The run that is judged."""
    notes: tuple[str, ...]
    """What a reader must know before believing any number."""
    paired: int
    """Problems with the same digest in both."""
    changed: tuple[str, ...]
    """Problems of the same id whose graded content differs; left out."""
    added: tuple[str, ...]
    """Problems only in the second run."""
    dropped: tuple[str, ...]
    """Problems only in the first run."""
    lost: tuple[str, ...]
    """Paired problems that lack a result in one of the runs; left out."""
    overall: tuple[Difference, ...]
    """Each measure over all paired problems."""
    groups: tuple[Difference, ...]
    """Each measure by domain and difficulty."""
    used: tuple[Ratio, ...]
    """Tokens, turns and time."""
    flips: tuple[Flip, ...]
    """Problems that came out otherwise."""
    literals: tuple[LiteralFlip, ...]
    """Numbers whose verdict changed."""
