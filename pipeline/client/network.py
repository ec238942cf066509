"""The parts that every request of a client needs: settings, connections, metadata; and requests to
the leaders of partitions.

Rules. The request for a partition is sent to its leader, with the name of the topic and the known
leader epoch (KIP-320). It is repeated until it succeeds or its timeout expires. An error of one
partition does not affect the others. The caller interprets the responses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from kafkadouble.messages import error_codes

from .cluster import LeaderAndEpoch, Topic
from .connection import BrokerConnection
from .connection_pool import ConnectionPool
from .errors import ConnectionLost, NoLeader, TimedOut, refusal
from .fetch_size import FetchSizes
from .metadata import Metadata
from .names import BrokerEndpoint, PartitionLeader, TopicPartition
from .patience import Patience
from .settings import ClientSettings

T = TypeVar("T")

Answered = tuple[TopicPartition, int, T]
"""A partition, an error code, and the result when the code is 0."""

LeaderCall = Callable[[BrokerConnection, Mapping[TopicPartition, LeaderAndEpoch]], Iterable[Answered[T]]]
"""Sends one broker a request about partitions that it leads."""


class LeaderLocation(NamedTuple):
    """The leader of a partition, and its address."""

    leader: LeaderAndEpoch
    endpoint: BrokerEndpoint


class Network:
    """The shared parts of a client."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self.links = ConnectionPool(settings)
        self.metadata = Metadata(settings, self.links)
        self.sizes = FetchSizes()

    def patience(self, what: str, limit: str = "default.api.timeout.ms") -> Patience:
        return Patience(self.settings, what, limit)

    def find_leader(
        self, partition: TopicPartition, patience: Patience, *, create: bool = False
    ) -> LeaderLocation | str:
        """The leader of a partition, or the reason why no leader is known now. Raises NoSuchTopic,
        NoSuchPartition."""
        leader = self.metadata.topic_with(partition, patience, create=create).leaders[partition.partition]
        endpoint = self.metadata.cluster.endpoint(leader.node)
        if endpoint is None:
            self.metadata.stale(partition.topic)
            return (
                f"{partition} has no leader"
                if leader.node < 0
                else f"{partition}: broker {leader.node} is not available"
            )
        return LeaderLocation(leader, endpoint)

    def led(self, topic: Topic, partition: TopicPartition) -> PartitionLeader:
        """The leader of a partition of this topic, in a form that can be sent to another
        process."""
        node, epoch = topic.leaders[partition.partition]
        endpoint = self.metadata.cluster.endpoint(node)
        return PartitionLeader(topic.id, node if endpoint else -1, epoch, endpoint)

    def settled(self, partition: TopicPartition, leader: LeaderAndEpoch) -> bool:
        """Whether this is still the newest known leader of the partition."""
        return self.metadata.is_fresh(partition.topic) and self.metadata.cluster.leader(partition) == leader

    def call_leaders(
        self, partitions: Iterable[TopicPartition], what: str, send: LeaderCall[T]
    ) -> dict[TopicPartition, T]:
        """The results of the partitions' leaders. Raises TimedOut, and the permanent errors of
        brokers."""
        patience, done = self.patience(what), dict[TopicPartition, T]()
        pending = list(dict.fromkeys(partitions))
        while True:
            self.metadata.prepare((partition.topic for partition in pending), patience)
            errors = _RoundErrors()
            for endpoint, leaders in self._by_broker(pending, patience, errors).items():
                for partition, code, answer in self._answers_of(endpoint, leaders, patience, errors, send):
                    if code:
                        self.record_error(partition, code, what)
                        errors.codes.append(f"{partition}: {error_codes.name(code)}")
                    else:
                        done[partition] = answer
            pending = [partition for partition in pending if partition not in done]
            if not pending:
                return done
            patience.pause(*errors.summary())

    def record_error(self, partition: TopicPartition, code: int, what: str) -> None:
        """Accepts a retriable error code, and raises the error of any other code."""
        if not error_codes.is_retriable(code):
            raise refusal(f"{what}: {partition}", code)
        if code in error_codes.REFRESH:
            self.metadata.stale(partition.topic)

    def _by_broker(
        self, partitions: Iterable[TopicPartition], patience: Patience, errors: _RoundErrors
    ) -> dict[BrokerEndpoint, dict[TopicPartition, LeaderAndEpoch]]:
        by_broker: dict[BrokerEndpoint, dict[TopicPartition, LeaderAndEpoch]] = {}
        for partition in partitions:
            location = self.find_leader(partition, patience)
            if isinstance(location, str):
                errors.leaderless.append(location)
            else:
                by_broker.setdefault(location.endpoint, {})[partition] = location.leader
        return by_broker

    def _answers_of(
        self,
        endpoint: BrokerEndpoint,
        leaders: Mapping[TopicPartition, LeaderAndEpoch],
        patience: Patience,
        errors: _RoundErrors,
        send: LeaderCall[T],
    ) -> Iterator[Answered[T]]:
        """The results for these partitions. A lost connection marks their metadata as stale."""
        try:
            with self.links.lent(endpoint, patience.left()) as connection:
                answers = [answer for answer in send(connection, leaders) if answer[0] in leaders]
        except ConnectionLost as lost:
            errors.lost.append(str(lost))
            for partition in leaders:
                self.metadata.stale(partition.topic)
            return
        yield from answers

    def close(self) -> None:
        self.links.close()


class _RoundErrors:
    """The errors of one round of requests."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        self.codes: list[str] = []
        self.leaderless: list[str] = []

    def summary(self) -> tuple[str, type[TimedOut]]:
        """The first error of each kind, and the exception for it when time is up."""
        kind = NoLeader if self.leaderless and not self.lost and not self.codes else TimedOut
        problems = [texts[0] for texts in (self.lost, self.codes, self.leaderless) if texts]
        return "; ".join(problems) or "an answer did not contain everything that was requested", kind
