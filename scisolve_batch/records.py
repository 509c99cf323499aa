"""Every type that is written to disk, and the words they are written in.

Records are frozen; each field says what it means and in which unit. Reading ignores fields it
does not know, so an old version of this package reads what a newer one wrote.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

FORMAT = 1
"""Version of everything written into a run directory."""

GRADER = "numeric-v1"
"""Name of the rule by which reported values are compared with certified ones."""


class Record(BaseModel):
    """A frozen, typed piece of a run directory."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)


# ---- problems ------------------------------------------------------------------------


class VerificationKind(StrEnum):
    """The six ways an answer may have been checked."""

    ANALYTIC = "analytic"
    INDEPENDENT_METHOD = "independent_method"
    LIMITING_CASE = "limiting_case"
    INVARIANT = "invariant"
    CONVERGENCE = "convergence"
    DIMENSIONAL = "dimensional"


class CertifiedValue(Record):
    """One value that a problem asks for, with the answer it is graded against."""

    name: str
    """The name under which the solver reports it."""
    value: str
    """The certified value with all its certified digits: `1.5`, `1.5-2.5j`, or `[1.5, 2.5]`."""
    unit: str | None = None
    """Unit of the value, none for a pure number."""
    rtol: float | None = None
    """Largest accepted relative difference, of each entry."""
    atol: float | None = None
    """Largest accepted absolute difference of each entry, in the value's unit."""
    exact: bool = False
    """The value is an exact number and only that number is right."""
    digits: int | None = None
    """Significant digits that the certified value holds."""
    report_digits: int | None = None
    """Significant digits that the statement asks for."""
    any_order: bool = False
    """The entries are a set, like roots: the best assignment counts."""
    up_to_sign: bool = False
    """The value times -1 is as right, like an eigenvector."""
    up_to_phase: bool = False
    """The value times a complex number of modulus 1 is as right."""
    by_parts: bool = False
    """Real and imaginary part must each be within the tolerance, not only their distance."""

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of a list; of a single number, that number."""
        if self.value.startswith("["):
            return tuple(entry.strip() for entry in self.value[1:-1].split(","))
        return (self.value,)


class DataFile(Record):
    """A file that the solver finds in its working folder."""

    file: str
    """File name as the solver sees it."""
    path: str
    """Where it is read from on this machine; not part of any digest."""
    sha256: str
    """SHA-256 of its bytes."""


class KnownWrong(Record):
    """A wrong answer that a careless method gives, measured."""

    method: str
    """What a careless solver does."""
    values: dict[str, str]
    """The values it gets, by name, written like certified ones."""
    versions: str = ""
    """The library versions it was measured with."""


class ProblemLimits(Record):
    """Limits that a problem sets for itself; none means the run's own limit."""

    cell_s: float | None = None
    """Seconds that one cell may take."""
    problem_s: float | None = None
    """Seconds that the whole problem may take."""
    max_turns: int | None = None
    """Replies that the model may give."""
    memory_mb: int | None = None
    """Memory that the session may hold, in MiB."""


class Problem(Record):
    """One pinned question."""

    id: str
    """Unique within the suite; also the name of its folder in a run directory."""
    statement: str
    """What the solver reads, word for word."""
    title: str = ""
    """One line for tables."""
    domain: str = "other"
    """Field of scientific computing, like `ode` or `linear_algebra`."""
    difficulty: int | None = None
    """1 (textbook) to 5 (defaults give wrong digits)."""
    tags: tuple[str, ...] = ()
    """Free labels to select and group by."""
    values: tuple[CertifiedValue, ...] = ()
    """The values asked for; empty when there is nothing to grade."""
    data: tuple[DataFile, ...] = ()
    """Files placed in the session's working folder."""
    expected_kinds: tuple[VerificationKind, ...] = ()
    """Kinds of check that suit the problem; advice, never graded."""
    limits: ProblemLimits = ProblemLimits()
    """The problem's own limits."""
    seed: int | None = None
    """Seed of the session's random generators; none means derived from the run's seed."""
    traps: tuple[str, ...] = ()
    """What goes wrong with careless methods. Never shown to a solver."""
    known_wrong: tuple[KnownWrong, ...] = ()
    """Measured wrong answers, to name the trap that caught a solver."""
    source: str = ""
    """Where problem and values come from."""
    verified_by: tuple[str, ...] = ()
    """The independent computations that agree on the certified values."""
    license: str = ""
    """Licence of statement, values and data."""
    twin_of: str | None = None
    """The famous problem of which this is a variant, to tell solving from quoting."""
    solution: str | None = None
    """Path of the scripted solution."""
    naive: str | None = None
    """Path of the scripted careless solution."""
    digest: str = ""
    """SHA-256 of the graded content: id, statement, values with tolerances, data digests, seed."""


