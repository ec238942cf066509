"""OffsetCommit records: a committed offset in `__consumer_offsets`, and back."""

from __future__ import annotations

from kafkadouble.messages.generated.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kafkadouble.messages.uuid import Uuid

from ..coordinator.record import CoordinatorRecord
from .committed import Committed
from .offsets import Place

VERSION, VERSION_WITH_EXPIRY = 4, 1
"""What Kafka 4.4 writes: version 1 for an offset with a time of its own to expire at, which no later version has (KIP-211)."""


def offset_record(place: Place, offset: Committed) -> CoordinatorRecord:
    value = OffsetCommitValue(
        offset=offset.offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        commit_timestamp=offset.committed_at,
        expire_timestamp=offset.expires_at,
        topic_id=offset.topic_id,
    )
    return CoordinatorRecord(_key(place), value, VERSION if offset.expires_at == -1 else VERSION_WITH_EXPIRY)


def offset_tombstone(place: Place) -> CoordinatorRecord:
    return CoordinatorRecord(_key(place), None)


def _key(place: Place) -> OffsetCommitKey:
    return OffsetCommitKey(group=place.group, topic=place.topic, partition=place.partition)


def place_of(key: OffsetCommitKey) -> Place:
    return Place(key.group, key.topic, key.partition)


def committed_of(record_offset: int, value: OffsetCommitValue) -> Committed:
    return Committed(
        record_offset,
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
        Uuid(value.topic_id),
    )
