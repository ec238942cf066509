"""The metadata log as bytes: records to a batch, batches to records, and a whole log to the image that is its fold (KIP-631, KIP-595).

Control batches (leader changes, the quorum's version and voters) are the quorum's own; they move the end of the log and change no image.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kafkadouble.messages import framed
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import Record, encode_batch, iter_batches, records_of
from kafkadouble.wire.checksum import Buffer

from ..log.offset_and_epoch import OffsetAndEpoch
from .image import EMPTY, Image
from .replay import BrokenLog, Fold
from .versions import batch_level, record_version, said


class Decoded(NamedTuple):
    """The metadata records of one batch (none in a control batch), and where the log ends after it."""

    records: list[Message]
    end: OffsetAndEpoch


def values_of_records(records: Sequence[Message], level: int) -> list[bytes]:
    """The values of records in a log whose `metadata.version` is `level`. UsageError for a kind of record that it does not know."""
    return [framed.encode_record(record, record_version(record, level)) for record in said(records, level)]


def batch_of(records: Sequence[Message], first: int, now: int, level: int | None = None) -> bytearray:
    """One unsealed batch of `records`, the first at the offset `first`, at the level of the image that they follow on; an image that has none
    gets it by them."""
    values = values_of_records(records, batch_level(records, level))
    return encode_batch(
        [Record(first + at, now, None, value) for at, value in enumerate(values)], base_offset=first, seal=False
    )


def decoded(batches: Buffer) -> Iterator[Decoded]:
    """The batches of a stretch of the log. WireError when bytes are wrong, BrokenLog for a record without a value."""
    for position, header in iter_batches(batches):
        found = [] if header.is_control else records_of(batches, position, header)
        end = OffsetAndEpoch(header.last_offset + 1, header.partition_leader_epoch)
        yield Decoded([_message(record) for record in found], end)


def _message(record: Record) -> Message:
    if record.value is None:
        raise BrokenLog(f"{record!r} has no value")
    return framed.decode_record(record.value)[0]


def image_of(stretches: Iterable[Buffer]) -> Image:
    """The fold of a log from its beginning, given as stretches of whole batches."""
    fold, end = Fold(), EMPTY.end
    for stretch in stretches:
        for records, reached in decoded(stretch):
            for record in records:
                fold.apply(record)
            end = reached
    return fold.image._replace(end=end)
