"""The destinations of requests: voters from the voter set, the known leader, or any known node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.message import Message

from .request_manager import RaftPeer

if TYPE_CHECKING:
    from .raft_replica import RaftReplica


def voter_peer(replica: RaftReplica, id: int) -> RaftPeer | None:
    """A voter, if its endpoint is known."""
    at = replica.voters.endpoint(id, replica.listener_name)
    return None if at is None else RaftPeer(id, at)


def send_to_voter(replica: RaftReplica, id: int, body: Message, version: int, lowest: int = 0) -> bool:
    """Sends, unless a request to it is in flight; returns whether it was sent."""
    peer = voter_peer(replica, id)
    if peer is None or not replica.links.is_ready(peer, replica.now):
        return False
    replica.send(peer, body, version, lowest)
    return True


def leader_peer(replica: RaftReplica) -> RaftPeer | None:
    """The leader, if its endpoint is known."""
    at = replica.endpoint_of_leader()
    if at is None or replica.state.leader_id in (None, replica.key.id):
        return None
    return RaftPeer(replica.state.leader_id or 0, at)


def known_peers(replica: RaftReplica) -> list[RaftPeer]:
    """The nodes that may know the leader: the bootstrap servers, and the other voters in the log.
    Apache Kafka only uses the bootstrap servers, if there are any, and finds no leader once all of
    them have left the quorum.
    """
    named = {peer.endpoint for peer in replica.bootstrap}
    found = (voter_peer(replica, voter.id) for voter in replica.voters if voter.id != replica.key.id)
    return [*replica.bootstrap, *(peer for peer in found if peer is not None and peer.endpoint not in named)]


def random_peer(replica: RaftReplica) -> RaftPeer | None:
    """A random known peer that is ready; None while a request to any of them is in flight."""
    peers = known_peers(replica)
    if replica.links.busy_until(peers, replica.now) is not None:
        return None
    ready = [peer for peer in peers if replica.links.is_ready(peer, replica.now)]
    return replica.random.choice(ready) if ready else None


def next_request_at(replica: RaftReplica, peers: list[RaftPeer]) -> int:
    """When a request to one of these peers times out, or the next one may be sent."""
    links, now = replica.links, replica.now
    busy = links.busy_until(peers, now)
    due = busy if busy is not None else next_ready_at(replica, peers)
    return now + replica.settings.fetch_timeout_ms if due is None else max(now + 1, due)


def next_ready_at(replica: RaftReplica, peers: list[RaftPeer]) -> int | None:
    """When the first of these peers is ready, as far as is known."""
    return min((replica.links.ready_at(peer, replica.now) for peer in peers), default=None)
