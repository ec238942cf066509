"""Requests metadata from any broker of a cluster, and from the bootstrap servers when no known
broker answers (KIP-899).

Rules. Metadata is requested again when it is marked as stale, or after `metadata.max.age.ms`. An
unknown topic is requested more than once before it counts as absent, because brokers learn about a
new topic one after the other.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse

from .cluster import MetadataCache, Topic
from .connection import BrokerConnection
from .connection_pool import ConnectionPool
from .errors import ConnectionLost, NoSuchHost, NoSuchPartition, NoSuchTopic, NotReachable, refusal
from .names import BrokerEndpoint, PartitionLeader, TopicPartition
from .patience import Patience
from .settings import ClientSettings

NEW_TOPIC_S, CREATION_S = 1.0, 10.0
"""Seconds before an unknown topic counts as absent, without and with automatic creation."""
MOST_TOPICS = 10_000
"""The largest number of topics in one request, and in the cache."""

T = TypeVar("T")


class Metadata:
    """The metadata of one cluster, and its refresh."""

    def __init__(self, settings: ClientSettings, links: ConnectionPool) -> None:
        self.cluster = MetadataCache()
        self._settings, self._links = settings, links
        self._fetched: dict[str, float] = {}  # the time of the last response for each topic

    def call_any_broker(self, patience: Patience, send: Callable[[BrokerConnection], T]) -> T:
        """The response of any one broker."""
        while True:
            troubles: list[ConnectionLost] = []
            for endpoint in self._candidates():
                try:
                    with self._links.lent(endpoint, patience.left()) as connection:
                        return send(connection)
                except ConnectionLost as lost:
                    troubles.append(lost)
            problems = "; ".join(dict.fromkeys(map(str, troubles)))
            if not self.cluster.brokers and all(isinstance(lost, NoSuchHost) for lost in troubles):
                raise NotReachable(f"{patience.what}: {problems}; look at bootstrap.servers")
            patience.pause(problems, NotReachable)

    def topic(self, name: str, patience: Patience, *, create: bool = False) -> Topic:
        """A topic from fresh metadata. Raises NoSuchTopic, and the errors of the cluster."""
        known = self.cluster.topics.get(name)
        if known is not None and known.complete and not known.error and self.is_fresh(name):
            return known
        end = time.monotonic() + min(patience.remaining(), CREATION_S if create else NEW_TOPIC_S)
        while True:
            self.refresh([name], patience, create=create)
            known = self.cluster.topics.get(name) or Topic(name, error=error_codes.UNKNOWN_TOPIC_OR_PARTITION)
            if not known.error:
                return known
            if known.error == error_codes.INVALID_TOPIC_EXCEPTION:
                raise NoSuchTopic(f"there can be no topic {name!r}: {error_codes.meaning(known.error)}", name)
            if not error_codes.is_retriable(known.error):
                raise refusal(f"topic {name!r}", known.error)
            if known.error == error_codes.UNKNOWN_TOPIC_OR_PARTITION and time.monotonic() >= end:
                raise NoSuchTopic(f"the cluster has no topic {name!r}: create it, or look at its name", name)
            patience.pause(f"topic {name!r}: {error_codes.name(known.error)}")

    def topic_with(self, partition: TopicPartition, patience: Patience, *, create: bool = False) -> Topic:
        """A topic with this partition. Raises NoSuchPartition after another request, because a
        partition may be new."""
        if self.cluster.leader(partition) is not None and self.is_fresh(partition.topic):
            return self.cluster.topics[partition.topic]
        known = self.topic(partition.topic, patience, create=create)
        end = time.monotonic() + min(patience.remaining(), NEW_TOPIC_S)
        while partition.partition not in known.leaders:
            if time.monotonic() >= end:
                what = f"{partition}: the topic has {len(known.leaders)} partitions, counted from 0"
                raise NoSuchPartition(what, *partition)
            self.stale(partition.topic)
            known = self.topic(partition.topic, patience, create=create)
            if partition.partition not in known.leaders:
                patience.pause(f"{partition} does not exist")
        return known

    def refresh(self, names: Iterable[str], patience: Patience, *, create: bool = False) -> None:
        """Requests these topics now."""
        requested = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        body = MetadataRequest(topics=requested, allow_auto_topic_creation=create)
        self._fold(self.call_any_broker(patience, lambda connection: _metadata(connection, body)))

    def all_topics(self, patience: Patience) -> list[Topic]:
        """Every topic of the cluster, from a new request."""
        body = MetadataRequest(topics=None, allow_auto_topic_creation=False)
        answer = self.call_any_broker(patience, lambda connection: _metadata(connection, body))
        self._fold(answer)
        return [Topic(topic.name, internal=topic.is_internal) for topic in answer.topics if topic.name is not None]

    def prepare(self, names: Iterable[str], patience: Patience) -> None:
        """Requests the metadata of these topics in one request, except for topics with fresh
        metadata."""
        unknown = [name for name in dict.fromkeys(names) if not self.is_fresh(name)]
        for start in range(0, len(unknown), MOST_TOPICS):
            self.refresh(unknown[start : start + MOST_TOPICS], patience)

    def accept(self, partition: TopicPartition, leader: PartitionLeader) -> None:
        """Stores a leader that another process found, so that this process needs no request."""
        if leader.endpoint is not None:
            self.cluster.accept(partition, leader)
            self._note([partition.topic])

    def stale(self, topic: str) -> None:
        """Marks the metadata of this topic as stale."""
        self._fetched.pop(topic, None)

    def _fold(self, answer: MetadataResponse) -> None:
        self.cluster.fold(answer)
        self._note(topic.name for topic in answer.topics if topic.name is not None)

    def _note(self, topics: Iterable[str]) -> None:
        """Marks the metadata of these topics as fresh."""
        now = time.monotonic()
        for name in topics:
            self._fetched.pop(name, None)
            self._fetched[name] = now
        if len(self._fetched) > MOST_TOPICS:
            oldest = list(self._fetched)[: len(self._fetched) - MOST_TOPICS]
            self.cluster.forget(oldest)
            for name in oldest:
                del self._fetched[name]

    def is_fresh(self, topic: str) -> bool:
        """Whether the metadata of this topic is fresh."""
        fetched = self._fetched.get(topic)
        return fetched is not None and time.monotonic() - fetched < self._settings.seconds("metadata.max.age.ms")

    def _candidates(self) -> list[BrokerEndpoint]:
        """The brokers to try: first the brokers with a connection, then the others in random order,
        then the bootstrap servers."""
        brokers = list(self.cluster.brokers.values())
        random.shuffle(brokers)
        connected = [endpoint for endpoint in self._links.connected() if endpoint in brokers]
        return list(dict.fromkeys([*connected, *brokers, *self._settings.bootstrap]))


def _metadata(connection: BrokerConnection, body: MetadataRequest) -> MetadataResponse:
    answer = connection.ask(body, connection.version(ApiKeys.METADATA, lowest=4))
    assert isinstance(answer, MetadataResponse)
    # REBOOTSTRAP_REQUIRED: this broker now belongs to another cluster (KIP-1102)
    if answer.error_code:
        raise ConnectionLost(f"broker {connection.endpoint}: {error_codes.name(answer.error_code)}")
    return answer
