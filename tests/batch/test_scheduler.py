"""The scheduler's promises, over many random histories and in single steps."""

import random

import pytest

from scisolve_batch.batch.scheduler import (
    MAX_FAILED_STARTS,
    Attempt,
    AttemptFinished,
    Dispatch,
    HeldUntil,
    KillWorker,
    Loss,
    RecordLoss,
    RetireWorker,
    Scheduler,
    StartWorker,
    StopRequested,
    Tick,
    WaitAnnounced,
    WidthChanged,
    WorkerLost,
    WorkerReady,
)


def attempts(count):
    return [Attempt(f"p{number}") for number in range(count)]


class World:
    """Plays a pool: holds workers, does what the scheduler says, and checks each order."""

    def __init__(self, seed, *, scheduler_class=Scheduler):
        self.rng = random.Random(seed)
        self.count = self.rng.randrange(0, 12)
        self.jobs = self.rng.randrange(1, 5)
        self.max_attempts = self.rng.randrange(1, 4)
        self.timeout = self.rng.choice([1.0, 5.0])
        self.scheduler = scheduler_class(
            attempts(self.count),
            jobs=self.jobs,
            timeout=self.timeout,
            max_attempts=self.max_attempts,
        )
        self.now = 0.0
        self.starting, self.idle, self.killed, self.retired = set(), set(), set(), set()
        self.running, self.since = {}, {}
        self.width, self.held_until = self.jobs, 0.0
        self.finished, self.lost, self.tries = [], [], {}
        self.stopped = False

    @property
    def live(self):
        return self.starting | self.idle | set(self.running)

    def do(self, actions):
        for action in actions:
            match action:
                case StartWorker(worker):
                    assert worker not in self.live, "numbers are never used twice"
                    assert not self.stopped, "a stopped run starts no worker"
                    self.starting.add(worker)
                    assert len(self.live) <= self.jobs
                case Dispatch(worker, attempt):
                    assert worker in self.idle, "only an idle worker gets a problem"
                    assert not self.stopped, "a stopped run starts no problem"
                    assert len(self.running) < self.width
                    assert self.now >= self.held_until
                    self.idle.discard(worker)
                    self.running[worker] = attempt
                    self.since[worker] = self.now
                    key = attempt.key
                    assert key not in self.finished, "a settled problem is not run again"
                    assert key not in [a.key for w, a in self.running.items() if w != worker]
                    assert attempt.attempt == self.tries.get(key, 0) + 1
                    assert attempt.attempt <= self.max_attempts
                    self.tries[key] = attempt.attempt
                case KillWorker(worker, loss):
                    assert worker in self.running
                    assert worker not in self.killed, "a worker is killed once"
                    if loss is Loss.TIMED_OUT:
                        assert self.now >= self.since[worker] + self.timeout
                    else:
                        assert self.stopped
                    self.killed.add(worker)
                case RetireWorker(worker):
                    assert worker in self.idle
                    self.idle.discard(worker)
                    self.retired.add(worker)
                case RecordLoss(attempt, loss, retry):
                    assert attempt in self.dying, "a loss is recorded for what was just lost"
                    if not retry:
                        self.finished.append(attempt.key)
                    assert not (retry and loss is not Loss.CRASHED)
                    self.lost.append(attempt)

    dying = ()

    def lose(self, worker):
        self.retired.discard(worker)
        self.starting.discard(worker)
        self.idle.discard(worker)
        self.dying = (self.running.pop(worker, None),)
        before = len(self.lost)
        self.do(self.scheduler.handle(WorkerLost(worker), self.now))
        if self.dying[0] is not None:
            assert len(self.lost) == before + 1, "every loss is recorded once"
        self.killed.discard(worker)

    def finish(self, worker, *, retryable=None, usable=None):
        attempt = self.running.pop(worker)
        retryable = self.rng.random() < 0.2 if retryable is None else retryable
        usable = self.rng.random() < 0.9 if usable is None else usable
        if not (retryable and self.scheduler.may_retry(attempt)):
            self.finished.append(attempt.key)
        self.idle.add(worker)
        self.killed.discard(worker)
        event = AttemptFinished(worker, retryable, usable)
        self.do(self.scheduler.handle(event, self.now))
        assert usable or worker not in self.idle, "a worker that is no use any more is let go"

    def step(self):
        self.now += self.rng.random()
        roll = self.rng.random()
        if roll < 0.03 and self.rng.random() < 0.3:
            self.stopped = True
            event = StopRequested(now=self.rng.random() < 0.5)
            return self.do(self.scheduler.handle(event, self.now))
        if roll < 0.06:
            self.width = self.rng.randrange(1, self.jobs + 1)
            return self.do(self.scheduler.handle(WidthChanged(self.width), self.now))
        if roll < 0.09:
            self.held_until = max(self.held_until, self.now + self.rng.random() * 3)
            return self.do(self.scheduler.handle(HeldUntil(self.held_until), self.now))
        if roll < 0.12 and self.running:
            worker = self.rng.choice(list(self.running))
            self.since[worker] += 0.5
            return self.do(self.scheduler.handle(WaitAnnounced(worker, 0.5), self.now))
        choices = [(self.ready, worker) for worker in self.starting]
        choices += [(self.finish, worker) for worker in self.running if worker not in self.killed]
        choices += [(self.lose, worker) for worker in self.killed]
        choices += [(self.lose, worker) for worker in self.retired]
        choices += [(self.lose, worker) for worker in self.live if self.rng.random() < 0.1]
        if not choices or self.rng.random() < 0.3:
            return self.do(self.scheduler.handle(Tick(), self.now))
        act, worker = self.rng.choice(choices)
        return act(worker)

    def ready(self, worker):
        self.starting.discard(worker)
        self.idle.add(worker)
        self.do(self.scheduler.handle(WorkerReady(worker), self.now))

    def play(self):
        self.do(self.scheduler.start())
        for _ in range(5_000):
            if self.scheduler.done:
                break
            self.step()
            self.check_deadlines()
        else:
            raise AssertionError("the run never ends")
        self.check_end()

    def check_deadlines(self):
        overdue = [
            worker
            for worker, since in self.since.items()
            if worker in self.running
            and worker not in self.killed
            and self.now > since + self.timeout
        ]
        if overdue:
            wake = self.scheduler.wake_time()
            assert wake is not None and wake <= self.now, "a deadline wakes the loop"

    def check_end(self):
        assert not self.live, "no worker is left"
        assert len(self.finished) == len(set(self.finished)), "nothing is counted twice"
        assert set(self.finished) == set(self.scheduler.settled)
        waiting = {attempt.key for attempt in self.scheduler.waiting}
        planned = {attempt.key for attempt in attempts(self.count)}
        assert set(self.finished) | waiting == planned, "nothing is lost"
        assert not set(self.finished) & waiting
        if not self.scheduler.stopping:
            assert set(self.finished) == planned, "without a stop everything is settled"


