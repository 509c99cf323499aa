"""One template for a run, and another one when it is gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from scisolve_batch.errors import SessionError
from scisolve_batch.executor import Template, TemplateOptions
from scisolve_batch.executor.base import SessionSource
from scisolve_batch.records import Settings

MAX_RESTARTS = 5
"""Templates that may be lost in one run; more than that is no accident."""


def template_options(settings: Settings) -> TemplateOptions:
    """How the template of a run is started."""
    return TemplateOptions(isolation=settings.isolation_mode, preload=settings.preload)


@dataclass(slots=True)
class TemplateKeeper:
    """Hands out sources of sessions from a template that lives.

    Attributes:
        options: how templates are started.
        restarts: templates that were lost so far.
    """

    options: TemplateOptions
    restarts: int = 0
    template: Template = field(init=False)

    def __post_init__(self) -> None:
        self.template = Template.start(self.options)

    def connect(self) -> SessionSource:
        """A source of sessions for a new worker.

        Raises:
            SessionError: template after template is lost, or none can be started.
        """
        try:
            return self.template.connect()
        except SessionError:
            self.restarts += 1
            if self.restarts > MAX_RESTARTS:
                raise
            self.template.close()
            self.template = Template.start(self.options)
            return self.template.connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.template.close()
