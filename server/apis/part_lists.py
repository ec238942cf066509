"""The fields of a request that hold its parts (topics, partitions, groups, transactional ids), and
the names of the parts.

The rows of the APIs name the lists of parts. Fault rules divide requests by these lists, and the
request history says by them what a request is about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .row import PartList
from .served import ROWS

NameOf = Callable[[Any], str | None]
"""Returns the name of the topic with an id."""

PATHS = {row.name: row.paths for row in ROWS if row.paths}
"""For each API that has parts: the lists of its parts."""

KINDS = {"resource": ("topic", "group"), "coordinator": ("group", "transactional_id")}
"""The kinds of part for a level that can hold more than one kind."""

DIRECT = {
    "group": ("group_id", "key"),
    "transactional_id": ("transactional_id", "v3_and_below_transactional_id", "key"),
}
"""The top-level fields of a request that name the group or transactional id of the whole
request."""

NAMED = {
    "topic": ("name", "topic", "topic_name"),
    "partition": ("partition_index", "index", "partition", "partition_id"),
    "group": ("group_id", "key"),
    "transactional_id": ("transactional_id", "key"),
    "marker": ("producer_id",),
}
"""The fields of an item that name it, by its kind."""

ERROR_FIELDS = ("error_code", "partition_error_code")
"""Each innermost part of a response has one of them."""

WITHOUT_SCOPE = {"marker"}
"""Kinds of part that no rule and no filter names."""

_RESOURCE_TYPES = {"topic": 2, "group": 32}


def kinds_of(api: str, request: type[Any]) -> set[str]:
    """The kinds of part that requests of this API can name."""
    kinds = {kind for path in PATHS.get(api, ()) for level in path for kind in kinds_at(level)}
    kinds -= WITHOUT_SCOPE
    return kinds | {kind for kind, fields in DIRECT.items() if any(field in request.__slots__ for field in fields)}


def path_of(api: str, body: Any) -> tuple[PartList, ...]:
    """The lists of parts that this body uses; empty when it has no parts."""
    return next((path for path in PATHS.get(api, ()) if getattr(body, path[0].requested)), ())


def kinds_at(level: PartList) -> tuple[str, ...]:
    """The kinds of part that a list can hold."""
    return KINDS.get(level.kind, (level.kind,))


def key_of(item: Any, kind: str, name_of: NameOf) -> Any:
    """The name of an item in a list of parts. A topic without a known name has its id."""
    if isinstance(item, str | int):
        return item
    if hasattr(item, "resource_type"):
        return item.resource_name if item.resource_type == _RESOURCE_TYPES.get(kind) else None
    for field in NAMED[kind]:
        value = getattr(item, field, None)
        if value is not None and value != "":
            return value
    topic_id = getattr(item, "topic_id", None)
    return topic_id if topic_id is None else name_of(topic_id) or topic_id
