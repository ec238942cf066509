"""What the scenarios with consumer groups are for happens; `test_brokers` plays their seeds."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.brokers.run import run


@pytest.mark.parametrize("scenario", ["coordinators_of_groups_die", "coordinators_of_mixed_groups_die"])
def test_scenarios_cause_the_events_that_they_are_for(scenario: str) -> None:
    """Coordinators fail while members come and go, and partitions pass through many epochs."""
    happened = Counter[str]()
    for seed in range(4):
        happened.update(run(seed, scenario=scenario).figures)
    assert happened["elections"] > 16
    assert happened["epochs with owners"] > 10
    assert happened["members replaced"] > 8
