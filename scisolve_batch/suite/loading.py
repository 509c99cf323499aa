"""Reading a suite: its files, its problems as records, their digests, and the check of its lock.

Same content, same digest: the layout of the files, comments, traps, tags and limits are outside.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from scisolve_batch.documents import Document, Loc, kind_of, parse, read_document, suggest
from scisolve_batch.errors import SuiteError
from scisolve_batch.records import (
    CertifiedValue,
    DataFile,
    KnownWrong,
    Limits,
    Problem,
    ProblemLimits,
    SuiteRef,
)
from scisolve_batch.suite import lock
from scisolve_batch.suite.schema import (
    COMPARISONS,
    ProblemEntry,
    SuiteEntry,
    ValueEntry,
    significant_digits,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A computation that gives the certified values again, for the self-test."""

    path: str
    """Python file, read and run as it is."""
    expression: str
    """What is evaluated after it: a mapping of the values' names to numbers."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that was read and checked."""

    ref: SuiteRef
    """Which suite it is, and whether it equals its lock."""
    problems: tuple[Problem, ...]
    """The problems, in the order of the file."""
    limits: Limits
    """Limits of every problem that sets none of its own."""
    description: str = ""
    """What it measures, and what it does not."""
    license: str = ""
    """Licence of the problems that name none."""
    references: Mapping[str, Reference] = field(default_factory=dict)
    """Reference computations by the problem's id."""


def load_suite(path_or_name: str | Path, *, unpinned: bool = False) -> Suite:
    """Read a suite file, a single problem's file, or a bundled suite by its name.

    Args:
        path_or_name: a path, or a name like `core`.
        unpinned: accept a suite that differs from its lock; `ref.pin` says so.

    Raises:
        SuiteError: no such suite, a fault in one of its files, or it differs from its lock.
    """
    suite = read_suite(find_suite(path_or_name))
    pin = lock.compare(suite, unpinned=unpinned)
    ref = suite.ref.model_copy(update={"pin": pin})
    return replace(suite, ref=ref)


def bundled_names() -> list[str]:
    """Names of the suites that come with the package."""
    return sorted(file.stem for file in _bundled_folder().glob("*.yaml"))


def bundled_suite(name: str) -> Path | None:
    """File of a suite that comes with the package."""
    file = _bundled_folder() / f"{name}.yaml"
    return file if name in bundled_names() else None


def _bundled_folder() -> Path:
    package = Path(__file__).resolve().parents[1]
    shipped = package / "suites"
    # A wheel carries the suites inside the package; a working tree has them beside it.
    return shipped if shipped.is_dir() else package.parent / "suites"


def find_suite(path_or_name: str | Path) -> Path:
    """The file that a path or a bundled name means."""
    path = Path(path_or_name)
    if isinstance(path_or_name, str) and path.name == path_or_name and not path.suffix:
        found = bundled_suite(path_or_name)
        if found:
            return found
        if not path.is_file():
            names = bundled_names()
            raise SuiteError(
                f"no suite is named `{path_or_name}`{suggest(path_or_name, names)} "
                f"Bundled: {', '.join(names)}; or give the path of a suite file"
            )
    return path


# ---- files ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """A problem, still in its file's form."""

    entry: ProblemEntry
    document: Document
    at: Loc


def read_suite(file: Path) -> Suite:
    """Read a suite without looking at its lock."""
    document = read_document(file)
    if _is_problem(document.data):
        found = [_Found(parse(document, ProblemEntry), document, ())]
        header = SuiteEntry(id=found[0].entry.id, title=found[0].entry.title, problems=["-"])
    else:
        header = parse(document, SuiteEntry)
        found = list(_entries(document, header, (file.resolve(),)))
    found = list(_unique(found))
    problems = tuple(_problem(one, license_=header.license) for one in found)
    references = {one.entry.id: _reference(one) for one in found if one.entry.reference}
    limits = Limits(**header.limits.model_dump(exclude_none=True))
    ref = SuiteRef(
        id=header.id,
        version=header.version,
        title=header.title,
        digest=suite_digest(problems),
        path=str(file),
    )
    return Suite(ref, problems, limits, header.description, header.license, references)


