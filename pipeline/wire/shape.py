"""The columns of a source: those of Spark's connector in its order, and optional ones; and the
columns of a sink.

Rules: types and names are those of the connector. A sink ignores other columns, as the connector
does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

from .options import QueryOptions

HEADERS = "array<struct<key:string,value:binary>>"
TYPES = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": HEADERS,
    "leader_epoch": "int",
}
_ALWAYS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")


class RequestedColumn(NamedTuple):
    """A column that a query requests, with its type in Spark's spelling."""

    name: str
    type: str
    nullable: bool = True


def schema(settings: QueryOptions) -> str:
    """The columns of a query that names none, as Spark's DDL."""
    names = list(_ALWAYS)
    names += ["headers"] if settings["includeHeaders"] else []
    names += ["leader_epoch"] if settings["includeLeaderEpoch"] else []
    return ", ".join(f"{name} {TYPES[name]}" for name in names)


def check(fields: Sequence[RequestedColumn]) -> tuple[str, ...]:
    """The names of the requested columns. Raises UsageError for an unknown column, or another
    type."""
    for field in fields:
        if field.name not in TYPES:
            raise UsageError(f"kafka-wire has no column {field.name}; it has {', '.join(TYPES)}")
        if field.type != TYPES[field.name]:
            raise UsageError(f"the column {field.name} is of type {TYPES[field.name]}, not {field.type}")
        if not field.nullable:
            raise UsageError(f"the column {field.name} cannot be NOT NULL: every column may be null")
    return tuple(field.name for field in fields)


class SinkColumn(NamedTuple):
    """A column of a sink, with its types in Spark's spelling."""

    name: str
    types: tuple[str, ...]
    required: bool = False


SINK = (
    SinkColumn("key", ("string", "binary")),
    SinkColumn("value", ("string", "binary"), required=True),
    SinkColumn("headers", (HEADERS,)),
    SinkColumn("topic", ("string",)),
    SinkColumn("partition", ("int",)),
    SinkColumn("timestamp", ("timestamp",)),
)


def check_sink(types: Mapping[str, str], topic: str | None) -> None:
    """Columns by name, with their types. Raises UsageError when one is missing, or has another
    type."""
    if topic is None and "topic" not in types:
        raise UsageError("the option topic must be given when the rows have no column topic")
    for column in SINK:
        type_ = types.get(column.name)
        if type_ is None and column.required:
            raise UsageError(f"the rows have no column {column.name}, which kafka-wire needs")
        if type_ is not None and type_ not in column.types and not (column.name == "topic" and topic is not None):
            raise UsageError(f"the column {column.name} is of type {type_}; it must be {' or '.join(column.types)}")
