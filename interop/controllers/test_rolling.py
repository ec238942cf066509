"""Brokers of ours and of Apache Kafka's in one cluster, with three replicas of everything. Each
broker is restarted in turn, and each is killed in turn, while a producer and a group run. No
acknowledged record is lost or duplicated, the group reads all of them in order, and in the end the
replicas are equal byte for byte.

    pytest interop/controllers/test_rolling.py --broker local
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interop.support import unique

from . import admin, placed, replicas
from .kinds import DOUBLE, Kafka, Kind
from .mixed import Mixed, mixed
from .plan import broker, controller
from .releases import RELEASES
from .traffic import Traffic

pytestmark = pytest.mark.timeout(900)

PARTITIONS = 3
ALL = [1, 2, 3]
SAFE = {"min.insync.replicas": "2", "default.replication.factor": "3", "auto.leader.rebalance.enable": "false"}

LONG = pytest.mark.long
ROWS = [
    pytest.param("two-ours-under-ours", "stop"),
    pytest.param("two-ours-under-ours", "kill", marks=LONG),
    pytest.param("two-theirs-under-theirs", "kill"),
    pytest.param("two-theirs-under-theirs", "stop", marks=LONG),
    pytest.param("two-theirs-under-ours", "stop", marks=LONG),
    pytest.param("two-theirs-under-ours", "kill", marks=LONG),
    pytest.param("two-ours-under-theirs", "stop", marks=LONG),
    pytest.param("two-ours-under-theirs", "kill", marks=LONG),
    pytest.param("two-ours-under-ours-3.9.2", "kill", marks=LONG),
    pytest.param("two-theirs-under-theirs-4.0.2", "stop", marks=LONG),
]
"""The kind of most brokers, and of the controller; Kafka's release, if it is not that of the run;
and how each broker ends."""


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest, real: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mixed]:
    _, most, _, under, *older = request.param.split("-")
    kafka, release = (Kafka(older[0]), RELEASES[older[0]]) if older else (real, "")
    kinds: list[Kind] = [DOUBLE, kafka, DOUBLE] if most == "ours" else [kafka, DOUBLE, kafka]
    chief = controller(0, DOUBLE if under == "ours" else kafka)
    brokers = [broker(number, kind) for number, kind in enumerate(kinds)]
    with mixed(tmp_path_factory.mktemp("rolling"), chief, *brokers, release=release, overrides=SAFE) as running:
        yield running


@pytest.mark.parametrize(("cluster", "ends"), ROWS, indirect=["cluster"])
def test_each_broker_goes_in_turn_and_nothing_is_lost(cluster: Mixed, ends: str) -> None:
    topic, every = unique(ends), [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
    cluster.start()
    placed.create(cluster.bootstrap, topic, every)
    with Traffic(cluster.bootstrap, topic, PARTITIONS) as traffic:
        for node in cluster.brokers:
            getattr(node, ends)()
            # It could stop because all brokers had learned of the new leaders.
            if ends == "stop":
                assert all(
                    node.id not in admin.leaders(other.bootstrap, topic) for other in cluster.brokers if other.running
                )
            traffic.goes_on()
            node.start()
            admin.settled(node.bootstrap, topic, [ALL] * PARTITIONS)
            traffic.goes_on()
        # The preferred broker leads each partition.
        for index in range(PARTITIONS):
            assert placed.elect(cluster.bootstrap, topic, placed.PREFERRED, index) in ("NONE", "ELECTION_NOT_NEEDED")
        traffic.goes_on()
    # Kills them, since in a clean shutdown every next leader stores an epoch in which nothing is
    # written.
    for node in cluster.brokers:
        node.kill()
    assert replicas.equal(cluster.brokers, topic, PARTITIONS) > 0
