"""The entry point of this package: a small synchronous Kafka client with the requests that
pipelines need.

Rules. One thread uses it at a time. Nothing runs in the background: each call sends the requests
that it needs, and ends within `default.api.timeout.ms`, with an error if need be. The client joins
no groups and makes no transactions.
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
"""The largest `max_bytes` of one Fetch. A caller may hold two responses in memory."""


class Client:
    """A client with Kafka's settings, by Kafka's dotted names. Raises UsageError for an invalid
    value; logs a warning for an unknown name.

    Its errors are kinds of `ClientError`. It connects with the first request.
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
        """The names of all topics, sorted; `internal`: also internal topics, by default as
        `exclude.internal.topics` says."""
        if internal is None:
            internal = not self._settings.flag("exclude.internal.topics")
        found = self._network.metadata.all_topics(self._network.patience("topics"))
        return sorted(topic.name for topic in found if internal or not topic.internal)

    def partitions(self, topic: str, create: bool = False) -> list[int]:
        """The partitions of a topic. Raises NoSuchTopic after one or two seconds. With `create`,
        brokers with automatic topic creation create it."""
        patience = self._network.patience(f"partitions of {topic}")
        return sorted(self._network.metadata.topic(topic, patience, create=create).leaders)

    def topic_id(self, topic: str) -> str:
        """The id of a topic as Kafka prints it, empty when the cluster has no ids. A recreated
        topic has another id (KIP-516). Raises NoSuchTopic."""
        found = self._network.metadata.topic(topic, self._network.patience(f"id of {topic}")).id
        return "" if found == ZERO else str(found)

    def leaders(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, PartitionLeader]:
        """The leaders of partitions, which another process can pass to its `read`. Unknown
        partitions are omitted."""
        found: dict[TopicPartition, PartitionLeader] = {}
        patience, requested = self._network.patience("leaders"), list(partitions)
        for name in dict.fromkeys(each.topic for each in requested):
            with suppress(NoSuchTopic):
                topic = self._network.metadata.topic(name, patience)
                known = [each for each in requested if each.topic == name and each.partition in topic.leaders]
                found |= {each: self._network.led(topic, each) for each in known}
        return found

    def forget(self, topics: Iterable[str]) -> None:
        """Marks the metadata of these topics as stale: it is requested again before the next
        use."""
        for name in topics:
            self._network.metadata.stale(name)

    def offsets(
        self, when: Mapping[TopicPartition, int], isolation: str | None = None
    ) -> dict[TopicPartition, OffsetAndEpoch | None]:
        """For each partition the first offset of a record with this timestamp (ms since the epoch)
        or a later one. -2 is the earliest offset; -1 is the end, with `read_committed` the last
        stable offset. The result is None when all records are older. `isolation` is
        `isolation.level` unless given."""
        return offsets.by_time(self._network, when, isolation or self._isolation)

    def ends_of_epochs(self, epochs: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndEpoch]:
        """The end offset of each leader epoch: the largest epoch of the leader that is not above
        the given one, and the offset after its last record. Records that were read beyond it were
        truncated (KIP-320)."""
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
        """Record batches from offset `start` to `end`; the last batch may extend beyond `end`.

        `leader_epoch` is that of the record before `start`, if it is known. `leader` is the
        partition's leader from another client (`leaders`): with it, no metadata is requested, and a
        topic with another id is not read. Raises OffsetOutOfRange, LogTruncated, NoSuchTopic, or
        TimedOut after `default.api.timeout.ms` without progress. A Fetch asks for at most
        `max_bytes`, by default `max.partition.fetch.bytes` if that is given, else 16 MiB.
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
        """A producer. `acks` and `idempotent` override `acks` and `enable.idempotence`. Raises
        UsageError when they contradict each other."""
        return Producer(self._network, acks, idempotent)

    def commit(self, group: str, offsets: Mapping[TopicPartition, OffsetAndEpoch], metadata: str = "") -> None:
        """Commits offsets of a group that has no members."""
        groups.commit(self._network, group, offsets, metadata)

    def committed(
        self, group: str, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndEpoch | None]:
        """The committed offsets of a group; None for a partition without one."""
        return groups.committed(self._network, group, partitions)

    def close(self) -> None:
        """Closes every connection."""
        self._network.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client of {', '.join(map(str, self._settings.bootstrap))}"
