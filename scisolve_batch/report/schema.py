"""The tables of a report: every column with its type, unit and meaning, in one place.

Parquet metadata, the table of columns in reports/README.md and the checks all come from here.
A column may be added; removing or re-meaning one raises SCHEMA_VERSION.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SCHEMA_VERSION = 1
"""Version of the tables; stored with each of them."""

Kind = Literal["string", "int", "float", "bool", "time", "strings"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    """Its name."""
    kind: Kind
    """Type of its values; `strings` is a list of texts, `time` a UTC time."""
    about: str
    """What it says."""
    unit: str = ""
    """Unit of the values, empty for pure numbers and texts."""
    required: bool = False
    """Never missing."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a report."""

    name: str
    """Its name, and that of its file before `.parquet`."""
    about: str
    """What a row is."""
    columns: tuple[Column, ...]
    """Its columns, in order."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)


def _must(name: str, kind: Kind, about: str, unit: str = "") -> Column:
    return Column(name, kind, about, unit, required=True)


def _may(name: str, kind: Kind, about: str, unit: str = "") -> Column:
    return Column(name, kind, about, unit)


_RUN = _must("run_id", "string", "The run; joins all tables, also those of many reports")
_KEY = (
    _RUN,
    _must("problem_id", "string", "The problem"),
    _must("sample", "int", "Planned repeat of the problem, from 1"),
)
_TOKENS = (
    _may("input_tokens", "int", "Tokens read outside of any cache", "tokens"),
    _may("output_tokens", "int", "Tokens written", "tokens"),
    _may("cache_write_tokens", "int", "Tokens read and put into the service's cache", "tokens"),
    _may("cache_read_tokens", "int", "Tokens read from the service's cache", "tokens"),
)

RUNS = Table(
    "runs",
    "One row a run: what was set out to be done, and with what",
    (
        _RUN,
        _may("created_at", "time", "Start of the run"),
        _must("suite_id", "string", "Id of the suite"),
        _must("suite_version", "string", "Version the suite gives itself"),
        _must("suite_title", "string", "Title of the suite"),
        _must("suite_digest", "string", "Digest of the suite"),
        _must(
            "suite_pin", "string", "`pinned`, `unpinned` or `none`: equal to its lock file or not"
        ),
        _must("model", "string", "The model asked for; `scripted` for the suite's own solutions"),
        _must("scripted", "bool", "Scripted solutions: the run says nothing about any model"),
        _must("grounding", "string", "The grounding policy"),
        _must("seed", "int", "Seed of the run"),
        _must("jobs", "int", "Worker processes"),
        _must("problems", "int", "Planned problems"),
        _must("planned", "int", "Planned samples of all problems"),
        _must("max_turns", "int", "Replies a problem may use", "replies"),
        _must("max_output_tokens", "int", "Tokens one reply may have", "tokens"),
        _may("max_tokens", "int", "Tokens a problem may use; missing means no limit", "tokens"),
        _must("problem_limit_s", "float", "Time a problem may use", "s"),
        _must("cell_limit_s", "float", "Time a cell may use", "s"),
        _must("memory_mb", "int", "Memory a session may hold", "MiB"),
        _must("output_kb", "int", "Output of a cell that is kept", "KiB"),
        _must("platform", "string", "Operating system and processor"),
        _must("versions", "string", "Versions of Python and the libraries, a JSON object"),
        _must("isolation", "string", "What kept sessions apart from the machine, a JSON object"),
        _must("run_format", "int", "Format of the run directory"),
        _must("schema_version", "int", "Version of these tables"),
    ),
)

SOLUTIONS = Table(
    "solutions",
    "One row a planned sample of a problem, whether or not it was ever worked on",
    (
        *_KEY,
        _must("suite_id", "string", "Id of the suite"),
        _must("model", "string", "The model asked for"),
        _must("problem_digest", "string", "Digest of the problem's graded content"),
        _must("title", "string", "One line about the problem"),
        _must("domain", "string", "Field of scientific computing"),
        _may("difficulty", "int", "1 (textbook) to 5 (defaults give wrong digits)"),
        _must("tags", "strings", "The problem's labels"),
        _may("twin_of", "string", "The famous problem of which this is a variant"),
        _may("attempt", "int", "Attempt that gave this record; above 1 after a loss"),
        _may("seed", "int", "Seed of the session"),
        _may("started_at", "time", "Start of the work"),
        _must(
            "outcome",
            "string",
            "`grounded`, `ungrounded`, `nothing_computed`, `unchecked` (all finished) or `unfinished`",
        ),
        _must(
            "cause",
            "string",
            "Why the work ended: the stop reason, `not_run` without a record, `unreadable` for a broken one",
        ),
        _must(
            "missing",
            "bool",
            "Lost to the service, the machine or an interruption, not to the solver",
        ),
        _may("failure_kind", "string", "Closed word for what went wrong"),
        _may("failure_message", "string", "What went wrong, in words"),
        _must("finished", "bool", "An answer was reported"),
        _may(
            "grounded",
            "bool",
            "Every number of the answer is supported; missing when the result is",
        ),
        _may("verified", "bool", "The answer names a valid check; missing when the result is"),
        _may(
            "correct",
            "bool",
            "All certified values are met; missing when the result is, or nothing is certified",
        ),
        _may("fraction", "float", "Share of the certified values that are met"),
        _may(
            "worst_correct_digits",
            "float",
            "Smallest number of correct digits over the values",
            "digits",
        ),
        _must("traps", "strings", "Careless methods whose wrong values were reported"),
        _may("answer", "string", "The reported answer"),
        _may("verification_kind", "string", "Kind of check the answer names"),
        _may("verification_valid", "bool", "That check counts"),
        _may("verification_reason", "string", "Why it does not count"),
        _may("verification_weakness", "string", "Why it counts but shows little"),
        _may("verification_description", "string", "The solver's words about it"),
        _may("evidence_cell", "int", "Cell whose output is its evidence"),
        _must(
            "literals",
            "int",
            "Rows in `literals`: numbers of the answer and its values, and names like `x1`",
        ),
        _must("failing_literals", "int", "Those that are ungrounded or overprecise"),
        _must("failing_texts", "strings", "Those, as the answer writes them"),
        _may("expected_coincidences", "float", "Sum of the literals' chances to match by accident"),
        _must("refusals", "int", "Finishes that were refused"),
        _must("turns", "int", "Replies of the model", "replies"),
        _must("cells", "int", "Cells that ran", "cells"),
        _must("cells_ok", "int", "Cells that ended normally", "cells"),
        *_TOKENS,
        _must("total_tokens", "int", "All tokens, unreported ones counted as none", "tokens"),
        _may("cost_usd", "float", "What all replies cost; missing when some have no price", "US$"),
        _may("duration_s", "float", "Time of the whole problem", "s"),
        _may("model_s", "float", "Time of that spent asking the model", "s"),
        _may("wait_s", "float", "Time of that spent waiting to ask again", "s"),
        _may("cell_s", "float", "Time of that spent running cells", "s"),
        _must("retried", "bool", "The sample or one of its requests was tried more than once"),
        _must(
            "near_limits",
            "strings",
            "Limits of which more than 80 % was used: `turns`, `tokens`, `problem_s`, `cell_s`, `memory_mb`, `output_kb`",
        ),
        _may(
            "reproduced",
            "bool",
            "Every cell came out the same when the run was replayed; missing when it was not",
        ),
    ),
)

LITERALS = Table(
    "literals",
    "One row a number of an answer or of its reported values",
    (
        *_KEY,
        _must("literal", "int", "Position in the order of the text, from 1"),
        _must("text", "string", "The number as the answer writes it"),
        _must("where", "string", "`answer`, or `values[NAME]`"),
        _must("start", "int", "First character in `where`", "characters"),
        _must("end", "int", "One past the last character", "characters"),
        _may("value", "string", "The number as a plain decimal"),
        _must("verdict", "string", "Where the number comes from"),
        _must("failing", "bool", "The verdict fails the answer"),
        _must("reason", "string", "Why it is not grounded, in one word"),
        _must("relation", "string", "How it follows from the printed number"),
        _may("source", "string", "`cell` or `problem`"),
        _may("cell", "int", "Number of the supporting cell"),
        _may("line", "int", "Line of that cell's stdout, from 1"),
        _may("printed", "string", "The supporting number as it was printed"),
        _must("label", "string", "Words before the printed number"),
        _may("nearest", "string", "Nearest printed number when none supports it"),
        _may("chance", "float", "Probability that an invented number would have matched"),
        _must("warnings", "strings", "Doubts that do not fail the answer"),
        _must("context", "string", "The words around it in the answer"),
    ),
)

CELLS = Table(
    "cells",
    "One row a cell that a session ran",
    (
        *_KEY,
        _must("cell", "int", "Number of the cell, from 1"),
        _must("status", "string", "How it ended"),
        _must("ok", "bool", "It ended normally, so its stdout is evidence"),
        _must("state", "string", "What became of the session's variables"),
        _must("note", "string", "What happened, when it was no ordinary end"),
        _may("code", "string", "The code"),
        _may("stdout", "string", "What it printed"),
        _may("stderr", "string", "What it wrote to stderr"),
        _must("traceback", "string", "The traceback, empty without one"),
        _must("stack", "string", "Python stack at the moment of a kill"),
        _must("wall_s", "float", "Wall-clock time", "s"),
        _may("cpu_s", "float", "Processor time", "s"),
        _may("peak_memory_mb", "float", "Largest resident size so far", "MiB"),
        _must("stdout_dropped", "int", "Output thrown away", "bytes"),
        _must("stderr_dropped", "int", "Output to stderr thrown away", "bytes"),
        _must("alarms", "int", "How often the soft limit's alarm reached the cell"),
        _must("snapshot", "string", "`taken`, or why there is no undo point after it"),
        _may("threads", "int", "Python threads alive after it"),
        _must("integrity", "bool", "It did not try to answer for itself"),
        _must("figures", "strings", "File names of its figures"),
        _may(
            "replay",
            "string",
            "`reproduced`, `differs` or `not_run` when the run was replayed, missing when it was not",
        ),
        _may("replay_detail", "string", "What differs, why it was not run, or what was left out"),
    ),
)

VALUES = Table(
    "values",
    "One row a certified value of a sample, against what the answer said about it",
    (
        *_KEY,
        _must("domain", "string", "Field of scientific computing"),
        _must("name", "string", "Name of the value"),
        _must("certified", "string", "The certified value, with all its digits"),
        _may("reported", "string", "What the answer gave"),
        _may("unit", "string", "Unit of the certified value"),
        _must("verdict", "string", "`correct`, `wrong`, `missing`, `unreadable`"),
        _may("how", "string", "Where it was found: `structured`, `labelled`, `sole_number`"),
        _may("relative_error", "float", "|reported - certified| / |certified|"),
        _may(
            "correct_digits",
            "float",
            "-log10 of the relative error, capped at the certified digits",
            "digits",
        ),
        _may("claimed_digits", "int", "Significant digits the answer gave", "digits"),
        _may("certified_digits", "int", "Significant digits of the certified value", "digits"),
        _may("rtol", "float", "Largest accepted relative difference"),
        _may("atol", "float", "Largest accepted absolute difference, in the value's unit"),
        _must("exact", "bool", "Only the exact number is right"),
        _may("trap", "string", "The careless method that gives this wrong value"),
    ),
)

TURNS = Table(
    "turns",
    "One row a reply of the model",
    (
        *_KEY,
        _must("turn", "int", "Number of the reply, from 1"),
        _must("stop_reason", "string", "The service's word for why the reply ended"),
        _may("model", "string", "The model that answered"),
        *_TOKENS,
        _must("duration_s", "float", "From the request to the whole reply, waits included", "s"),
        _must("wait_s", "float", "Waiting before another attempt", "s"),
        _may("first_event_s", "float", "To the first event of the stream", "s"),
        _must("attempts", "int", "Requests this reply took"),
        _must("errors", "strings", "Kinds of the failed requests"),
        _may("request_id", "string", "The service's id of the request"),
        _may("cost_usd", "float", "What it cost; missing when it has no price", "US$"),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table for table in (RUNS, SOLUTIONS, LITERALS, CELLS, VALUES, TURNS)
}
"""Every table by name."""


def markdown() -> str:
    """The tables of columns as reports/README.md shows them."""
    parts = []
    for table in TABLES.values():
        parts.append(f"### `{table.name}.parquet`\n\n{table.about}.\n")
        parts.append("| column | type | unit | meaning |\n|---|---|---|---|")
        for column in table.columns:
            kind = column.kind if column.required else f"{column.kind}, may be missing"
            about = column.about.replace("|", "\\|")
            parts.append(f"| `{column.name}` | {kind} | {column.unit} | {about} |")
        parts.append("")
    return "\n".join(parts)
