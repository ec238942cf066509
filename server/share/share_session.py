"""A share session: the partitions that a member fetches from this broker (KIP-932).

The first request of a session has epoch 0 and names its partitions; the next ones have the epochs
1, 2, ... and name only what changes; -1 ends the session. A broker has at most one session for a
member of a group.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_fetch import ShareFetchResponse
from kafkadouble.messages.uuid import Uuid

from ..requests.kept_bytes import text_bytes

INITIAL_EPOCH, FINAL_EPOCH = 0, -1

SESSION_BYTES, PARTITION_BYTES = 500, 400
"""The memory of a session without its names and partitions, and the memory of one of its
partitions."""


def next_epoch(epoch: int) -> int:
    """The epoch after this one: from 1 to 2^31 - 1, then 1 again."""
    return 1 if epoch == 2**31 - 1 else epoch + 1


class TopicIdPartition(NamedTuple):
    """A partition of a request. `topic` is None if no topic has the id."""

    topic_id: Uuid
    partition: int
    topic: str | None

    @property
    def key(self) -> tuple[Uuid, int]:
        return self.topic_id, self.partition


class ShareSessionKey(NamedTuple):
    """The member of a group that a session belongs to."""

    group_id: str
    member_id: str


class CachedSharePartition:
    """A partition of a session. `must_respond` says that the next response has it in any case."""

    __slots__ = ("must_respond", "partition")

    def __init__(self, partition: TopicIdPartition, *, must_respond: bool) -> None:
        self.partition, self.must_respond = partition, must_respond

    def update_response(self, data: ShareFetchResponse.PartitionData) -> bool:
        """Returns whether the response must have this data; after an error, the next one too."""
        is_new = bool(data.records is not None and len(data.records)) or self.must_respond or bool(data.error_code)
        self.must_respond = data.error_code != error_codes.NONE
        return is_new


class ShareSession:
    """The session of one member, over the connection `connection_id`.

    `partitions` are in reading order: the latest with records is last. `epoch` is the one that the
    next request must have.
    """

    __slots__ = ("connection_id", "epoch", "key", "partitions")

    def __init__(self, key: ShareSessionKey, partitions: Iterable[TopicIdPartition], connection_id: int) -> None:
        self.key, self.connection_id, self.epoch = key, connection_id, next_epoch(INITIAL_EPOCH)
        self.partitions = {each.key: CachedSharePartition(each, must_respond=False) for each in partitions}

    @property
    def size_bytes(self) -> int:
        """The bytes that it takes, by estimate."""
        return SESSION_BYTES + sum(map(text_bytes, self.key)) + PARTITION_BYTES * len(self.partitions)

    def update(self, added: Iterable[TopicIdPartition], forgotten: Iterable[TopicIdPartition]) -> None:
        """Applies what a request of the session changes, and goes to the next epoch."""
        for partition in added:
            if partition.key not in self.partitions:
                self.partitions[partition.key] = CachedSharePartition(partition, must_respond=True)
        for each in forgotten:
            self.partitions.pop(each.key, None)
        self.epoch = next_epoch(self.epoch)

    def update_response(self, key: tuple[Uuid, int], data: ShareFetchResponse.PartitionData) -> bool:
        """Returns whether the response must have the data of this partition; a partition with
        records is read last from now on."""
        cached = self.partitions.get(key)
        if cached is None or not cached.update_response(data):
            return False
        if data.records is not None and len(data.records):
            self.partitions[key] = self.partitions.pop(key)
        return True

    def __repr__(self) -> str:
        return f"share session of {self.key.member_id} in {self.key.group_id}, epoch {self.epoch}, {len(self.partitions)} partitions"
