"""Caches the metadata of a cluster: brokers, topics, and the leaders of partitions. A fold over
Metadata responses.

Rules. An older leader epoch does not replace a newer one of the same topic (KIP-320), because a
broker with old metadata may answer. A topic with another id is another topic. This file sends
nothing, and reads no clock.
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
    """The leader of a partition and its leader epoch. Node -1: no leader; epoch -1: unknown."""

    node: int
    epoch: int


@dataclass
class Topic:
    """One topic. `error` is an error code that the cluster returned instead of the partitions.

    `complete` is False when no broker listed the partitions: `leaders` holds those that another
    process sent.
    """

    name: str
    id: Uuid = ZERO
    error: int = 0
    internal: bool = False
    leaders: dict[int, LeaderAndEpoch] = field(default_factory=dict)
    complete: bool = True


class MetadataCache:
    """`brokers` by node id; `topics` by name, those that were requested."""

    def __init__(self) -> None:
        self.brokers: dict[int, BrokerEndpoint] = {}
        self.topics: dict[str, Topic] = {}

    def fold(self, answer: MetadataResponse) -> None:
        """Folds a Metadata response."""
        if answer.brokers:
            self.brokers = {broker.node_id: BrokerEndpoint(broker.host, broker.port) for broker in answer.brokers}
        for topic in answer.topics:
            if topic.name is not None:
                self.topics[topic.name] = self._topic(topic, self.topics.get(topic.name))

    def _topic(self, answer: MetadataResponse.MetadataResponseTopic, before: Topic | None) -> Topic:
        name = answer.name or ""
        if answer.error_code:
            known = before or Topic(name)
            return Topic(name, known.id, answer.error_code, known.internal, known.leaders)
        same = before is not None and (ZERO in (answer.topic_id, before.id) or before.id == answer.topic_id)
        old = before.leaders if before is not None and same else {}
        leaders = {each.partition_index: _newer(old.get(each.partition_index), each) for each in answer.partitions}
        return Topic(name, Uuid(answer.topic_id), 0, answer.is_internal, leaders)

    def learn(self, partition: TopicPartition, leader: LeaderAndEpoch) -> bool:
        """Folds the current leader that an error response names (KIP-951). Returns whether it is
        new, and its broker is known."""
        topic = self.topics.get(partition.topic)
        known = topic.leaders.get(partition.partition) if topic else None
        if topic is None or known is None or leader.epoch <= known.epoch or leader.node not in self.brokers:
            return False
        topic.leaders[partition.partition] = leader
        return True

    def accept(self, partition: TopicPartition, leader: PartitionLeader) -> None:
        """Takes over the leader of a partition from another process. A topic with another id is
        replaced."""
        topic = self.topics.get(partition.topic)
        if topic is None or topic.error or (ZERO not in (topic.id, leader.topic_id) and topic.id != leader.topic_id):
            topic = self.topics[partition.topic] = Topic(partition.topic, leader.topic_id, complete=False)
        known = topic.leaders.get(partition.partition)
        if leader.endpoint is not None and (known is None or leader.epoch >= known.epoch):
            topic.leaders[partition.partition] = LeaderAndEpoch(leader.node, leader.epoch)
            self.brokers[leader.node] = leader.endpoint

    def leader(self, partition: TopicPartition) -> LeaderAndEpoch | None:
        """The leader, or None for an unknown partition."""
        topic = self.topics.get(partition.topic)
        return None if topic is None or topic.error else topic.leaders.get(partition.partition)

    def endpoint(self, node: int) -> BrokerEndpoint | None:
        return self.brokers.get(node)

    def forget(self, topics: Iterable[str]) -> None:
        """Removes topics that are not used any more."""
        for name in topics:
            self.topics.pop(name, None)

    def __repr__(self) -> str:
        return f"{len(self.brokers)} brokers, {len(self.topics)} known topics"


def _newer(known: LeaderAndEpoch | None, answer: MetadataResponse.MetadataResponsePartition) -> LeaderAndEpoch:
    if known is not None and -1 < answer.leader_epoch < known.epoch:
        return known
    has_no_leader = answer.error_code == error_codes.LEADER_NOT_AVAILABLE
    return LeaderAndEpoch(-1 if has_no_leader else answer.leader_id, answer.leader_epoch)
