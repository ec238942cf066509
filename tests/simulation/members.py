"""Scenarios in which the voters themselves change (KIP-853, KIP-1186)."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.raft.replica_key import ReplicaKey

from . import faults
from .cluster import Cluster
from .node import CLUSTER, LISTENER, Node, endpoint
from .world import Broken

JOINED_WITHIN = 60_000


def add(cluster: Cluster, node: Node, *, acknowledged: bool = True) -> None:
    """An operator asks the leader for one more voter."""
    of = AddRaftVoterRequest
    at = endpoint(node.id)
    body = of(
        cluster_id=CLUSTER,
        voter_id=node.id,
        voter_directory_id=node.key.directory_id,
        listeners=[of.Listener(name=LISTENER, host=at.host, port=at.port)],
        ack_when_committed=acknowledged,
    )
    _ask(cluster, body, 1, node.key, present=True if acknowledged else None)


def remove(cluster: Cluster, key: ReplicaKey) -> None:
    """And for one less; it may be himself."""
    body = RemoveRaftVoterRequest(cluster_id=CLUSTER, voter_id=key.id, voter_directory_id=key.directory_id)
    _ask(cluster, body, 0, key, present=False)


def _ask(cluster: Cluster, body: Message, version: int, key: ReplicaKey, *, present: bool | None) -> None:
    leader = cluster.leader
    if leader is not None:
        leader.ask(body, version, lambda response: _check(cluster, leader, response, key, present))


def _check(cluster: Cluster, leader: Node, response: Any, key: ReplicaKey, present: bool | None) -> None:
    """What is acknowledged is so."""
    if response.error_code != error_codes.NONE or present is None or leader.replica is None:
        return
    voters = leader.replica.log.history.voters_at(leader.replica.log.high_watermark)
    if voters.contains(key) != present:
        raise Broken(f"{response!r} of node {leader.id}, and what is committed there is {voters!r}")


def come_and_go(cluster: Cluster) -> None:
    """Voters are added and removed at random, also while nodes fail; sometimes down to one."""
    cluster.start()
    cluster.await_agreement()
    random = cluster.world.random
    for _ in range(random.randint(4, 12)):
        node = random.choice([*cluster.nodes.values()])
        if random.random() < 0.5:
            add(cluster, node, acknowledged=random.random() < 0.7)
        else:
            remove(cluster, node.key)
        cluster.world.run_for(random.choice((1, 100, random.randint(0, 2500))))
        if random.random() < 0.4:
            faults.suffer(cluster, 1, 500)


def are_replaced(cluster: Cluster) -> None:
    """A controller loses its disk, comes back as another replica, and joins of its own accord in the place of its namesake."""
    cluster.start()
    cluster.await_agreement()
    cluster.await_progress(5)
    node = cluster.nodes[cluster.world.random.choice(cluster.voter_ids)]
    node.lose_disk(cluster.formatted_with(len(cluster.nodes)))
    others = [id for id in cluster.nodes if id != node.id]
    cluster.await_agreement(others)
    node.start()
    cluster.require(lambda: _votes(cluster, node), f"{node!r} does not become a voter")


def _votes(cluster: Cluster, node: Node) -> bool:
    leader = cluster.leader
    return leader is not None and leader.replica is not None and leader.replica.voters.contains(node.key)
