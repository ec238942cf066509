"""The path of a field in a message, such as `topics[0].partitions[*].leaderEpoch`.

Names are those of Kafka's JSON. A list is followed by an index, or by `*` for all of its elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.json_form import completed
from kafkadouble.messages.message import Message, Struct
from kafkadouble.wire.errors import UsageError

from .field_kinds import unknown

STEP = re.compile(r"([A-Za-z0-9]+)(?:\[(\d{1,9}|\*)\])?")
EVERY = -1


class Step(NamedTuple):
    """A name, and the index in its list: EVERY for `*`, None without one."""

    name: str
    at: int | None


def parsed(path: str) -> list[Step]:
    """The steps of a path. Raises UsageError."""
    steps = []
    for part in path.split("."):
        match = STEP.fullmatch(part)
        if match is None:
            raise UsageError(f"{path!r} is no path: {part!r} is not a name, name[0] or name[*]")
        steps.append(Step(match[1], None if match[2] is None else EVERY if match[2] == "*" else int(match[2])))
    return steps


def check(cls: type[Message], path: str, value: Any) -> None:
    """Raises UsageError if the message has no such field, or the field cannot have this value in
    any version."""
    steps = parsed(path)
    _check_names(cls, steps)
    problem = None
    for version in range(cls.versions[1], cls.versions[0] - 1, -1):
        try:
            cls.from_json(completed(cls, _nested(steps, value), version), version).encode(version)
        except UsageError as error:
            problem = problem or error
        else:
            return
    raise problem or UsageError(f"{cls.__name__} has no version")


def _check_names(cls: type[Struct], steps: Sequence[Step]) -> None:
    for step in steps:
        fields = {field.json_name: field for field in fields_of(cls)}
        if step.name not in fields:
            raise unknown(f"{cls.__name__} has no field", step.name, fields)
        field = fields[step.name]
        if (step.at is not None) > field.array:
            raise UsageError(f"{cls.__name__}.{step.name} is no list")
        if step is steps[-1]:
            return
        if field.struct is None:
            raise UsageError(f"{cls.__name__}.{step.name} has no fields")
        if field.array and step.at is None:
            raise UsageError(f"{cls.__name__}.{step.name} is a list: {step.name}[0] or {step.name}[*]")
        cls = field.struct


def _nested(steps: Sequence[Step], value: Any) -> dict[str, Any]:
    """A JSON object with the value at the path, each list with one element."""
    inner = value if len(steps) == 1 else _nested(steps[1:], value)
    return {steps[0].name: inner if steps[0].at is None else [inner]}


def replaced(message: Message, path: str, value: Any, version: int) -> Message:
    """A copy of the message with this value wherever the path leads: nowhere, if the version does
    not have the field, or a list not the index."""
    obj = message.to_json(version)
    for holder, key in _places(obj, parsed(path)):
        holder[key] = value
    return type(message).from_json(obj, version)


def _places(obj: Any, steps: Sequence[Step]) -> Iterator[tuple[Any, Any]]:
    step, deeper = steps[0], steps[1:]
    if not isinstance(obj, dict) or (obj.get(step.name) is None and deeper) or step.name not in obj:
        return
    if step.at is None:
        yield from _places(obj[step.name], deeper) if deeper else [(obj, step.name)]
        return
    elements = obj[step.name]
    for index in range(len(elements)) if step.at == EVERY else range(step.at, step.at + 1):
        if index < len(elements):
            yield from _places(elements[index], deeper) if deeper else [(elements, index)]
