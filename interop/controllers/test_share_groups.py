"""A share group outlives the kill -9 of every broker: three brokers of ours, each a process, and
clusters in which the share coordinator and the share partitions move between ours and Apache
Kafka's, which load what the other has written.

The group coordinator stays with the brokers of one kind. If it moves from Kafka's to ours,
librdkafka 2.16.1 may refuse to send a heartbeat ("Required feature not supported by broker"), which
is fatal to the member. `test_consumer_groups` moves groups.

    pytest interop/controllers/test_share_groups.py --broker local
"""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.share_fail_over import OFFSETS, PARTITIONS, Cluster, fail_over

from . import placed
from .broker_lives import KEPT
from .kinds import DOUBLE, Kafka
from .mixed import mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize(
    ("theirs", "rounds"),
    [
        pytest.param((), 1, id="ours"),
        pytest.param((), 4, id="ours for long", marks=pytest.mark.long),
        pytest.param((2,), 1, id="the second is theirs"),
        pytest.param((1, 3), 1, id="the second is ours"),
    ],
)
def test_a_share_group_outlives_every_broker(real: Kafka, tmp_path: Path, theirs: tuple[int, ...], rounds: int) -> None:
    brokers = [broker(number, real if number + 1 in theirs else DOUBLE) for number in range(3)]
    coordinators = (1, 3) if theirs else (1, 2, 3)
    with mixed(tmp_path, controller(0, real if theirs else DOUBLE), *brokers, overrides=KEPT) as running:
        placed.create(running.bootstrap, OFFSETS, [coordinators], cleanup_policy="compact")
        load = fail_over(Cluster(running.bootstrap, {node.id: node for node in running.brokers}, coordinators), rounds)
    assert len(load.ledger.produced) > 100 * PARTITIONS
    assert load.ledger.deliveries > len(load.ledger.accepted)
    print(len(load.ledger.produced), "produced,", load.ledger.deliveries, "delivered,", load.complaints)
