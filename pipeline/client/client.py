"""A small synchronous Kafka client: what a pipeline needs of a cluster, and no more. The way in to this package.

Rules. One thread uses it at a time. Nothing runs in the background: what is asked is asked by the call that needs it, and a call ends within
`default.api.timeout.ms`, or tells why not. No groups are joined and no transactions made.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from typing import Self

from kafkadouble.messages.uuid import ZERO

from . import groups, offsets, reading
from .errors import NoSuchTopic
from .names import Fetched, OffsetAndEpoch, PartitionLeader, TopicPartition
from .network import Network
from .producing import Producer
from .settings import ClientSettings

MOST_BYTES = 16 << 20
"""Of one Fetch: what a caller holds in memory for a moment, twice."""


class Client:
    """A client with Kafka's settings, by Kafka's dotted names. UsageError for a value that cannot be; an unknown name is a warning.

    Its errors are the kinds of `ClientError`. Nothing is connected until something is asked.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._settings = ClientSettings(settings)
        self._network = Network(self._settings)
        self._isolation = self._settings.text("isolation.level") or ""
        given = "max.partition.fetch.bytes" in self._settings.given
        self._max_bytes = self._settings.int("max.partition.fetch.bytes") if given else MOST_BYTES

    @property
    def settings(self) -> ClientSettings:
        """The settings of this client, with their defaults."""
        return self._settings

    def topics(self, internal: bool | None = None) -> list[str]:
        """The names of all topics, in order; `internal`: also those that Kafka made for itself, by default as exclude.internal.topics says."""
        if internal is None:
            internal = not self._settings.flag("exclude.internal.topics")
        found = self._network.metadata.all_topics(self._network.patience("topics"))
        return sorted(topic.name for topic in found if internal or not topic.internal)

    def partitions(self, topic: str, create: bool = False) -> list[int]:
        """The partitions of a topic. NoSuchTopic, after a second or two; with `create` brokers that create topics by themselves create it."""
        patience = self._network.patience(f"partitions of {topic}")
        return sorted(self._network.metadata.topic(topic, patience, create=create).leaders)

    def topic_id(self, topic: str) -> str:
        """The id of a topic as Kafka prints it, empty when the cluster has no ids: another one is another topic (KIP-516). NoSuchTopic."""
        found = self._network.metadata.topic(topic, self._network.patience(f"id of {topic}")).id
        return "" if found == ZERO else str(found)

    def leaders(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, PartitionLeader]:
        """The leaders of partitions, which another process can hand to its `read`. Partitions that are not there are left out."""
        found: dict[TopicPartition, PartitionLeader] = {}
        patience, asked = self._network.patience("leaders"), list(partitions)
        for name in dict.fromkeys(each.topic for each in asked):
            with suppress(NoSuchTopic):
                topic = self._network.metadata.topic(name, patience)
                wanted = [each for each in asked if each.topic == name and each.partition in topic.leaders]
                found |= {each: self._network.led(topic, each) for each in wanted}
        return found

    def forget(self, topics: Iterable[str]) -> None:
        """The brokers are asked about these topics again before anything is done with them."""
        for name in topics:
            self._network.metadata.stale(name)

    def offsets(
        self, when: Mapping[TopicPartition, int], isolation: str | None = None
    ) -> dict[TopicPartition, OffsetAndEpoch | None]:
        """The first offset of a record of this time or later, in ms since the epoch; -2 for the earliest that there is, -1 for the end, which
        with `read_committed` is where the first open transaction begins. None when all records are older. `isolation` is isolation.level unless
        given."""
        return offsets.by_time(self._network, when, isolation or self._isolation)

    def ends_of_epochs(self, epochs: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndEpoch]:
        """Where each leader epoch ends: of the largest epoch not above the given one that the leader has, which it tells, the offset behind
        the last record. What was read beyond that with the given epoch was truncated (KIP-320)."""
        return offsets.ends_of_epochs(self._network, epochs)

    def read(
        self,
        partition: TopicPartition,
        start: int,
        end: int,
        *,
        leader_epoch: int = -1,
        leader: PartitionLeader | None = None,
        isolation: str | None = None,
        max_bytes: int | None = None,
    ) -> Generator[Fetched, None, None]:
        """Record batches from offset `start` on, until those before `end` have come; the last may go beyond it.

        `leader_epoch` is that of the record before `start`, if it is known. `leader` is what another
        client knows of the partition's leader (`leaders`): with it no metadata is asked for, and a
        topic with another id is not read. OffsetOutOfRange, LogTruncated, NoSuchTopic, TimedOut when
        there was no progress for `default.api.timeout.ms`. A Fetch asks for `max_bytes` at most,
        by default max.partition.fetch.bytes if that is given, and 16 MiB otherwise.
        """
        return reading.read(
            self._network,
            partition,
            start,
            end,
            leader_epoch=leader_epoch,
            leader=leader,
            isolation=isolation or self._isolation,
            max_bytes=self._max_bytes if max_bytes is None else max_bytes,
        )

    def producer(self, acks: str | None = None, idempotent: bool | None = None) -> Producer:
        """What delivers batches; `acks` and `enable.idempotence` are settings unless given. UsageError when they do not go together."""
        return Producer(self._network, acks, idempotent)

    def commit(self, group: str, offsets: Mapping[TopicPartition, OffsetAndEpoch], metadata: str = "") -> None:
        """Write down that a group, which has no members, has come so far."""
        groups.commit(self._network, group, offsets, metadata)

    def committed(
        self, group: str, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndEpoch | None]:
        """How far a group has come; None where nothing is written down."""
        return groups.committed(self._network, group, partitions)

    def close(self) -> None:
        """Close every connection."""
        self._network.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client of {', '.join(map(str, self._settings.bootstrap))}"
