"""The fields of a message as Kafka's message specifications write them: names, types and ranges of
versions.

For documentation and tools. The generated classes do not hold the text about a field.
"""

from __future__ import annotations

from .fields import NO_VERSIONS, OPEN, FieldInfo, fields_of
from .message import OWN_DEFAULTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .message import Struct


def spec_fields(cls: type[Struct]) -> list[dict[str, Any]]:
    """The fields of a message or of a struct, with the fields of nested structs, for JSON."""
    return [_field(field) for field in fields_of(cls)]


def _field(field: FieldInfo) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "name": field.kafka_name,
        "type": f"{'[]' if field.array else ''}{field.type}",
        "versions": _versions(field.versions),
    }
    ranges = {"nullableVersions": field.nullable, "taggedVersions": field.tagged}
    facts |= {name: _versions(span) for name, span in ranges.items() if span != NO_VERSIONS}
    if field.flexible is not None:
        facts["flexibleVersions"] = _versions(field.flexible)
    if field.tag is not None:
        facts["tag"] = field.tag
    facts |= {name: True for name, holds in (("ignorable", field.ignorable), ("mapKey", field.key)) if holds}
    if not _is_natural(field):
        facts["default"] = field.default
    if field.struct is not None:
        facts["fields"] = spec_fields(field.struct)
    return facts


def _is_natural(field: FieldInfo) -> bool:
    """Whether the default is the default of the type: zero, false, empty."""
    if field.default is None:
        return field.type == "records"
    return field.default is OWN_DEFAULTS or not field.default or field.type == "uuid"


def _versions(span: tuple[int, int]) -> str:
    low, high = span
    if low > high:
        return "none"
    return f"{low}+" if high == OPEN else f"{low}-{high}" if low < high else str(low)
