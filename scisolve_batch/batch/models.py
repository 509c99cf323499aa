"""Which model works on a problem, as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scisolve_batch.errors import ModelError
from scisolve_batch.model import Credentials, check_model, open_model, split_model
from scisolve_batch.model.base import Model
from scisolve_batch.model.scripted import ScriptedModel
from scisolve_batch.model.waves import Post, WaveModel
from scisolve_batch.records import SCRIPTED, Problem, Settings


@dataclass(frozen=True, slots=True)
class ModelOpener:
    """Makes models. It is handed to each worker, so it holds nothing that cannot be copied."""

    settings: Settings
    credentials: Credentials | None = None

    def __call__(
        self,
        problem: Problem,
        *,
        sample: int = 1,
        on_throttle: Callable[[ModelError], object] | None = None,
        hold_until: Callable[[], float] | None = None,
        post: Post | None = None,
    ) -> Model:
        """The model for one problem.

        Raises:
            ModelError: the suite has no such script for this problem.
            SuiteError: its script is wrong.
            UsageError: there is no such model.
        """
        if post is not None:
            _, name = split_model(self.settings.model)
            return WaveModel(name, post=post, effort=self.settings.effort)
        scheme, _, which = self.settings.model.partition(":")
        if scheme != SCRIPTED:
            return open_model(
                self.settings.model,
                credentials=self.credentials,
                problem=problem.id,
                sample=sample,
                record=self.settings.record,
                effort=self.settings.effort,
                on_throttle=on_throttle,
                hold_until=hold_until,
            )
        if which not in ("", "naive"):
            return ScriptedModel.from_file(Path(which), name=self.settings.model)
        script = problem.naive if which == "naive" else problem.solution
        if script is None:
            raise ModelError(
                f"{problem.id} has no scripted {'naive ' if which else ''}solution",
                kind="script_exhausted",
            )
        return ScriptedModel.from_file(Path(script), name=self.settings.model)


def make_opener(settings: Settings) -> ModelOpener:
    """The opener for what the settings name, with the credentials it needs.

    Raises:
        UsageError: the model is unknown, or there is no key for it.
    """
    credentials = check_model(settings.model, base_url=settings.base_url, record=settings.record)
    return ModelOpener(settings, credentials)
