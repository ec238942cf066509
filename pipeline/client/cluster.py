"""What is known of a cluster: its brokers, its topics, and who leads their partitions. A fold over answers to Metadata.

Rules. An older leader epoch never takes the place of a newer one of the same topic (KIP-320): a broker that lags behind may answer. A topic of
another id is another topic. This file asks nobody, and knows no clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.metadata import MetadataResponse
from kafkadouble.messages.uuid import ZERO, Uuid

from .names import BrokerEndpoint, PartitionLeader, TopicPartition


class LeaderAndEpoch(NamedTuple):
    """Who leads a partition, and since which epoch; node -1 is nobody, epoch -1 is not known."""

    node: int
    epoch: int


@dataclass
class Topic:
    """One topic. `error` is a code: what the cluster says instead of its partitions.

    `complete` is False when no broker listed the partitions: `leaders` has those that another process sent.
    """

    name: str
    id: Uuid = ZERO
    error: int = 0
    internal: bool = False
    leaders: dict[int, LeaderAndEpoch] = field(default_factory=dict)
    complete: bool = True


class MetadataCache:
    """`brokers` by node id; `topics` by name, those that somebody asked for."""

    def __init__(self) -> None:
        self.brokers: dict[int, BrokerEndpoint] = {}
        self.topics: dict[str, Topic] = {}

    def fold(self, answer: MetadataResponse) -> None:
        """What a broker answered."""
        if answer.brokers:
            self.brokers = {each.node_id: BrokerEndpoint(each.host, each.port) for each in answer.brokers}
        for told in answer.topics:
            if told.name is not None:
                self.topics[told.name] = self._topic(told, self.topics.get(told.name))

    def _topic(self, told: MetadataResponse.MetadataResponseTopic, before: Topic | None) -> Topic:
        name = told.name or ""
        if told.error_code:
            known = before or Topic(name)
            return Topic(name, known.id, told.error_code, known.internal, known.leaders)
        same = before is not None and (ZERO in (told.topic_id, before.id) or before.id == told.topic_id)
        old = before.leaders if before is not None and same else {}
        leaders = {each.partition_index: _newer(old.get(each.partition_index), each) for each in told.partitions}
        return Topic(name, Uuid(told.topic_id), 0, told.is_internal, leaders)

    def learn(self, partition: TopicPartition, leader: LeaderAndEpoch) -> bool:
        """A broker said who leads it now, beside an error (KIP-951). Whether that is news, and of a broker that is known."""
        topic = self.topics.get(partition.topic)
        known = topic.leaders.get(partition.partition) if topic else None
        if topic is None or known is None or leader.epoch <= known.epoch or leader.node not in self.brokers:
            return False
        topic.leaders[partition.partition] = leader
        return True

    def accept(self, partition: TopicPartition, told: PartitionLeader) -> None:
        """Takes over what another process knows of a partition that has a leader. A topic with another id is replaced."""
        topic = self.topics.get(partition.topic)
        if topic is None or topic.error or (ZERO not in (topic.id, told.topic_id) and topic.id != told.topic_id):
            topic = self.topics[partition.topic] = Topic(partition.topic, told.topic_id, complete=False)
        known = topic.leaders.get(partition.partition)
        if told.endpoint is not None and (known is None or told.epoch >= known.epoch):
            topic.leaders[partition.partition] = LeaderAndEpoch(told.node, told.epoch)
            self.brokers[told.node] = told.endpoint

    def leader(self, partition: TopicPartition) -> LeaderAndEpoch | None:
        """None when nothing is known of the partition."""
        topic = self.topics.get(partition.topic)
        return None if topic is None or topic.error else topic.leaders.get(partition.partition)

    def endpoint(self, node: int) -> BrokerEndpoint | None:
        return self.brokers.get(node)

    def forget(self, topics: Iterable[str]) -> None:
        """Nobody asks for these any more."""
        for name in topics:
            self.topics.pop(name, None)

    def __repr__(self) -> str:
        return f"{len(self.brokers)} brokers, {len(self.topics)} known topics"


def _newer(known: LeaderAndEpoch | None, told: MetadataResponse.MetadataResponsePartition) -> LeaderAndEpoch:
    if known is not None and -1 < told.leader_epoch < known.epoch:
        return known
    nobody = told.error_code == error_codes.LEADER_NOT_AVAILABLE
    return LeaderAndEpoch(-1 if nobody else told.leader_id, told.leader_epoch)
