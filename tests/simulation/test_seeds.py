"""Some seeds of each simulation, in portions that share the work among processes; `python -m
tests.simulation`, `tests.simulation.brokers` and `tests.simulation.lives` play thousands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from tests.simulation import run, scenarios
from tests.simulation.brokers import rounds as of_brokers
from tests.simulation.brokers import run as brokers
from tests.simulation.command import Run
from tests.simulation.lives import run as lives
from tests.simulation.lives import scenarios as of_lives


class Simulation(NamedTuple):
    """A simulation, and the number of its seeds. `rounds` is the module with its scenarios."""

    run: Run
    rounds: Any
    seeds: int
    portion: int


SIMULATIONS = {
    "tests.simulation": Simulation(run.run, scenarios, 84, 21),
    "tests.simulation.brokers": Simulation(brokers.run, of_brokers, 51, 17),
    "tests.simulation.lives": Simulation(lives.run, of_lives, 12, 2),
}
PORTIONS = [(name, first) for name, each in SIMULATIONS.items() for first in range(0, each.seeds, each.portion)]


@pytest.mark.parametrize(("name", "first"), PORTIONS)
def test_promises_of_the_simulation_are_kept(name: str, first: int) -> None:
    simulation = SIMULATIONS[name]
    for seed in range(first, first + simulation.portion):
        outcome = simulation.run(seed)
        if outcome.broken:
            pytest.fail(f"{outcome}\n`python -m {name} --seed {seed}` shows the transcript")


REGRESSIONS = [
    ("tests.simulation", "move_away", 2, "a leader that had moved stayed in the log at its old address"),
    ("tests.simulation", "move_away", 20, "the same, of the second one"),
    ("tests.simulation", "disks_fail", 23, "a leader offered what its follower had, by a snapshot before the log"),
    ("tests.simulation", "come_and_go", 8646, "all named voters had left, and the observers found no leader"),
    ("tests.simulation.lives", "single", 28, "a node that ended while it made a partition left a wrong folder"),
    ("tests.simulation.lives", "single", 84, "the checkpoints spoke of a partition whose folder was removed"),
    ("tests.simulation.lives", "several", 10, "a duty of a controller with a full disk went through the node's tick"),
    ("tests.simulation.brokers", "leaders_write_alone_on_disks", 4647, "leader epochs stayed of a cut that was lost"),
    ("tests.simulation.brokers", "anything_unclean", 4994, "older metadata made a deposed leader commit"),
    ("tests.simulation.brokers", "in_sync_sets_change_under_transactions", 2003, "waiting fetches woke one another"),
]
"""Seeds that found a defect, in the core or in the watchers. When scenarios change, the tests of
each defect still remain."""


@pytest.mark.parametrize(("name", "scenario", "seed", "defect"), REGRESSIONS)
def test_seeds_that_once_broke_a_promise_keep_it(name: str, scenario: str, seed: int, defect: str) -> None:
    assert not SIMULATIONS[name].run(seed, scenario=scenario).broken, defect


@pytest.mark.parametrize("name", SIMULATIONS)
def test_scenarios_have_seeds(name: str) -> None:
    rounds = SIMULATIONS[name].rounds
    assert {rounds.scenario_of(seed) for seed in range(len(rounds.ROUND))} == set(rounds.SCENARIOS)


LOST = "committed records lost where the rules allow it"
OF_LIVES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "single": (12, {**{f"ended by {how}": 0 for how in of_lives.ENDS}, "records acknowledged": 300}),
    "transactions_are_flushed": (
        3,
        {"transactions committed": 15, "transactions aborted": 8, "records read with read_committed": 80},
    ),
}
OF_GROUPS = {"elections": 16, "epochs with owners": 10, "members replaced": 8}
OF_BROKERS: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "leaders_write_alone": (4, {"elections": 8, "crashes": 4, "tails cut": 0, LOST: 0, "records acknowledged": 100}),
    "coordinators_die": (
        4,
        {"transactions committed": 20, "transactions aborted": 10, "producers replaced": 2, "elections": 8},
    ),
    "coordinators_of_groups_die": (4, OF_GROUPS),
    "coordinators_of_mixed_groups_die": (4, OF_GROUPS),
    "coordinators_of_streams_groups_die": (4, {**OF_GROUPS, "elections": 12}),
    "leaders_of_share_groups_die": (4, {"elections": 12, "records done": 100, "members replaced": 8}),
}
"""The number of seeds of a scenario, and the number of times that each event must be exceeded."""

EVENTS = [
    *(("tests.simulation.brokers", scenario, *row) for scenario, row in OF_BROKERS.items()),
    *(("tests.simulation.lives", scenario, *row) for scenario, row in OF_LIVES.items()),
]


@pytest.mark.parametrize(("name", "scenario", "seeds", "events"), EVENTS, ids=[scenario for _, scenario, *_ in EVENTS])
def test_scenarios_cause_the_events_that_they_are_for(
    name: str, scenario: str, seeds: int, events: Mapping[str, int]
) -> None:
    happened = Counter[str]()
    for seed in range(seeds):
        outcome = SIMULATIONS[name].run(seed, scenario=scenario)
        assert not outcome.broken
        happened.update(outcome.figures)
    assert {event for event, least in events.items() if happened[event] <= least} == set(), happened
