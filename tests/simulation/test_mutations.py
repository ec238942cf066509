"""The simulation tells when the core is wrong: none of its mutations survives."""

from __future__ import annotations

import pytest

from tests.simulation.mutations import MUTATIONS, first_to_tell, mutated

SEEDS = 100


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_does_not_survive(name: str) -> None:
    outcome = first_to_tell(MUTATIONS[name], SEEDS)
    assert outcome is not None, f"nothing tells that the rule is broken: {MUTATIONS[name].breaks}"


def test_a_mutation_is_undone() -> None:
    before = [getattr(owner, name) for each in MUTATIONS.values() for owner, name, _ in each.puts]
    for each in MUTATIONS.values():
        with mutated(each):
            pass
    assert before == [getattr(owner, name) for each in MUTATIONS.values() for owner, name, _ in each.puts]
