"""What the scenarios with transactions are for happens; `test_brokers` plays their seeds."""

from __future__ import annotations

from collections import Counter

from tests.simulation.brokers.run import run


def test_what_the_scenarios_are_for_happens() -> None:
    """Transactions are committed and aborted while coordinators fail, and producers are fenced or
    die."""
    happened = Counter[str]()
    for seed in range(4):
        happened.update(run(seed, scenario="coordinators_die").figures)
    assert happened["transactions committed"] > 20
    assert happened["transactions aborted"] > 10
    assert happened["producers replaced"] > 2
    assert happened["elections"] > 8
