"""Reads a specification's text into a checked model. Breaking a rule of the spec language is an
error that names file, struct and field.

The language is Kafka's (message specifications, JSON with comments). This file reads the message
and its structs; `fields` reads one field.
"""

from __future__ import annotations

from pathlib import Path

from . import lexing, names
from .fields import field_of, is_struct_name
from .model import FieldSpec, MessageSpec, SpecError, StructSpec
from .scope import Scope, entries, known_keys, text_at, versions_at
from .style import MESSAGE_KEYS, STRUCT_KEYS
from .versions import NONE, Versions

KINDS = ("request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value")
KEYED = ("request", "response", "metadata", "coordinator-key", "coordinator-value")
LISTENERS = ("zkBroker", "broker", "controller")


def load(path: Path, source: str = "") -> MessageSpec:
    """The message in a file; `source` is its name in errors and generated files."""
    return parse(path.read_text(encoding="utf-8"), source or path.name)


def parse(text: str, source: str = "spec") -> MessageSpec:
    """The message in a text. SpecError for anything that the language does not allow."""
    scope = Scope(source)
    try:
        raw = lexing.parse(text)
    except ValueError as error:
        raise scope.error(str(error)) from None
    if not isinstance(raw, dict):
        raise scope.error("a specification is one JSON object")
    return _message(raw, scope)


def _message(raw: dict[str, object], scope: Scope) -> MessageSpec:
    known_keys(raw, MESSAGE_KEYS, scope)
    name = text_at(raw, "name", scope)
    scope = scope.inside(name)
    if not is_struct_name(name):
        raise scope.error(f"{name!r} is no name of a message: letters and digits, a capital first")
    kind = text_at(raw, "type", scope)
    if kind not in KINDS:
        raise scope.error(f"{kind!r} is no type of message")
    valid = versions_at(raw, "validVersions", scope)
    flexible = _flexible(raw, valid, scope)
    scope = scope.of_message(flexible, _common(raw, scope))
    top = StructSpec(name, valid)
    top.fields = _fields(raw, scope, top=True)
    for unused in sorted(scope.common.keys() - scope.structs.keys()):
        raise scope.error(f"common struct {unused} is used nowhere")
    if valid and valid.open:
        raise scope.error("validVersions must name a highest version")
    message = MessageSpec(
        name, kind, _api_key(raw, kind, scope), valid, flexible, top, tuple(scope.structs.values()),
        _listeners(raw, kind, scope), _unstable(raw, kind, scope), scope.source,
    )  # fmt: skip
    _check_coordinator_key(message, scope)
    _check_uses(message, scope)
    return message


def _flexible(raw: dict[str, object], valid: Versions, scope: Scope) -> Versions:
    if not valid and not raw.get("fields"):
        return versions_at(raw, "flexibleVersions", scope, NONE)
    flexible = versions_at(raw, "flexibleVersions", scope)
    if flexible and not flexible.open:
        raise scope.error(f"flexibleVersions {flexible} is not open-ended: only none and 3+ are allowed")
    return flexible


def _api_key(raw: dict[str, object], kind: str, scope: Scope) -> int | None:
    key = raw.get("apiKey")
    if key is None:
        if kind in KEYED:
            raise scope.error(f"a message of type {kind} must have an apiKey")
        return None
    if kind not in KEYED:
        raise scope.error(f"a message of type {kind} has no apiKey")
    if not isinstance(key, int) or isinstance(key, bool) or not 0 <= key <= 32767:
        raise scope.error(f"{key!r} is no apiKey")
    return key


def _listeners(raw: dict[str, object], kind: str, scope: Scope) -> tuple[str, ...]:
    listeners = entries(raw, "listeners")
    if listeners and kind != "request":
        raise scope.error("only a request has listeners")
    for listener in listeners:
        if listener not in LISTENERS:
            raise scope.error(f"{listener!r} is no listener ({', '.join(LISTENERS)})")
    return tuple(str(listener) for listener in listeners)


