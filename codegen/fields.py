"""One field of a specification: its type, its ranges of versions, its tag and default, and the
rules for them."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass

from . import names
from .defaults import default_of
from .model import FIXED, VARIABLE, FieldSpec, StructSpec
from .scope import Scope, known_keys, text_at, versions_at
from .style import FIELD_KEYS
from .versions import NONE, Versions

ENTITIES = {
    "unknown": None,
    "transactionalId": "string",
    "producerId": "int64",
    "groupId": "string",
    "topicName": "string",
    "brokerId": "int32",
}
"""The type that each entityType needs; for an array, the type of its elements."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
StructOf = Callable[[str, dict[str, object], Versions, Scope], StructSpec]


@dataclass(frozen=True, slots=True)
class _Type:
    """The type of a field. For an array, `name` is the type of its elements."""

    name: str
    array: bool

    @property
    def struct(self) -> bool:
        return self.name not in FIXED and self.name not in VARIABLE

    @property
    def nullable(self) -> bool:
        return self.array or self.struct or self.name in VARIABLE


def field_of(raw: object, scope: Scope, taken: frozenset[str], struct_of: StructOf) -> FieldSpec:
    """The field that `raw` describes; `taken` are attribute names that it must not use."""
    if not isinstance(raw, dict):
        raise scope.error("a field is a JSON object")
    name = text_at(raw, "name", scope)
    scope = scope.at(name)
    known_keys(raw, FIELD_KEYS, scope)
    if not _NAME.fullmatch(name):
        raise scope.error("a name is letters and digits, a letter first")
    kind = _type(text_at(raw, "type", scope), scope)
    tagged = versions_at(raw, "taggedVersions", scope, NONE)
    versions = versions_at(raw, "versions", scope, tagged or None)
    nullable = versions_at(raw, "nullableVersions", scope, NONE)
    tag = _tag(raw, scope)
    flexible = _flexible(raw, kind, scope)
    _check_kind(raw, kind, nullable, scope)
    _check_tag(raw, tag, tagged, versions, nullable, scope)
    _check_tagged_type(kind, tagged, flexible, scope)
    return FieldSpec(
        name, names.attribute(name, taken), kind.name, kind.array, versions, nullable, tagged, tag, flexible,
        _default(raw, kind, versions, nullable, scope), _flag(raw, "ignorable", scope), _flag(raw, "mapKey", scope),
        struct_of(kind.name, raw, versions, scope) if kind.struct else None, str(raw.get("about", "")),
    )  # fmt: skip


def _type(text: str, scope: Scope) -> _Type:
    array = text.startswith("[]")
    name = text[2:] if array else text
    if array and not name:
        raise scope.error("an array needs an element type")
    if name.startswith("[]"):
        raise scope.error("there are no arrays of arrays")
    if array and name == "records":
        raise scope.error("there are no arrays of records")
    if name not in FIXED and name not in VARIABLE and not is_struct_name(name):
        raise scope.error(f"there is no type {name!r}; a struct starts with a capital")
    return _Type(name, array)


def is_struct_name(name: str) -> bool:
    """Whether a struct or a message may have this name: letters and digits, a capital first, and no
    keyword of Python."""
    return name[0].isupper() and _NAME.fullmatch(name) is not None and not keyword.iskeyword(name)


def _flag(raw: dict[str, object], key: str, scope: Scope) -> bool:
    value = raw.get(key, False)
    if not isinstance(value, bool):
        raise scope.error(f"{key} is true or false, not {value!r}")
    return value


def _tag(raw: dict[str, object], scope: Scope) -> int | None:
    """The tag; Kafka also accepts it as text."""
    value = raw.get("tag")
    if value is None:
        return None
    if isinstance(value, bool) or not re.fullmatch(r"-?\d+", str(value)):
        raise scope.error(f"{value!r} is no tag")
    if int(str(value)) < 0:
        raise scope.error("a tag is not negative")
    return int(str(value))


def _flexible(raw: dict[str, object], kind: _Type, scope: Scope) -> Versions | None:
    if not raw.get("flexibleVersions"):
        return None
    if kind.array or kind.name not in ("string", "bytes"):
        raise scope.error("only a string or bytes may have flexibleVersions of its own")
    return versions_at(raw, "flexibleVersions", scope)


def _check_kind(raw: dict[str, object], kind: _Type, nullable: Versions, scope: Scope) -> None:
    if nullable and not kind.nullable:
        raise scope.error(f"{kind.name} cannot be null")
    if raw.get("fields") and not kind.struct:
        raise scope.error(f"{kind.name} has no fields: only a struct does")
    if _flag(raw, "zeroCopy", scope) and (kind.array or kind.name != "bytes"):
        raise scope.error("zeroCopy is only for bytes")
    entity = raw.get("entityType", "unknown")
    if entity not in ENTITIES:
        raise scope.error(f"{entity!r} is no entityType")
    if entity != "unknown" and ENTITIES[str(entity)] != kind.name:
        raise scope.error(f"a {entity} is {ENTITIES[str(entity)]}, not {kind.name}")


def _check_tag(
    raw: dict[str, object], tag: int | None, tagged: Versions, versions: Versions, nullable: Versions, scope: Scope
) -> None:
    if tag is None:
        if tagged:
            raise scope.error("taggedVersions without a tag")
        return
    if _flag(raw, "mapKey", scope):
        raise scope.error("a tagged field cannot be a mapKey")
    if not tagged:
        raise scope.error("a tag without taggedVersions")
    if not tagged.open:
        raise scope.error(f"taggedVersions {tagged} is not open-ended")
    if not tagged.within(versions):
        raise scope.error(f"taggedVersions {tagged} is not within versions {versions}")
    if nullable & tagged and not tagged.within(nullable):
        raise scope.error(f"nullableVersions {nullable} must hold all of taggedVersions {tagged}, or none")


def _check_tagged_type(kind: _Type, tagged: Versions, flexible: Versions | None, scope: Scope) -> None:
    if not tagged:
        return
    if kind.name == "records":
        raise scope.error("records cannot be tagged")
    allowed = scope.flexible if flexible is None else flexible
    if not tagged.within(allowed):
        raise scope.error(f"taggedVersions {tagged} is not within flexibleVersions {allowed}")


def _default(raw: dict[str, object], kind: _Type, versions: Versions, nullable: Versions, scope: Scope) -> object:
    try:
        return default_of(raw.get("default"), kind.name, kind.array, kind.struct, versions, nullable)
    except ValueError as error:
        raise scope.error(str(error)) from None
