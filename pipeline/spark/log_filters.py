"""Converts the filters of a query to a LogFilter, so that less of the log is read: topics,
partitions, offsets, and lower bounds of timestamps."""

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
    log_filter = LogFilter()
    for query_filter in filters:
        narrow = _KINDS.get(type(query_filter))
        attribute: tuple[str, ...] = getattr(query_filter, "attribute", ())
        if narrow is not None and len(attribute) == 1 and attribute[0] in _COLUMNS.get(level, ()):
            log_filter = narrow(log_filter, attribute[0], query_filter.value)
    return log_filter


def _equal(log_filter: LogFilter, column: str, value: Any) -> LogFilter:
    return _at_most(_at_least(_among(log_filter, column, (value,)), column, value), column, value)


def _among(log_filter: LogFilter, column: str, values: Iterable[Any]) -> LogFilter:
    if column == "topic":
        return log_filter.and_topics(frozenset(values))
    return log_filter.and_partitions(frozenset(values)) if column == "partition" else log_filter


def _at_least(log_filter: LogFilter, column: str, value: Any) -> LogFilter:
    if column == "offset":
        return log_filter.and_offsets(value, FAR)
    if column == "timestamp" and isinstance(value, datetime) and value.tzinfo is not None:
        return log_filter.and_since(int(value.timestamp() * 1000))
    return log_filter


def _at_most(log_filter: LogFilter, column: str, value: Any) -> LogFilter:
    return log_filter.and_offsets(0, value + 1) if column == "offset" else log_filter


_KINDS: dict[type, Callable[[LogFilter, str, Any], LogFilter]] = {
    EqualTo: _equal,
    In: lambda log_filter, column, value: _among(log_filter, column, value),
    GreaterThan: _at_least,
    GreaterThanOrEqual: _at_least,
    LessThan: _at_most,
    LessThanOrEqual: _at_most,
}
