"""A coordinator shard that keeps what it replays, on a partition with a slow follower."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.generated.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kafkadouble.messages.message import Message
from kafkadouble.server.coordinator.coordinator_record import CoordinatorRecord
from kafkadouble.server.coordinator.coordinator_shard import CoordinatorShard
from kafkadouble.server.log.log import AppendResult
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.server.requests.waiting import Wait
from tests.server.harness import Harness

TIMEOUT = 5000
"""Kafka's default of offsets.commit.timeout.ms."""


class Lagging(Partition):
    """A partition with a slow follower: `replicate` commits what is appended."""

    __slots__ = ()

    def append_own(self, batch: bytes | bytearray, now: int, **how: Any) -> AppendResult:
        before = self.log.high_watermark
        result = super().append_own(batch, now, **how)
        self.log.high_watermark = before
        return result

    def replicate(self) -> None:
        self.log.high_watermark = self.log.log_end_offset
        self.waiters.wake_all()


class Notes(CoordinatorShard):
    """Every record that it folded: (offset, producer id, group of the key, offset in the value)."""

    commit_timeout_setting = "offsets.commit.timeout.ms"

    def __init__(self, node: Any, partition: Partition) -> None:
        super().__init__(node, partition)
        self.folded: list[tuple[int, int, str, int | None]] = []
        self.ended: list[tuple[int, bool]] = []
        self.is_loaded = self.is_unloaded = False

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        assert isinstance(key, OffsetCommitKey)
        assert value is None or isinstance(value, OffsetCommitValue)
        self.folded.append((offset, producer_id, key.group, None if value is None else value.offset))

    def replay_end_transaction_marker(self, producer_id: int, committed: bool) -> None:
        self.ended.append((producer_id, committed))

    def on_loaded(self) -> None:
        self.is_loaded = True

    def on_unloaded(self) -> None:
        self.is_unloaded = True


def led(harness: Harness, index: int = 0) -> Partition:
    """Returns a partition of the offsets topic, which the first call creates."""
    harness.node.controller.create_internal_topic(CONSUMER_OFFSETS)
    return harness.partition(CONSUMER_OFFSETS, index)


def record(group: str, offset: int | None = 1) -> CoordinatorRecord:
    value = None if offset is None else OffsetCommitValue(offset=offset)
    return CoordinatorRecord(OffsetCommitKey(group=group, topic="t", partition=0), value, 4)


def shard(lagging: bool = True, **settings: object) -> Notes:
    """A shard on a partition of its own; settings are given with `_` for `.`."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    harness = Harness({"offsets.topic.num.partitions": 1, **given})
    partition = led(harness)
    if lagging:
        partition.__class__ = Lagging
    return Notes(harness.node, partition)


class Outcome:
    """What becomes of a handler that waits."""

    def __init__(self, notes: Notes, steps: Wait[Any]) -> None:
        self.results: list[Any] = []
        self.task = notes.node.waiting.start(steps, self.results.append, self.results.append)
