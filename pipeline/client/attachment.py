"""The connection of one read: to the leader of its partition, or to the replica that the leader prefers (KIP-392), and anew when that changes.

Rules. Nobody reads on from a topic that is another one by now, nor from a leader that lacks what was read: brokers too old to look for
divergence in a Fetch are asked for the end of the epoch before (KIP-320).
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
    """`connection` is for this read alone, while there is one; `replica` is the node that is read from instead of the leader.

    `told` is what the caller knows of the leader. A topic with another id is never read.
    """

    def __init__(self, network: Network, partition: TopicPartition, told: PartitionLeader | None = None) -> None:
        self._network, self._partition = network, partition
        self.topic_id = ZERO
        if told is not None:
            self.topic_id = told.topic_id
            network.metadata.accept(partition, told)
        self.leader = LeaderAndEpoch(-1, -1)
        self.replica: int | None = None
        self.connection: BrokerConnection | None = None
        self._checked_epoch = -1

    def connected(self, patience: Patience, read: OffsetAndEpoch) -> BrokerConnection | None:
        """A connection that goes on behind `read`, or None when no broker could be reached, after some waiting.

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
        """Let others have the connection, if it is of use to them."""
        connection, self.connection = self.connection, None
        if connection is not None:
            self._network.links.give_back(connection)

    def lost(self, *, stale: bool) -> None:
        """Look for the leader anew, who may be another one if what is known is `stale`."""
        self.replica = None
        if self.connection is not None and not self.connection.idle:
            self._network.links.drop(self.connection.endpoint)
        self.leave()
        if stale:
            self._network.metadata.stale(self._partition.topic)

    def learned(self, leader: LeaderAndEpoch) -> bool:
        """Whether an error told who leads now; then there is no need to ask others (KIP-951)."""
        news = self._network.metadata.cluster.learn(self._partition, leader)
        if news:
            self.leave()
        return news

    def _connect(self, patience: Patience, read: OffsetAndEpoch) -> BrokerConnection | None:
        network = self._network
        place = network.place(self._partition, patience)
        if isinstance(place, str):
            patience.pause(place, NoLeader)
            return None
        self._check_id(read.offset)
        nearer = None if self.replica is None else network.metadata.cluster.endpoint(self.replica)
        connection = network.links.take(nearer or place.endpoint, patience.left())
        self.leader = place.leader
        try:
            self._check_epoch(connection, read)
        except BaseException:
            network.links.give_back(connection)
            raise
        return connection

    def _check_id(self, position: int) -> None:
        """Offsets of one topic are not those of another of the same name."""
        topic = self._network.metadata.cluster.topics[self._partition.topic]
        if ZERO not in (topic.id, self.topic_id) and topic.id != self.topic_id:
            raise TopicRecreated(
                f"topic {topic.name!r} was deleted and created anew while {self._partition} was read at offset {position}",
                topic.name,
            )
        self.topic_id = topic.id

    def _check_epoch(self, connection: BrokerConnection, read: OffsetAndEpoch) -> None:
        """Has the leader what was read?"""
        if read.epoch < 0 or self._checked_epoch == self.leader.epoch:
            return
        if fetching.version_for(connection, self.topic_id) < fetching.EPOCH_CHECKED:
            end = ends_of_epochs(self._network, {self._partition: read.epoch})[self._partition]
            if 0 <= end.offset < read.offset:
                raise LogTruncated(self._partition, read, end)
        self._checked_epoch = self.leader.epoch
