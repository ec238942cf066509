"""The `repr` of a message: the fields that are not at their defaults, in bounded length, without
secrets."""

from __future__ import annotations

from .fields import FieldInfo, fields_of, message_of
from .message import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 2000
"""The largest number of characters of a `repr`."""
MOST_ITEMS = 5
MOST_BYTES = 24
MOST_TEXT = 120

SECRET = frozenset({"auth_bytes", "hmac", "salt", "salted_password", "stored_key", "server_key", "password"})
"""Fields that are never shown, in any message."""

SECRET_WORDS = ("password", "secret", "jaas", "credential", "token", "key.pem", "keystore.key")
"""A `value` is not shown when the `name` beside it contains one of these: configurations carry
secrets this way."""


def sentence(struct: Struct) -> str:
    """The call of the constructor that makes this struct, without the fields at their defaults."""
    text = _struct(struct)
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + "...)"


def _struct(struct: Struct) -> str:
    shown = [f"{field.name}={_field(field, struct)}" for field in fields_of(type(struct)) if _is_shown(field, struct)]
    if struct.unknown_tagged_fields:
        shown.append(f"unknown_tagged_fields={_dict(struct.unknown_tagged_fields)}")
    return f"{type(struct).__name__}({', '.join(shown)})"


def _is_shown(field: FieldInfo, struct: Struct) -> bool:
    value = getattr(struct, field.name)
    try:
        return not field.is_default(value)
    except TypeError:
        return True


def _field(field: FieldInfo, struct: Struct) -> str:
    value = getattr(struct, field.name)
    if value is not None and is_secret(field, struct):
        return "<hidden>"
    return _value(value)


def is_secret(field: FieldInfo, struct: Struct) -> bool:
    """Whether the value of this field must not be logged."""
    if field.name in SECRET:
        return True
    if field.name == "request_data":
        return message_of(type(struct)).__name__ == "EnvelopeRequest"
    if field.name != "value":
        return False
    beside = getattr(struct, "name", None)
    return isinstance(beside, str) and any(word in beside.lower() for word in SECRET_WORDS)


def _value(value: Any) -> str:
    if isinstance(value, Struct):
        return _struct(value)
    if isinstance(value, (list, tuple)):
        shown = [_value(item) for item in value[:MOST_ITEMS]]
        if len(value) > MOST_ITEMS:
            shown.append(f"... {len(value) - MOST_ITEMS} more")
        return f"[{', '.join(shown)}]"
    if isinstance(value, str):
        return repr(value) if len(value) <= MOST_TEXT else f"{value[:MOST_TEXT]!r}... ({len(value)} characters)"
    if isinstance(value, (bytes, bytearray, memoryview)) and not hasattr(value, "parse"):
        head = bytes(value[:MOST_BYTES])
        return repr(head) if len(value) <= MOST_BYTES else f"{head!r}... ({len(value)} bytes)"
    text = repr(value)
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "..."


def _dict(tags: dict[int, bytes]) -> str:
    shown = [f"{tag}: {_value(data)}" for tag, data in list(tags.items())[:MOST_ITEMS]]
    return "{" + ", ".join(shown) + ("..." if len(tags) > MOST_ITEMS else "") + "}"