# ---- what a session did --------------------------------------------------------------


class CellStatus(StrEnum):
    """How a cell ended."""

    OK = "ok"
    ERROR = "error"  # raised an exception
    EXIT = "exit"  # called sys.exit
    MEMORY = "memory"  # raised MemoryError
    SOFT_TIMEOUT = "soft_timeout"  # ended by the alarm, state kept
    HARD_TIMEOUT = "hard_timeout"  # killed after the wall-clock ceiling
    CPU_LIMIT = "cpu_limit"  # killed after its processor time
    CRASH = "crash"  # its process ended: signal, os._exit, exec
    PROTOCOL = "protocol"  # its process broke the protocol and was killed
    RESOURCE_LIMIT = "resource_limit"  # killed: its processes, memory or files passed a limit


class SessionState(StrEnum):
    """What became of the session's variables after a cell."""

    KEPT = "kept"  # as the cell left them
    RESTORED = "restored"  # as they were before the cell
    REPLAYED = "replayed"  # rebuilt by running the successful cells again, same output
    REPLAY_DIFFERS = "replay_differs"  # rebuilt, but some cell printed something else
    LOST = "lost"  # gone


class Cell(Record):
    """One piece of code that a session ran, and everything that came of it."""

    index: int
    """Number of the cell in its session, from 1."""
    code: str = ""
    """The code, as the model sent it."""
    stdout: str = ""
    """What arrived on file descriptor 1, decoded; cut only between numbers, with a marker."""
    stderr: str = ""
    """What arrived on file descriptor 2, decoded, cut like stdout."""
    traceback: str = ""
    """The traceback from the cell's own first frame on; empty when none was raised."""
    status: CellStatus = CellStatus.OK
    """How the cell ended."""
    state: SessionState = SessionState.KEPT
    """What became of the session's variables."""
    note: str = ""
    """What happened in one sentence, when it was not an ordinary end."""
    wall_s: float = 0.0
    """Wall-clock time, in seconds."""
    cpu_s: float | None = None
    """Processor time of the session's process, in seconds."""
    peak_memory_mb: float | None = None
    """Largest resident size of the session's process so far, in MiB."""
    stdout_dropped: int = 0
    """Bytes of stdout that were counted and thrown away."""
    stderr_dropped: int = 0
    """Bytes of stderr that were counted and thrown away."""
    alarms: int = 0
    """How often the soft limit's alarm reached the cell."""
    stack: str = ""
    """Python stack at the moment of a kill."""
    snapshot: str = ""
    """`taken`, or why the undo point after this cell was skipped."""
    threads: int | None = None
    """Python threads alive after the cell."""
    integrity: bool = True
    """False when the cell tried to answer for itself over the session's socket."""
    figures: tuple[str, ...] = ()
    """File names of the figures saved after the cell, in the problem's figures folder."""

    @property
    def ok(self) -> bool:
        """The cell ended normally, so its stdout is evidence."""
        return self.status is CellStatus.OK and self.integrity


# ---- grounding -----------------------------------------------------------------------


class Verdict(StrEnum):
    """Where a number of an answer comes from."""

    GROUNDED = "grounded"  # printed by a successful cell, or given by the problem
    UNGROUNDED = "ungrounded"  # nothing printed supports it
    OVERPRECISE = "overprecise"  # more digits than were printed
    STRUCTURAL = "structural"  # a small integer, a section number, a list marker
    NOT_A_NUMBER = "not_a_number"  # an identifier, a date, a version
    UNKNOWN = "unknown"  # support depends on a re-run that did not reproduce


FAILING = frozenset({Verdict.UNGROUNDED, Verdict.OVERPRECISE})
"""Verdicts that make an answer ungrounded."""