def _is_problem(data: object) -> bool:
    return isinstance(data, dict) and "statement" in data and "problems" not in data


def _entries(document: Document, header: SuiteEntry, chain: tuple[Path, ...]) -> Iterator[_Found]:
    """Every problem of a suite file, those of the files it lists included."""
    seen: set[Path] = set()
    for number, item in enumerate(header.problems):
        at: Loc = ("problems", number)
        if isinstance(item, dict):
            yield _Found(parse(document, ProblemEntry, at=at), document, at)
        elif isinstance(item, str):
            for file in _files(document, item, at):
                if file.resolve() not in seen:  # globs may overlap
                    seen.add(file.resolve())
                    yield from _from_file(file, document, at, chain)
        else:
            raise document.error(
                f"must be a path or a problem (a mapping), not {kind_of(item)}", at
            )


def _files(document: Document, pattern: str, at: Loc) -> list[Path]:
    folder = document.file.parent
    if not any(mark in pattern for mark in "*?["):
        file = folder / pattern
        if not file.exists():
            siblings = file.parent.iterdir() if file.parent.is_dir() else ()
            near = suggest(file.name, (other.name for other in siblings))
            raise document.error(f"no such file: {file}{near}", at)
        return [file]
    try:
        files = sorted(folder.glob(pattern))
    except (NotImplementedError, ValueError) as error:
        raise document.error(f"`{pattern}`: {error}", at) from None
    if not files:
        raise document.error(f"`{pattern}` matches no file in {folder.resolve()}", at)
    return files


def _from_file(file: Path, parent: Document, at: Loc, chain: tuple[Path, ...]) -> Iterator[_Found]:
    if file.resolve() in chain:
        names = " -> ".join(one.name for one in (*chain, file))
        raise parent.error(f"the suite includes itself: {names}", at)
    document = read_document(file)
    if _is_problem(document.data):
        yield _Found(parse(document, ProblemEntry), document, ())
    elif isinstance(document.data, dict) and "problems" in document.data:
        header = parse(document, SuiteEntry)
        yield from _entries(document, header, (*chain, file.resolve()))
    else:
        raise SuiteError(
            f"must be a problem (a mapping with `statement`) or a suite (with `problems`), "
            f"not {kind_of(document.data)}{_keys(document.data)}",
            file=file,
        )


def _keys(data: object) -> str:
    return f" with the keys {', '.join(map(str, data))}" if isinstance(data, dict) and data else ""


def _unique(found: Iterable[_Found]) -> Iterator[_Found]:
    """Pass on each problem once; two with one id are a fault. Folder names ignore case."""
    first: dict[str, _Found] = {}
    for one in found:
        key = one.entry.id.casefold()
        if key in first:
            other = first[key]
            if (other.document.file.resolve(), other.at) == (one.document.file.resolve(), one.at):
                continue  # two included suites may share a problem
            where = f"{other.document.file}:{other.document.line((*other.at, 'id'))}"
            raise one.document.error(
                f"the id `{one.entry.id}` is taken by {where}", (*one.at, "id")
            )
        first[key] = one
        yield one


# ---- problems ------------------------------------------------------------------------


