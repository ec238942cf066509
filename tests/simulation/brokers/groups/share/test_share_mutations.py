"""The simulation tells when share groups are wrong: none of their mutations survives."""

from __future__ import annotations

from functools import cache

import pytest

from tests.simulation.brokers.groups.share.mutations import ALL, MUTATIONS
from tests.simulation.brokers.run import run


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_does_not_survive(name: str) -> None:
    outcome = ALL.first_to_fail(name)
    assert outcome is not None, f"nothing tells that the rule is broken: {MUTATIONS[name].breaks}"
    assert not broken_without(outcome.seed, outcome.scenario), "the core as it is has no such fault"


@cache
def broken_without(seed: int, scenario: str) -> str:
    """The broken promise of a seed with the core as it is; several mutations fail with the same
    seed."""
    return run(seed, scenario=scenario).broken