class Literal(Record):
    """One number of an answer, and the printed number that supports it."""

    text: str
    """The number as the answer writes it."""
    where: str = "answer"
    """`answer`, or `values[NAME]` for a reported value."""
    start: int
    """First character, counted in `where`."""
    end: int
    """One past the last character."""
    value: str | None = None
    """The number as a plain decimal string."""
    verdict: Verdict
    """Where it comes from."""
    reason: str = ""
    """Why it is not grounded, in one word: `absent`, `truncated`, `derived`, `constant`, ..."""
    relation: str = ""
    """How it follows from the printed number: `exact`, `rounded`, `percent`, `prefix`, ..."""
    source: str | None = None
    """`cell` or `problem`, when a source number supports it or comes nearest."""
    cell: int | None = None
    """Number of the supporting cell."""
    line: int | None = None
    """Line of that cell's stdout, from 1."""
    printed: str | None = None
    """The supporting number as it was printed."""
    label: str = ""
    """The words that stand before the printed number."""
    nearest: str | None = None
    """The nearest printed number, when none supports the literal."""
    chance: float | None = None
    """Probability that an invented number with these digits would have matched."""
    warnings: tuple[str, ...] = ()
    """Doubts that do not fail the answer, like a name that does not fit."""


class GroundingVerdict(StrEnum):
    """Where an answer as a whole stands."""

    GROUNDED = "grounded"
    UNGROUNDED = "ungrounded"
    NOTHING_COMPUTED = "nothing_computed"  # no cell succeeded


class Grounding(Record):
    """The check of one answer: every number with its verdict."""

    policy: str
    """Name of the rule: `flat` or `decimal`."""
    verdict: GroundingVerdict
    """Where the answer stands."""
    literals: tuple[Literal, ...] = ()
    """Every number, in the order of the text."""

    @property
    def grounded(self) -> bool:
        """Every number is supported and something was computed."""
        return self.verdict is GroundingVerdict.GROUNDED

    @property
    def ungrounded(self) -> tuple[Literal, ...]:
        """The literals that fail the answer."""
        return tuple(item for item in self.literals if item.verdict in FAILING)


class Verification(Record):
    """The check that an answer says it ran."""

    kind: str
    """One of the six kinds, or what was given instead of one."""
    description: str = ""
    """The model's own words about the check."""
    evidence_cell: int | None = None
    """The cell whose output is the evidence."""
    valid: bool = False
    """The kind is one of the six, and the cell exists, succeeded and printed something."""
    reason: str = ""
    """Why it is not valid."""
    weakness: str = ""
    """Why it is valid but shows little: no number printed, a value against itself, invented words."""


# ---- answers -------------------------------------------------------------------------


class ReportedValue(Record):
    """A value reported under its name."""

    name: str
    """Name of the value."""
    value: str
    """The value as text, digit for digit as it was reported."""
    unit: str | None = None
    """Unit, when one was given."""


class ValueVerdict(StrEnum):
    """How a reported value compares with the certified one."""

    CORRECT = "correct"
    WRONG = "wrong"
    MISSING = "missing"
    UNREADABLE = "unreadable"


class ValueGrade(Record):
    """One certified value, and what the answer said about it."""

    name: str
    """Name of the value."""
    certified: str
    """The certified value."""
    reported: str | None = None
    """What the answer gave."""
    unit: str | None = None
    """Unit of the certified value."""
    verdict: ValueVerdict
    """How they compare."""
    how: str | None = None
    """Where it was found: `structured`, `labelled` or `sole_number`."""
    relative_error: float | None = None
    """|reported - certified| / |certified|, of the worst entry."""
    correct_digits: float | None = None
    """-log10 of the relative error, capped at the certified digits (NIST's LRE), worst entry."""
    claimed_digits: int | None = None
    """Significant digits the answer gave."""
    trap: str | None = None
    """The careless method that gives this wrong value."""
    note: str = ""
    """Why it could not be read or compared, when that is so."""


class Grade(Record):
    """An answer against all certified values of its problem."""

    correct: bool | None = None
    """All values are correct; none when the problem certifies nothing."""
    fraction: float | None = None
    """Share of the values that are correct."""
    values: tuple[ValueGrade, ...] = ()
    """Each value."""


class Usage(Record):
    """Tokens, as the service counts them. None means not reported."""

    input_tokens: int | None = None
    """Tokens read, outside of any cache."""
    output_tokens: int | None = None
    """Tokens written."""
    cache_write_tokens: int | None = None
    """Tokens read and put into the service's cache."""
    cache_read_tokens: int | None = None
    """Tokens read from the service's cache."""

    @property
    def total(self) -> int:
        """All tokens, counting unreported ones as none."""
        return sum(getattr(self, name) or 0 for name in type(self).model_fields)

    def __add__(self, other: Usage) -> Usage:
        """Sum field by field; unreported plus unreported stays unreported."""
        if other == _NO_USAGE:
            return self
        sums: dict[str, int | None] = {}
        for name in type(self).model_fields:
            mine, theirs = getattr(self, name), getattr(other, name)
            sums[name] = None if mine is None and theirs is None else (mine or 0) + (theirs or 0)
        return Usage(**sums)


