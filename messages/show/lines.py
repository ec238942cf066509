"""A message as one line of bounded length, for logs: the fields that are not at their defaults,
with Kafka's names, without secrets."""

from __future__ import annotations

from ..fields import FieldInfo, fields_of
from ..message import Struct
from ..sentence import is_secret
from .text import HIDDEN, LINE, plain, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 500
"""The largest number of characters of a line."""


def line(message: Struct, longest: int = LONGEST) -> str:
    """`FetchRequest{MaxWaitMs=500, Topics=[{Topic='orders', ...}]}`: one line, never longer than
    `longest`."""
    return clip(type(message).__name__ + _struct(message, longest), longest)


def clip(text: str, longest: int) -> str:
    """`text`, cut to `longest` characters."""
    return text if len(text) <= longest else text[: max(longest - 3, 0)] + "..."


def _struct(struct: Struct, room: int) -> str:
    """The fields in about `room` characters; the rest is not read, so a large message costs no more
    than a small one."""
    parts: list[str] = []
    for field in fields_of(type(struct)):
        if room <= 0:
            break
        value = getattr(struct, field.name)
        if not field.is_default(value):
            parts.append(f"{field.kafka_name}={_field(field, struct, value, room)}")
            room -= len(parts[-1])
    if struct.unknown_tagged_fields and room > 0:
        tags = ", ".join(
            f"{tag}: {plain(data, LINE)}" for tag, data in list(struct.unknown_tagged_fields.items())[: LINE.items]
        )
        parts.append(f"unknown tags={{{tags}}}")
    return "{" + ", ".join(parts) + "}"


def _field(field: FieldInfo, struct: Struct, value: Any, room: int) -> str:
    if value is None:
        return "null"
    if is_secret(field, struct):
        return HIDDEN
    if not field.array:
        return _element(field, value, room)
    shown = []
    for element in value[: LINE.items]:
        if room <= 0:
            break
        shown.append(_element(field, element, room))
        room -= len(shown[-1])
    if len(value) > len(shown):
        shown.append(f"... {len(value) - len(shown)} more")
    return f"[{', '.join(shown)}]"


def _element(field: FieldInfo, value: Any, room: int) -> str:
    return _struct(value, room) if field.struct is not None else value_text(field, value, LINE)
