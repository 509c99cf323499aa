from pathlib import Path

import pytest

from scisolve_batch.suite import bundled_names, load_suite, provenance, write_provenance


@pytest.mark.parametrize("name", bundled_names())
def test_each_bundled_table_is_up_to_date(name):
    suite = load_suite(name)
    assert Path(suite.ref.path).with_suffix(".md").read_text() == provenance(suite)


def test_every_bundled_problem_says_where_it_comes_from():
    for problem in load_suite("all").problems:
        assert problem.source, problem.id
        assert problem.license, problem.id
        assert len(problem.verified_by) >= 2, problem.id


def test_a_table_counts_what_is_missing_and_escapes_bars(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(
        "id: s\nproblems:\n  - {id: a, statement: Say., source: 'a | b', difficulty: 2}\n"
    )
    text = write_provenance(file).read_text()
    assert "- 0 with a scripted solution, 1 without" in text
    assert "| a | other | 2 | a \\| b | - | - | none |" in text