_NO_USAGE = Usage()


class Turn(Record):
    """One reply of the model."""

    index: int
    """Number of the reply, from 1."""
    stop_reason: str
    """The service's own word for why the reply ended."""
    usage: Usage = Usage()
    """Tokens of this reply."""
    duration_s: float = 0.0
    """Seconds from the request to the whole reply, waits and retries included."""
    wait_s: float = 0.0
    """Seconds of that spent waiting before another attempt."""
    first_event_s: float | None = None
    """Seconds to the first event of the stream."""
    attempts: int = 1
    """Requests that this reply took."""
    errors: tuple[str, ...] = ()
    """Kinds of the failed attempts, in order."""
    model: str | None = None
    """The model that answered, in the service's words."""
    request_id: str | None = None
    """The service's id of the request."""
    batch: str | None = None
    """The service's id of the batch it was asked in, at half the price; none when asked by itself."""
    cost_usd: float | None = None
    """What the reply cost by the price table, in US dollars; none when it has no price."""


class StopReason(StrEnum):
    """Why the work on a problem ended."""

    FINISHED = "finished"  # finish_solution was accepted, or refused for the second time
    MAX_TURNS = "max_turns"  # the turns ran out
    NO_TOOL_CALLS = "no_tool_calls"  # two turns without a tool call
    STUCK = "stuck"  # the same call three times
    REFUSAL = "refusal"  # the model declined
    TRUNCATED = "truncated"  # replies cut by their own token limit
    CONTEXT = "context"  # the conversation no longer fits the model
    BUDGET = "budget"  # the problem's tokens or money ran out
    TIME_LIMIT = "time_limit"  # the problem's seconds ran out
    MODEL_ERROR = "model_error"  # the service failed for good
    SESSION_LOST = "session_lost"  # the executor or the worker was lost
    INTERRUPTED = "interrupted"  # the run was stopped


class Failure(Record):
    """What kept a problem from being finished, beyond its stop reason."""

    kind: str
    """A closed word: a model error's kind, `worker_lost`, `session`, `deadline`, `harness`."""
    message: str
    """What happened, in words."""


class Solution(Record):
    """Everything that is known about one attempt at one problem: `solution.json`."""

    format: int = FORMAT
    """Version of this record."""
    problem_id: str
    """The problem."""
    problem_digest: str = ""
    """Digest of the problem's graded content."""
    sample: int = 1
    """Planned repeat, from 1."""
    attempt: int = 1
    """Attempt at this sample, from 1; later ones follow a loss."""
    model: str
    """The model asked for; `scripted` for a suite's own solutions."""
    seed: int = 0
    """Seed of the session's random generators."""
    isolation: tuple[str, ...] = ()
    """Names of the isolation layers that were in force for its session."""
    started_at: str = ""
    """UTC time of the start, ISO 8601."""
    stop_reason: StopReason
    """Why the work ended."""
    failure: Failure | None = None
    """What went wrong, when something did."""
    answer: str | None = None
    """The reported answer."""
    values: tuple[ReportedValue, ...] = ()
    """The reported values."""
    verification: Verification | None = None
    """The check the answer names."""
    grounding: Grounding | None = None
    """The check of the answer's numbers; none without an answer."""
    grade: Grade = Grade()
    """The answer against the certified values."""
    refusals: tuple[str, ...] = ()
    """What was said about each refused finish, in order."""
    turns: tuple[Turn, ...] = ()
    """Each reply of the model."""
    cells: tuple[Cell, ...] = ()
    """Each cell. In `solution.json` without code and output, which are in `cells/`."""
    usage: Usage = Usage()
    """Tokens of all turns."""
    cost_usd: float | None = None
    """What all turns cost, in US dollars; none when some turn has no price."""
    duration_s: float = 0.0
    """Wall-clock seconds of the whole problem."""
    model_s: float = 0.0
    """Seconds of that spent asking the model, waits included."""
    wait_s: float = 0.0
    """Seconds of that spent waiting to ask again."""
    cell_s: float = 0.0
    """Seconds of that spent running cells."""

    @property
    def finished(self) -> bool:
        """The model reported an answer."""
        return self.stop_reason is StopReason.FINISHED

    @property
    def grounded(self) -> bool:
        """Every number of the answer is supported by what a successful cell printed."""
        return self.finished and self.grounding is not None and self.grounding.grounded

    @property
    def verified(self) -> bool:
        """The answer names a valid check."""
        return self.finished and self.verification is not None and self.verification.valid

    @property
    def correct(self) -> bool | None:
        """All certified values are met; none when there are none."""
        return self.grade.correct

    @property
    def ungrounded(self) -> tuple[str, ...]:
        """The text of each number that nothing supports."""
        return tuple(item.text for item in self.grounding.ungrounded) if self.grounding else ()

    @property
    def figures(self) -> tuple[str, ...]:
        """File names of all figures."""
        return tuple(name for cell in self.cells for name in cell.figures)


