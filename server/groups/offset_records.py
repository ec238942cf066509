"""OffsetCommit records: a committed offset in `__consumer_offsets`, written and read back."""

from __future__ import annotations

from kafkadouble.messages.generated.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kafkadouble.messages.uuid import Uuid

from ..coordinator.coordinator_record import CoordinatorRecord
from .offset_and_metadata import OffsetAndMetadata
from .offset_metadata_manager import OffsetKey

VALUE_VERSION, VALUE_VERSION_WITH_EXPIRE_TIMESTAMP = 4, 1
"""The version that Kafka 4.4 writes. Only version 1 has an expire timestamp (KIP-211)."""


def offset_record(key: OffsetKey, offset: OffsetAndMetadata) -> CoordinatorRecord:
    value = OffsetCommitValue(
        offset=offset.committed_offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        commit_timestamp=offset.commit_timestamp,
        expire_timestamp=offset.expire_timestamp,
        topic_id=offset.topic_id,
    )
    has_expire_timestamp = offset.expire_timestamp != -1
    version = VALUE_VERSION_WITH_EXPIRE_TIMESTAMP if has_expire_timestamp else VALUE_VERSION
    return CoordinatorRecord(_record_key(key), value, version)


def offset_tombstone(key: OffsetKey) -> CoordinatorRecord:
    return CoordinatorRecord(_record_key(key), None)


def _record_key(key: OffsetKey) -> OffsetCommitKey:
    return OffsetCommitKey(group=key.group_id, topic=key.topic, partition=key.partition)


def offset_key_of(key: OffsetCommitKey) -> OffsetKey:
    return OffsetKey(key.group, key.topic, key.partition)


def offset_and_metadata_of(record_offset: int, value: OffsetCommitValue) -> OffsetAndMetadata:
    return OffsetAndMetadata(
        record_offset,
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
        Uuid(value.topic_id),
    )