def _unstable(raw: dict[str, object], kind: str, scope: Scope) -> bool:
    unstable = raw.get("latestVersionUnstable", False)
    if not isinstance(unstable, bool):
        raise scope.error("latestVersionUnstable is true or false")
    if unstable and kind != "request":
        raise scope.error("only a request has latestVersionUnstable")
    return unstable


def _common(raw: dict[str, object], scope: Scope) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for item in entries(raw, "commonStructs"):
        if not isinstance(item, dict):
            raise scope.error("a common struct is a JSON object")
        known_keys(item, STRUCT_KEYS, scope)
        name = text_at(item, "name", scope)
        if not is_struct_name(name):
            raise scope.error(f"{name!r} is no name of a struct: letters and digits, a capital first")
        if name in found:
            raise scope.error(f"common struct {name} is specified twice")
        versions_at(item, "versions", scope.inside(name))
        found[name] = item
    return found


def _fields(raw: dict[str, object], scope: Scope, top: bool = False) -> tuple[FieldSpec, ...]:
    taken = names.OURS_OF_MESSAGES if top else names.OURS
    fields = tuple(field_of(item, scope, taken, struct_of) for item in entries(raw, "fields"))
    _check_struct(fields, scope, top)
    return fields


def _check_struct(fields: tuple[FieldSpec, ...], scope: Scope, top: bool) -> None:
    tags = [field.tag for field in fields if field.tag is not None]
    seen: set[str] = set()
    for field in fields:
        if field.python in seen:
            raise scope.at(field.name).error("another field has that name")
        seen.add(field.python)
        if field.tag is not None and tags.count(field.tag) > 1:
            raise scope.at(field.name).error(f"another field has tag {field.tag}")
        if top and field.map_key:
            raise scope.at(field.name).error("mapKey is not for the fields of the message itself")
    for number in range(len(tags)):
        if number not in tags:
            raise scope.error(f"tags must be contiguous: {number} is not used, but a higher one is")


def struct_of(type_name: str, raw: dict[str, object], versions: Versions, scope: Scope) -> StructSpec:
    """The struct that a field names: inline, or one of the common structs."""
    inline = entries(raw, "fields")
    if type_name in scope.common:
        if inline:
            raise scope.error(f"common struct {type_name} must not be given fields here")
        return _common_struct(type_name, scope)
    if type_name in scope.structs:
        raise scope.error(f"struct {type_name} is specified twice")
    if not inline:
        raise scope.error(f"there is no type {type_name}: no fields here, and no common struct has that name")
    struct = scope.structs[type_name] = StructSpec(type_name, versions)
    struct.fields = _fields(raw, scope.inside(type_name))
    return struct


def _common_struct(name: str, scope: Scope) -> StructSpec:
    if name in scope.structs:
        if name in scope.open:
            raise scope.error(f"struct {name} contains itself")
        return scope.structs[name]
    raw = scope.common[name]
    inside = scope.inside(name).opening(name)
    struct = scope.structs[name] = StructSpec(name, versions_at(raw, "versions", inside))
    struct.fields = _fields(raw, inside)
    return struct


def _check_coordinator_key(message: MessageSpec, scope: Scope) -> None:
    if message.kind == "coordinator-key" and (message.valid != Versions(0, 0) or message.flexible):
        raise scope.error("a coordinator-key has version 0 only and is never flexible")


def _check_uses(message: MessageSpec, scope: Scope) -> None:
    """Checks that no struct is used in a version that it does not have."""
    for version in message.valid:
        _check_use(message.struct, version, scope)


def _check_use(struct: StructSpec, version: int, scope: Scope) -> None:
    if version not in struct.versions:
        raise scope.error(f"struct {struct.name} ({struct.versions}) is used in version {version}")
    for field in struct.fields:
        if field.struct is not None and version in field.versions:
            _check_use(field.struct, version, scope)


__all__ = ["SpecError", "load", "parse"]
