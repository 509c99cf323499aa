"""A model that is asked in batches: its requests go out by somebody else's hand.

`reply` blocks until that somebody brings the answer; how long is not charged to the problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from scisolve_batch.errors import UsageError
from scisolve_batch.model.base import NoReply, Reply, Request
from scisolve_batch.model.batches import batch_params
from scisolve_batch.model.wire import EFFORTS


@dataclass(frozen=True, slots=True)
class Letter:
    """A request on its way: the turn that it asks for, from 1, and its body."""

    turn: int
    params: dict[str, Any]


Response = Reply | NoReply
"""What comes back for a letter."""

Post = Callable[[Letter], Response]
"""Takes a letter and brings its answer."""


class WaveModel:
    """A model of the Messages API, asked in batches.

    Args:
        model_id: the service's name of the model.
        post: takes a request and brings its answer.
        effort: how much the model may think; None leaves it to the service.
        now: a clock that never goes back, in seconds.

    Raises:
        UsageError: the effort is unknown.
    """

    def __init__(
        self,
        model_id: str,
        *,
        post: Post,
        effort: str | None = None,
        now: Callable[[], float] = monotonic,
    ) -> None:
        if effort is not None and effort not in EFFORTS:
            raise UsageError(f"effort {effort!r} is unknown; choose one of {', '.join(EFFORTS)}")
        self.name = model_id
        self._post, self._effort, self._now = post, effort, now
        self._turns = 0

    def reply(self, request: Request) -> Reply:
        """Post the request and wait for its answer, for as long as that takes.

        Raises:
            NoReply: no whole reply could be had.
            ModelError: the request cannot be written as JSON.
        """
        params = batch_params(request, model=self.name, effort=self._effort)
        self._turns += 1
        asked = self._now()
        answer = self._post(Letter(self._turns, params))
        if isinstance(answer, NoReply):
            raise answer
        return replace(answer, wait_s=self._now() - asked)

    def close(self) -> None:
        """Nothing to let go of."""