def _problem(found: _Found, *, license_: str) -> Problem:
    entry, document, at = found.entry, found.document, found.at
    names = [value.name for value in entry.values]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise document.error(
                f"the name `{name}` is given twice", (*at, "values", number, "name")
            )
    for number, wrong in enumerate(entry.known_wrong):
        for name in wrong.values:
            if name not in names:
                raise document.error(
                    f"no value is named `{name}`{suggest(name, names)}",
                    (*at, "known_wrong", number, "values", name),
                )
    problem = Problem(
        id=entry.id,
        statement=entry.statement.strip(),
        title=entry.title,
        domain=entry.domain,
        difficulty=entry.difficulty,
        tags=tuple(entry.tags),
        values=tuple(_certified(value) for value in entry.values),
        data=_data_files(found),
        expected_kinds=tuple(entry.expected_kinds),
        limits=ProblemLimits(**entry.limits.model_dump()),
        seed=entry.seed,
        traps=tuple(entry.traps),
        known_wrong=tuple(KnownWrong(**wrong.model_dump()) for wrong in entry.known_wrong),
        source=entry.source,
        verified_by=tuple(entry.verified_by),
        license=entry.license or license_,
        twin_of=entry.twin_of,
        solution=_script(found, "solution"),
        naive=_script(found, "naive"),
    )
    return problem.model_copy(update={"digest": problem_digest(problem)})


def _certified(entry: ValueEntry) -> CertifiedValue:
    rtol = entry.rtol
    if not entry.exact and rtol is None and entry.atol is None and entry.report_digits:
        rtol = float(f"1e{1 - entry.report_digits}")
    return CertifiedValue(
        name=entry.name,
        value=entry.value,
        unit=entry.unit,
        rtol=rtol,
        atol=entry.atol,
        exact=entry.exact,
        digits=entry.digits or significant_digits(entry.value),
        report_digits=entry.report_digits,
        any_order=entry.any_order,
        up_to_sign=entry.up_to_sign,
        up_to_phase=entry.up_to_phase,
        by_parts=entry.by_parts,
    )


def _data_files(found: _Found) -> tuple[DataFile, ...]:
    files: dict[str, DataFile] = {}
    for number, entry in enumerate(found.entry.data):
        at: Loc = (*found.at, "data", number, "file")
        path = found.document.file.parent / entry.file
        if not path.is_file():
            siblings = path.parent.iterdir() if path.parent.is_dir() else ()
            near = suggest(path.name, (other.name for other in siblings))
            raise found.document.error(f"no such data file: {path}{near}", at)
        if path.name in files:
            raise found.document.error(f"two data files are named `{path.name}`", at)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if entry.sha256 not in (None, digest):
            raise found.document.error(
                f"{path} is not the file that was pinned: its SHA-256 is {digest}. "
                "Restore it, or write the new digest here",
                (*found.at, "data", number, "sha256"),
            )
        files[path.name] = DataFile(file=path.name, path=str(path.resolve()), sha256=digest)
    return tuple(files.values())


def _script(found: _Found, key: str) -> str | None:
    named = getattr(found.entry, key)
    if named is None:
        return None
    path = found.document.file.parent / named
    if not path.is_file():
        raise found.document.error(f"no such script: {path}", (*found.at, key))
    return str(path.resolve())


def _reference(found: _Found) -> Reference:
    named, _, expression = (found.entry.reference or "").partition("::")
    path = found.document.file.parent / named.strip()
    if not path.is_file():
        raise found.document.error(f"no such file: {path}", (*found.at, "reference"))
    return Reference(str(path.resolve()), expression.strip())


# ---- digests -------------------------------------------------------------------------


def problem_digest(problem: Problem) -> str:
    """SHA-256 of a problem's graded content as canonical JSON.

    Inside: id, statement, values with unit and tolerances, names and digests of data, seed.
    Outside, so that a better wording there does not unpin results: everything else. A way of
    comparing that is not used is left out, so that a new one changes no digest.
    """
    content = {
        "id": problem.id,
        "statement": problem.statement,
        "values": [
            value.model_dump(include={"name", "value", "unit", "rtol", "atol", "exact"})
            | {way: True for way in COMPARISONS if getattr(value, way)}
            for value in problem.values
        ],
        "data": {file.file: file.sha256 for file in problem.data},
        "seed": problem.seed,
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def suite_digest(problems: Iterable[Problem]) -> str:
    """SHA-256 over the sorted lines `id:digest`; the order of problems does not count."""
    lines = sorted(f"{problem.id}:{problem.digest}\n" for problem in problems)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
