"""Checks the arguments of KafkaDouble's methods: a table with one row for each argument name.

A value of a wrong type raises a UsageError that names the argument; no broker is called. A value of
the right type that names no existing topic or partition reaches the broker, which answers with an
error code: a KafkaError.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .errors import UsageError


def _integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _index(value: Any) -> bool:
    return _integer(value) and value >= 0


def _count(value: Any) -> bool:
    return _integer(value) and value >= 1


def _ids(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset) and all(map(_integer, value))


def _duration(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


ARGUMENTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "topic": (_is(str), "a name"),
    "group": (_is(str), "a name"),
    "transactional_id": (_is(str), "a name"),
    "host": (_is(str), "a name or an address"),
    "partition": (_index, "an index from 0"),
    "partitions": (_integer, "a number of partitions"),
    "replication_factor": (_integer, "a number of replicas"),
    "config": (_is(Mapping), "a mapping of names to values"),
    "offset": (_integer, "an integer"),
    "timestamp": (_integer, "an integer, milliseconds since the epoch"),
    "count": (_count, "a count from 1"),
    "members": (_index, "a count from 0"),
    "lag": (_index, "a number of records from 0"),
    "epoch": (_index, "an integer from 0"),
    "isr": (_ids, "ids of brokers"),
    "to": (_integer, "the id of a broker"),
    "seconds": (_duration, "a number of seconds"),
    "timeout": (_duration, "a number of seconds"),
    "seed": (_integer, "an integer"),
}
"""For each argument: the check of a value, and what is allowed, for the error message. A method
whose default is None also allows None."""


def check(**given: object) -> None:
    """Raises UsageError for the first value that its argument does not allow."""
    for name, value in given.items():
        fits, meant = ARGUMENTS[name]
        if not fits(value):
            raise UsageError(f"{name} is {meant}, not {value!r}")


def check_given(**given: object) -> None:
    """As `check`, for arguments whose default is None: None is allowed."""
    check(**{name: value for name, value in given.items() if value is not None})
