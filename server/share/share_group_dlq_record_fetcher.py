"""Reads the records that a dead-letter queue gets a copy of (KIP-1191; Kafka:
`ShareGroupDLQRecordFetcher`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.wire.batch import BatchHeader, read_header, records_of
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import TooLarge, WireError
from kafkadouble.wire.record import Record

from ..log.files.errors import DiskFailure
from ..log.refusals import LogRefused

if TYPE_CHECKING:
    from ..replica.replication.partition import Partition
    from .host import ShareHost
    from .persister import SharePartitionKey

log = ClientLog("kafkadouble.server.share")

END = 1 << 63
ONE_BATCH = 1


class ShareGroupDLQRecordFetcher:
    """Looks up records one by one, and keeps those of one batch. A compressed batch that
    decompresses to more than `limit` bytes is as if it had no records."""

    def __init__(self, node: ShareHost, limit: int) -> None:
        self._node, self._limit = node, limit
        self._topic_partition: object = None
        self._known = range(0)
        self._records: dict[int, Record] = {}

    def record_at(self, key: SharePartitionKey, offset: int) -> Record | None:
        """The record at this offset; None if there is none that can be read."""
        topic_partition = (key.topic_id, key.partition)
        if topic_partition != self._topic_partition or offset not in self._known:
            # If nothing is found, there is nothing to read after it either.
            self._topic_partition, self._known, self._records = topic_partition, range(offset, END), {}
            self._read(key, offset)
        return self._records.get(offset)

    def _read(self, key: SharePartitionKey, offset: int) -> None:
        topic = self._node.image.topic(key.topic_id)
        partition = None if topic is None else self._node.partitions.get(topic.name, key.partition)
        if partition is None or partition.offline:
            log.warning("%r cannot be read: its records are not copied", key)
            return
        try:
            self._read_batch(partition, max(offset, partition.log.log_start_offset))
        except (LogRefused, DiskFailure, WireError) as problem:
            log.warning("%r cannot be read at offset %d: its records are not copied: %s", key, offset, problem)

    def _read_batch(self, partition: Partition, offset: int) -> None:
        records = partition.log.read(offset, ONE_BATCH, partition.high_watermark).records
        if not records:
            return
        header = read_header(records, 0)
        self._known = range(self._known.start, header.last_offset + 1)
        self._records = {record.offset: record for record in self._decoded(records, header)}

    def _decoded(self, found: memoryview | bytes, header: BatchHeader) -> list[Record]:
        try:
            return records_of(found, 0, header, limit=self._limit, check_crc=False)
        except TooLarge:
            log.warning("%r decompresses to more than %d bytes: its records are not copied", header, self._limit)
            return []
