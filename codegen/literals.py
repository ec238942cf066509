"""Defaults as Python expressions, and the test whether a value differs from its default."""

from __future__ import annotations

from .model import OWN_DEFAULTS, FieldSpec, MessageSpec, StructSpec
from .source import Pool


def struct_path(message: MessageSpec, struct: StructSpec) -> str:
    """A struct's class as its users write it: `FetchResponse.PartitionData`."""
    return message.name if struct is message.struct else f"{message.name}.{struct.name}"


def literal(field: FieldSpec, pool: Pool, message: MessageSpec) -> str:
    """The content of the field's slot when the field is at its default."""
    if field.default is OWN_DEFAULTS and field.struct is not None:
        return "None" if field.lazy else f"_{message.name}_{field.struct.name}()"
    if field.type == "uuid" and not field.array:
        if field.default == bytes(16):
            return pool.helper("..uuid", "ZERO")
        return f"{pool.helper('..uuid', 'Uuid')}({field.default!r})"
    return repr(field.default)


def differs(field: FieldSpec, value: str, pool: Pool, message: MessageSpec) -> str:
    """An expression that is true when `value`, the content of the slot, differs from the
    default."""
    default = field.default
    if default is None:
        return f"{value} is not None"
    if field.array:
        return f"({value} is None or len({value}))" if field.nullable else f"len({value})"
    if default is OWN_DEFAULTS and field.struct is not None:
        other = pool.default_struct(f"{message.name}.{field.struct.name}")
        return f"({value} is not None and {value} != {other})" if field.lazy else f"{value} != {other}"
    if field.type == "bool":
        return f"not {value}" if default else value
    if field.type in ("string", "uuid"):
        return f"{value} != {literal(field, pool, message)}"
    if field.type == "bytes":
        return f"({value} is None or len({value}))" if field.nullable else f"len({value})"
    return f"{value} != {default!r}" if default else value
