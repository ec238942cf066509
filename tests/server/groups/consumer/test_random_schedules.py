"""Random schedules of consumer groups: they converge, and no partition has two owners. A failure
prints the seed; `python -m tests.server.groups.consumer.test_random_schedules FIRST LAST` runs
others."""

from __future__ import annotations

import sys

import pytest

from tests.server.groups.consumer.schedule import EVENTS, Schedule

SEEDS = range(6)
STEPS = 250


def run(seed: int, *, classic: bool) -> Schedule:
    schedule = Schedule(seed, classic=classic)
    schedule.run(STEPS)
    return schedule


@pytest.mark.parametrize("seed", SEEDS)
def test_members_with_the_consumer_protocol(seed: int) -> None:
    assert set(run(seed, classic=False).events) <= set(EVENTS)


@pytest.mark.parametrize("seed", SEEDS)
def test_members_with_both_protocols(seed: int) -> None:
    run(seed, classic=True)


if __name__ == "__main__":
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        for classic in (False, True):
            run(seed, classic=classic)
    print("all converged")
