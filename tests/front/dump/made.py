"""A log directory as Kafka leaves it, small and quickly made."""

from __future__ import annotations

from pathlib import Path

from kafkadouble.messages import (
    ConfigRecord,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    TopicRecord,
)
from kafkadouble.messages.coordinator import encode_key, encode_value
from kafkadouble.messages.framed import encode_record
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.formats import (
    clean_shutdown,
    epoch_checkpoint,
    meta_properties,
    names,
    offset_checkpoint,
    offset_index,
    partition_metadata,
    producer_snapshot,
    time_index,
    txn_index,
)
from kafkadouble.server.log.formats.producer_snapshot import Entry
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.transactions import AbortedTransaction
from kafkadouble.wire.batch import ABORT, Record, encode_batch, encode_control_batch

NOW = 1_700_000_000_000
TOPIC_ID = Uuid(bytes(range(16)))
ORDERS = "orders-0"
FIRST, SECOND = names.segment_name(0), names.segment_name(6)


def batch(first: int, count: int, epoch: int = 0, **how: object) -> bytes:
    """A batch of records with a key, a value and a header, a millisecond apart."""
    records = [
        Record(
            first + index,
            NOW + first + index,
            b"key",
            b"value %d" % (first + index),
            (("trace", b"on"), ("none", None)),
        )
        for index in range(count)
    ]
    return bytes(encode_batch(records, base_offset=first, partition_leader_epoch=epoch, **how))  # type: ignore[arg-type]  # keywords of any kind


BEHIND = len(batch(0, 2))
"""The position at which the second batch begins."""


def log_directory(folder: Path) -> Path:
    """One topic in two segments, after a clean stop. The first segment has an aborted
    transaction."""
    orders = folder / ORDERS
    orders.mkdir(parents=True)
    in_transaction = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    marker = encode_control_batch(
        ABORT, bytes(6), base_offset=5, timestamp=NOW + 5, partition_leader_epoch=1, producer_id=7, producer_epoch=0,
        is_transactional=True,
    )  # fmt: skip
    first = [batch(0, 2), batch(2, 3, 1, **in_transaction), bytes(marker)]
    (orders / (FIRST + names.LOG)).write_bytes(b"".join(first))
    (orders / (FIRST + names.INDEX)).write_bytes(offset_index.pack(4, len(first[0])))
    (orders / (FIRST + names.TIME_INDEX)).write_bytes(time_index.pack(NOW + 4, 4) + time_index.pack(NOW + 5, 5))
    (orders / (FIRST + names.TXN_INDEX)).write_bytes(txn_index.write([AbortedTransaction(7, 2, 5, 6)]))
    entry = Entry(
        producer_id=7, last_sequence=2, last_offset=4, offset_delta=2, timestamp=NOW + 4, current_txn_first_offset=-1
    )
    (orders / (SECOND + names.SNAPSHOT)).write_bytes(producer_snapshot.write([entry]))
    (orders / (SECOND + names.LOG)).write_bytes(batch(6, 3, 1) + batch(9, 1, 1))
    (orders / (SECOND + names.INDEX)).write_bytes(b"")
    (orders / (SECOND + names.TIME_INDEX)).write_bytes(time_index.pack(NOW + 9, 3))
    (orders / names.LEADER_EPOCH).write_bytes(epoch_checkpoint.write([OffsetAndEpoch(0, 0), OffsetAndEpoch(2, 1)]))
    (orders / names.PARTITION_METADATA).write_bytes(partition_metadata.write(TOPIC_ID))
    for name in (names.RECOVERY_POINT, names.REPLICATION_OFFSET):
        (folder / name).write_bytes(offset_checkpoint.write({("orders", 0): 10}))
    for name in (names.LOG_START, names.CLEANER_OFFSET):
        (folder / name).write_bytes(offset_checkpoint.write({}))
    (folder / names.CLEAN_SHUTDOWN).write_bytes(clean_shutdown.write(3))
    properties = meta_properties.MetaProperties("U-2bg2rDT0OJgmkICpav1A", 1, TOPIC_ID)
    (folder / names.META_PROPERTIES).write_bytes(meta_properties.write(properties))
    return folder


def offsets_partition(folder: Path) -> Path:
    """`__consumer_offsets-0` with an offset, a group without members, and a tombstone."""
    made = folder / "__consumer_offsets-0"
    made.mkdir(parents=True)
    key = encode_key(OffsetCommitKey(group="g", topic="orders", partition=0))
    group = encode_key(GroupMetadataKey(group="g"))
    values = [
        (key, encode_value(OffsetCommitValue(offset=5, metadata="why", commit_timestamp=NOW), 3)),
        (group, encode_value(GroupMetadataValue(protocol_type="consumer", generation=2, members=[]), 3)),
        (key, None),
    ]
    records = [Record(offset, NOW, *pair) for offset, pair in enumerate(values)]
    (made / (FIRST + names.LOG)).write_bytes(encode_batch(records, partition_leader_epoch=0))
    return made


def metadata_partition(folder: Path, *, policy: str) -> Path:
    """`__cluster_metadata-0` with a topic `orders` that has this `cleanup.policy`."""
    made = folder / "__cluster_metadata-0"
    made.mkdir(parents=True)
    messages = [
        TopicRecord(name="orders", topic_id=TOPIC_ID),
        ConfigRecord(resource_type=2, resource_name="orders", name="cleanup.policy", value=policy),
    ]
    records = [Record(offset, NOW, None, encode_record(message, 0)) for offset, message in enumerate(messages)]
    (made / (FIRST + names.LOG)).write_bytes(encode_batch(records, partition_leader_epoch=1))
    return made
