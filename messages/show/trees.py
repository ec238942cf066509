"""A message as an indented tree: Kafka's names, error codes with theirs, times with dates, bytes
cut, secrets hidden, records as records."""

from __future__ import annotations

from collections.abc import Iterator

from ..fields import FieldInfo, fields_of
from ..message import Message, Struct
from ..sentence import is_secret
from .payload import RAW
from .text import HIDDEN, TREE, TextLimits, plain, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STEP = "  "


class Look:
    """The style of a tree: the version whose fields are shown (None: the fields that are not at
    their defaults), limits, and the kind of records."""

    __slots__ = ("bounds", "kind", "partial", "version")

    def __init__(
        self, version: int | None = None, bounds: TextLimits = TREE, kind: str = RAW, partial: bool = False
    ) -> None:
        self.version, self.bounds, self.kind, self.partial = version, bounds, kind, partial


def tree(message: Message, version: int | None = None, *, bounds: TextLimits = TREE, records: str = RAW) -> str:
    """The message as lines. With a version every field that it carries is shown, else every field
    that is not at its default."""
    return "\n".join(message_lines(message, version, bounds=bounds, records=records))


def message_lines(
    message: Message, version: int | None = None, *, bounds: TextLimits = TREE, records: str = RAW
) -> Iterator[str]:
    """The lines of `tree`, one by one."""
    look = Look(version, bounds, records, message.kind == "response")
    yield type(message).__name__ + ("" if version is None else f" version {version}")
    yield from _struct(message, look, STEP)


def indented(lines: Iterator[str], by: str = STEP) -> Iterator[str]:
    return (by + line for line in lines)


def _struct(struct: Struct, look: Look, indent: str) -> Iterator[str]:
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if _is_shown(field, value, look.version):
            yield from _field(field, struct, value, look, indent)
    for tag, data in (struct.unknown_tagged_fields or {}).items():
        yield f"{indent}unknown tag {tag}: {_bytes_text(data, look.bounds)}"


def _is_shown(field: FieldInfo, value: Any, version: int | None) -> bool:
    if version is None:
        return not field.is_default(value)
    return field.present(version) and not (field.is_tagged(version) and field.is_default(value))


def _field(field: FieldInfo, struct: Struct, value: Any, look: Look, indent: str) -> Iterator[str]:
    name = indent + field.kafka_name
    if value is None:
        yield f"{name}: null"
    elif is_secret(field, struct):
        yield f"{name}: {HIDDEN}"
    elif field.array:
        yield from _array(field, value, look, name, indent)
    elif field.struct is not None:
        yield f"{name}: {field.type}"
        yield from _struct(value, look, indent + STEP)
    elif field.type == "records":
        yield from _records(field, value, look, name, indent)
    elif field.type == "bytes":
        yield f"{name}: {_bytes_text(value, look.bounds)}"
    else:
        yield f"{name}: {value_text(field, value, look.bounds)}"


def _array(field: FieldInfo, value: Any, look: Look, name: str, indent: str) -> Iterator[str]:
    left = len(value) - look.bounds.items
    more = f"... {left} more"
    if field.struct is None:
        shown = [value_text(field, element, look.bounds) for element in value[: look.bounds.items]]
        yield f"{name}: [{', '.join(shown + [more] * (left > 0))}]"
        return
    yield f"{name}: {len(value)} {field.type}"
    for index, element in enumerate(value[: look.bounds.items]):
        yield f"{indent}{STEP}[{index}]"
        yield from _struct(element, look, indent + 2 * STEP)
    if left > 0:
        yield f"{indent}{STEP}{more}"


def _bytes_text(value: Any, bounds: TextLimits) -> str:
    return f"{len(value)} bytes {plain(value[: bounds.data])}{'...' if len(value) > bounds.data else ''}"


def _records(field: FieldInfo, value: Any, look: Look, name: str, indent: str) -> Iterator[str]:
    from .dumps import UNALIGNED
    from .logs import batches

    yield f"{name}: {len(value)} bytes"
    unaligned = field.name == UNALIGNED
    found = batches(bytes(value), records=look.kind, partial=look.partial or unaligned, bounds=look.bounds)
    if unaligned and any(batch.error for batch in found):
        yield f"{indent}{STEP}{plain(value, look.bounds)}"
        return
    for batch in batches(bytes(value), records=look.kind, partial=look.partial, bounds=look.bounds):
        yield from indented(batch.tree_lines(), indent + STEP)
