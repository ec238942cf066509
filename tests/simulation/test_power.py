"""The first seeds of the machine whose power fails; `python -m tests.simulation.power` runs
thousands."""

from __future__ import annotations

import pytest

from .power import run

SEEDS, TOGETHER = 60, 10


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
def test_what_a_loss_of_power_leaves(first: int) -> None:
    happened = sum((run(seed) for seed in range(first, first + TOGETHER)), start=run(SEEDS + first))
    assert happened["power"] > 0
    assert happened["acknowledged"] > 0
    assert happened["lost, not flushed"] > 0
