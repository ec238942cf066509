"""The share partitions whose state is in one partition of `__share_group_state` (KIP-932).

REPLAY says which record changes what. Each operation checks its request, computes its record from
the state, writes it, and returns what the response shows. An operation is refused if its leader
epoch or its state epoch is older than the newest known one, or if its topic or partition does not
exist. A write is an update record; after `share.coordinator.snapshot.update.records.per.snapshot`
updates it is a snapshot. The caller waits for the commit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_snapshot_record import ShareSnapshotKey, ShareSnapshotValue
from kafkadouble.messages.generated.share_update_record import ShareUpdateKey, ShareUpdateValue
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import Record

from ..coordinator.coordinator_record import CoordinatorRecord
from ..coordinator.coordinator_shard import CoordinatorShard
from ..log.files.errors import DiskFailure
from ..requests.request import Refusal
from .persister import PersisterStateBatch, SharePartitionKey
from .persister_state_batch_combiner import combine_state_batches
from .share_group_offset import (
    ShareGroupOffset,
    from_snapshot,
    from_update,
    initialized,
    share_snapshot_record,
    share_state_tombstone,
    share_update_record,
)

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost
    from ..replica.replication.partition import Partition


class ShareCoordinatorOffsetsManager:
    """The offset of the last snapshot of each share partition: which records are still needed
    (Kafka: `ShareCoordinatorOffsetsManager`).

    The state of a share partition is its last snapshot and the updates after it. So every record
    before the oldest of the last snapshots is redundant, and can be deleted.
    """

    def __init__(self) -> None:
        # In the order of the offsets: a later snapshot moves its share partition to the end.
        self._offsets: dict[SharePartitionKey, int] = {}
        self._last_redundant_offset = 0

    def update_state(self, key: SharePartitionKey, offset: int, is_delete: bool) -> None:
        """A snapshot or a tombstone was replayed."""
        self._offsets.pop(key, None)
        self._offsets[key] = offset
        self._last_redundant_offset = next(iter(self._offsets.values()))
        if is_delete:
            del self._offsets[key]

    @property
    def last_redundant_offset(self) -> int | None:
        """The offset before which no record is needed; None if every record is."""
        return self._last_redundant_offset or None

    def __repr__(self) -> str:
        return f"{len(self._offsets)} snapshots, nothing before offset {self._last_redundant_offset} is needed"


UPDATES_SETTING = "share.coordinator.snapshot.update.records.per.snapshot"

NEGATIVE_PARTITION_ID = "The partition id cannot be a negative number."
NEGATIVE_LEADER_EPOCH = "The leader epoch cannot be a negative number."
NEGATIVE_STATE_EPOCH = "The state epoch cannot be a negative number."
WRITE_UNINITIALIZED = "Write operation on uninitialized share partition not allowed."
READ_UNINITIALIZED = "Read operation on uninitialized share partition not allowed."


class SharePartitionState:
    """One share partition: its state, the newest epochs that were seen, and the number of updates
    since the last snapshot that was due."""

    __slots__ = ("leader_epoch", "offset", "state_epoch", "update_count")

    def __init__(self, offset: ShareGroupOffset) -> None:
        self.offset = offset
        self.leader_epoch, self.state_epoch, self.update_count = -1, -1, 0


class ShareCoordinatorShard(CoordinatorShard):
    """The share partitions of one partition."""

    commit_timeout_setting = "share.coordinator.write.timeout.ms"

    def __init__(self, node: CoordinatorHost, partition: Partition) -> None:
        super().__init__(node, partition)
        self.states: dict[SharePartitionKey, SharePartitionState] = {}
        self.offsets = ShareCoordinatorOffsetsManager()

    # Loading.

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        replay = REPLAY.get(type(key))
        if replay is not None:
            replay(self, offset, key, value)

    def replay_end_transaction_marker(self, producer_id: int, committed: bool) -> None:
        """The topic has no markers."""

    def replay_snapshot(self, offset: int, record_key: ShareSnapshotKey, value: ShareSnapshotValue | None) -> None:
        """Replaces or deletes the state of a share partition."""
        key = SharePartitionKey(record_key.group_id, record_key.topic_id, record_key.partition)
        self.offsets.update_state(key, offset, value is None)
        if value is None:
            self.states.pop(key, None)
            return
        state = self.states.get(key)
        if state is None:
            state = self.states[key] = SharePartitionState(from_snapshot(value))
        else:
            state.offset = from_snapshot(value)
        state.leader_epoch = max(state.leader_epoch, value.leader_epoch)
        state.state_epoch = max(state.state_epoch, value.state_epoch)
        if state.update_count >= self._updates_per_snapshot:
            state.update_count = 0

    def replay_update(self, offset: int, record_key: ShareUpdateKey, value: ShareUpdateValue | None) -> None:
        """Changes the state of a share partition."""
        if value is None:
            return
        key = SharePartitionKey(record_key.group_id, record_key.topic_id, record_key.partition)
        state = self.states.get(key)
        if state is None:
            state = self.states[key] = SharePartitionState(from_update(value))
        else:
            state.offset = state.offset.merged(value)
        state.leader_epoch = max(state.leader_epoch, value.leader_epoch)
        state.update_count += 1

    def on_loaded(self) -> None:
        """It needs no timer: the coordinator has its periodic jobs."""

    def on_unloaded(self) -> None:
        """No timer, and no request that waits for anything but a commit."""

    @property
    def _updates_per_snapshot(self) -> int:
        return self.node.settings.int(UPDATES_SETTING)

    def write(self, records: Sequence[CoordinatorRecord], encoded: Sequence[Record] | None = None) -> None:
        """Appends with acks=all, as Kafka does: it is refused if too few replicas are in sync."""
        if records and self.partition.lacks_replicas:
            raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
        super().write(records, encoded)

    # Requests. Each raises Refusal.

    def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int) -> None:
        """Begins the state of a share partition, or begins it again."""
        _refuse_negative(key.partition, NEGATIVE_PARTITION_ID)
        _refuse_negative(state_epoch, NEGATIVE_STATE_EPOCH)
        state = self.states.get(key)
        if state is not None and state.state_epoch > state_epoch:
            raise Refusal(error_codes.FENCED_STATE_EPOCH)
        self._check_exists(key)
        snapshot_epoch = 0 if state is None else state.offset.snapshot_epoch + 1
        self.write([share_snapshot_record(key, initialized(state_epoch, start_offset, snapshot_epoch, self.now))])

    def read_state(self, key: SharePartitionKey, leader_epoch: int) -> ShareGroupOffset:
        """Returns the state. A new leader epoch is written, and fences the earlier leaders."""
        _refuse_negative(key.partition, NEGATIVE_PARTITION_ID)
        _refuse_negative(leader_epoch, NEGATIVE_LEADER_EPOCH)
        state = self._initialized(key, READ_UNINITIALIZED)
        self._check_leader_epoch(state, leader_epoch)
        self._check_exists(key)
        offset = state.offset
        if state.leader_epoch != leader_epoch:
            self._write(key, state, offset._replace(leader_epoch=leader_epoch, state_batches=()))
        return offset

    def read_state_summary(self, key: SharePartitionKey) -> ShareGroupOffset | None:
        """Returns the state; None for an unknown share partition."""
        _refuse_negative(key.partition, NEGATIVE_PARTITION_ID)
        self._check_exists(key)
        state = self.states.get(key)
        return None if state is None else state.offset

    def write_state(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Collection[PersisterStateBatch],
    ) -> None:
        """Changes the state. The start offset never moves back."""
        _refuse_negative(key.partition, NEGATIVE_PARTITION_ID)
        _refuse_negative(leader_epoch, NEGATIVE_LEADER_EPOCH)
        _refuse_negative(state_epoch, NEGATIVE_STATE_EPOCH)
        state = self._initialized(key, WRITE_UNINITIALIZED)
        self._check_leader_epoch(state, leader_epoch)
        if state.state_epoch > state_epoch:
            raise Refusal(error_codes.FENCED_STATE_EPOCH)
        self._check_exists(key)
        current = state.offset
        if start_offset == current.start_offset:
            delivery_complete_count = max(delivery_complete_count, current.delivery_complete_count)
        elif start_offset < current.start_offset:
            delivery_complete_count = current.delivery_complete_count
        changed = current._replace(
            start_offset=max(start_offset, current.start_offset),
            delivery_complete_count=delivery_complete_count,
            state_batches=tuple(batches),
        )
        self._write(key, state, changed)

    def delete_state(self, key: SharePartitionKey) -> None:
        """Deletes the state; an unknown share partition has none."""
        _refuse_negative(key.partition, NEGATIVE_PARTITION_ID)
        self._check_exists(key)
        if key in self.states:
            self.write([share_state_tombstone(key)])

    def _write(self, key: SharePartitionKey, state: SharePartitionState, changed: ShareGroupOffset) -> None:
        """Writes a change, whose batches are only the new ones, as an update or as a snapshot."""
        if state.update_count < self._updates_per_snapshot:
            batches = combine_state_batches((), changed.state_batches, changed.start_offset)
            self.write([share_update_record(key, changed._replace(state_batches=batches))])
            return
        snapshot = changed._replace(
            snapshot_epoch=changed.snapshot_epoch + 1,
            state_batches=combine_state_batches(
                state.offset.state_batches, changed.state_batches, changed.start_offset
            ),
            create_timestamp=self.now,
            write_timestamp=self.now,
        )
        self.write([share_snapshot_record(key, snapshot)])

    def _initialized(self, key: SharePartitionKey, message: str) -> SharePartitionState:
        state = self.states.get(key)
        if state is None:
            raise Refusal(error_codes.INVALID_REQUEST, message)
        return state

    def _check_leader_epoch(self, state: SharePartitionState, leader_epoch: int) -> None:
        if state.leader_epoch > leader_epoch:
            raise Refusal(error_codes.FENCED_LEADER_EPOCH)

    def _check_exists(self, key: SharePartitionKey) -> None:
        topic = self.node.image.topic(key.topic_id)
        if topic is None or len(topic.partitions) <= key.partition:
            raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION)

    # Periodic jobs.

    def snapshot_cold_partitions(self) -> None:
        """Writes a snapshot of each share partition that had none for a while, so that older
        records become redundant. Nothing happens if each was written by this job last."""
        if all(state.offset.create_timestamp != state.offset.write_timestamp for state in self.states.values()):
            return
        oldest = self.now - self.node.settings.int("share.coordinator.cold.partition.snapshot.interval.ms")
        self.write_in_batches(
            [
                share_snapshot_record(
                    key, state.offset._replace(snapshot_epoch=state.offset.snapshot_epoch + 1, write_timestamp=self.now)
                )
                for key, state in self.states.items()
                if state.offset.write_timestamp <= oldest
            ]
        )

    def delete_topics(self, topic_ids: Collection[Uuid]) -> None:
        """Deletes the state of the share partitions of deleted topics."""
        self.write_in_batches([share_state_tombstone(key) for key in self.states if key.topic_id in topic_ids])

    def prune(self) -> None:
        """Deletes the records that are redundant, once what makes them redundant is committed."""
        offset = self.offsets.last_redundant_offset
        if offset is not None and offset > self.partition.log.log_start_offset:
            self.after_commit(lambda code: None if code else self._delete_records_before(offset))

    def _delete_records_before(self, offset: int) -> None:
        try:
            self.partition.log.delete_records_before(offset)
        except DiskFailure:  # the node reports it
            return
        self.partition.wake_waiters()


def _refuse_negative(number: int, message: str) -> None:
    if number < 0:
        raise Refusal(error_codes.INVALID_REQUEST, message)


REPLAY: dict[type[Message], Any] = {
    ShareSnapshotKey: ShareCoordinatorShard.replay_snapshot,
    ShareUpdateKey: ShareCoordinatorShard.replay_update,
}
"""Class of a record's key -> the method that applies the record."""