# ---- the run -------------------------------------------------------------------------


class Limits(Record):
    """What one problem may use."""

    max_turns: Annotated[int, Field(ge=1)] = 12
    """Replies of the model."""
    max_output_tokens: Annotated[int, Field(ge=1)] = 16_000
    """Tokens of one reply."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens of the whole problem, read and written; none means no limit."""
    problem_s: Annotated[float, Field(gt=0)] = 600.0
    """Seconds of the whole problem, without waits for the service."""
    cell_s: Annotated[float, Field(gt=0)] = 30.0
    """Seconds of one cell."""
    memory_mb: Annotated[int, Field(ge=64)] = 2048
    """Memory of a session, in MiB."""
    output_kb: Annotated[int, Field(ge=1)] = 64
    """Output of a cell that is kept, in KiB, for stdout and stderr each."""


SCRIPTED = "scripted"
"""The model that plays each problem's own solution."""


class Settings(Record):
    """Everything that decides how problems are run."""

    model: str = SCRIPTED
    """Who is asked: `scripted`, `scripted:naive`, or a live model like `anthropic:NAME`."""
    base_url: str | None = None
    """Where the live model's service is, when not at its usual place."""
    effort: str | None = None
    """How hard a live model thinks, in the service's words."""
    grounding: str = "decimal"
    """Policy that traces numbers to their source."""
    strict_names: bool = False
    """A number quoted under a wrong name fails the answer."""
    limits: Limits = Limits()
    """What a problem may use unless it says otherwise."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Seed of the run."""
    samples: Annotated[int, Field(ge=1)] = 1
    """Planned repeats of each problem."""
    max_attempts: Annotated[int, Field(ge=1)] = 1
    """Attempts at a sample that is lost to the machinery."""
    jobs: Annotated[int, Field(ge=1, le=512)] = 2
    """Worker processes."""
    max_usd: Annotated[float, Field(gt=0)] | None = None
    """US dollars that the whole run may spend; none means no limit."""
    max_problem_usd: Annotated[float, Field(gt=0)] | None = None
    """US dollars that one problem may spend; none means its share of what is left."""
    economy: bool = False
    """Ask in batches, at half the price and whenever the service finds time."""
    record: str | None = None
    """Folder for recordings of the conversations with the service."""
    preload: tuple[str, ...] | None = None
    """Modules that every session finds loaded; none means NumPy, SciPy and Matplotlib."""
    isolation_mode: str = "auto"
    """How sessions are kept apart from the machine: `auto`, `require` or `off`."""

    @property
    def scripted(self) -> bool:
        """No live model is asked."""
        return self.model == SCRIPTED or self.model.startswith(SCRIPTED + ":")


class PlannedProblem(Record):
    """A line of the plan."""

    problem_id: str
    """The problem."""
    sample: int = 1
    """Planned repeat, from 1."""
    digest: str
    """Digest of the problem's graded content."""


class SuiteRef(Record):
    """Which suite was run, and whether it was the pinned one."""

    id: str
    """Id of the suite."""
    version: str = ""
    """Version the suite gives itself."""
    title: str = ""
    """Its title."""
    digest: str
    """Digest of the suite."""
    path: str = ""
    """Where it was read from."""
    pin: str = "none"
    """`pinned` (equal to its lock), `unpinned` (differs, and was run all the same), `none`."""


