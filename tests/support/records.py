"""Record batches in the short form of a transcript, and records in a form that can be compared.

A batch is a list of records: a text is a value; a dict has key, value, headers, timestamp and
offset. In a request it can also be `{batch: [...], compression: gzip, producerId: 7, ...}` with any
of `FIELDS`, and with wrong bytes: `crc`, `magic`, `codec` and `count` replace the correct values,
`behind` puts that many bytes behind the last record, `cut` removes that many bytes from the end.
`{batches: [...]}` is several batches, and `{many: 1200, size: 1000}` a batch of so many records of
so many bytes.
"""

from __future__ import annotations

from typing import Any

from kafkadouble.wire.batch import decode_all, encode_batch, seal
from kafkadouble.wire.compression import codec_id
from kafkadouble.wire.record import Record

FIELDS = {
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "baseSequence": "base_sequence",
    "baseOffset": "base_offset",
    "timestampType": "timestamp_type",
    "transactional": "is_transactional",
    "control": "is_control",
    "lastOffset": "last_offset",
}

WRONG = ("crc", "magic", "codec", "count", "behind", "cut")
LENGTH, MAGIC, CRC, CODEC, LAST_OFFSET, COUNT = slice(8, 12), 16, slice(17, 21), 22, slice(23, 27), slice(57, 61)
"""The positions of these fields in a batch."""


def batch(value: Any) -> bytes:
    """One or more record batches from their short form."""
    if isinstance(value, dict) and "batches" in value:
        return b"".join(map(batch, value["batches"]))
    options = dict(value) if isinstance(value, dict) else {"batch": value}
    if "many" in options:
        options["batch"] = ["x" * options.pop("size")] * options.pop("many")
    records = [_record(offset, each) for offset, each in enumerate(options.pop("batch"))]
    for record in records:
        record.offset += options.get("baseOffset", 0)
    wrong = {name: options.pop(name) for name in WRONG if name in options}
    codec = codec_id(options.pop("compression", "none"))
    encoded = encode_batch(records, compression=codec, **{FIELDS[name]: given for name, given in options.items()})
    return _spoilt(encoded, **wrong)


def _spoilt(
    data: bytearray,
    *,
    crc: int | None = None,
    magic: int | None = None,
    codec: int | None = None,
    count: int | None = None,
    behind: int = 0,
    cut: int = 0,
) -> bytes:
    if codec is not None:
        data[CODEC] = data[CODEC] & ~7 | codec
    if count is not None:
        data[COUNT], data[LAST_OFFSET] = count.to_bytes(4), (count - 1).to_bytes(4)
    data += bytes(behind)
    data[LENGTH] = (len(data) - LENGTH.stop).to_bytes(4)
    seal(data)
    if crc is not None:
        data[CRC] = crc.to_bytes(4)
    if magic is not None:
        data[MAGIC] = magic
    return bytes(data[: len(data) - cut])


def _record(offset: int, value: Any) -> Record:
    given = value if isinstance(value, dict) else {"value": value}
    headers = tuple((name, _bytes(each)) for name, each in given.get("headers", {}).items())
    at = given.get("offset", offset)
    return Record(at, given.get("timestamp", 0), _bytes(given.get("key")), _bytes(given.get("value")), headers)


def _bytes(value: Any) -> bytes | None:
    return None if value is None else str(value).encode()


def plain_records(data: bytes) -> list[dict[str, Any]]:
    """The records of all batches as dicts, texts and numbers."""
    return [
        {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": _text(record.key),
            "value": _text(record.value),
            "headers": {name: _text(each) for name, each in record.headers},
        }
        for record in decode_all(data)
    ]


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "backslashreplace")
