"""Where a setting comes from, and what a wrong one says."""

import pytest

from scisolve_batch.errors import UsageError
from scisolve_batch.records import Limits
from scisolve_batch.settings import merge_settings


def test_a_flag_goes_before_the_environment_before_the_suite_before_the_default():
    suite = Limits(max_turns=7, cell_s=5.0, memory_mb=512)
    environ = {"SCISOLVE_BATCH_MAX_TURNS": "8", "SCISOLVE_BATCH_CELL_S": "6"}
    merged = merge_settings({"max_turns": 9, "cell_s": None}, environ=environ, limits=suite)
    assert merged.limits == Limits(max_turns=9, cell_s=6.0, memory_mb=512)


def test_the_environment_never_names_a_model():
    assert merge_settings({}, environ={"SCISOLVE_BATCH_MODEL": "anthropic:x"}).model == "scripted"


@pytest.mark.parametrize(
    ("flags", "environ", "message"),
    [
        ({"jobs": 0}, {}, r"--jobs: .*greater than or equal to 1 \(got 0\)"),
        ({"problem_s": -1.0}, {}, "--timeout: "),
        ({}, {"SCISOLVE_BATCH_SEED": "x"}, "SCISOLVE_BATCH_SEED: .*got 'x'"),
        ({}, {"SCISOLVE_BATCH_MEMORY_MB": "1"}, "SCISOLVE_BATCH_MEMORY_MB: "),
    ],
)
def test_a_value_that_does_not_fit_is_named_by_where_it_came_from(flags, environ, message):
    with pytest.raises(UsageError, match=message):
        merge_settings(flags, environ=environ)


@pytest.mark.parametrize(
    ("model", "scripted"),
    [("scripted", True), ("scripted:naive", True), ("scripted-x", False), ("claude", False)],
)
def test_only_scripted_models_cost_nothing(model, scripted):
    assert merge_settings({"model": model}, environ={}).scripted is scripted
