"""The history of committed records tells when a leader lacks some of them."""

from __future__ import annotations

import pytest

from tests.simulation.brokers.history import History
from tests.simulation.brokers.kept import Kept

COMMITTED = [Kept(0, 0, 7, -1, -1), Kept(1, 2, 8, -1, -1)]
"""Records of the leader epochs 0 and 2."""


@pytest.mark.parametrize(
    ("leader_epoch", "has", "lacks"),
    [
        (3, 2, None),
        (3, 1, 1),
        (3, 0, 0),
        (2, 1, 1),
        (1, 0, 0),
        # It learns of its election when epoch 2 has begun already.
        (1, 1, None),
    ],
)
def test_a_leader_has_what_was_committed_before_its_epoch(leader_epoch: int, has: int, lacks: int | None) -> None:
    history = History()
    history.records = [*COMMITTED]
    assert history.led(leader_epoch, COMMITTED[:has]) == lacks
