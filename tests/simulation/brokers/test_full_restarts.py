"""Every node of a cluster ends, and starts again: all brokers come back, also the one whose own
node leads the quorum (KIP-631)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from tests.simulation.brokers import faults
from tests.simulation.brokers.cluster import Cluster
from tests.simulation.brokers.member import Member
from tests.simulation.brokers.scenarios import restart_everything
from tests.simulation.brokers.shape import SESSION_MS, Shape
from tests.simulation.brokers.traffic import most_per_second
from tests.simulation.brokers.transactions.cluster import TransactionalCluster
from tests.simulation.world import World

ENDS = {"stopped": Member.stop, "killed": Member.kill, "without power": faults.take_down}
PAUSES = {"together": (0, 0), "one by one": (400, 1500)}


@pytest.mark.parametrize(("size", "end"), [*product(range(3), repeat=2)])
def test_all_brokers_come_back(size: int, end: int) -> None:
    """Every pair of two conditions is in one of the runs."""
    nodes, ends, combined = (1, 3, 5)[size], [*ENDS][end], (size + end) % 2 == 0
    pauses = [*PAUSES][(size // 2 + end // 2) % 2]
    replicas = min(nodes, 3)
    on_disks = ends == "without power" and nodes > 1
    shape = Shape(
        combined=combined,
        controllers=nodes,
        brokers=nodes if combined else replicas,
        replicas=replicas,
        on_disks=on_disks,
        elr=False,
    )
    cluster = Cluster(World(7, most_per_second=most_per_second(shape)), shape)
    cluster.begin()
    restart_everything(cluster, ENDS[ends], PAUSES[pauses])
    cluster.recover()


@pytest.mark.parametrize(("nodes", "ends"), [(1, "stopped"), (1, "killed"), (3, "killed"), (3, "without power")])
def test_transactions_go_on(nodes: int, ends: str) -> None:
    """Every node ends in the middle of transactions, and a new coordinator decides about each."""
    shape = Shape(
        combined=True,
        brokers=nodes,
        partitions=2,
        replicas=nodes,
        on_disks=ends == "without power" and nodes > 1,
        flushing=True,
        producers=0,
        transactional=2,
    )
    cluster = TransactionalCluster(World(7, most_per_second=most_per_second(shape)), shape)
    cluster.begin()
    cluster.world.run_for(2500)
    restart_everything(cluster, ENDS[ends], (0, 0))
    cluster.world.run_for(1500)
    cluster.recover()
    assert cluster.ledger.is_whole
    assert cluster.count["transactions committed"] > 4


def _opens_within(ends: Callable[[Member], None], nodes: int) -> int:
    cluster = Cluster(World(3), Shape(combined=True, brokers=nodes, replicas=1))
    cluster.begin()
    for member in cluster.members.values():
        ends(member)
    cluster.require(lambda: not any(broker.is_up for broker in cluster.brokers), "not every node stops")
    faults.start_all(cluster)
    begun = cluster.world.now
    cluster.require(cluster.is_open, "a broker does not let clients in")
    return cluster.world.now - begun


@pytest.mark.parametrize("ends", [Member.stop, Member.kill])
def test_a_node_that_is_the_whole_quorum_waits_for_no_session(ends: Callable[[Member], None]) -> None:
    """The leader registers its own broker, and knows that its earlier registration is over."""
    assert _opens_within(ends, nodes=1) == 0


def test_a_new_leader_gives_every_broker_a_session_its_own_too() -> None:
    """As in Apache Kafka: the controller must assume that all earlier registrations are still
    alive."""
    assert _opens_within(Member.kill, nodes=3) > SESSION_MS
