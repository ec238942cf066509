"""The simulations tell when the core is wrong: none of their mutations survives. `test_seeds`
proves that the core as it is keeps all promises."""

from __future__ import annotations

import pytest

from tests.simulation import mutations
from tests.simulation.brokers import mutations as of_brokers
from tests.simulation.brokers.groups import mutations as of_groups
from tests.simulation.brokers.groups.share import mutations as of_share_groups
from tests.simulation.brokers.groups.streams import mutations as of_streams_groups
from tests.simulation.brokers.transactions import mutations as of_transactions
from tests.simulation.lives import mutations as of_lives
from tests.simulation.mutating import mutated

ALL = {
    "quorum": mutations.ALL,
    "brokers": of_brokers.ALL,
    "transactions": of_transactions.ALL,
    "consumer groups": of_groups.ALL,
    "share groups": of_share_groups.ALL,
    "streams groups": of_streams_groups.ALL,
    "lives": of_lives.ALL,
}


@pytest.mark.parametrize(
    ("simulation", "name"), [(simulation, name) for simulation in ALL for name in ALL[simulation].rows]
)
def test_mutation_is_detected_by_a_seed(simulation: str, name: str) -> None:
    known = ALL[simulation]
    outcome = known.first_to_fail(name)
    assert outcome is not None, f"nothing tells that the rule is broken: {known.rows[name].breaks}"


@pytest.mark.parametrize(
    ("simulation", "name", "line"),
    [
        ("quorum", "counts itself before it has flushed", "appends up to"),
        ("brokers", "commits with the first that has it", "leads t-0 in epoch"),
    ],
)
def test_a_failing_seed_fails_again_with_its_transcript(simulation: str, name: str, line: str) -> None:
    known = ALL[simulation]
    outcome = known.first_to_fail(name)
    assert outcome is not None
    with mutated(known.rows[name]):
        again = known.run(outcome.seed, tracing=True, scenario=outcome.scenario)
    assert repr(again) == repr(outcome)
    assert again.transcript[-1].endswith(f"BROKEN: {outcome.broken}")
    assert any(line in each for each in again.transcript)


@pytest.mark.parametrize("simulation", ALL)
def test_a_mutation_is_undone(simulation: str) -> None:
    known = ALL[simulation].rows
    before = [getattr(owner, name) for each in known.values() for owner, name, _ in each.puts]
    for each in known.values():
        with mutated(each):
            pass
    assert before == [getattr(owner, name) for each in known.values() for owner, name, _ in each.puts]
