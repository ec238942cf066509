"""Scenarios about snapshots: replicas fall so far behind that the log they need is deleted, and
suffer faults while they catch up (KIP-630)."""

from __future__ import annotations

from collections.abc import Callable

from . import faults
from .cluster import Cluster
from .network import Weather
from .node import Node
from .reader import Reader
from .world import Broken

NEWS = 25
"""After this many offsets, a replica that was away most likely needs a snapshot."""

DAMAGING = Weather(delay=(0, 10), damaged=0.5)


def _behind(cluster: Cluster) -> Node:
    """A replica that was away, in one of several ways, while others committed so much that it is in
    their snapshots. It comes back now."""
    leader = cluster.leader
    others = [node for node in cluster.nodes.values() if node is not leader]
    node = cluster.world.random.choice(others)
    ways: tuple[tuple[Callable[[], None], Callable[[], None]], ...] = (
        (node.kill, node.start),
        (node.lose_power, node.start),
        (node.pause, node.resume),
        (lambda: cluster.network.isolate(node.id, cluster.nodes), cluster.network.heal),
        (lambda: cluster.network.cut(node.id, leader.id if leader else 0), cluster.network.heal),
    )
    away, back = cluster.world.random.choice(ways)
    away()
    goal = cluster.watch.committed.end + NEWS
    cluster.require(lambda: cluster.watch.committed.end >= goal, "nothing is committed without one of them")
    back()
    return node


def absent_replica_takes_a_snapshot(cluster: Cluster) -> None:
    """Replicas catch up in any network weather, with any fault of the replica and its leader
    meanwhile."""
    cluster.begin()
    random = cluster.world.random
    for _ in range(random.randint(1, 3)):
        node = _behind(cluster)
        if random.random() < 0.6:
            cluster.network.weather = random.choice((*faults.WEATHERS, *[DAMAGING] * 4))
        cluster.world.run_for(random.choice((5, 50, 200)))
        random.choice(
            (
                lambda: faults.kill_leader(cluster),
                lambda: faults.resign(cluster),
                node.kill,
                node.lose_power,
                node.pause,
                lambda: None,
            )
        )()
        cluster.world.run_for(random.randint(0, 1500))
        cluster.end_faults()
        cluster.await_progress(5)


def newcomers_take_a_snapshot(cluster: Cluster) -> None:
    """Disks are lost, one after the other: each replica begins with an empty log, and no committed
    record is lost (static voters, kraft.version 0)."""
    cluster.begin()
    goal = cluster.watch.committed.end + NEWS
    cluster.require(lambda: cluster.watch.committed.end >= goal, "nothing is committed")
    for id in cluster.world.random.sample([*cluster.nodes], 2):
        node = cluster.nodes[id]
        others = [node for node in cluster.nodes if node != id]
        cluster.watch.forget(node.key)
        node.lose_disk(cluster.formatted_with(id), same_directory=True)
        cluster.require(lambda node=node, others=others: _goes_on(cluster, node, others), "no leader without it")
        cluster.await_progress(5, others)
        node.start()
        cluster.await_progress(5)
    if not cluster.watch.taken:
        raise Broken("no replica has taken a snapshot, and two had lost everything")


def _goes_on(cluster: Cluster, node: Node, others: list[int]) -> bool:
    return cluster.leader not in (None, node) and cluster.agree(others)


def snapshots_are_read_from_outside(cluster: Cluster) -> None:
    """Snapshots are read by a reader with small requests, while leaders change and old snapshots
    are deleted."""
    cluster.begin()
    random = cluster.world.random
    reader = Reader(cluster, random.choice((41, 150, 1000)))
    faults.suffer(cluster, random.randint(0, 6), 800)
    cluster.recover()
    cluster.writes = True
    before = reader.whole
    cluster.require(lambda: reader.whole > before, "the snapshots are never read as a whole")
