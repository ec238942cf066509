"""Reads the records of a topic from its logs, without a client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafkadouble.arguments.parameters import check, check_given
from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.common.kinds import given_as
from kafkadouble.common.missing_names import no_partition
from kafkadouble.messages import error_codes
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.topics import leadership
from kafkadouble.wire.batch import ABORT, BatchHeader, control_type, iter_batches, records_of
from kafkadouble.wire.record import Headers

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
CHUNK = 16 * 1024 * 1024

SHOWN = 40
"""How many bytes of a value that cannot be decoded are shown."""

T = TypeVar("T")


@given_as("record")
class ReadRecord(NamedTuple):
    """A record as a consumer would get it. `timestamp` is in ms since the epoch, -1 for none."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    def text(self) -> str | None:
        """The value as UTF-8 text; None for a tombstone. Raises UsageError, which names the record,
        for a value that is not UTF-8."""
        return self._decoded("value", self.value, bytes.decode, "text")

    def json(self) -> Any:
        """The value as JSON; None for a tombstone. Raises UsageError, which names the record, for a
        value that is not JSON."""
        import json  # for JSON alone

        return self._decoded("value", self.value, json.loads, "JSON")

    def decode(self, function: Callable[[bytes], T]) -> T | None:
        """The result of a function for the value, such as a decoder of Avro or Protobuf; None for a
        tombstone. Raises UsageError, which names the record, when the function raises."""
        return self._decoded("value", self.value, function)

    def decode_key(self, function: Callable[[bytes], T]) -> T | None:
        """The result of a function for the key, as `decode`; None for a record without a key."""
        return self._decoded("key", self.key, function)

    def header(self, name: str) -> bytes | None:
        """The value of the last header with this name; None if there is none, or if it is null."""
        return next((value for key, value in reversed(self.headers) if key == name), None)

    def _decoded(self, what: str, data: bytes | None, function: Callable[[bytes], T], form: str = "") -> T | None:
        if data is None:
            return None
        try:
            return function(data)
        except Exception as problem:
            where = f"{self.topic}-{self.partition}@{self.offset}"
            form = form or f"what {getattr(function, '__name__', repr(function))} reads"
            shown = f"{data!r}" if len(data) <= SHOWN else f"{data[:SHOWN]!r}..."
            raise UsageError(
                f"{where}: the {what} is not {form}: {type(problem).__name__}: {problem}; it is {shown}"
            ) from problem


class Bytes(NamedTuple):
    """The readable batches of one partition from the offset `start` to `end`, and the aborted
    transactions: pairs of a producer id and a first offset."""

    topic: str
    partition: int
    start: int
    end: int
    batches: list[bytes]
    aborted: list[tuple[int, int]]


def check_isolation(isolation: str) -> bool:
    """Whether the isolation level reads only committed records. Raises UsageError for an unknown
    level."""
    if isolation not in (READ_UNCOMMITTED, READ_COMMITTED):
        raise UsageError(f"isolation is {READ_UNCOMMITTED} or {READ_COMMITTED}, not {isolation!r}")
    return isolation == READ_COMMITTED


def take_all(
    broker: ClusterApi,
    topic: str,
    partition: int | None,
    committed: bool,
    start: Callable[[int], int] = lambda _: 0,
) -> list[Bytes]:
    """Takes the batches of every partition of a topic, or of one, by partition; `start` has the
    first offset of each. Call it on the loop's thread."""
    check(topic=topic)
    check_given(partition=partition)
    image = broker.image.topic_named(topic)
    indexes = () if image is None else sorted(image.partitions)
    requested = indexes if partition is None else [partition]
    if not set(requested) & set(indexes):
        raise no_partition(broker.image, topic, partition)
    return [take(leadership.find(broker, topic, index)[1], committed, start(index)) for index in requested]


def take(partition: Partition, committed: bool, start: int = 0) -> Bytes:
    """Takes the batches of one partition, from this offset on. Call it on the loop's thread. Raises
    KafkaError if the log directory fails."""
    try:
        return _take(partition, committed, start)
    except DiskFailure as failure:
        raise KafkaError(error_codes.KAFKA_STORAGE_ERROR, str(failure)) from failure


def _take(partition: Partition, committed: bool, start: int) -> Bytes:
    log = partition.log
    offset = start = max(start, log.log_start_offset)
    end = log.last_stable_offset if committed else log.high_watermark
    batches = []
    while offset < end:
        found = log.read(offset, CHUNK, end)
        if not len(found.records) or found.next_offset <= offset:
            break
        batches.append(bytes(found.records))
        offset = found.next_offset
    aborted = [(one.producer_id, one.first_offset) for one in log.aborted_in(start, end)] if committed else []
    return Bytes(partition.topic, partition.index, start, offset, batches, aborted)


def read(taken: Bytes) -> Iterator[ReadRecord]:
    """Decodes the records in these batches."""
    waiting = sorted(taken.aborted, key=lambda one: one[1], reverse=True)
    aborting: set[int] = set()
    for chunk in taken.batches:
        for position, header in iter_batches(chunk):
            while waiting and waiting[-1][1] <= header.last_offset:
                aborting.add(waiting.pop()[0])
            if header.is_control:
                markers = records_of(chunk, position, header, check_crc=False)
                if markers and control_type(markers[0])[1] == ABORT:
                    aborting.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in aborting):
                yield from _records(taken, chunk, position, header)


def _records(taken: Bytes, chunk: bytes, position: int, header: BatchHeader) -> Iterator[ReadRecord]:
    for record in records_of(chunk, position, header, check_crc=False):
        if record.offset >= taken.start:
            key = None if record.key is None else bytes(record.key)
            value = None if record.value is None else bytes(record.value)
            yield ReadRecord(taken.topic, taken.partition, record.offset, record.timestamp, key, value, record.headers)
