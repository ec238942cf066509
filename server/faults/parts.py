"""Divides a request into its parts (topics, partitions, groups, transactional ids), and joins the
parts of its response.

`divide` splits a request into the part that a scope matches and the rest. `overlay` puts the
response for some parts over the response for all, and `mirrored` builds the response in which every
part failed. Only `overlay` changes its argument, the response below. The rows of `apis` name the
lists of a message that hold parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from kafkadouble.messages.fields import fields_of

from ..apis.row import PartList
from ..apis.served import ROWS

Scope = Mapping[str, str | int]
"""The fields that narrow a match, from `Rule.scope`."""

NameOf = Callable[[Any], str | None]
"""Returns the name of the topic with an id."""


PATHS = {row.name: row.paths for row in ROWS if row.paths}
"""For each API that has parts: the lists of its parts."""

KINDS = {"resource": ("topic", "group"), "coordinator": ("group", "transactional_id")}
"""The kinds of part for a level that can hold more than one kind."""

_DIRECT = {
    "group": ("group_id", "key"),
    "transactional_id": ("transactional_id", "v3_and_below_transactional_id", "key"),
}
"""The top-level fields of a request that name the group or transactional id of the whole
request."""

_NAMED = {
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
"""Kinds of part that no rule names."""

_RESOURCE_TYPES = {"topic": 2, "group": 32}


def kinds_of(api: str, request: type[Any]) -> set[str]:
    """The kinds of part that a rule for this API may be narrowed to, besides the client and the
    broker."""
    kinds = {kind for path in PATHS.get(api, ()) for level in path for kind in _kinds(level)}
    kinds -= WITHOUT_SCOPE
    return kinds | {kind for kind, fields in _DIRECT.items() if any(field in request.__slots__ for field in fields)}


def divide(api: str, body: Any, scope: Scope, name_of: NameOf) -> tuple[Any | None, Any | None]:
    """Splits the body of a request into (what the scope matches, the rest); None for an empty
    half."""
    path = path_of(api, body)
    listed = {kind for level in path for kind in _kinds(level)}
    for kind in scope:
        if kind in _DIRECT and kind not in listed and not _is_about(body, kind, scope[kind]):
            return None, body
    inner = {kind: value for kind, value in scope.items() if kind in listed}
    if not inner:
        return (body, None) if scope.keys() <= _DIRECT.keys() else (None, body)
    return _divide(body, path, inner, name_of)


def path_of(api: str, body: Any) -> tuple[PartList, ...]:
    """The lists of parts that this body uses; empty when it has no parts."""
    return next((path for path in PATHS.get(api, ()) if getattr(body, path[0].requested)), ())


def _is_about(body: Any, kind: str, value: str | int) -> bool:
    return any(getattr(body, field, None) == value for field in _DIRECT[kind])


def _divide(struct: Any, path: tuple[PartList, ...], scope: Scope, name_of: NameOf) -> tuple[Any | None, Any | None]:
    level, deeper = path[0], path[1:]
    hit, rest = [], []
    for item in getattr(struct, level.requested) or ():
        inside, outside = _divide_item(item, level, deeper, scope, name_of)
        hit.extend([] if inside is None else [inside])
        rest.extend([] if outside is None else [outside])
    return _with(struct, level.requested, hit), _with(struct, level.requested, rest)


def _divide_item(
    item: Any, level: PartList, deeper: tuple[PartList, ...], scope: Scope, name_of: NameOf
) -> tuple[Any | None, Any | None]:
    for kind in _kinds(level):
        if kind in scope and key_of(item, kind, name_of) != scope[kind]:
            return None, item
    narrower = any(kind in scope for further in deeper for kind in _kinds(further))
    return _divide(item, deeper, scope, name_of) if narrower else (item, None)


def _kinds(level: PartList) -> tuple[str, ...]:
    return KINDS.get(level.kind, (level.kind,))


def key_of(item: Any, kind: str, name_of: NameOf) -> Any:
    """The name of an item in a list of parts. A topic without a known name has its id."""
    if isinstance(item, str | int):
        return item
    if hasattr(item, "resource_type"):
        return item.resource_name if item.resource_type == _RESOURCE_TYPES.get(kind) else None
    for field in _NAMED[kind]:
        value = getattr(item, field, None)
        if value is not None and value != "":
            return value
    topic_id = getattr(item, "topic_id", None)
    return topic_id if topic_id is None else name_of(topic_id) or topic_id


def _with(struct: Any, field: str, items: list[Any]) -> Any | None:
    if not items:
        return None
    made = copy(struct)
    setattr(made, field, items)
    return made


def overlay(answer: Any, refused: Any, path: tuple[PartList, ...], name_of: NameOf) -> None:
    """Replaces each part of `answer` by the same part of `refused`. A part that `answer` does not
    have is appended."""
    level, deeper = path[0], path[1:]
    items = list(getattr(answer, level.answered) or ())
    places = {_identity(item, level, name_of): place for place, item in enumerate(items)}
    for item in getattr(refused, level.answered) or ():
        place = places.get(_identity(item, level, name_of))
        if place is None:
            items.append(item)
        elif deeper:
            overlay(items[place], item, deeper, name_of)
        else:
            items[place] = item
    setattr(answer, level.answered, items)


def depth_of_scope(path: tuple[PartList, ...], scope: Scope) -> int:
    """The number of levels of the path that a scope reaches."""
    return max((depth for depth, level in enumerate(path, 1) if scope.keys() & set(_kinds(level))), default=0)


def depth_of_answer(path: tuple[PartList, ...], answer: Any) -> int:
    """The number of levels on which a response lists parts. An error on a higher level covers
    everything below."""
    depth, structs = 0, [answer]
    for level in path:
        structs = [item for struct in structs for item in getattr(struct, level.answered, None) or ()]
        if not structs:
            break
        depth += 1
    return depth


def mirrored(response: type[Any], body: Any, path: tuple[PartList, ...], code: int) -> Any:
    """The response that has the same error for every innermost part of a request."""
    answer = response()
    _mirror(answer, body, path, code)
    return answer


def _mirror(into: Any, struct: Any, path: tuple[PartList, ...], code: int) -> None:
    level, deeper = path[0], path[1:]
    made = next(field.struct for field in fields_of(type(into)) if field.name == level.answered)
    assert made is not None
    entries = []
    for item in getattr(struct, level.requested) or ():
        entry = made()
        _name_alike(entry, item, level.kind)
        if deeper:
            _mirror(entry, item, deeper, code)
        else:
            setattr(entry, next(name for name in ERROR_FIELDS if hasattr(entry, name)), code)
            if hasattr(entry, "committed_offset"):
                # As in Kafka's OffsetFetch response with an error. The default of the field is 0.
                entry.committed_offset = -1
        entries.append(entry)
    setattr(into, level.answered, entries)


def _name_alike(entry: Any, item: Any, kind: str) -> None:
    for field in (*_NAMED[kind], "topic_id"):
        if not hasattr(entry, field):
            continue
        if isinstance(item, str | int):
            setattr(entry, field, item)
            return
        if hasattr(item, field):
            setattr(entry, field, getattr(item, field))


def _identity(item: Any, level: PartList, name_of: NameOf) -> Any:
    if hasattr(item, "resource_type"):
        return item.resource_type, item.resource_name
    return key_of(item, _kinds(level)[0], name_of)
