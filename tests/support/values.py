"""Converts the short form of a transcript to messages, and messages to values that can be compared.

A struct is a dict with Kafka's field names, the first letter in lower case; a field that is left
out has its default. Error codes are names, uuids are Kafka's text, bytes are their UTF-8, or
`{subscribes: [topic]}` for the metadata of a consumer that joins. For record batches see `records`.
"""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.messages.message import Struct
from kafkadouble.messages.uuid import Uuid

from .records import batch, plain_records


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
        return _subscription(value["subscribes"]) if isinstance(value, dict) else str(value).encode()
    if field.type == "uuid":
        return value if isinstance(value, Uuid) else Uuid.parse(value)
    if field.type == "string":
        return str(value)
    return getattr(error_codes, value) if is_error_code(field) and isinstance(value, str) else value


def is_error_code(field: FieldInfo) -> bool:
    return field.type == "int16" and field.kafka_name.endswith("ErrorCode")


def _subscription(topics: list[str]) -> bytes:
    """The metadata of a consumer in a classic group: its version 0, and its subscribed topics."""
    return bytes(2) + ConsumerProtocolSubscription(topics=topics).encode(version=0)


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
        return plain_records(bytes(value))
    if field.type == "bytes":
        return bytes(value).decode("utf-8", "backslashreplace")
    if field.type == "uuid":
        return str(value)
    return error_codes.name(value) if is_error_code(field) else value
