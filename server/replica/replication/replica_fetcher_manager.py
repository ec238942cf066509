"""The fetchers of a broker's followers, one for each leader (Kafka: `ReplicaFetcherManager`).

It is a sender for `network.peers`, which owns the sockets and the clock.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from kafkadouble.messages.message import Message

from ...configs.listeners import inter_broker_listener_name
from ...raft.request_manager import OutboundRequest, RaftPeer, RequestFailure
from ...raft.voters import VoterEndpoint
from .fetch_validation import PartitionKey
from .follower_partition import FollowerPartition
from .replica_fetcher import ReplicaFetcher

if TYPE_CHECKING:
    from .part_hosts import ReplicationHost


class ReplicaFetcherManager:
    """All fetchers of a broker; `partitions` are the partitions that it follows."""

    def __init__(self, node: ReplicationHost) -> None:
        self._node, self._listener = node, inter_broker_listener_name(node.settings)
        self._fetchers: dict[int, ReplicaFetcher] = {}
        self._tokens = count(1)
        self.partitions: dict[PartitionKey, FollowerPartition] = {}
        self.have_overtaken = False
        """Whether a partition was added to a leader's fetches since `overtaken` was last called."""

    def follow(self, partition: FollowerPartition) -> None:
        """Fetches this partition from its leader, if it has one."""
        key = partition.topic_id, partition.index
        fetcher = self._fetchers.get(partition.leader_id)
        is_new = fetcher is None or key not in fetcher.partitions
        self.forget(key)
        self.partitions[key] = partition
        if partition.leader_id >= 0:
            if fetcher is None:
                fetcher = self._fetchers[partition.leader_id] = ReplicaFetcher(self._node, partition.leader_id)
            fetcher.partitions[key] = partition
            if is_new and fetcher.token is not None:
                fetcher.is_overtaken = self.have_overtaken = True
            fetcher.dirty[key] = None
            fetcher.flush(key, partition)

    def get(self, topic: str, index: int) -> FollowerPartition | None:
        """Returns the partition if this broker follows it."""
        topic_id = self._node.image.topic_ids.get(topic)
        return None if topic_id is None else self.partitions.get((topic_id, index))

    def forget(self, key: PartitionKey) -> FollowerPartition | None:
        """Stops following the partition."""
        partition = self.partitions.pop(key, None)
        if partition is not None:
            partition.waiters.wake_all()
        fetcher = None if partition is None else self._fetchers.get(partition.leader_id)
        if fetcher is not None:
            for entries in (fetcher.partitions, fetcher.delayed, fetcher.offset_ranges):
                entries.pop(key, None)
            fetcher.dirty[key] = None
        return partition

    def take_outgoing(self) -> list[OutboundRequest]:
        """Returns the requests to send now."""
        requests = []
        for fetcher in self._fetchers.values():
            at = self._endpoint(fetcher.leader) if fetcher.token is None else None
            if at is not None and (request := fetcher.request(self._node.now)) is not None:
                fetcher.token = next(self._tokens)
                requests.append(OutboundRequest(fetcher.token, RaftPeer(fetcher.leader, at), *request))
        return requests

    def overtaken(self) -> set[int]:
        """Returns the tokens of outstanding requests that lack a partition which was added later.

        The leader may hold such a request until another partition has records. A caller that can
        withdraw a request may report it as failed.
        """
        self.have_overtaken = False
        return {each.token for each in self._fetchers.values() if each.is_overtaken and each.token is not None}

    def _endpoint(self, broker: int) -> VoterEndpoint | None:
        found = self._node.image.brokers.get(broker)
        at = None if found is None else found.endpoint(self._listener)
        return None if at is None else VoterEndpoint(at.host, at.port)

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """Process the response to a request, or its failure."""
        self._node.advance(now)
        for fetcher in self._fetchers.values():
            if fetcher.token == token:
                fetcher.on_response(response, now)

    def tick(self, now: int) -> None:
        self._node.advance(now)

    def next_deadline(self) -> int | None:
        """Returns when the next delay ends (ms); None if there is none."""
        deadlines = [
            at
            for fetcher in self._fetchers.values()
            if fetcher.token is None
            for at in (fetcher.delayed_until, fetcher.throttled_until, *fetcher.delayed.values())
            if at > self._node.now
        ]
        return min(deadlines, default=None)

    def __repr__(self) -> str:
        return f"{len(self.partitions)} partitions followed"
