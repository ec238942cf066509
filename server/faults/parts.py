"""Divides a request into its parts (topics, partitions, groups, transactional ids), and joins the
parts of its response.

`divide` splits a request into the part that a scope matches and the rest. `overlay` puts the
response for some parts over the response for all, and `mirrored` builds the response in which every
part failed. Only `overlay` changes its argument, the response below. The rows of `apis` name the
lists of a message that hold parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from kafkadouble.messages.fields import fields_of

from ..apis.part_lists import DIRECT, ERROR_FIELDS, NAMED, NameOf, key_of, kinds_at, path_of
from ..apis.row import PartList

Scope = Mapping[str, str | int]
"""The fields that narrow a match, from `Rule.scope`."""


def divide(api: str, body: Any, scope: Scope, name_of: NameOf) -> tuple[Any | None, Any | None]:
    """Splits the body of a request into (what the scope matches, the rest); None for an empty
    half."""
    path = path_of(api, body)
    listed = {kind for level in path for kind in kinds_at(level)}
    for kind in scope:
        if kind in DIRECT and kind not in listed and not _is_about(body, kind, scope[kind]):
            return None, body
    inner = {kind: value for kind, value in scope.items() if kind in listed}
    if not inner:
        return (body, None) if scope.keys() <= DIRECT.keys() else (None, body)
    return _divide(body, path, inner, name_of)


def _is_about(body: Any, kind: str, value: str | int) -> bool:
    return any(getattr(body, field, None) == value for field in DIRECT[kind])


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
    for kind in kinds_at(level):
        if kind in scope and key_of(item, kind, name_of) != scope[kind]:
            return None, item
    narrower = any(kind in scope for further in deeper for kind in kinds_at(further))
    return _divide(item, deeper, scope, name_of) if narrower else (item, None)


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
    return max((depth for depth, level in enumerate(path, 1) if scope.keys() & set(kinds_at(level))), default=0)


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
            if hasattr(entry, "acquired_records") and hasattr(entry, "records"):
                # A ShareFetch response has empty records, never null.
                entry.records = b""
        entries.append(entry)
    setattr(into, level.answered, entries)


def _name_alike(entry: Any, item: Any, kind: str) -> None:
    for field in (*NAMED[kind], "topic_id"):
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
    return key_of(item, kinds_at(level)[0], name_of)
