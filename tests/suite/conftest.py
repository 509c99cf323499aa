"""What runs a script for real: the executor and the agent, without a batch around them."""

import shutil

import pytest

from scisolve_batch.agent.loop import solve
from scisolve_batch.executor import ExecutionLimits, SessionSpec, Template
from scisolve_batch.model.scripted import ScriptedModel


@pytest.fixture(scope="session")
def sessions():
    with Template.start() as template, template.connect() as source:
        yield source


@pytest.fixture(scope="session")
def run_script(sessions, tmp_path_factory):
    def run(problem, script, seed):
        folder = tmp_path_factory.mktemp("problem")
        workdir, figures = folder / "work", folder / "figures"
        workdir.mkdir()
        figures.mkdir()
        for file in problem.data:
            shutil.copyfile(file.path, workdir / file.file)
        limits = ExecutionLimits(cell_s=60)
        spec = SessionSpec(workdir=workdir, figures=figures, seed=seed, limits=limits)
        session = sessions.open(spec)
        try:
            return solve(problem, model=ScriptedModel.from_file(script), session=session)
        finally:
            session.close()

    return run
