"""Seventy seeds, in portions that share the work among processes; more with `python -m
tests.simulation.brokers`."""

from __future__ import annotations

import pytest

from tests.simulation.brokers.rounds import ROUND, SCENARIOS, scenario_of
from tests.simulation.brokers.run import run

SEEDS, PORTION = 70, 10


@pytest.mark.parametrize("first", range(0, SEEDS, PORTION))
def test_promises_of_the_simulated_cluster_are_kept(first: int) -> None:
    for seed in range(first, first + PORTION):
        outcome = run(seed)
        if outcome.broken:
            pytest.fail(f"{outcome}\n`python -m tests.simulation.brokers --seed {seed}` shows the transcript")


REGRESSIONS = [
    (
        "leaders_write_alone_on_disks",
        4647,
        "of a cut that the power took back the leader epochs stayed, and were not those of the batches",
    ),
    (
        "anything_unclean",
        4994,
        "what a leader of the past committed, by older metadata, after another was elected uncleanly, was held to be committed",
    ),
    (
        "in_sync_sets_change_under_transactions",
        2003,
        "two sessions of one follower, whose fetches both waited, woke each other without end",
    ),
]
"""Seeds that found a defect, in the core or in the watchers. When scenarios change, the tests of
each defect still remain."""


@pytest.mark.parametrize(("scenario", "seed", "found"), REGRESSIONS)
def test_seeds_that_once_broke_a_promise_keep_it(scenario: str, seed: int, found: str) -> None:
    assert not run(seed, scenario=scenario).broken, found


def test_scenarios_have_seeds() -> None:
    assert {scenario_of(seed) for seed in range(len(ROUND))} == set(SCENARIOS)


def test_scenarios_cause_the_events_that_they_are_for() -> None:
    """Leaders are elected, tails are truncated, records are lost where the rules allow it, and the
    rest is acknowledged."""
    outcomes = [run(seed, scenario="leaders_write_alone") for seed in range(4)]
    happened = {what: sum(outcome.figures[what] for outcome in outcomes) for what in outcomes[0].figures}
    assert happened["elections"] > 8
    assert happened["crashes"] > 4
    assert happened["tails cut"] > 0
    assert happened["committed records lost where the rules allow it"] > 0
    assert happened["records acknowledged"] > 100
