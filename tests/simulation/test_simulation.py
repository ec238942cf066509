"""Some hundred seeds, in portions that share the work among processes; more with `python -m
tests.simulation`."""

from __future__ import annotations

import pytest

from tests.simulation.run import run
from tests.simulation.scenarios import ROUND, SCENARIOS, scenario_of

SEEDS, PORTION = 125, 25


@pytest.mark.parametrize("first", range(0, SEEDS, PORTION))
def test_promises_of_the_simulated_cluster_are_kept(first: int) -> None:
    for seed in range(first, first + PORTION):
        outcome = run(seed)
        if outcome.broken:
            pytest.fail(f"{outcome}\n`python -m tests.simulation --seed {seed}` shows the transcript")


REGRESSIONS = [
    ("move_away", 2, "a leader that had moved stayed in the log at its old address"),
    ("move_away", 20, "the same, of the second one"),
    ("disks_fail", 23, "a snapshot from before the log's beginning made a leader offer what its follower had"),
    ("come_and_go", 8646, "where all named voters had left the quorum, the observers found no leader"),
]
"""Seeds that found a defect in the core; `mutations` has each defect, and stays valid when the
scenarios change."""


@pytest.mark.parametrize(("scenario", "seed", "found"), REGRESSIONS)
def test_seeds_that_once_broke_a_promise_keep_it(scenario: str, seed: int, found: str) -> None:
    assert not run(seed, scenario=scenario).broken, found


def test_scenarios_have_seeds() -> None:
    assert {scenario_of(seed) for seed in range(len(ROUND))} == set(SCENARIOS)
