"""Errors travel between processes whole."""

import copy
import pickle

import pytest

from scisolve_batch import errors
from scisolve_batch.errors import ModelError, ScisolveError, SuiteError

MADE = {
    ModelError: lambda: ModelError(
        "too busy", kind="overloaded", retryable=True, retry_after_s=2.5
    ),
    SuiteError: lambda: SuiteError("is no number", file="a.yaml", line=3, path="problems[0].id"),
}
CLASSES = [
    one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, ScisolveError)
]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("way", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy])
def test_an_error_arrives_as_it_was_sent(kind, way):
    error = MADE.get(kind, lambda: kind("what went wrong"))()
    arrived = way(error)
    assert type(arrived) is kind
    assert (str(arrived), vars(arrived)) == (str(error), vars(error))
