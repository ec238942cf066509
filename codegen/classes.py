"""Writes structs as Python classes: slots, a keyword-only `__init__` with the defaults, and the
table of fields that slow code reads.

A struct that cannot be null is created on first use (a property over a private slot). So an absent
tagged struct costs nothing, and two objects never share a struct.
"""

from __future__ import annotations

import textwrap

from .literals import struct_path
from .model import OWN_DEFAULTS, FieldSpec, MessageSpec, StructSpec
from .source import Lines
from .versions import NONE

_TYPES = {"bool": "bool", "float64": "float", "string": "str", "bytes": "Buffer", "records": "Buffer", "uuid": "Uuid"}


def message_class(lines: Lines, message: MessageSpec) -> None:
    """The class of a message with the classes of its structs inside."""
    with lines.block(f"class {message.name}(Message):"):
        lines(f'"""{_summary(message)}"""', "")
        _slots(lines, message.struct)
        flexible = message.flexible & message.valid
        lines(
            f"api_key = {message.api_key}",
            f"versions = ({message.valid.low}, {message.valid.high})",
            f"flexible_from = {flexible.low if flexible else None}",
            f'kind = "{message.kind}"',
            f"latest_version_unstable = {message.unstable}",
        )
        _table(lines, message.struct)
        for struct in message.structs:
            lines("")
            with lines.block(f"class {struct.name}(Struct):"):
                _slots(lines, struct)
                _table(lines, struct)
                _init(lines, message, struct)
        _init(lines, message, message.struct)


def _summary(message: MessageSpec) -> str:
    key = f", api key {message.api_key}" if message.api_key is not None else ""
    flexible = message.flexible & message.valid
    wire = f"flexible from {flexible.low}" if flexible else "never flexible"
    return f"{message.name}: {message.kind}{key}, versions {message.valid}, {wire}."


def _slots(lines: Lines, struct: StructSpec) -> None:
    names = [field.slot for field in struct.fields] + ["unknown_tagged_fields"]
    lines("__slots__ = (")
    for row in textwrap.wrap(", ".join(f'"{name}"' for name in names) + ",", 110):
        lines("    " + row)
    lines(")")


def _table(lines: Lines, struct: StructSpec) -> None:
    """One line of text for each field; `messages.fields` parses it on first use."""
    rows = [_row(field) for field in struct.fields]
    if not rows:
        lines('_fields = ""')
        return
    lines('_fields = """\\')
    lines.raw("\n".join(rows) + '"""')


def _row(field: FieldSpec) -> str:
    """The name in Python, the name in Kafka, the type and the versions, then the attributes that
    the field has. The default is last and extends to the end of the line."""
    kind = ("[]" if field.array else "") + field.type
    words = [field.python, field.name, kind, str(field.versions)]
    if field.nullable:
        words.append(f"null={field.nullable}")
    if field.tag is not None:
        words.append(f"tag={field.tag}@{field.tagged}")
    if field.flexible is not None:
        words.append(f"flexible={field.flexible}")
    words += [word for word, on in (("ignorable", field.ignorable), ("key", field.map_key)) if on]
    if _shows_default(field):
        words.append(f"default={'null' if field.default is None else _default_text(field)}")
    return " ".join(words)


def _shows_default(field: FieldSpec) -> bool:
    if field.default is None:
        return field.type != "records"
    return bool(field.default) and field.default is not OWN_DEFAULTS and field.default != bytes(16)


def _default_text(field: FieldSpec) -> str:
    return field.default.hex() if isinstance(field.default, bytes) else str(field.default)


def _init(lines: Lines, message: MessageSpec, struct: StructSpec) -> None:
    lines("")
    lines("def __init__(")
    lines("    self,", "    *,")
    for field in struct.fields:
        lines(f"    {field.python}: {_annotation(field, message)} = {_parameter(field)},{_comment(field)}")
    lines("    unknown_tagged_fields: dict[int, bytes] | None = None,")
    with lines.block(") -> None:"):
        for field in struct.fields:
            lines(f"self.{field.slot} = {_initial(field, message)}")
        lines("self.unknown_tagged_fields = unknown_tagged_fields")
    for field in struct.fields:
        if field.lazy:
            _property(lines, field, message)


def _annotation(field: FieldSpec, message: MessageSpec) -> str:
    element = _TYPES.get(field.type, "int") if field.struct is None else struct_path(message, field.struct)
    kind = f"Sequence[{element}]" if field.array else element
    optional = field.default is None or field.nullable & message.valid or field.lazy
    return f"{kind} | None" if optional else kind


def _parameter(field: FieldSpec) -> str:
    if field.default is OWN_DEFAULTS:
        return "None" if field.lazy else "OWN_DEFAULTS"
    if field.type == "uuid" and not field.array:
        return "ZERO" if field.default == bytes(16) else f"Uuid({field.default!r})"
    return repr(field.default)


def _initial(field: FieldSpec, message: MessageSpec) -> str:
    if field.default is OWN_DEFAULTS and not field.lazy and field.struct is not None:
        return f"{message.name}.{field.struct.name}() if {field.python} is OWN_DEFAULTS else {field.python}"
    return field.python


def _comment(field: FieldSpec) -> str:
    about = " ".join(field.about.split())
    versions = "" if field.versions == NONE else str(field.versions)
    return f"  # {versions}: {about}" if about else f"  # {versions}"


def _property(lines: Lines, field: FieldSpec, message: MessageSpec) -> None:
    assert field.struct is not None
    path = struct_path(message, field.struct)
    lines("", "@property")
    with lines.block(f"def {field.python}(self) -> {path}:"):
        with lines.block(f"if self.{field.slot} is None:"):
            lines(f"self.{field.slot} = {path}()")
        lines(f"return self.{field.slot}")
    lines("", f"@{field.python}.setter")
    with lines.block(f"def {field.python}(self, value: {path}) -> None:"):
        lines(f"self.{field.slot} = value")
