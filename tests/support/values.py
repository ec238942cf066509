"""From the short form of a transcript to messages, and from messages back to something that can be compared.

A struct is a dict with Kafka's field names, first letter small; what is left out has its default. Error codes are names, uuids Kafka's
text, bytes their UTF-8. A record batch is a list of records: a text is a value, a dict has key, value, headers, timestamp, offset; in a
request it may also be `{batch: [...], compression: gzip, producerId: 7, ...}`, or `{raw: HEX}`.
"""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.message import Struct
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import decode_all, encode_batch
from kafkadouble.wire.compression import codec_id
from kafkadouble.wire.record import Record

BATCH_FIELDS = {
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "baseSequence": "base_sequence",
    "baseOffset": "base_offset",
    "transactional": "is_transactional",
}


def struct(cls: type[Struct], given: dict[str, Any]) -> Struct:
    """A message, or a struct in one, from its short form."""
    known = {field.json_name: field for field in fields_of(cls)}
    unknown = given.keys() - known.keys()
    if unknown:
        raise ValueError(f"{cls.__name__} has no {sorted(unknown)}; it has {sorted(known)}")
    made = cls()
    for name, value in given.items():
        setattr(made, known[name].name, _value(known[name], value))
    return made


def _value(field: FieldInfo, value: Any) -> Any:
    if value is None:
        return None
    if field.array:
        return [_single(field, each) for each in value]
    return _single(field, value)


def _single(field: FieldInfo, value: Any) -> Any:
    if field.struct is not None:
        return struct(field.struct, value)
    if field.type == "records":
        return batch(value)
    if field.type == "bytes":
        return value.encode()
    if field.type == "uuid":
        return value if isinstance(value, Uuid) else Uuid.parse(value)
    if field.type == "string":
        return str(value)
    return getattr(error_codes, value) if is_error_code(field) and isinstance(value, str) else value


def is_error_code(field: FieldInfo) -> bool:
    return field.type == "int16" and field.kafka_name.endswith("ErrorCode")


def batch(value: Any) -> bytes:
    """A record batch from its short form."""
    if isinstance(value, dict) and "raw" in value:
        return bytes.fromhex(value["raw"])
    options = dict(value) if isinstance(value, dict) else {"batch": value}
    records = [_record(offset, each) for offset, each in enumerate(options.pop("batch"))]
    compression = codec_id(options.pop("compression", "none"))
    first = options.get("baseOffset", 0)
    for record in records:
        record.offset += first
    return bytes(encode_batch(records, compression=compression, **{BATCH_FIELDS[k]: v for k, v in options.items()}))


def _record(offset: int, value: Any) -> Record:
    given = value if isinstance(value, dict) else {"value": value}
    headers = tuple((name, _bytes(each)) for name, each in given.get("headers", {}).items())
    return Record(offset, given.get("timestamp", 0), _bytes(given.get("key")), _bytes(given.get("value")), headers)


def _bytes(value: Any) -> bytes | None:
    return None if value is None else str(value).encode()


def plain(value: Any) -> Any:
    """A message as dicts, lists, names and numbers."""
    if isinstance(value, Struct):
        return {field.json_name: _plain_field(field, getattr(value, field.name)) for field in fields_of(type(value))}
    return value


def _plain_field(field: FieldInfo, value: Any) -> Any:
    if value is None:
        return None
    if field.array:
        return [_plain_single(field, each) for each in value]
    return _plain_single(field, value)


def _plain_single(field: FieldInfo, value: Any) -> Any:
    if field.struct is not None:
        return plain(value)
    if field.type == "records":
        return [plain_record(record) for record in decode_all(bytes(value))]
    if field.type == "bytes":
        return bytes(value).decode("utf-8", "backslashreplace")
    if field.type == "uuid":
        return str(value)
    return error_codes.name(value) if is_error_code(field) else value


def plain_record(record: Record) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": _text(record.key),
        "value": _text(record.value),
        "headers": {name: _text(each) for name, each in record.headers},
    }


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "backslashreplace")
