"""The simulation of lives tells when the core is wrong: none of its mutations survives."""

from __future__ import annotations

import pytest

from tests.simulation.lives.mutations import ALL, MUTATIONS
from tests.simulation.lives.run import run


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_does_not_survive(name: str) -> None:
    outcome = ALL.first_to_fail(name)
    assert outcome is not None, f"nothing tells that the rule is broken: {MUTATIONS[name].breaks}"
    assert not run(outcome.seed, scenario=outcome.scenario).broken, "the core as it is has no such fault"
