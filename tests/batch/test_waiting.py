"""A cell that has to wait for a processor says so, and goes back to what it was doing."""

from contextlib import ExitStack

from scisolve_batch.executor.slots import Slots


def test_a_wait_for_a_slot_is_heard_once_and_its_end_too(tmp_path):
    slots, other = Slots(tmp_path, count=1), Slots(tmp_path, count=1)
    heard = []
    with ExitStack() as held:
        held.enter_context(other.hold())

        def hear(waiting):
            heard.append(waiting)
            held.close()  # the other one lets go, as soon as somebody waits

        slots.on_wait = hear
        with slots.hold():
            assert heard == [True, False]
    with slots.hold():
        assert heard == [True, False], "a slot that is free is no wait"


def test_a_run_that_is_over_makes_nobody_wait(tmp_path):
    slots = Slots(tmp_path, count=1)
    slots.on_wait = lambda waiting: None
    slots.paths[0].unlink()
    with slots.hold():
        pass
