"""The benchmarks: that each can be started, and what the one of grading adds up."""

import pkgutil
from importlib import import_module

import pytest

import benchmarks
from benchmarks.assignment import hand_in
from benchmarks.stages import (
    JUDGING,
    READING,
    STARTING,
    WAITING,
    WRITING,
    time_by_stage,
)

COMMANDS = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_benchmark_can_be_imported(name):
    import_module(f"benchmarks.{name}")


def test_every_stage_of_grading_is_seen(tmp_path):
    stages = time_by_stage(hand_in(tmp_path / "class", 2))
    assert set(stages) == {READING, STARTING, WAITING, JUDGING, WRITING}
    assert all(seconds > 0 for seconds in stages.values())
    assert len(list((tmp_path / "written").glob("*.html"))) == 2
