"""The records of a dead-letter queue: one for each record that is given up (KIP-1191).

Rules. The headers say which record it was, of which group, how often it was delivered, and why it
was given up. Key and value are those of the record if the group copies records and the record can
still be read; else there are only headers. A record that alone is larger than a batch of the
dead-letter topic is not copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.wire.batch import HEADER_SIZE, encode_batch
from kafkadouble.wire.record import Headers, Record
from kafkadouble.wire.record_write import encode_body

from .share_group_dlq_record_fetcher import ShareGroupDLQRecordFetcher

if TYPE_CHECKING:
    from .host import ShareHost
    from .share_group_dlq_manager import ShareGroupDLQRecordParameter

PREFIX = "__dlq.errors."
"""How the names of the headers begin."""

MAX_RECORDS = 500
"""The most records in a batch, so that no step takes long. Kafka has no such limit."""


class DeadLetterBatch:
    """A batch that grows up to `max_bytes`, or to one larger record, and up to MAX_RECORDS."""

    def __init__(self, node: ShareHost, max_bytes: int) -> None:
        self.max_bytes, self.size = max_bytes, HEADER_SIZE
        self._node = node
        self._fetcher = ShareGroupDLQRecordFetcher(node, max_bytes)
        self._records: list[Record] = []

    def extend(self, given_up: ShareGroupDLQRecordParameter, first: int, *, copies: bool) -> int:
        """Adds the records from offset `first` on, until the batch is full. Returns the offset
        after the last one that was added."""
        for offset in range(first, given_up.last_offset + 1):
            original = self._fetcher.record_at(given_up.key, offset) if copies else None
            if original is not None and _size_of(original, offset) > self.max_bytes:
                original = None
            key, value = (None, None) if original is None else (original.key, original.value)
            headers = headers_of(self._node, given_up, offset)
            if not self._add(Record(len(self._records), self._node.now, key, value, headers)):
                return offset
        return given_up.last_offset + 1

    @property
    def is_long(self) -> bool:
        """Whether it has as many records as a batch may have."""
        return len(self._records) >= MAX_RECORDS

    def _add(self, record: Record) -> bool:
        size = self.size + _size_of(record, 0)
        if self._records and (size > self.max_bytes or self.is_long):
            return False
        self._records.append(record)
        self.size = size
        return True

    def encoded(self) -> bytes:
        """The batch, uncompressed."""
        return bytes(encode_batch(self._records))


def headers_of(node: ShareHost, given_up: ShareGroupDLQRecordParameter, offset: int) -> Headers:
    """The headers of a record, in Kafka's order."""
    key, topic = given_up.key, node.image.topic(given_up.key.topic_id)
    found: dict[str, object] = {
        "topic": key.topic_id if topic is None else topic.name,
        "partition": key.partition,
        "offset": offset,
        "group": key.group_id,
        "delivery.count": given_up.delivery_count,
    }
    if given_up.cause:
        found["message"] = given_up.cause
    return tuple((PREFIX + name, str(value).encode()) for name, value in found.items())


def _size_of(record: Record, base_offset: int) -> int:
    """The size of a record in a batch with this base offset (bytes)."""
    return len(encode_body((record,), base_offset).data)
