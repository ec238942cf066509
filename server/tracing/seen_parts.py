"""The parts of a request: the topics, partitions, groups and transactional ids that it or its
answer names, each with the error that the answer has for it.

Rules. The rows of the APIs say where the parts are. The answer counts too, because a request can
leave names out: a Fetch of a session, or an OffsetFetch of all topics. An error of the whole answer
is the error of every part that has no error of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kafkadouble.messages import error_codes

from ..apis.part_lists import DIRECT, ERROR_FIELDS, PATHS, WITHOUT_SCOPE, NameOf, key_of, kinds_at, path_of
from ..apis.row import PartList

TRANSACTION_KEY = 1
"""The key type of FindCoordinator for transactional ids; 0 is for groups."""


class SeenPart(NamedTuple):
    """One part of a request: the fields that do not apply are None. `topic` is its id as text if
    its name is not known. `error` is the name of an error, or None."""

    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None
    error: str | None = None

    def __str__(self) -> str:
        where = self.topic or ""
        if self.partition is not None:
            where = f"{where}-{self.partition}"
        return where or (f"group {self.group}" if self.group is not None else f"{self.transactional_id}")


Names = dict[str, Any]
Path = tuple[PartList, ...]
Key = tuple[str | None, int | None, str | None, str | None]


def parts_of(api: str, body: Any, answer: Any, name_of: NameOf) -> tuple[SeenPart, ...]:
    """The parts of a request, in its order; those that only the answer names come last."""
    whole, path = _direct(body), path_of(api, body)
    code = getattr(answer, "error_code", 0)
    found = {_key(names): code for names in _requested(body, path, whole, name_of, body)}
    if answer is not None:
        answered = path or _path_of_answer(api, answer)
        for names, own in _answered(answer, answered, whole, name_of, body):
            found[_key(names)] = own or code
    if not found and whole:
        found[_key(whole)] = code
    return tuple(SeenPart(*key, error_codes.name(code) if code else None) for key, code in found.items())


def _key(names: Names) -> Key:
    return names.get("topic"), names.get("partition"), names.get("group"), names.get("transactional_id")


def _direct(body: Any) -> Names:
    """The group and the transactional id of the whole request."""
    names: Names = {}
    for kind, fields in DIRECT.items():
        for field in fields:
            value = getattr(body, field, None)
            if value and (field != "key" or kind == _kind_of_key(body)):
                names[kind] = value
    return names


def _kind_of_key(body: Any) -> str:
    return "transactional_id" if body.key_type == TRANSACTION_KEY else "group"


def _path_of_answer(api: str, answer: Any) -> tuple[PartList, ...]:
    return next((path for path in PATHS.get(api, ()) if getattr(answer, path[0].answered, None)), ())


def _requested(struct: Any, path: Path, names: Names, name_of: NameOf, body: Any) -> Iterator[Names]:
    """The names of the innermost parts."""
    items = getattr(struct, path[0].requested, None) if path else None
    if not items:
        if struct is not body:
            yield names
        return
    for item in items:
        yield from _requested(item, path[1:], {**names, **_names(item, path[0], name_of, body)}, name_of, body)


def _answered(struct: Any, path: Path, names: Names, name_of: NameOf, body: Any) -> Iterator[tuple[Names, int]]:
    """The names of the innermost parts, each with its error code."""
    items = getattr(struct, path[0].answered, None) if path else None
    for item in items or ():
        code = next((getattr(item, field) for field in ERROR_FIELDS if hasattr(item, field)), 0)
        inside = {**names, **_names(item, path[0], name_of, body)}
        deeper = list(_answered(item, path[1:], inside, name_of, body))
        yield from ((found, own or code) for found, own in deeper or [(inside, code)])


def _names(item: Any, level: PartList, name_of: NameOf, body: Any) -> Names:
    if level.kind == "coordinator":
        return {_kind_of_key(body): key_of(item, "group", name_of)}
    found = {kind: key_of(item, kind, name_of) for kind in kinds_at(level) if kind not in WITHOUT_SCOPE}
    return {kind: value if kind == "partition" else str(value) for kind, value in found.items() if value is not None}
