"""One template for all tests of a process; sessions with limits short enough to wait for."""

import itertools
from contextlib import ExitStack
from pathlib import Path

import pytest

from scisolve_batch.executor import ExecutionLimits, SessionSpec, Template, TemplateOptions

LIMITS = ExecutionLimits(cell_s=0.4, wall_s=1.5, grace_s=0.3, memory_mb=1024, replay_s=20)


@pytest.fixture(scope="session")
def limits():
    """Limits of a session, for tests that change one of them."""
    return LIMITS


@pytest.fixture(scope="session")
def template():
    """Everything in force that works here."""
    with Template.start(TemplateOptions(cpu_slots=0)) as started:
        yield started


@pytest.fixture(scope="session")
def source(template):
    with template.connect() as connection:
        yield connection


class Opener:
    """Opens sessions in fresh folders and closes them when the test is over."""

    def __init__(self, source, folder: Path, stack: ExitStack) -> None:
        self.source, self.folder, self.stack = source, folder, stack
        self.count = itertools.count(1)

    def __call__(self, *, limits=LIMITS, seed=0, source=None):
        base = self.folder / f"s{next(self.count)}"
        workdir, figures = base / "work", base / "figures"
        workdir.mkdir(parents=True)
        figures.mkdir()
        spec = SessionSpec(workdir=workdir, figures=figures, seed=seed, limits=limits)
        return self.stack.enter_context((source or self.source).open(spec))


@pytest.fixture
def open_session(source, tmp_path):
    with ExitStack() as stack:
        yield Opener(source, tmp_path, stack)


@pytest.fixture
def session(open_session):
    return open_session()
