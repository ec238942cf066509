"""How a request finds its way: to a voter by the voter set, to the leader by what is known of him, to anybody when nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.message import Message

from .request_manager import RaftPeer

if TYPE_CHECKING:
    from .kafka_raft_client import KafkaRaftClient


def voter_peer(replica: KafkaRaftClient, id: int) -> RaftPeer | None:
    """A voter, if it is known where it is."""
    at = replica.voters.endpoint(id, replica.listener_name)
    return None if at is None else RaftPeer(id, at)


def send_to_voter(replica: KafkaRaftClient, id: int, body: Message, version: int, lowest: int = 0) -> bool:
    """Send, unless something is under way to it; tells whether it was sent."""
    peer = voter_peer(replica, id)
    if peer is None or not replica.links.is_ready(peer, replica.now):
        return False
    replica.send(peer, body, version, lowest)
    return True


def leader_peer(replica: KafkaRaftClient) -> RaftPeer | None:
    """The leader, if it is known where he is."""
    at = replica.endpoint_of_leader()
    if at is None or replica.state.leader_id in (None, replica.key.id):
        return None
    return RaftPeer(replica.state.leader_id or 0, at)


def known_peers(replica: KafkaRaftClient) -> list[RaftPeer]:
    """Whoever may know the leader: the bootstrap servers, and the other voters of our log. Apache Kafka asks the bootstrap servers alone where
    there are any, and finds nobody once all of them have left the quorum."""
    named = {peer.endpoint for peer in replica.bootstrap}
    found = (voter_peer(replica, voter.id) for voter in replica.voters if voter.id != replica.key.id)
    return [*replica.bootstrap, *(peer for peer in found if peer is not None and peer.endpoint not in named)]


def random_peer(replica: KafkaRaftClient) -> RaftPeer | None:
    """One of them that a request may go to now, by chance; None while one is on its way to any."""
    peers = known_peers(replica)
    if replica.links.busy_until(peers, replica.now) is not None:
        return None
    ready = [peer for peer in peers if replica.links.is_ready(peer, replica.now)]
    return replica.random.choice(ready) if ready else None


def next_request_at(replica: KafkaRaftClient, peers: list[RaftPeer]) -> int:
    """When there is something to do about a request to one of these: it is given up on, or the next may go out."""
    links, now = replica.links, replica.now
    busy = links.busy_until(peers, now)
    due = busy if busy is not None else next_ready_at(replica, peers)
    return now + replica.settings.fetch_timeout_ms if due is None else max(now + 1, due)


def next_ready_at(replica: KafkaRaftClient, peers: list[RaftPeer]) -> int | None:
    """When the first of these links is free again, as far as is known."""
    return min((replica.links.ready_at(peer, replica.now) for peer in peers), default=None)
