"""Some seeds of whole lives; `python -m tests.simulation.lives` plays thousands."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.lives.run import run
from tests.simulation.lives.scenarios import ROUND, SCENARIOS, scenario_of

SEEDS, PORTION = 12, 3


@pytest.mark.parametrize("first", range(0, SEEDS, PORTION))
def test_cluster_starts_on_the_files_of_its_previous_life(first: int) -> None:
    for seed in range(first, first + PORTION):
        outcome = run(seed)
        if outcome.broken:
            pytest.fail(f"{outcome}\n`python -m tests.simulation.lives --seed {seed}` shows the transcript")


REGRESSIONS = [
    ("single", 28, "a node that ended while it made a partition left a folder that `check` refused as a wrong call"),
    ("single", 84, "the checkpoints spoke of a partition whose folder was removed"),
    ("several", 10, "a duty of the controller that found the disk full went through the tick of the node"),
]
"""Seeds that found a defect in the core. When scenarios change, the tests of each defect still
remain."""


@pytest.mark.parametrize(("scenario", "seed", "found"), REGRESSIONS)
def test_seeds_that_once_broke_a_promise_keep_it(scenario: str, seed: int, found: str) -> None:
    assert not run(seed, scenario=scenario).broken, found


def test_scenarios_have_seeds() -> None:
    assert {scenario_of(seed) for seed in range(len(ROUND))} == set(SCENARIOS)


def test_scenarios_cause_the_events_that_they_are_for() -> None:
    """Lives end in every way, and clients are answered meanwhile."""
    happened = Counter[str]()
    for seed in range(12):
        happened.update(run(seed, scenario="single").figures)
    assert all(happened[f"ended by {how}"] for how in ("stop", "kill", "power", "full")), happened
    assert happened["records acknowledged"] > 300


def test_transactions_go_through_lives() -> None:
    """Transactions end in both ways, and a reader gets their records after every kind of end."""
    happened = Counter[str]()
    for seed in range(3):
        happened.update(run(seed, scenario="transactions_are_flushed").figures)
    assert happened["transactions committed"] > 15, happened
    assert happened["transactions aborted"] > 8
    assert happened["records read with read_committed"] > 80