class Manifest(Settings):
    """What a run set out to do, with every setting: `manifest.json`, written first."""

    format: int = FORMAT
    """Version of everything in the run directory."""
    run_id: str
    """Name of the run."""
    created_at: str
    """UTC time of the start, ISO 8601."""
    suite: SuiteRef
    """The suite."""
    planned: tuple[PlannedProblem, ...]
    """Every problem and sample that was planned."""
    problems: tuple[Problem, ...]
    """The problems themselves, so that a report needs nothing else."""
    versions: dict[str, str] = {}
    """Versions of Python and of the libraries that cells run with."""
    platform: str = ""
    """Operating system and processor."""
    isolation: dict[str, Any] = {}
    """What keeps a session apart from the rest of the machine."""
    changes: tuple[str, ...] = ()
    """What was changed when the run was continued, with the time of each change."""


class JournalEvent(StrEnum):
    """What a line of the journal tells."""

    STARTED = "started"  # a process began to work on the run
    DISPATCHED = "dispatched"  # a worker got a problem
    SETTLED = "settled"  # its solution.json is on disk and final
    LOST = "lost"  # an attempt ended without an answer and is tried again
    RATE = "rate"  # the service's load changed how many problems may run at once
    BATCH = "batch"  # the service has taken a batch of requests, under this id
    STOPPED = "stopped"  # the run ended


class JournalLine(Record):
    """A line of `journal.jsonl`."""

    event: JournalEvent
    """What happened."""
    at: str
    """UTC time, ISO 8601."""
    problem_id: str | None = None
    """The problem, when it is about one."""
    sample: int | None = None
    """Its sample."""
    attempt: int | None = None
    """Its attempt."""
    worker: int | None = None
    """Number of the worker."""
    detail: str = ""
    """Why, in words."""
    digest: str | None = None
    """SHA-256 over the problem's files when it was settled, or of the manifest at a start."""
    chain: str | None = None
    """SHA-256 over the line before's `chain` and this line: no line can be changed unnoticed."""


class RunningProblem(Record):
    """A problem that is being worked on."""

    problem_id: str
    """The problem."""
    sample: int
    """Its sample."""
    attempt: int
    """Its attempt."""
    worker: int
    """Number of the worker."""
    pid: int | None = None
    """Process id of the worker."""
    doing: str
    """What it waits for: `start`, `model`, `rate limit`, `batch`, `slot`, `cell 3`, `check`."""
    since: float
    """Since when, in seconds since 1970."""
    started: float
    """When the attempt began, in seconds since 1970."""


class RunStatus(Record):
    """What a run is doing right now: `status.json`, written over and over while it runs."""

    at: float
    """When this was written, in seconds since 1970."""
    pid: int
    """Process id of the run."""
    total: int
    """Samples that this part of the run set out to settle."""
    settled: int = 0
    """Samples of them that have their record."""
    waiting: int = 0
    """Samples of them that have not been started."""
    stopping: bool = False
    """Nothing new is started."""
    running: tuple[RunningProblem, ...] = ()
    """What is being worked on."""


# ---- a run, run again ----------------------------------------------------------------


class ReplayVerdict(StrEnum):
    """What became of a recorded cell that was run again."""

    REPRODUCED = "reproduced"  # it ended the same and printed the same numbers and words
    DIFFERS = "differs"  # it ended otherwise or printed something else
    NOT_RUN = "not_run"  # it could not be run again


class CellReplay(Record):
    """One recorded cell, run again."""

    cell: int
    """Number of the cell."""
    verdict: ReplayVerdict
    """What became of it."""
    detail: str = ""
    """The first line that differs, why it was not run, or what was left out of the comparison."""


class SampleReplay(Record):
    """The cells of one sample, run again in a fresh session."""

    problem_id: str
    """The problem."""
    sample: int = 1
    """Its sample."""
    record: str
    """SHA-256 of its `solution.json`; of another record these results say nothing."""
    cells: tuple[CellReplay, ...] = ()
    """Each cell."""


class Replay(Record):
    """What running a run's cells again came to: `replay.json`, written by `replay`."""

    format: int = FORMAT
    """Version of this record."""
    at: str
    """UTC time of the last replay, ISO 8601."""
    platform: str = ""
    """Operating system and processor it ran on."""
    versions: dict[str, str] = {}
    """Versions of Python and of the libraries that the cells ran with."""
    samples: tuple[SampleReplay, ...] = ()
    """Each sample that was run again, by its last replay."""
