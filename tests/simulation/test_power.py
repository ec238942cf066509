"""The first seeds of the machine whose power fails; `python -m tests.simulation.power` runs
thousands."""

from __future__ import annotations

import pytest

from .power import run

SEEDS, TOGETHER = 40, 10


@pytest.mark.parametrize("first", range(0, SEEDS, TOGETHER))
def test_losses_of_power_lose_only_unflushed_bytes(first: int) -> None:
    happened = sum((run(seed) for seed in range(first, first + TOGETHER)), start=run(SEEDS + first))
    assert happened["power"] > 0
    assert happened["acknowledged"] > 0
    assert happened["lost, not flushed"] > 0
