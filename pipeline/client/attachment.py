"""The connection of one read: to the leader of its partition, or to the preferred read replica
(KIP-392). It reconnects when that changes.

Rules. A read does not continue on a topic that was recreated, nor on a leader without the records
that were read. Brokers that are too old to detect divergence in a Fetch are first asked for the end
offset of the leader epoch (KIP-320).
"""

from __future__ import annotations

from kafkadouble.messages.uuid import ZERO

from . import fetching
from .cluster import LeaderAndEpoch
from .connection import BrokerConnection
from .errors import LogTruncated, NoLeader, TopicRecreated
from .names import OffsetAndEpoch, PartitionLeader, TopicPartition
from .network import Network
from .offsets import ends_of_epochs
from .patience import Patience


class Attachment:
    """`connection` belongs to this read alone, or is None; `replica` is the node that is read from
    instead of the leader.

    `leader` is the leader that the caller knows. A topic with another id is never read.
    """

    def __init__(self, network: Network, partition: TopicPartition, leader: PartitionLeader | None = None) -> None:
        self._network, self._partition = network, partition
        self.topic_id = ZERO
        if leader is not None:
            self.topic_id = leader.topic_id
            network.metadata.accept(partition, leader)
        self.leader = LeaderAndEpoch(-1, -1)
        self.replica: int | None = None
        self.connection: BrokerConnection | None = None
        self._checked_epoch = -1

    def connected(self, patience: Patience, read: OffsetAndEpoch) -> BrokerConnection | None:
        """A connection that continues after `read`, or None if no broker could be reached after
        some waiting.

        Raises ConnectionLost, LogTruncated, TopicRecreated, NoSuchTopic.
        """
        if self.connection is not None and self.connection.idle:
            if self._network.settled(self._partition, self.leader):
                return self.connection
            self.leave()
        if self.connection is None:
            self.connection = self._connect(patience, read)
        return self.connection

    def leave(self) -> None:
        """Returns the connection to the pool, if it is still usable."""
        connection, self.connection = self.connection, None
        if connection is not None:
            self._network.links.give_back(connection)

    def lost(self, *, stale: bool) -> None:
        """Finds the leader again; `stale` metadata is refreshed first."""
        self.replica = None
        if self.connection is not None and not self.connection.idle:
            self._network.links.drop(self.connection.endpoint)
        self.leave()
        if stale:
            self._network.metadata.stale(self._partition.topic)

    def learned(self, leader: LeaderAndEpoch) -> bool:
        """Whether an error response named the current leader; then no metadata request is needed
        (KIP-951)."""
        news = self._network.metadata.cluster.learn(self._partition, leader)
        if news:
            self.leave()
        return news

    def _connect(self, patience: Patience, read: OffsetAndEpoch) -> BrokerConnection | None:
        network = self._network
        location = network.find_leader(self._partition, patience)
        if isinstance(location, str):
            patience.pause(location, NoLeader)
            return None
        # A recreated topic has other records at the same offsets.
        topic = self._network.metadata.cluster.topics[self._partition.topic]
        if ZERO not in (topic.id, self.topic_id) and topic.id != self.topic_id:
            raise TopicRecreated(
                f"topic {topic.name!r} was deleted and recreated while {self._partition} was read at offset {read.offset}",
                topic.name,
            )
        self.topic_id = topic.id
        nearer = None if self.replica is None else network.metadata.cluster.endpoint(self.replica)
        connection = network.links.take(nearer or location.endpoint, patience.left())
        self.leader = location.leader
        try:
            self._check_epoch(connection, read)
        except BaseException:
            network.links.give_back(connection)
            raise
        return connection

    def _check_epoch(self, connection: BrokerConnection, read: OffsetAndEpoch) -> None:
        """Checks that the leader has the records that were read."""
        if read.epoch < 0 or self._checked_epoch == self.leader.epoch:
            return
        if fetching.version_for(connection, self.topic_id) < fetching.EPOCH_CHECKED:
            end = ends_of_epochs(self._network, {self._partition: read.epoch})[self._partition]
            if 0 <= end.offset < read.offset:
                raise LogTruncated(self._partition, read, end)
        self._checked_epoch = self.leader.epoch
