"""The batches and records of `.log` and `.checkpoint` files, with the names and values of
kafka-dump-log."""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.messages import show
from kafkadouble.server.log.formats import BadFile, names
from kafkadouble.server.log.formats.scan import ScannedBatch, UnreadableBytes, scan
from kafkadouble.server.log.validation import MOST_RECORDS, SMALLEST
from kafkadouble.wire.batch import APPEND_TIME, BatchHeader, Record, increment_sequence
from kafkadouble.wire.compression import LIMIT, codec_name
from kafkadouble.wire.errors import WireError

from .consumer_protocol import opened
from .file import FileBytes
from .item import BATCH, FILE, LOST, RECORD, Item, Raw
from .kinds import base_offset_of, decoder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .options import Options


_LEGACY_LEAST, _LEGACY_RATIO = 1 << 24, 64
"""The limit on the decompressed bytes of a message of magic 0 or 1, whose header does not have a
record count: the least limit, and the ratio to the compressed size."""


def log(data: FileBytes, options: Options) -> Iterator[Item]:
    """The items of a segment, or of a snapshot of the metadata log."""
    base_offset, snapshot = base_offset_of(data.path), names.parse_checkpoint(data.path.name)
    if base_offset is not None:
        yield Item(FILE, {"baseOffset": base_offset})
    elif snapshot is not None:
        yield Item(FILE, {"endOffset": snapshot.offset, "epoch": snapshot.epoch})
    decode = options.decode or decoder_of(data.path)
    for found in scan(data, base_offset, str(data.path)):
        if isinstance(found, UnreadableBytes):
            yield Item(LOST, {"position": found.position, "size": found.end - found.position}, found.problem)
        else:
            yield from _batch(found, decode, options, str(data.path))


def _batch(found: ScannedBatch, decode: str, options: Options, file: str) -> Iterator[Item]:
    crowd = _crowd(found, file) if options.records else None
    if not options.records or crowd is not None:
        yield Item(BATCH, _header(found), found.problem or crowd)
        return
    limit = LIMIT if found.header.magic == 2 else min(LIMIT, _LEGACY_LEAST + _LEGACY_RATIO * len(found.data))
    batch = show.batch(found.data, records=decode, limit=limit, bounds=options.bounds)
    yield Item(BATCH, _header(found), found.problem or _inside(batch, found.position, file))
    if batch.header is not None:
        for record, made in zip(batch.records, batch.json()["records"], strict=True):
            yield Item(RECORD, _record(batch.header, record, made))


def _crowd(batch: ScannedBatch, file: str) -> BadFile | None:
    """Refuses a batch with more records than a node accepts. A batch of a few kilobytes can hold
    millions of records, too many to show or to keep in memory."""
    count, size = batch.header.count, batch.header.size
    if count <= max(MOST_RECORDS, size // SMALLEST):
        return None
    return BadFile(f"{count} records in {size} bytes", file=file, offset=batch.position, path="records_count")


def _inside(batch: show.ShownBatch, position: int, file: str) -> BadFile | None:
    """The problems with the records of a batch. In a compressed batch, the offset is that of the
    batch."""
    error: WireError | None = batch.error
    if error is None:
        return None
    compressed = batch.header is not None and batch.header.compression
    return BadFile(
        error.problem, file=file, offset=position + (0 if compressed else max(error.offset, 0)), path=error.path
    )


def _header(batch: ScannedBatch) -> dict[str, Any]:
    header = batch.header
    made = _offsets(header) if header.magic == 2 else {"offset": header.base_offset}
    return made | {
        "position": batch.position,
        _time_name(header): header.max_timestamp,
        "size": header.size,
        "magic": header.magic,
        "compresscodec": codec_name(header.compression),
        "crc": header.crc,
        "isvalid": batch.problem is None or batch.problem.path != "crc",
    }


def _offsets(header: BatchHeader) -> dict[str, Any]:
    return {
        "baseOffset": header.base_offset,
        "lastOffset": header.last_offset,
        "count": header.count,
        "baseSequence": header.base_sequence,
        "lastSequence": header.last_sequence,
        "producerId": header.producer_id,
        "producerEpoch": header.producer_epoch,
        "partitionLeaderEpoch": header.partition_leader_epoch,
        "isTransactional": header.is_transactional,
        "isControl": header.is_control,
        "deleteHorizonMs": header.base_timestamp if header.has_delete_horizon else None,
    }


def _time_name(header: BatchHeader) -> str:
    return "LogAppendTime" if header.timestamp_type == APPEND_TIME else "CreateTime"


def _record(header: BatchHeader, record: Record, made: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record. `made` is the record from `messages.show`, in which decoded keys and
    values are dicts."""
    found: dict[str, Any] = {
        "offset": record.offset,
        _time_name(header): record.timestamp,
        "keySize": -1 if record.key is None else len(record.key),
        "valueSize": -1 if record.value is None else len(record.value),
    }
    if header.magic == 2:
        found["sequence"] = _sequence(header, record)
        found["headers"] = [(name, Raw(value)) for name, value in record.headers]
    found["key"] = made["key"] if isinstance(made["key"], dict) else Raw(record.key)
    found["value"] = opened(made["value"]) if isinstance(made["value"], dict) else Raw(record.value)
    return found


def _sequence(header: BatchHeader, record: Record) -> int:
    if header.base_sequence < 0:
        return -1
    return increment_sequence(header.base_sequence, record.offset - header.base_offset)
