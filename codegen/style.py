"""Writes the canonical text of a message specification, and reads the text of any specification.

A specification is Kafka's spec language: JSON in which `//` and `/* */` comments are allowed
outside strings. Committed specs have one layout, so that a diff shows only changes of content: one
field per line, keys in the order of `FIELD_KEYS`, `about` last of a field's own keys, on a line of
its own when the line would be too long. This file does not check the content of a spec. It refuses
unknown keys, because it would lose them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import lexing

Spec = dict[str, Any]

WIDTH = 120
"""The width in columns above which `about` moves to the next line."""

MESSAGE_KEYS = (
    "apiKey",
    "type",
    "name",
    "validVersions",
    "deprecatedVersions",
    "flexibleVersions",
    "latestVersionUnstable",
    "listeners",
    "commonStructs",
    "fields",
)
STRUCT_KEYS = ("name", "versions", "deprecatedVersions", "fields")
FIELD_KEYS = (
    "name",
    "type",
    "versions",
    "nullableVersions",
    "taggedVersions",
    "tag",
    "flexibleVersions",
    "default",
    "mapKey",
    "ignorable",
    "zeroCopy",
    "entityType",
    "about",
    "fields",
)

_FIELD_END = " },"
_STRUCT_END = ', "fields": ['


def loads(text: str) -> Spec:
    """The spec that `text` holds. Raises ValueError when it is no JSON object, or a key appears
    twice in one object."""
    spec = lexing.parse(text)
    if not isinstance(spec, dict):
        raise ValueError(f"a spec is a JSON object, not {type(spec).__name__}")
    return spec


def dumps(spec: Spec) -> str:
    """The canonical text of `spec`. Raises ValueError for a key that the spec language does not
    have."""
    _known(spec, MESSAGE_KEYS)
    members = [f'  "{key}": {_member(key, spec[key])}' for key in MESSAGE_KEYS if key in spec]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _known(members: Mapping[str, Any], keys: Sequence[str]) -> None:
    unknown = [key for key in members if key not in keys]
    if unknown:
        raise ValueError(f"{members.get('name', 'a spec')}: unknown key {', '.join(unknown)}")


def _member(key: str, value: Any) -> str:
    if key == "fields":
        return _block((_field(field, "    ") for field in value), "  ")
    if key == "commonStructs":
        return _block((_struct(struct, "    ") for struct in value), "  ")
    return _json(value)


def _struct(struct: Spec, indent: str) -> str:
    _known(struct, STRUCT_KEYS)
    fields = _block((_field(field, indent + "  ") for field in struct["fields"]), indent)
    return f'{indent}{{ {_pairs(struct, STRUCT_KEYS[:-1])}, "fields": {fields}}}'


def _field(field: Spec, indent: str) -> str:
    _known(field, FIELD_KEYS)
    head = f"{indent}{{ {_pairs(field, FIELD_KEYS[:-2])}"
    if "about" in field:
        about = f'"about": {_json(field["about"])}'
        head = _with_about(head, about, indent, _STRUCT_END if "fields" in field else _FIELD_END)
    if "fields" not in field:
        return f"{head} }}"
    return f'{head}, "fields": {_block((_field(inner, indent + "  ") for inner in field["fields"]), indent)}}}'


def _with_about(head: str, about: str, indent: str, end: str) -> str:
    line = f"{head}, {about}"
    return line if len(line + end) <= WIDTH else f"{head},\n{indent}  {about}"


def _block(lines: Iterable[str], indent: str) -> str:
    body = ",\n".join(lines)
    return f"[\n{body}\n{indent}]" if body else "[]"


def _pairs(members: Mapping[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(f'"{key}": {_json(members[key])}' for key in keys if key in members)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
