"""Scenarios in which the voters themselves change (KIP-853, KIP-1186)."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.replica_key import ReplicaKey

from . import faults
from .cluster import Cluster
from .node import Node
from .process import CLUSTER, LISTENER
from .world import Broken

JOINED_WITHIN = 60_000


def add(cluster: Cluster, node: Node, *, acknowledged: bool = True) -> None:
    """An operator asks the leader to add a voter."""
    of = AddRaftVoterRequest
    at = node.at
    body = of(
        cluster_id=CLUSTER,
        voter_id=node.id,
        voter_directory_id=node.key.directory_id,
        listeners=[of.Listener(name=LISTENER, host=at.host, port=at.port)],
        ack_when_committed=acknowledged,
    )
    _ask(cluster, body, 1, node.key, present=True if acknowledged else None)


def remove(cluster: Cluster, key: ReplicaKey) -> None:
    """An operator asks the leader to remove a voter, which may be the leader itself."""
    body = RemoveRaftVoterRequest(cluster_id=CLUSTER, voter_id=key.id, voter_directory_id=key.directory_id)
    _ask(cluster, body, 0, key, present=False)


def _ask(cluster: Cluster, body: Message, version: int, key: ReplicaKey, *, present: bool | None) -> None:
    leader = cluster.leader
    if leader is not None:
        leader.ask(body, version, lambda response: _check(cluster, leader, response, key, present))


def _check(cluster: Cluster, leader: Node, response: Any, key: ReplicaKey, present: bool | None) -> None:
    """Checks that an acknowledged change of voters is committed."""
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
        if random.random() < 0.2 and not _may_count(cluster, node):
            node.lose_disk(None)
            node.start()
        if random.random() < 0.5:
            add(cluster, node, acknowledged=random.random() < 0.7)
        else:
            remove(cluster, node.key)
        cluster.world.run_for(random.choice((1, 100, random.randint(0, 2500))))
        if random.random() < 0.4:
            faults.suffer(cluster, 1, 500)


def are_changed_alone(cluster: Cluster) -> None:
    """A leader that is cut off removes a voter, and reaches no other node: after it is back, the
    change is gone."""
    for _ in range(2):
        leader = cluster.begin() if not cluster.writes else cluster.leader
        assert leader is not None
        others = [node for node in cluster.nodes.values() if node is not leader]
        cluster.network.isolate(leader.id, cluster.nodes)
        remove(cluster, cluster.world.random.choice(others).key)
        cluster.await_agreement([node.id for node in others])
        cluster.await_progress(3, [node.id for node in others])
        cluster.network.heal()
        cluster.await_agreement()
        cluster.await_progress(3)


def put_into_the_log(cluster: Cluster) -> None:
    """`kraft.version` is raised while nodes fail: then the voters of the configuration are in the
    log, and can change."""
    cluster.start()
    cluster.await_agreement()
    _upgrade(cluster)
    random = cluster.world.random
    if random.random() < 0.7:
        faults.suffer(cluster, random.randint(1, 4), 600)
    cluster.recover()
    cluster.writes = True
    cluster.require(lambda: _is_upgraded(cluster), "kraft.version is not raised")
    newcomer = cluster.nodes[max(cluster.nodes)]
    _ask_until_it_votes(cluster, newcomer)
    cluster.require(lambda: _votes(cluster, newcomer), f"{newcomer!r} does not become a voter")
    remove(cluster, cluster.nodes[random.choice(cluster.voter_ids)].key)
    cluster.world.run_for(random.randint(0, 3000))


def _upgrade(cluster: Cluster) -> None:
    """An operator repeats the request until the change is made."""
    leader = cluster.leader
    if leader is not None:
        leader.upgrade()
    if not _is_upgraded(cluster):
        cluster.world.after(400, lambda: _upgrade(cluster))


def _is_upgraded(cluster: Cluster) -> bool:
    known = cluster.watch.committed
    return known.kraft_versions[known.end] == 1


def _ask_until_it_votes(cluster: Cluster, node: Node) -> None:
    """An operator changes the voters now and then."""
    if not _votes(cluster, node):
        add(cluster, node)
        cluster.world.after(700, lambda: _ask_until_it_votes(cluster, node))


def move_away(cluster: Cluster) -> None:
    """Voters restart with other addresses, and report them: in the end the log has the new
    addresses (UpdateRaftVoter)."""
    cluster.start()
    cluster.await_agreement()
    random = cluster.world.random
    for id in random.sample(cluster.voter_ids, random.randint(1, len(cluster.voter_ids) - 1)):
        node = cluster.nodes[id]
        others = [node for node in cluster.nodes if node != id]
        node.move()
        if random.random() < 0.5:
            cluster.await_agreement(others)
        cluster.world.run_for(random.randint(0, 500))
        node.start()
        if random.random() < 0.3:
            faults.suffer(cluster, 2, 400)
            cluster.end_faults()
        elif random.random() < 0.5:
            _lose_leader(cluster, node)
        cluster.require(lambda node=node: _is_known_at(cluster, node), f"the log does not say where {node!r} is")
        cluster.await_agreement()


def _lose_leader(cluster: Cluster, moved: Node) -> None:
    """The leader is down for a while, perhaps before the moved voter has reported its address; the
    voter may report it to the next leader."""
    random = cluster.world.random
    cluster.world.run_for(random.randint(0, 1500))
    leader = cluster.leader
    if leader is not None and leader is not moved:
        leader.kill()
        cluster.world.after(random.randint(2500, 6000), leader.start)


def _is_known_at(cluster: Cluster, node: Node) -> bool:
    voter = cluster.watch.committed.voters[cluster.watch.committed.end].get(node.id)
    return voter is not None and voter.endpoints.get(LISTENER) == node.at


def are_replaced(cluster: Cluster) -> None:
    """A controller loses its disk, restarts as another replica with the same id, and joins by
    itself in place of the lost one."""
    cluster.start()
    cluster.await_agreement()
    cluster.await_progress(5)
    node = cluster.nodes[cluster.world.random.choice(cluster.voter_ids)]
    node.lose_disk(cluster.formatted_with(len(cluster.nodes)))
    others = [id for id in cluster.nodes if id != node.id]
    cluster.await_agreement(others)
    node.start()
    if cluster.world.random.random() < 0.5:
        faults.suffer(cluster, 2, 1000)
        cluster.end_faults()
    cluster.require(lambda: _votes(cluster, node), f"{node!r} does not become a voter")


def _may_count(cluster: Cluster, node: Node) -> bool:
    """Whether the node is in a set of voters that is in force, or that may become so."""
    logs = [node.process.log for node in cluster.nodes.values() if node.process is not None]
    known = [log.history.voters_at(end) for log in logs for end in range(log.start_offset, log.end_offset + 1)]
    unknown = any(node.process is None or node.hangs or _is_changing(node) for node in cluster.nodes.values())
    return unknown or any(node.id in voters for voters in known)


def _is_changing(node: Node) -> bool:
    state = None if node.replica is None else node.replica.state
    return isinstance(state, LeaderState) and state.change is not None


def _votes(cluster: Cluster, node: Node) -> bool:
    leader = cluster.leader
    return leader is not None and leader.replica is not None and leader.replica.voters.contains(node.key)
