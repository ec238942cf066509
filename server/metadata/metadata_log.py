"""The metadata log as bytes: encodes records into batches, decodes batches, and replays a whole log
(KIP-595, KIP-631).

Control batches (leader changes, kraft.version and voters) belong to the quorum: they move the end
of the log and do not change the image.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkadouble.messages import framed
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import Record, encode_batch, iter_batches, records_of
from kafkadouble.wire.checksum import Buffer

from ..log.offset_and_epoch import OffsetAndEpoch
from .record_versions import batch_level, record_version, records_at_level
from .replay import BrokenLog


class MetadataBatch(NamedTuple):
    """The metadata records of one batch (none of a control batch), and the end of the log
    after it.
    """

    records: list[Message]
    end: OffsetAndEpoch


def encoded_records(records: Sequence[Message], level: int) -> list[bytes]:
    """The values of records at a `metadata.version`. UsageError for a kind of record that it does
    not have.
    """
    return values_of(records_at_level(records, level), level)


def values_of(records: Sequence[Message], level: int) -> list[bytes]:
    """The values of records that a `metadata.version` can express."""
    return [framed.encode_record(record, record_version(record, level)) for record in records]


def batch_of(records: Sequence[Message], first: int, now: int, level: int | None = None) -> bytearray:
    """An unsealed batch of `records` from offset `first` on, at the level of the image before it;
    an image without a level gets it from the records.
    """
    values = encoded_records(records, batch_level(records, level))
    return encode_batch(
        [Record(first + at, now, None, value) for at, value in enumerate(values)], base_offset=first, seal=False
    )


def decode_batches(batches: Buffer) -> Iterator[MetadataBatch]:
    """The batches of a range of the log. WireError for bad bytes, BrokenLog for a record without a
    value.
    """
    for position, header in iter_batches(batches):
        found = [] if header.is_control else records_of(batches, position, header)
        end = OffsetAndEpoch(header.last_offset + 1, header.partition_leader_epoch)
        yield MetadataBatch([_message(record) for record in found], end)


def _message(record: Record) -> Message:
    if record.value is None:
        raise BrokenLog(f"{record!r} has no value")
    return framed.decode_record(record.value)[0]
