"""The simulation tells when replication is wrong: none of its mutations survives."""

from __future__ import annotations

import pytest

from tests.simulation.brokers.mutations import ALL, MUTATIONS
from tests.simulation.brokers.run import run
from tests.simulation.mutating import mutated


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_does_not_survive(name: str) -> None:
    outcome = ALL.first_to_fail(name)
    assert outcome is not None, f"nothing tells that the rule is broken: {MUTATIONS[name].breaks}"


def test_a_failing_seed_fails_again_with_its_transcript() -> None:
    name = "commits with the first that has it"
    outcome = ALL.first_to_fail(name)
    assert outcome is not None
    with mutated(MUTATIONS[name]):
        again = run(outcome.seed, tracing=True, scenario=outcome.scenario)
    assert repr(again) == repr(outcome)
    assert again.transcript[-1].endswith(f"BROKEN: {outcome.broken}")
    assert any("leads t-0 in epoch" in line for line in again.transcript)
    assert not run(outcome.seed, scenario=outcome.scenario).broken, "the core as it is has no such fault"
