"""Reduces the reading by the filters of a query: topics, partitions, offsets, and lower bounds of
timestamps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from pyspark.sql.datasource import EqualTo, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual

from kafkadouble.pipeline.logs.log_filter import FAR, LogFilter

_COLUMNS = {
    "records": ("topic", "partition", "offset", "timestamp"),
    "batches": ("topic", "partition"),
    "segments": ("topic", "partition"),
}
"""Level -> the columns whose filters this file can use."""


def narrowed(level: str, filters: Iterable[Any]) -> LogFilter:
    """The part of the log that can satisfy all of these filters."""
    found = LogFilter()
    for each in filters:
        narrow = _KINDS.get(type(each))
        attribute: tuple[str, ...] = getattr(each, "attribute", ())
        if narrow is not None and len(attribute) == 1 and attribute[0] in _COLUMNS.get(level, ()):
            found = narrow(found, attribute[0], each.value)
    return found


def _equal(found: LogFilter, column: str, value: Any) -> LogFilter:
    return _at_most(_at_least(_among(found, column, (value,)), column, value), column, value)


def _among(found: LogFilter, column: str, values: Iterable[Any]) -> LogFilter:
    if column == "topic":
        return found.and_topics(frozenset(values))
    return found.and_partitions(frozenset(values)) if column == "partition" else found


def _at_least(found: LogFilter, column: str, value: Any) -> LogFilter:
    if column == "offset":
        return found.and_offsets(value, FAR)
    if column == "timestamp" and isinstance(value, datetime) and value.tzinfo is not None:
        return found.and_since(int(value.timestamp() * 1000))
    return found


def _at_most(found: LogFilter, column: str, value: Any) -> LogFilter:
    return found.and_offsets(0, value + 1) if column == "offset" else found


_KINDS: dict[type, Callable[[LogFilter, str, Any], LogFilter]] = {
    EqualTo: _equal,
    In: lambda found, column, value: _among(found, column, value),
    GreaterThan: _at_least,
    GreaterThanOrEqual: _at_least,
    LessThan: _at_most,
    LessThanOrEqual: _at_most,
}
