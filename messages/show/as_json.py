"""Messages and records as JSON: Kafka's names and forms (`json_form`), with secrets hidden."""

from __future__ import annotations

import base64

from ..fields import fields_of
from ..message import Message, Struct
from ..sentence import is_secret
from .text import HIDDEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def message_json(message: Message, version: int) -> dict[str, Any]:
    """The dict that Kafka's own converter would make, with `<hidden>` in place of secrets."""
    made = message.to_json(version)
    _hide(message, made)
    return made


def bytes_json(data: bytes | None) -> str | None:
    """Bytes as base64, as in messages."""
    return None if data is None else base64.b64encode(data).decode()


def _hide(struct: Struct, made: dict[str, Any]) -> None:
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if field.json_name not in made or value is None:
            continue
        if is_secret(field, struct):
            made[field.json_name] = HIDDEN
        elif field.struct is not None and field.array:
            for element, inner in zip(value, made[field.json_name], strict=True):
                _hide(element, inner)
        elif field.struct is not None:
            _hide(value, made[field.json_name])
