"""Converts the short form of a transcript to messages, and messages to values that can be compared.

A struct is a dict with Kafka's field names, the first letter in lower case; a field that is left
out has its default. Error codes are names, uuids are Kafka's text, bytes are their UTF-8, or one of

    {subscribes: [topic], version: 1, owns: {topic: [0]}}      what a consumer says when it joins
    {assigns: {topic: [0, 1]}, userData: x}                    what the leader assigns to a consumer
    {hex: 0000ffff}                                            any bytes

For record batches see `records`.
"""

from __future__ import annotations

from struct import pack
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
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
        return _bytes(value) if isinstance(value, dict) else str(value).encode()
    if field.type == "uuid":
        return value if isinstance(value, Uuid) else Uuid.parse(value)
    if field.type == "string":
        return str(value)
    return getattr(error_codes, value) if is_error_code(field) and isinstance(value, str) else value


def is_error_code(field: FieldInfo) -> bool:
    return field.type == "int16" and field.kafka_name.endswith("ErrorCode")


def _bytes(given: dict[str, Any]) -> bytes:
    """Bytes that a consumer in a classic group sends, a version first; or any in hex."""
    if "hex" in given:
        return bytes.fromhex(str(given["hex"]))
    version, user_data = given.get("version", 0), given.get("userData")
    data = None if user_data is None else str(user_data).encode()
    if "assigns" in given:
        of_topic = ConsumerProtocolAssignment.TopicPartition
        partitions = [of_topic(topic=topic, partitions=each) for topic, each in given["assigns"].items()]
        assignment = ConsumerProtocolAssignment(assigned_partitions=partitions, user_data=data)
        return pack(">h", version) + assignment.encode(version)
    owned = [
        ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=each)
        for topic, each in given.get("owns", {}).items()
    ]
    subscription = ConsumerProtocolSubscription(topics=given["subscribes"], user_data=data, owned_partitions=owned)
    return pack(">h", version) + subscription.encode(version)


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
