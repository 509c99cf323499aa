"""Ctrl-C once, twice, three times; SIGTERM; and what was there before comes back."""

import os
import signal

import pytest

from scisolve_batch.batch.stops import StopLevel, stop_signals


def test_the_first_drains_the_second_cancels_and_the_third_waits_for_nothing():
    with stop_signals() as stops:
        assert stops.level is StopLevel.NONE
        os.kill(os.getpid(), signal.SIGINT)
        assert stops.level is StopLevel.DRAIN
        os.kill(os.getpid(), signal.SIGINT)
        assert stops.level is StopLevel.CANCEL
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_sigterm_cancels_at_once_and_wakes_whoever_listens():
    before = signal.getsignal(signal.SIGTERM)
    with stop_signals() as stops:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stops.level is StopLevel.CANCEL
        assert stops.wake.recv(1)
        stops.drain()
        with pytest.raises(BlockingIOError):
            stops.wake.recv(1)
    assert signal.getsignal(signal.SIGTERM) is before
