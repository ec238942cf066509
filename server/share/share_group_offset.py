"""The state of one share partition, as the share coordinator keeps it, and its records in
`__share_group_state` (KIP-932; Kafka: `ShareGroupOffset`, `ShareCoordinatorRecordHelpers`).

A snapshot record has the whole state. An update record has what changed since: it replaces the
leader epoch, the start offset and the count, and its batches are combined with the ones before. A
tombstone under the key of the snapshot deletes the state.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.generated.share_snapshot_record import ShareSnapshotKey, ShareSnapshotValue
from kafkadouble.messages.generated.share_update_record import ShareUpdateKey, ShareUpdateValue

from ..coordinator.coordinator_record import CoordinatorRecord
from .persister import UNINITIALIZED_START_OFFSET, PersisterStateBatch, SharePartitionKey, batches_of, state_batches
from .persister_state_batch_combiner import combine_state_batches

UNCHANGED = -1
"""In an update record: the leader epoch or the start offset of before stays."""


class ShareGroupOffset(NamedTuple):
    """`create_timestamp` is when a snapshot was last due; `write_timestamp` is when the last
    snapshot was written (ms). They differ in a snapshot of a share partition that was quiet."""

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    state_batches: tuple[PersisterStateBatch, ...] = ()
    create_timestamp: int = 0
    write_timestamp: int = 0

    def merged(self, update: ShareUpdateValue) -> ShareGroupOffset:
        """Returns the state after an update record."""
        start_offset = self.start_offset if update.start_offset == UNCHANGED else update.start_offset
        return self._replace(
            leader_epoch=self.leader_epoch if update.leader_epoch == UNCHANGED else update.leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=update.delivery_complete_count,
            state_batches=combine_state_batches(self.state_batches, batches_of(update.state_batches), start_offset),
        )


def initialized(state_epoch: int, start_offset: int, snapshot_epoch: int, now: int) -> ShareGroupOffset:
    """The state that InitializeShareGroupState begins."""
    count = -1 if start_offset == UNINITIALIZED_START_OFFSET else 0
    return ShareGroupOffset(snapshot_epoch, state_epoch, 0, start_offset, count, (), now, now)


def from_snapshot(value: ShareSnapshotValue) -> ShareGroupOffset:
    return ShareGroupOffset(
        value.snapshot_epoch,
        value.state_epoch,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        batches_of(value.state_batches),
        value.create_timestamp,
        value.write_timestamp,
    )


def from_update(value: ShareUpdateValue) -> ShareGroupOffset:
    """The state of an update record whose snapshot is missing."""
    return ShareGroupOffset(
        value.snapshot_epoch,
        0,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        batches_of(value.state_batches),
    )


def share_snapshot_record(key: SharePartitionKey, offset: ShareGroupOffset) -> CoordinatorRecord:
    value = ShareSnapshotValue(
        snapshot_epoch=offset.snapshot_epoch,
        state_epoch=offset.state_epoch,
        leader_epoch=offset.leader_epoch,
        start_offset=offset.start_offset,
        delivery_complete_count=offset.delivery_complete_count,
        create_timestamp=offset.create_timestamp,
        write_timestamp=offset.write_timestamp,
        state_batches=state_batches(ShareSnapshotValue.StateBatch, offset.state_batches),
    )
    return CoordinatorRecord(_snapshot_key(key), value)


def share_update_record(key: SharePartitionKey, offset: ShareGroupOffset) -> CoordinatorRecord:
    group_id, topic_id, partition = key
    value = ShareUpdateValue(
        snapshot_epoch=offset.snapshot_epoch,
        leader_epoch=offset.leader_epoch,
        start_offset=offset.start_offset,
        delivery_complete_count=offset.delivery_complete_count,
        state_batches=state_batches(ShareUpdateValue.StateBatch, offset.state_batches),
    )
    return CoordinatorRecord(ShareUpdateKey(group_id=group_id, topic_id=topic_id, partition=partition), value)


def share_state_tombstone(key: SharePartitionKey) -> CoordinatorRecord:
    return CoordinatorRecord(_snapshot_key(key), None)


def _snapshot_key(key: SharePartitionKey) -> ShareSnapshotKey:
    return ShareSnapshotKey(group_id=key.group_id, topic_id=key.topic_id, partition=key.partition)
