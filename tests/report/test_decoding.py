"""Records read fast say the same as validated ones, for every outcome and every kind of damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from everything import every_outcome
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.records import Solution
from scisolve_batch.report import decoding, results, rows
from scisolve_batch.report.decoding import decode_solution, shaped, validate_solution
from scisolve_batch.report.rows import collect
from scisolve_batch.report.schema import TABLES
from scisolve_batch.report.tables import arrow_table
from scisolve_batch.rundir import RunDir

MakeRun = Callable[..., Path]

RECORDS = [json.loads(each.model_dump_json()) for each in every_outcome().solutions]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a record."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # fmt: skip
    return found + [place for key, item in items for place in places(item, (*path, key))]


def put(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(record))
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return copy


PLACES = [(number, path) for number, record in enumerate(RECORDS) for path in places(record)]
STRANGE = [
    None, True, 0, -1, 1.0, 1.5, 2**63, -(2**63) - 1, 10**30, float("inf"), float("nan"), "", "1",
    "Infinity", "ok", "later_word", [], [None], ["a", 1], {}, {"index": 1}, "\ud800", "\u0000é",
]  # fmt: skip


@given(where=st.sampled_from(PLACES), value=st.sampled_from(STRANGE))
def test_whatever_stands_anywhere_both_readers_agree(
    where: tuple[int, tuple[Any, ...]], value: Any
) -> None:
    number, path = where
    data = json.dumps(put(RECORDS[number], path, value)).encode()
    fast, trouble = decode_solution(data)
    valid, why = validate_solution(data)
    if fast is None:
        assert trouble.startswith("not a solution record: ")
        assert (
            trouble == why or "9223372036854775807" in trouble or "-9223372036854775808" in trouble
        )
    else:
        assert valid is not None
        assert repr(fast) == repr(shaped(valid))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"a":' * 100_000,
        b'{"later": "\xff"}',
        b"\xef\xbb\xbf{}",
    ],
)
def test_what_is_no_record_is_told_in_the_words_of_the_validating_reader(data: bytes) -> None:
    assert decode_solution(data) == validate_solution(data)
    assert decode_solution(data)[0] is None


def test_every_field_of_every_record_is_read() -> None:
    full = every_outcome().solutions[0]
    kinds = {type(item) for item in walk(full)}
    for kind in kinds:
        names = decoding._shape(kind).__struct_fields__
        assert set(names) == set(kind.model_fields), kind


def walk(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [found for item in value for found in walk(item)]
    if not hasattr(type(value), "model_fields"):
        return []
    return [value] + [
        found for name in type(value).model_fields for found in walk(getattr(value, name))
    ]


def test_the_tables_are_the_same_as_from_validated_records(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = every_outcome()
    path = make_run(known.solutions, problems=known.problems)
    (path / "problems/half-written/solution.json").write_text('{"problem_id": "half-wr')
    run = RunDir.read(path)
    fast = collect(run)

    def slow(data: bytes) -> tuple[Solution | None, str]:
        solution, trouble = validate_solution(data)
        return (None, trouble) if solution is None else (shaped(solution), "")

    monkeypatch.setattr(results, "decode_solution", slow)
    validated = collect(run)
    for name in TABLES:
        assert len(fast[name])
        assert arrow_table(name, fast[name]).equals(arrow_table(name, validated[name])), name
    causes = set(fast["solutions"]["cause"])
    assert {"not_run", "unreadable", "finished", "max_turns", "model_error"} <= causes


@pytest.mark.parametrize("part", [{}, {"PART_SAMPLES": 3}, {"PART_BYTES": 1}])
@pytest.mark.parametrize("batch", [{"BATCH_SAMPLES": 2}, {"BATCH_BYTES": 1}])
def test_batches_and_parts_join_to_the_same_tables(
    make_run: MakeRun,
    monkeypatch: pytest.MonkeyPatch,
    batch: dict[str, int],
    part: dict[str, int],
) -> None:
    known = every_outcome()
    run = RunDir.read(make_run(known.solutions, problems=known.problems))
    whole = collect(run)
    assert len(list(rows.collect_parts(run))) == 1
    for module, values in ((results, batch), (rows, part)):
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    assert len(list(results.read_batches(run, texts=True))) >= len(run.manifest.planned) // 2
    assert len(list(rows.collect_parts(run))) >= (len(run.manifest.planned) // 4 if part else 1)
    joined = collect(run)
    for table in TABLES:
        assert joined[table].columns == whole[table].columns
