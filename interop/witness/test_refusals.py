"""Values that a version cannot express: both refuse them, or both leave them out. They are sent as
JSON, which can express what no message of ours can."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.message import Message, Struct
from kafkadouble.wire.errors import UsageError

from .java import SAME, THROWN, Witness
from .making import Maker

SEED = 20261125
NAMES = [entry.name for entry in registry.entries() if not entry.retired]

ODD = {
    "bool": True,
    "float64": 1.5,
    "string": "odd",
    "bytes": "b2Rk",
    "records": "b2Rk",
    "uuid": "H3KKO4NTRPaCWtEmm3vW7A",
}
"""For each type, a JSON value that is no field's default; 11 for numbers."""

Count = Callable[[str, object], None]
Tried = tuple[str, dict[str, Any]]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("letters", ["ABC", "D", "EFGHIJKLM", "NOPQRSTUVWXYZ"])
def test_malformed_messages_are_refused_as_by_java(letters: str, witness: Witness, record_property: Count) -> None:
    seen: Counter[bool] = Counter()
    for name in NAMES:
        if name[0] not in letters:
            continue
        cls = registry.message(name)
        for version in range(cls.versions[0], cls.versions[1] + 1):
            tried = list(unfit(cls, version))
            for _, obj in tried:
                witness.ask("message", name, version, "", json.dumps(obj))
            for what, obj in tried:
                theirs, ours = verdict(witness.answered()[0]), written(cls, version, obj)
                assert theirs == ours, f"{name} version {version}: {what}"
                seen[ours == THROWN] += 1
    assert seen[True] > 1000
    assert seen[False] > 100
    record_property("messages of which one field is wrong", seen.total())


def unfit(cls: type[Message], version: int) -> Iterator[Tried]:
    """A good message in JSON with one error: null where it is not allowed, or a field that the
    version lacks."""
    message = Maker((SEED, cls.__name__, version)).message(cls, version, "lowest")
    good = message.to_json(version)
    yield "nothing is wrong", good
    for struct, path in places(message, version, ()):
        for field in fields_of(type(struct)):
            if not field.present(version) and field.struct is None:
                value = ODD.get(field.type, 11)
                yield f"{field.name} is set", changed(good, path, field, [value] if field.array else value)
            elif field.present(version) and not field.is_nullable(version):
                yield f"{field.name} is null", changed(good, path, field, None)
            if field.present(version) and not field.is_tagged(version):
                yield f"{field.name} is missing", changed(good, path, field, ...)


Path = tuple[str | int, ...]


def places(struct: Struct, version: int, path: Path) -> Iterator[tuple[Struct, Path]]:
    """The structs in the JSON of a message, and the path to each."""
    yield struct, path
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if field.struct is None or not field.present(version) or (field.is_tagged(version) and field.is_default(value)):
            continue
        if field.array and value:
            yield from places(value[0], version, (*path, field.json_name, 0))
        elif isinstance(value, Struct):
            yield from places(value, version, (*path, field.json_name))


def changed(good: dict[str, Any], path: Path, field: FieldInfo, value: Any) -> dict[str, Any]:
    """A copy with this value in a field; `...` removes the field."""
    made = at = copy.deepcopy(good)
    for step in path:
        at = at[step]  # type: ignore[index]  # lists on the way have numbers
    if value is ...:
        del at[field.json_name]
    else:
        at[field.json_name] = value
    return made


def written(cls: type[Message], version: int, obj: dict[str, Any]) -> str:
    try:
        return cls.from_json(obj, version).encode(version).hex()
    except UsageError:
        return THROWN


def verdict(answer: str) -> str:
    """The bytes, or only the fact that it was refused."""
    return THROWN if answer.startswith(THROWN) else "" if answer == SAME else answer
