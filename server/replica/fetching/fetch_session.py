"""The session of one fetcher (KIP-227): its partitions, and its next epoch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkadouble.messages.generated.fetch import FetchRequest

from ...requests.kept_bytes import text_bytes
from .cached_partition import CachedPartition, SessionKey, forgotten, keys_and_partitions

INITIAL_EPOCH, FINAL_EPOCH = 0, -1

Replica = tuple[int, int]
"""A follower: its broker id and broker epoch."""

PARTITION_BYTES = 450
"""The memory of a partition of a session, without the name of its topic."""


def next_epoch(epoch: int) -> int:
    """Returns the next epoch: from 1 to 2^31 - 1, then 1 again. Only the first request has 0."""
    return 1 if epoch == 2**31 - 1 else epoch + 1


def size_bytes_of(partitions: Iterable[CachedPartition]) -> int:
    """Returns the bytes that partitions of a session take, by estimate."""
    return sum(PARTITION_BYTES + text_bytes(partition.topic) for partition in partitions)


class FetchSession:
    """The partitions of one fetcher, in reading order: the latest with data is last."""

    __slots__ = ("by_id", "epoch", "id", "last_used", "partitions", "privileged", "size_bytes")

    def __init__(
        self, id: int, partitions: dict[SessionKey, CachedPartition], *, by_id: bool, privileged: bool, now: int
    ) -> None:
        self.id, self.partitions, self.by_id, self.privileged = id, partitions, by_id, privileged
        self.epoch, self.last_used = next_epoch(INITIAL_EPOCH), now
        self.size_bytes = size_bytes_of(partitions.values())

    def update(self, body: FetchRequest, version: int) -> None:
        """Applies an incremental request: added, changed and forgotten partitions."""
        for key, topic, topic_id, requested in keys_and_partitions(body, version):
            known = self.partitions.get(key)
            if known is None:
                added = self.partitions[key] = CachedPartition(topic, topic_id, requested)
                self.size_bytes += size_bytes_of((added,))
            else:
                known.update_request(requested)
        for key in forgotten(body, version):
            if (removed := self.partitions.pop(key, None)) is not None:
                self.size_bytes -= size_bytes_of((removed,))

    def use(self, now: int) -> None:
        """Goes to the next epoch, because a request uses the session."""
        self.epoch, self.last_used = next_epoch(self.epoch), now

    def partitions_to_read(self) -> Sequence[CachedPartition]:
        """Returns the partitions to read for the next response."""
        return list(self.partitions.values())

    def move_to_end(self, partition: CachedPartition) -> None:
        """Reads a partition that had data last, so that it does not starve the others."""
        key = self.key_of(partition)
        if self.partitions.get(key) is partition:
            self.partitions[key] = self.partitions.pop(key)

    def key_of(self, partition: CachedPartition) -> SessionKey:
        return (partition.topic_id if self.by_id else partition.topic), partition.index

    def __repr__(self) -> str:
        return f"fetch session {self.id}, epoch {self.epoch}, {len(self.partitions)} partitions"
