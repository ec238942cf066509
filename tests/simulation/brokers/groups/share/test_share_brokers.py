"""What the scenarios with share groups are for happens; `test_brokers` plays their seeds."""

from __future__ import annotations

from collections import Counter

from tests.simulation.brokers.run import run


def test_scenarios_cause_the_events_that_they_are_for() -> None:
    """Leaders and share coordinators fail while members acquire and acknowledge records; members
    come and go, and topics grow."""
    happened = Counter[str]()
    for seed in range(4):
        happened.update(run(seed, scenario="leaders_of_share_groups_die").figures)
    assert happened["elections"] > 12
    assert happened["records done"] > 100
    assert happened["members replaced"] > 8


def test_a_seed_is_played_in_the_same_way_again() -> None:
    first, second = (run(3, tracing=True, scenario="leaders_of_share_groups_die") for _ in range(2))
    assert first.digest == second.digest
