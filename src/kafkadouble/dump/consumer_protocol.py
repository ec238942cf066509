"""What the members of a classic group of consumers have told and were told: bytes inside a GroupMetadataValue, for whoever knows the protocol.

int16 version, then the message. A version to come is read as the highest that is known, as Kafka reads it.
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
    """The JSON of a record's value, with subscriptions and assignments as objects in place of base64, where they can be read."""
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
    if len(data) < 2 or (told := int.from_bytes(data[:2], "big", signed=True)) < low:
        return field
    version = min(told, high)
    try:
        return {"version": version, **cls.read(data, version, 2)[0].to_json(version)}
    except WireError:
        return field
