"""What a suite file and a problem file may hold, key by key.

These models are the file's own form: unknown keys are refused and nothing is converted
silently. `loading` turns them into records. The JSON Schema for editors comes from them.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from scisolve_batch.records import VerificationKind

FORMAT: Final = 1
"""Version of the suite file's form."""

Kind = Annotated[VerificationKind, Field(strict=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_NAME = re.compile(r"[^\W\d]\w*")
_REAL = r"[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,6})?"
_NUMBER = re.compile(rf"[-+]?{_REAL}(?:[-+]{_REAL}j)?|[-+]?{_REAL}j")

_NO_NUMBER = re.compile(r"[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE)

COMPARISONS: Final = ("any_order", "up_to_sign", "up_to_phase", "by_parts")
"""Ways of comparing that a value may ask for."""
MAX_ENTRIES = 1000
"""Most entries of a list."""
MAX_UNORDERED = 100
"""Most entries of a list in any order: all assignments are considered."""


class Entry(BaseModel):
    """A mapping of a suite file."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )


def _check_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ValueError(
            f"`{text}` cannot be an id: it names a folder, so write letters, digits, "
            "`-` and `_` only, at most 80"
        )
    return text


def significant_digits(text: str) -> int:
    """Significant digits as written: `0.0120` has three; of several numbers, the fewest.

    A zero among other numbers does not count: it has a tolerance of its own.
    """
    counts = [
        len(re.split("[eE]", one)[0].replace(".", "").lstrip("0"))
        for one in re.findall(_REAL, text)
    ]
    return min((count for count in counts if count), default=1)


def list_as_text(given: Any) -> Any:
    """A certified value as text: `1.5`, `1.5-2.5j`, or for a YAML list `[1.5, 2.5]`.

    Raises:
        ValueError: a number is not quoted, so that its digits are lost already.
    """
    if isinstance(given, list):
        if not given:
            raise ValueError("is an empty list; give at least one number")
        for entry in given:
            if not isinstance(entry, str):
                raise ValueError(
                    "the numbers of a certified list are text, because a YAML number keeps only "
                    f'about 16 digits; put each in quotes: "{entry}"'
                )
        return f"[{', '.join(entry.strip() for entry in given)}]"
    if isinstance(given, int | float) and not isinstance(given, bool):
        raise ValueError(
            "a certified value is text, because a YAML number keeps only about 16 digits; "
            'put it in quotes: value: "{text}"'
        )
    return given


def split_entries(text: str) -> list[str]:
    """The entries of a list, or the one number."""
    return (
        [one.strip() for one in text[1:-1].split(",")] if text[:1] + text[-1:] == "[]" else [text]
    )


CertifiedText = Annotated[
    str,
    BeforeValidator(list_as_text),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        }
    ),
]


class ValueEntry(Entry):
    """A value that the problem asks for. Give `rtol`, `atol`, both, `exact` or `report_digits`."""

    name: str
    """Name under which the solver reports it; the statement should use it."""
    value: CertifiedText
    """All certified digits, quoted: a decimal, `1.5-2.5j`, or a list of those."""
    unit: str | None = None
    """Unit, like `m/s`; leave it out for a pure number."""
    rtol: Tolerance | None = None
    """Largest accepted difference, relative to the certified value."""
    atol: Tolerance | None = None
    """Largest accepted difference, in the value's unit."""
    exact: bool = False
    """Only this very number is right."""
    digits: Count | None = None
    """Significant digits that are certified; without it, as many as `value` has."""
    report_digits: Count | None = None
    """Significant digits that the statement asks for; alone it means rtol = 10^(1 - N)."""
    any_order: bool = False
    """The entries of the list may come in any order, like roots."""
    up_to_sign: bool = False
    """The value times -1 is as right, like an eigenvector."""
    up_to_phase: bool = False
    """The value times a complex number of modulus 1 is as right."""
    by_parts: bool = False
    """Real and imaginary part must each be within the tolerance, not only their distance."""

    @field_validator("name")
    @classmethod
    def _name_is_a_word(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"`{name}` cannot be a name: write letters, digits and `_`")
        return name

    @field_validator("value")
    @classmethod
    def _value_is_made_of_decimals(cls, value: str) -> str:
        for entry in split_entries(value):
            if not _NUMBER.fullmatch(entry):
                raise ValueError(f"`{entry}` is not a decimal like 0.5, -12 or 2.998e8")
        return value

    @model_validator(mode="after")
    def _tolerance_is_clear(self) -> Self:
        loose = [n for n in ("rtol", "atol") if getattr(self, n) is not None]
        if self.exact and loose:
            raise ValueError(f"is exact, so `{loose[0]}` means nothing; remove one of the two")
        if not self.exact and not loose and self.report_digits is None:
            raise ValueError("has no tolerance: give rtol, atol, exact: true or report_digits")
        if not self.exact and not self.atol and self._holds_a_zero():
            raise ValueError("is zero: only `atol` or `exact` can be met there")
        if not self.exact and loose and not self.rtol and not self.atol:
            raise ValueError("has a tolerance of zero; write exact: true when that is meant")
        return self

    def _holds_a_zero(self) -> bool:
        """Some number that is compared by itself is zero: of `0+1j`, a part only `by_parts`."""
        for entry in split_entries(self.value):
            parts = [not Decimal(part) for part in re.findall(_REAL, entry)]
            if all(parts) or (self.by_parts and any(parts)):
                return True
        return False

    @model_validator(mode="after")
    def _comparison_fits(self) -> Self:
        count = len(split_entries(self.value))
        if count > (most := MAX_UNORDERED if self.any_order else MAX_ENTRIES):
            raise ValueError(f"has {count} entries; at most {most} can be compared")
        if self.any_order and not self.value.startswith("["):
            raise ValueError("is one number, so `any_order` means nothing; write a list")
        if self.any_order and self.up_to_phase:
            raise ValueError("cannot be compared in any order and up to a phase together")
        if self.up_to_phase and self.exact:
            raise ValueError("is exact, so no phase can be turned away; give a tolerance")
        if self.up_to_phase and self.up_to_sign:
            raise ValueError("is up to a phase, and a sign is one; remove `up_to_sign`")
        if self.by_parts and "j" not in self.value:
            raise ValueError("is real, so `by_parts` means nothing; remove it")
        return self


class DataEntry(Entry):
    """A file that the solver finds in its working folder, under its last name."""

    file: str
    """Path, relative to the problem's own file."""
    sha256: str | None = None
    """SHA-256 of its bytes, to notice when it is changed."""

    @field_validator("sha256")
    @classmethod
    def _is_a_digest(cls, digest: str | None) -> str | None:
        if digest is not None and not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise ValueError(f"`{digest}` is no SHA-256: 64 digits 0-9, a-f")
        return digest


class KnownWrongEntry(Entry):
    """A wrong answer that a careless method gives, measured."""

    method: str
    """What a careless solver does."""
    values: dict[str, CertifiedText]
    """The values it gets, quoted, by name, written like certified ones."""
    versions: str = ""
    """Library versions it was measured with."""

    @field_validator("values")
    @classmethod
    def _values_are_decimals(cls, values: dict[str, str]) -> dict[str, str]:
        for name, text in values.items():
            for entry in split_entries(text):
                if not _NUMBER.fullmatch(entry) and not _NO_NUMBER.fullmatch(entry):
                    raise ValueError(f"{name}: `{entry}` is not a decimal")
        return values


class ProblemLimitsEntry(Entry):
    """Limits of this problem alone."""

    cell_s: Positive | None = None
    """Seconds that one cell may take."""
    problem_s: Positive | None = None
    """Seconds that the whole problem may take."""
    max_turns: Count | None = None
    """Replies that the model may give."""
    memory_mb: Annotated[int, Field(ge=64)] | None = None
    """Memory that the session may hold, in MiB."""


class ProblemEntry(Entry):
    """One pinned question."""

    id: str
    """Unique in the suite; names a folder: letters, digits, `-`, `_`."""
    statement: str
    """What the solver reads, word for word: the question, the digits wanted, the names."""
    title: str = ""
    """One line for tables."""
    domain: str = "other"
    """Field of scientific computing, like `ode` or `linear_algebra`."""
    difficulty: Annotated[int, Field(ge=1, le=5)] | None = None
    """1 (textbook) to 5 (defaults give wrong digits)."""
    tags: list[str] = []
    """Free labels to select and group by."""
    values: list[ValueEntry] = []
    """The values asked for; leave it out when there is nothing to grade."""
    data: list[DataEntry] = []
    """Files placed in the session's working folder."""
    expected_kinds: list[Kind] = []
    """Kinds of check that suit the problem; advice, never graded."""
    limits: ProblemLimitsEntry = ProblemLimitsEntry()
    """The problem's own limits."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    """Seed of the session's random generators."""
    traps: list[str] = []
    """What goes wrong with careless methods. Never shown to a solver."""
    known_wrong: list[KnownWrongEntry] = []
    """Measured wrong answers, to name the trap that caught a solver."""
    source: str = ""
    """Where problem and values come from."""
    verified_by: list[str] = []
    """The independent computations that agree on the certified values."""
    license: str = ""
    """Licence of statement, values and data."""
    twin_of: str | None = None
    """Id of the famous problem of which this is a variant."""
    solution: str | None = None
    """Scripted solution, a path relative to the problem's own file."""
    naive: str | None = None
    """Scripted careless solution, a path relative to the problem's own file."""
    reference: str | None = None
    """Recomputes the certified values: `file.py::expression`, a mapping of names to numbers."""

    @field_validator("id")
    @classmethod
    def _id_names_a_folder(cls, text: str) -> str:
        return _check_id(text)

    @field_validator("reference")
    @classmethod
    def _reference_names_an_expression(cls, text: str | None) -> str | None:
        if text is not None and not all(part.strip() for part in (text + "::").split("::")[:2]):
            raise ValueError(f"`{text}` is no reference: write `file.py::expression`")
        return text

    @field_validator("statement")
    @classmethod
    def _statement_says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("is empty; write the question")
        return text


class LimitsEntry(Entry):
    """Limits of every problem that sets none of its own."""

    max_turns: Count | None = None
    """Replies of the model."""
    max_output_tokens: Count | None = None
    """Tokens of one reply."""
    max_tokens: Count | None = None
    """Tokens of the whole problem."""
    problem_s: Positive | None = None
    """Seconds of the whole problem."""
    cell_s: Positive | None = None
    """Seconds of one cell."""
    memory_mb: Annotated[int, Field(ge=64)] | None = None
    """Memory of a session, in MiB."""
    output_kb: Count | None = None
    """Output of a cell that is kept, in KiB."""


Listed = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/ProblemEntry"}]})
]
"""A path or glob of problem or suite files, or a problem written in place."""


class SuiteEntry(Entry):
    """A suite: a header, limits, and problems written here or listed by file."""

    format: Literal[1] = FORMAT
    """Version of this form: 1."""
    id: str
    """Short name of the suite."""
    version: str = ""
    """Version the suite gives itself, quoted."""
    title: str = ""
    """One line about it."""
    description: str = ""
    """What it measures, and what it does not."""
    license: str = ""
    """Licence of the problems that name none."""
    limits: LimitsEntry = LimitsEntry()
    """What each problem may use, unless it says otherwise itself."""
    problems: Annotated[list[Listed], Field(min_length=1)]
    """Problems: a path or glob of problem files relative to this file, or a problem itself."""

    @field_validator("id")
    @classmethod
    def _id_names_a_folder(cls, text: str) -> str:
        return _check_id(text)
