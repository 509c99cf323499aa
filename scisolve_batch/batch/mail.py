"""The requests of all running problems, gathered into waves: one batch a turn.

A wave goes out when every running problem waits for its next reply. Each batch is written down
before it is handed over and its results before they are used, so that a run that was killed goes
on with the answers it paid for: the loop asks the same again, and is answered from the folder.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from scisolve_batch.batch.courier import Absent, Courier, Delivery, Failed, News, Results, Taken
from scisolve_batch.batch.scheduler import Attempt
from scisolve_batch.batch.worker import utc_now
from scisolve_batch.errors import ModelError, ScisolveError
from scisolve_batch.files import write_whole
from scisolve_batch.model.base import NoReply, Reply
from scisolve_batch.model.batches import (
    UNSURE,
    custom_id,
    read_result,
    read_results,
    request_digest,
    split_wave,
)
from scisolve_batch.model.retry import RetryPolicy
from scisolve_batch.model.waves import Letter, Response
from scisolve_batch.records import JournalEvent, JournalLine
from scisolve_batch.rundir import RunDir

FOLDER = "batches"
Key = tuple[str, int, str]
"""What an answer belongs to: problem, sample, and the digest of what was asked."""


@dataclass(slots=True)
class _Waiting:
    attempt: Attempt
    letter: Letter
    key: Key
    asked: float
    announced: float
    errors: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        problem_id, sample, attempt = self.attempt
        return custom_id(problem_id, sample=sample, attempt=attempt, turn=self.letter.turn)


@dataclass(slots=True)
class Mail:
    """Gathers requests, and deals out their answers.

    Attributes:
        run: where everything is written down.
        courier: hands batches over and brings their results.
        say: tells the user.
        most_active: problems that may compute at a time; with more, their cells would be late.
        policy: how often a request is asked again that was not answered.
    """

    run: RunDir
    courier: Courier
    say: Callable[[str], None]
    most_active: int
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    waiting: dict[int, _Waiting] = field(default_factory=dict)
    _ready: deque[tuple[int, Response]] = field(default_factory=deque)
    _kept: dict[Key, list[Reply]] = field(default_factory=dict)
    _given: dict[Attempt, list[tuple[Key, Reply]]] = field(default_factory=dict)
    _out: dict[int, dict[str, Key]] = field(default_factory=dict)  # by batch number, custom id
    _ids: dict[int, str] = field(default_factory=dict)

    def recover(self) -> None:
        """Take up what an earlier part of the run asked: read it, or have it brought."""
        for line in self.run.journal():
            if line.event is JournalEvent.BATCH:
                first, _, identity = line.detail.partition(" ")
                self._ids[int(first)] = identity
        deliveries = []
        for path in sorted((self.run.path / FOLDER).glob("*.json")):
            content = json.loads(path.read_bytes())
            number = int(path.stem)
            asked = {
                item["custom_id"]: (item["problem_id"], item["sample"], item["digest"])
                for item in content["requests"]
                if not self._is_accounted(item)
            }
            results = path.with_suffix(".jsonl")
            if results.exists():
                self._keep(asked, self._ids.get(number, ""), results.read_bytes())
                continue
            self._out[number] = asked
            delivery = Delivery(
                number=number,
                since=datetime.fromisoformat(content["at"]),
                ids=tuple(item["custom_id"] for item in content["requests"]),
                batch=self._ids.get(number),
            )
            deliveries.append(delivery)
        if deliveries:
            known = tuple(self._ids.values())
            self.say(f"fetching {len(deliveries)} batches that were asked before")
            self.courier.send([replace(delivery, known=known) for delivery in deliveries])

    def _is_accounted(self, item: dict[str, Any]) -> bool:
        """A record holds this turn and its cost; another attempt asks anew."""
        folder = self.run.problem(item["problem_id"], item["sample"])
        aside = replace(
            folder, path=folder.path.with_name(f"{folder.path.name}.a{item['attempt']}")
        )
        for place in (folder, aside):
            solution = place.read_solution()
            if solution is not None and solution.attempt == item["attempt"]:
                return len(solution.turns) >= int(item["turn"])
        return False

    # -- what workers do --

    def asked(self, worker: int, attempt: Attempt, letter: Letter, *, now: float) -> None:
        """A problem waits for a reply."""
        key = (attempt.problem_id, attempt.sample, request_digest(letter.params))
        self.waiting[worker] = _Waiting(attempt, letter, key, now, now)

    def ended(self, worker: int, attempt: Attempt, *, recorded: bool) -> None:
        """An attempt is over; answers that no record accounts for serve the next one."""
        self.waiting.pop(worker, None)
        self._ready = deque(item for item in self._ready if item[0] != worker)
        for key, reply in self._given.pop(attempt, []):
            if not recorded:
                self._kept.setdefault(key, []).append(reply)

    def waits(self, now: float, *, least_s: float = 1.0) -> Iterator[tuple[int, float]]:
        """Each waiting worker with the seconds it waited since this was told last."""
        for worker, item in self.waiting.items():
            if now - item.announced >= least_s:
                yield worker, now - item.announced
                item.announced = now

    # -- what the run does --

    def step(self, running: Collection[int], *, complete: bool) -> list[tuple[int, Response]]:
        """Hear the courier, send a wave when it is time, and deal out answers.

        Args:
            running: workers that have a problem.
            complete: no further problem is about to be started.

        Returns:
            Who gets which answer now.

        Raises:
            ScisolveError: answers that were paid for cannot be had now.
        """
        for news in self.courier.news():
            self._hear(news)
        queued = {worker for worker, _ in self._ready}
        for worker, item in self.waiting.items():
            if worker not in queued and (replies := self._kept.get(item.key)):
                self._answer(worker, replies.pop(0))
        if complete and not self._out and not self._ready and self.waiting.keys() >= set(running):
            self._send_wave()
        dealt = []
        while self._ready and len(running) - len(self.waiting) < self.most_active:
            worker, answer = self._ready.popleft()
            self.waiting.pop(worker)
            dealt.append((worker, answer))
        return dealt

    def _answer(self, worker: int, answer: Reply | ModelError) -> None:
        item = self.waiting[worker]
        if isinstance(answer, ModelError):
            errors = item.errors
            no_reply = NoReply(answer, attempts=len(errors), errors=errors, wait_s=0.0)
            self._ready.append((worker, no_reply))
            return
        self._given.setdefault(item.attempt, []).append((item.key, answer))
        whole = replace(answer, attempts=len(item.errors) + 1, errors=item.errors)
        self._ready.append((worker, whole))

    def _send_wave(self) -> None:
        if not self.waiting:
            return
        entries = [(item, {"custom_id": item.id, "params": item.letter.params}) for item in self.waiting.values()]  # fmt: skip
        by_id = {item.id: item for item, _ in entries}
        deliveries = []
        for requests in split_wave([entry for _, entry in entries]):
            number = 1 + max((int(path.stem) for path in self._folder().glob("*.json")), default=0)
            at = datetime.now(UTC)
            items = [by_id[request["custom_id"]] for request in requests]
            content = {
                "at": at.isoformat(),
                "requests": [
                    {
                        "custom_id": item.id,
                        "problem_id": item.attempt.problem_id,
                        "sample": item.attempt.sample,
                        "attempt": item.attempt.attempt,
                        "turn": item.letter.turn,
                        "digest": item.key[2],
                    }
                    for item in items
                ],
            }
            path = self._folder() / f"{number:04d}.json"
            write_whole(path, json.dumps(content, indent=1).encode() + b"\n", durable=True)
            self._out[number] = {item.id: item.key for item in items}
            ids = tuple(self._out[number])
            known = tuple(self._ids.values())
            deliveries.append(
                Delivery(number=number, since=at, ids=ids, requests=requests, known=known)
            )  # fmt: skip
        self.courier.send(deliveries)

    def _hear(self, news: News) -> None:
        match news:
            case Taken(number, batch):
                if self._ids.get(number) != batch:
                    self._ids[number] = batch
                    self._log(number, batch)
                    self.say(f"batch {batch}: {len(self._out[number])} requests")
            case Results(number, batch, data):
                write_whole(self._folder() / f"{number:04d}.jsonl", data, durable=True)
                self._keep(self._out.pop(number), batch, data)
            case Absent(number):
                self._forget(number)
            case Failed(number, error, taken):
                self._hear_failure(number, error, taken=taken)

    def _hear_failure(self, number: int, error: ModelError, *, taken: bool) -> None:
        batch = self._ids.get(number)
        asked_now = {item.id for item in self.waiting.values()} & set(self._out[number])
        if taken and error.kind == "not_found" and not asked_now:
            self._forget(number)  # too old: its answers are gone
            return
        if batch is not None or not asked_now:
            raise ScisolveError(
                f"batch {batch or number} cannot be fetched: {error.what}. Resume the run later: "
                "the service keeps the answers for 29 days, and they are not asked for again"
            )
        asked = self._out.pop(number)
        if error.kind not in UNSURE:
            write_whole(self._folder() / f"{number:04d}.jsonl", b"", durable=True)
        for worker, item in self.waiting.items():
            if item.id in asked:
                item.errors += (error.kind,)
                self._answer(worker, error)

    def _forget(self, number: int) -> None:
        write_whole(self._folder() / f"{number:04d}.jsonl", b"", durable=True)
        self._out.pop(number)

    def _keep(self, asked: dict[str, Key], batch: str, data: bytes) -> None:
        """Sort the results of a batch: replies to be dealt out, failures to be asked again."""
        results = read_results(data)
        waiting = {item.id: worker for worker, item in self.waiting.items()}
        for name, key in asked.items():
            try:
                self._kept.setdefault(key, []).append(read_result(results.get(name), batch=batch))
            except ModelError as error:
                worker = waiting.get(name)
                if worker is None or self.waiting[worker].key != key:
                    continue
                item = self.waiting[worker]
                item.errors += (error.kind,)
                if not self.policy.goes_on(item.errors, error=error):
                    self._answer(worker, error)

    def _folder(self) -> Any:
        folder = self.run.path / FOLDER
        folder.mkdir(exist_ok=True)
        return folder

    def _log(self, number: int, batch: str) -> None:
        self.run.log(
            JournalLine(event=JournalEvent.BATCH, at=utc_now(), detail=f"{number:04d} {batch}")
        )
