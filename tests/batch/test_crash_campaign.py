"""A short crash campaign: every kind of victim once, at a random instant."""

import importlib.util
import random
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "crash_campaign.py"
SPEC = importlib.util.spec_from_file_location("crash_campaign", PATH)
campaign = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(campaign)


@pytest.mark.slow
@pytest.mark.parametrize("victim", campaign.VICTIMS)
def test_a_kill_loses_doubles_changes_and_leaves_nothing(tmp_path, victim):
    suite = campaign.write_suite(tmp_path)
    wrong = campaign.play_round(random.Random(victim), tmp_path, suite, victim=victim)
    assert not +wrong
