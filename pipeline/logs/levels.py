"""The levels at which a log can be read: a table of modules, each with a `LEVEL`. A new level is a
new row.

A level defines the columns for its options, plans the pieces, which can be sent to other processes,
and reads the rows of a piece, with exactly the requested columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple, Protocol

from kafkadouble.wire.errors import UsageError

from .options import LogOption, LogOptions, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pyarrow as pa

LEVELS = {
    "records": "kafkadouble.pipeline.logs.records",
    "batches": "kafkadouble.pipeline.logs.batches",
    "segments": "kafkadouble.pipeline.logs.segment_rows",
    "metadata": "kafkadouble.pipeline.history.metadata",
    "offsets": "kafkadouble.pipeline.history.offsets",
    "transactions": "kafkadouble.pipeline.history.transactions",
}
"""Level -> the module that reads it, imported on first use."""

_NEEDED = ("numpy", "pyarrow")

Paths = Sequence[str | os.PathLike[str]]


class Planned(Protocol):
    """One piece of the plan; it can be pickled."""

    @property
    def size(self) -> int:
        """The number of bytes that reading it touches, to show progress."""
        ...


class TableLevel(NamedTuple):
    """`schema(options)`: all columns. `plan(paths, options)`: the pieces. `read(piece, names,
    options)`: record batches with the columns `names`, in that order and with the types of the
    schema. `options`: the options of this level only, and common options with another default."""

    schema: Callable[[LogOptions], pa.Schema]
    plan: Callable[[Paths, LogOptions], Sequence[Any]]
    read: Callable[[Any, Sequence[str], LogOptions], Iterator[pa.RecordBatch]]
    options: tuple[LogOption, ...] = ()


def level_of(name: str) -> TableLevel:
    """The level of this name. UsageError when there is none."""
    if name not in LEVELS:
        raise UsageError(f"there is no level {name!r}: choose from {', '.join(LEVELS)}")
    try:
        LEVEL: TableLevel = import_module(LEVELS[name]).LEVEL
    except ModuleNotFoundError as missing:
        if missing.name not in _NEEDED:
            raise
        raise UsageError(f"a table of a log needs {missing.name}: pip install 'kafkadouble[columns]'") from None
    return LEVEL


def options_of(level: str, given: Mapping[str, object]) -> LogOptions:
    """The options of a level, from names in any spelling."""
    return parse(level, given, level_of(level).options)


def chosen(schema: pa.Schema, names: Sequence[str] | None) -> pa.Schema:
    """The schema with these columns only, in this order. Raises UsageError for an unknown one."""
    if names is None:
        return schema
    for name in names:
        if name not in schema.names:
            raise UsageError(f"there is no column {name!r}: choose from {', '.join(schema.names)}")
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in names])