@pytest.mark.parametrize("block", range(4))
def test_no_history_loses_a_problem_or_counts_one_twice(block):
    for seed in range(block * 500, block * 500 + 500):
        World(seed).play()


@pytest.mark.slow
def test_no_history_of_twenty_thousand_breaks_a_promise():
    for seed in range(10_000, 30_000):
        World(seed).play()


def broken(name, body):
    """A scheduler with one deliberate mistake."""
    return type(f"Broken_{name}", (Scheduler,), body)


def _forget_settled(self, worker, *, retryable):
    self._running.pop(worker)
    self._idle.add(worker)


def _retry_for_ever(self, attempt):
    return not self._stopping


def _retry_the_timed_out(self, worker):
    actions = Scheduler._lose(self, worker)
    return [
        RecordLoss(a.attempt, a.loss, True) if isinstance(a, RecordLoss) else a for a in actions
    ]


def _kill_twice(self, loss, now=None):
    return [
        KillWorker(worker, loss)
        for worker, run in self._running.items()
        if now is None or now >= run.deadline
    ]


def _ignore_width(self, now):
    self._width = self.jobs
    return Scheduler._assign(self, now)


def _ignore_hold(self, now):
    self._held_until = 0.0
    return Scheduler._assign(self, now)


def _assign_while_stopping(self, now):
    stopping, self._stopping = self._stopping, False
    actions = Scheduler._assign(self, now)
    self._stopping = stopping
    return actions


