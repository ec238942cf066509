"""The simulation tells when transactions are wrong: none of their mutations survives."""

from __future__ import annotations

import pytest

from tests.simulation.brokers.detection import assert_detected
from tests.simulation.brokers.transactions.mutations import ALL, MUTATIONS


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_does_not_survive(name: str) -> None:
    assert_detected(ALL, name)
