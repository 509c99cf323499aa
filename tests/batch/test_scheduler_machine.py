"""The scheduler under hypothesis: any order of events that a pool could bring, shrunk when it fails."""

import importlib.util
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from scisolve_batch.batch.scheduler import (
    HeldUntil,
    Scheduler,
    StopRequested,
    Tick,
    WaitAnnounced,
    WidthChanged,
)

SPEC = importlib.util.spec_from_file_location(
    "scheduler_histories", Path(__file__).with_name("test_scheduler.py")
)
histories = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(histories)


class Played(histories.World):
    """The pool of the random histories, played by somebody else."""

    def __init__(self, *, count, jobs, max_attempts, scheduler_class):
        super().__init__(0)
        self.rng = random.Random(0)
        self.count, self.jobs, self.max_attempts, self.timeout = count, jobs, max_attempts, 5.0
        self.width = jobs
        self.scheduler = scheduler_class(
            histories.attempts(count), jobs=jobs, timeout=5.0, max_attempts=max_attempts
        )
        self.do(self.scheduler.start())

    def tell(self, event):
        self.do(self.scheduler.handle(event, self.now))


class Machine(RuleBasedStateMachine):
    scheduler_class = Scheduler

    @initialize(count=st.integers(0, 8), jobs=st.integers(1, 4), max_attempts=st.integers(1, 3))
    def begin(self, count, jobs, max_attempts):
        self.world = Played(
            count=count, jobs=jobs, max_attempts=max_attempts, scheduler_class=self.scheduler_class
        )

    def pick(self, data, workers):
        return data.draw(st.sampled_from(sorted(workers)), "worker")

    @precondition(lambda self: self.world.starting)
    @rule(data=st.data())
    def a_worker_is_ready(self, data):
        self.world.ready(self.pick(data, self.world.starting))

    @precondition(lambda self: set(self.world.running) - self.world.killed)
    @rule(data=st.data(), retryable=st.booleans(), usable=st.booleans())
    def a_worker_finishes(self, data, retryable, usable):
        worker = self.pick(data, set(self.world.running) - self.world.killed)
        self.world.finish(worker, retryable=retryable, usable=usable)

    @precondition(lambda self: self.world.live | self.world.retired)
    @rule(data=st.data())
    def a_worker_dies(self, data):
        self.world.lose(self.pick(data, self.world.live | self.world.retired))

    @precondition(lambda self: self.world.running)
    @rule(data=st.data(), seconds=st.floats(0.0, 3.0))
    def a_problem_waits_for_the_service(self, data, seconds):
        worker = self.pick(data, self.world.running)
        self.world.since[worker] += seconds
        self.world.tell(WaitAnnounced(worker, seconds))

    @rule(seconds=st.floats(0.0, 6.0))
    def time_passes(self, seconds):
        self.world.now += seconds
        self.world.check_deadlines()
        self.world.tell(Tick())

    @rule(data=st.data())
    def the_service_bears_another_load(self, data):
        self.world.width = data.draw(st.integers(1, self.world.jobs), "width")
        self.world.tell(WidthChanged(self.world.width))

    @rule(seconds=st.floats(0.0, 3.0))
    def the_service_wants_a_pause(self, seconds):
        self.world.held_until = max(self.world.held_until, self.world.now + seconds)
        self.world.tell(HeldUntil(self.world.held_until))

    @rule(at_once=st.booleans())
    def the_run_is_stopped(self, at_once):
        self.world.stopped = True
        self.world.tell(StopRequested(now=at_once))

    @invariant()
    def nothing_is_lost_or_there_twice(self):
        if not hasattr(self, "world"):
            return
        world = self.world
        waiting = [attempt.key for attempt in world.scheduler.waiting]
        running = [attempt.key for attempt in world.running.values()]
        everywhere = sorted([*world.finished, *waiting, *running])
        assert everywhere == sorted(attempt.key for attempt in histories.attempts(world.count))
        assert set(world.finished) == set(world.scheduler.settled)
        assert world.scheduler.running == world.running
        if world.scheduler.done:
            world.check_end()


def play(machine, examples, *, phases=tuple(Phase)):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            phases=phases,
            stateful_step_count=40,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_no_order_of_events_breaks_a_promise():
    play(Machine, 40)


@pytest.mark.slow
def test_no_order_of_many_events_breaks_a_promise():
    play(Machine, 500)


@pytest.mark.parametrize(
    "name", ["forgets what is settled", "retries what timed out", "kills twice"]
)
def test_the_machine_finds_a_scheduler_that(name):
    mutant = type("Mutant", (Machine,), {"scheduler_class": histories.MUTANTS[name]})
    with pytest.raises((AssertionError, KeyError)):
        play(mutant, 300, phases=[Phase.generate])  # shrinking takes minutes and shows no more
