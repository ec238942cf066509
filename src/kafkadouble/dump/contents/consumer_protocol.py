"""Decodes the subscriptions and assignments of classic consumer groups: bytes inside a
GroupMetadataValue, which only the members of the group interpret.

The bytes are an int16 version and then the message. An unknown later version is read as the latest
known one, as in Kafka.
"""

from __future__ import annotations

import base64

from kafkadouble.messages import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafkadouble.wire.errors import WireError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kafkadouble.messages.message import Message

_FIELDS: dict[str, type[Message]] = {
    "subscription": ConsumerProtocolSubscription,
    "assignment": ConsumerProtocolAssignment,
}


def opened(value: Any) -> Any:
    """The JSON of a record's value, with subscriptions and assignments as objects instead of
    base64, where they can be decoded."""
    if not isinstance(value, dict) or value.get("type") != "GroupMetadataValue" or "data" not in value:
        return value
    data = value["data"]
    if data["protocolType"] != "consumer":
        return value
    return {**value, "data": {**data, "members": [_member(member) for member in data["members"]]}}


def _member(member: dict[str, Any]) -> dict[str, Any]:
    return {name: _read(_FIELDS[name], field) if name in _FIELDS else field for name, field in member.items()}


def _read(cls: type[Message], field: str) -> Any:
    data = base64.b64decode(field)
    low, high = cls.versions
    if len(data) < 2 or (own_version := int.from_bytes(data[:2], "big", signed=True)) < low:
        return field
    version = min(own_version, high)
    try:
        return {"version": version, **cls.read(data, version, 2)[0].to_json(version)}
    except WireError:
        return field
