"""What the scenarios with streams groups are for happens; `test_brokers` plays their seeds."""

from __future__ import annotations

from collections import Counter

from tests.simulation.brokers.run import run


def test_scenarios_cause_the_events_that_they_are_for() -> None:
    """Coordinators fail while members come and go, and tasks pass through many epochs."""
    happened = Counter[str]()
    for seed in range(4):
        happened.update(run(seed, scenario="coordinators_of_streams_groups_die").figures)
    assert happened["elections"] > 12
    assert happened["epochs with owners"] > 10
    assert happened["members replaced"] > 8


def test_a_seed_is_played_in_the_same_way_again() -> None:
    first, second = (run(3, tracing=True, scenario="coordinators_of_streams_groups_die") for _ in range(2))
    assert first.digest == second.digest