def _never_retire(self, now):
    return [a for a in Scheduler._assign(self, now) if not isinstance(a, RetireWorker)]


def _start_too_many(self):
    actions = Scheduler._grow(self)
    if actions:
        number = self._next_worker
        self._workers.add(number)
        self._next_worker += 1
        actions.append(StartWorker(number))
    return actions


def _lose_without_record(self, worker):
    return [a for a in Scheduler._lose(self, worker) if not isinstance(a, RecordLoss)]


def _no_deadlines(self):
    return None


MUTANTS = {
    "forgets what is settled": broken("settled", {"_finish": _forget_settled}),
    "retries for ever": broken("retry", {"may_retry": _retry_for_ever}),
    "retries what timed out": broken("loss", {"_lose": _retry_the_timed_out}),
    "kills twice": broken("kill", {"_kill": _kill_twice}),
    "ignores the width": broken("width", {"_assign": _ignore_width}),
    "ignores a hold": broken("hold", {"_assign": _ignore_hold}),
    "assigns while stopping": broken("stop", {"_assign": _assign_while_stopping}),
    "never retires": broken("retire", {"_assign": _never_retire}),
    "starts too many": broken("grow", {"_grow": _start_too_many}),
    "drops the record of a loss": broken("record", {"_lose": _lose_without_record}),
    "sleeps through deadlines": broken("wake", {"wake_time": _no_deadlines}),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_random_histories_find_a_scheduler_that(name):
    def survives():
        for seed in range(600):
            World(seed, scheduler_class=MUTANTS[name]).play()

    with pytest.raises((AssertionError, KeyError)):
        survives()


def test_workers_that_die_at_their_start_end_the_run_instead_of_being_replaced_for_ever():
    scheduler = Scheduler(attempts(3), jobs=1, timeout=9.0)
    actions = scheduler.start()
    starts = 0
    while actions:
        (start,) = actions
        starts += 1
        actions = scheduler.handle(WorkerLost(start.worker), 0.0)
    assert starts == MAX_FAILED_STARTS
    assert scheduler.broken and scheduler.done
    assert len(scheduler.waiting) == 3


def test_workers_that_end_after_they_were_let_go_are_no_failed_starts():
    jobs = MAX_FAILED_STARTS + 2
    scheduler = Scheduler(attempts(jobs), jobs=jobs, timeout=9.0)
    for start in scheduler.start():
        scheduler.handle(WorkerReady(start.worker), 0.0)
    for worker in range(jobs - 1):
        assert scheduler.handle(AttemptFinished(worker), 1.0) == [RetireWorker(worker)]
        scheduler.handle(WorkerLost(worker), 1.0)
    assert not scheduler.broken and not scheduler.stopping
    scheduler.handle(AttemptFinished(jobs - 1), 2.0)
    assert scheduler.done and len(scheduler.settled) == jobs


def test_a_wait_for_the_service_moves_the_deadline():
    scheduler = Scheduler(attempts(1), jobs=1, timeout=10.0)
    scheduler.start()
    scheduler.handle(WorkerReady(0), 0.0)
    scheduler.handle(WaitAnnounced(0, 7.0), 5.0)
    assert scheduler.wake_time() == 17.0
    assert scheduler.handle(Tick(), 16.9) == []
    assert scheduler.handle(Tick(), 17.0) == [KillWorker(0, Loss.TIMED_OUT)]


def test_samples_of_one_problem_are_settled_apart():
    scheduler = Scheduler([Attempt("p", 1), Attempt("p", 2)], jobs=1, timeout=10.0)
    scheduler.start()
    scheduler.handle(WorkerReady(0), 0.0)
    scheduler.handle(AttemptFinished(0), 1.0)
    assert scheduler.settled == {("p", 1): 1}
    scheduler.handle(AttemptFinished(0), 2.0)
    assert scheduler.settled == {("p", 1): 1, ("p", 2): 1}
    assert scheduler.done
