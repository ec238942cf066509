"""Coordinator records as bytes: int16 record type and the key; int16 version and the value.

Each coordinator numbers its own types, so a reader must pass the family of the record, named as the
folders of specifications. The caller handles null values (tombstones).
"""

from __future__ import annotations

import struct
from functools import cache

from kafkadouble.wire.errors import Truncated, UnknownMessage, UsageError

from . import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .message import Message

FAMILIES = {
    "__consumer_offsets": "group_coordinator",
    "__transaction_state": "transaction_coordinator",
    "__share_group_state": "share_coordinator",
}
"""Topic to the family of its records."""

_PREFIX = struct.Struct(">h")
_KEYS = {
    family: {entry.api_key: entry for entry in registry.entries("coordinator-key", family)}
    for family in FAMILIES.values()
}
_VALUES = {entry.name.removesuffix("Value"): entry for entry in registry.entries("coordinator-value")}


def encode_key(key: Message) -> bytes:
    """The key of a record: its type, then the message in its only version."""
    if key.kind != "coordinator-key" or key.api_key is None:
        raise UsageError(f"{type(key).__name__} is not the key of a coordinator record")
    return _PREFIX.pack(key.api_key) + key.encode(0)


def encode_value(value: Message, version: int) -> bytes:
    """The value of a record: its version, then the message."""
    if value.kind != "coordinator-value":
        raise UsageError(f"{type(value).__name__} is not the value of a coordinator record")
    body = value.encode(version)
    return _PREFIX.pack(version) + body


def decode_key(data: bytes, family: str) -> Message:
    """The key of a record of `family`. UnknownMessage for a type that it does not have."""
    return _key_class(family, _number(data)).decode(data, 0, 2)


def decode_value(data: bytes, key: Message) -> tuple[Message, int]:
    """The value that belongs to a key, and its version. UnknownMessage for a version that it does
    not have."""
    version = _number(data)
    return value_class(key).decode(data, version, 2), version


def value_class(key: Message) -> type[Message]:
    """The class of the values of this key's records."""
    return _value_class(type(key).__name__)


@cache  # of the few types that exist; loading decodes very many records
def _key_class(family: str, kind: int) -> type[Message]:
    entry = _KEYS[family].get(kind)
    if entry is None:
        raise UnknownMessage(f"the {family} has no record of type {kind}", offset=0)
    return entry.message


@cache
def _value_class(key_name: str) -> type[Message]:
    return _VALUES[key_name.removesuffix("Key")].message


def _number(data: bytes) -> int:
    if len(data) < 2:
        raise Truncated("the bytes end inside the prefix", offset=0)
    number: int = _PREFIX.unpack_from(data)[0]
    return number
