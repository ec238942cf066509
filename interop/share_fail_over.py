"""Kills the brokers of a cluster one after another while a share group works: the coordinator of
the group, the share coordinator, and a broker that only leads share partitions. Each is started
again, and gets its leaderships back by an election.

Rules. Before the first kill the three are different brokers. A kill counts only if another broker
leads the partition then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from interop.brokers import Server
from interop.controllers import admin, placed
from interop.local.identity import whole
from interop.support import unique
from tests.support.waiting import eventually

from . import share_groups
from .share_load import ShareLoad

OFFSETS, STATE = "__consumer_offsets", "__share_group_state"
PARTITIONS, MEMBERS = 6, 3
LATER = b"later"


class Cluster(NamedTuple):
    """Three brokers by id, and those of them that may coordinate groups, the first one first."""

    bootstrap: str
    servers: Mapping[int, Server]
    coordinators: Sequence[int] = (1, 2, 3)

    def others(self, id: int) -> str:
        """The addresses of the other brokers."""
        return ",".join(server.bootstrap for other, server in self.servers.items() if other != id)


def fail_over(cluster: Cluster, rounds: int = 1) -> ShareLoad:
    """Runs a share group while every broker is killed once a round. The topic of offsets exists.

    Returns the load, whose promises were kept, and whose group has finished every record: a later
    member gets only later ones.
    """
    topic, turned = unique("shared"), [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
    placed.create(cluster.bootstrap, topic, turned * (PARTITIONS // 3), min_insync_replicas="2")
    _move(cluster, OFFSETS, cluster.coordinators)
    with ShareLoad(cluster.bootstrap, topic, f"{topic}-group", partitions=PARTITIONS, members=MEMBERS) as load:
        _move(cluster, STATE, turned[1])
        load.goes_on()
        for victim, led in [*enumerate((OFFSETS, STATE, topic), start=1)] * rounds:
            with _killed(cluster, victim, led):
                load.goes_on()
            _give_back(cluster, [OFFSETS, STATE, topic])
            load.goes_on()
    ends = {at: offset + 1 for at, offset in enumerate(load.ledger.newest_produced)}
    share_groups.await_finished(cluster.bootstrap, load.group, topic, ends)
    _gets_only_later_records(cluster, load)
    share_groups.await_finished(cluster.bootstrap, load.group, topic, {at: end + 1 for at, end in ends.items()})
    return load


def _gets_only_later_records(cluster: Cluster, load: ShareLoad) -> None:
    """Asserts that a member that joins now gets one record of each partition that is written
    now."""
    leaders = admin.leaders(cluster.bootstrap, load.topic)
    for at, leader in enumerate(leaders):
        placed.written(cluster.servers[leader].bootstrap, load.topic, [LATER], index=at)
    found: list[tuple[int, bytes]] = []
    with load.later_member() as consumer:

        def poll() -> int:
            found.extend((message.partition(), message.value()) for message in consumer.poll(0.5))
            return len(found)

        eventually(poll, lambda count: count >= PARTITIONS, pause=0)
        consumer.commit_sync(60)
    assert sorted(found) == [(at, LATER) for at in range(PARTITIONS)]


def _move(cluster: Cluster, topic: str, replicas: Sequence[int]) -> None:
    """Moves all partitions of a topic, and has the first of these brokers lead them."""
    count = len(admin.partitions(cluster.bootstrap, topic))
    assert admin.reassign(cluster.bootstrap, topic, [replicas] * count) == [0] * count
    eventually(lambda: admin.reassigning(cluster.bootstrap), lambda found: topic not in found)
    admin.settled(cluster.bootstrap, topic, [sorted(replicas)] * count)
    _elect(cluster, topic)


def _elect(cluster: Cluster, topic: str) -> None:
    """Has the preferred replicas lead, in the metadata of every broker. On a busy machine one may
    leave the in-sync replicas for a moment, so that it cannot be elected."""
    preferred = [replica[0] for replica in admin.replicas(cluster.bootstrap, topic)]
    expected = dict.fromkeys(cluster.servers, preferred)

    def elected() -> tuple[Mapping[int, Sequence[int]], Sequence[int]]:
        errors = admin.elect_preferred(cluster.bootstrap, topic, len(preferred))
        return {id: admin.leaders(server.bootstrap, topic) for id, server in cluster.servers.items()}, errors

    eventually(elected, lambda found: found[0] == expected)


@contextmanager
def _killed(cluster: Cluster, victim: int, led: str) -> Iterator[None]:
    """The block runs after a broker was killed that led a partition of this topic, and another
    broker has become the leader; then the broker is started again."""
    alive = cluster.others(victim)
    assert victim in admin.leaders(alive, led)
    cluster.servers[victim].kill()
    eventually(lambda: admin.leaders(alive, led), lambda found: not {victim, -1} & {*found})
    yield
    cluster.servers[victim].start()
    whole(cluster.bootstrap, len(cluster.servers))


def _give_back(cluster: Cluster, topics: Sequence[str]) -> None:
    """Waits until all replicas are in sync, and has the preferred ones lead."""
    for topic in topics:
        replicas = [sorted(replica) for replica in admin.replicas(cluster.bootstrap, topic)]
        admin.settled(cluster.bootstrap, topic, replicas)
        _elect(cluster, topic)
