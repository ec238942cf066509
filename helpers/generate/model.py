"""The verbs as the emitters of all languages need them: names, types and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafkadouble.control.calls import described

DURATIONS = frozenset({"after_seconds", "for_seconds", "gap", "jitter", "seconds", "timeout"})
"""Parameters that are numbers of seconds."""

SHAPES: Mapping[str, str] = {
    "text": "text",
    "integer": "integer",
    "number": "number",
    "switch": "switch",
    "object": "any",
    "value": "any",
}
"""The kind of a parameter in a description -> its type here, but for lists."""

RESULTS: Mapping[str, str] = {
    "ReadRecord": "Record",
    "SeenRequest": "Request",
    "Group": "GroupDescription",
    "RuleHandle": "Rule",
    "Rule": "any",
    "LintFinding": "any",
    "TelemetryValue": "any",
    "Any": "any",
    "str": "text",
    "int": "integer",
}
"""Python's name in the result of a verb -> the name in the libraries."""


class ParameterModel(NamedTuple):
    """One parameter. `shape` is text, integer, number, duration, switch, any, or a list as
    `text[]`."""

    name: str
    shape: str
    allowed: str


class VerbModel(NamedTuple):
    """One verb. `result` is a type as in `RESULTS`, with `list[...]`, `dict[K, ...]`, `... | None`;
    None without a result."""

    name: str
    subject: str
    summary: str
    result: str | None
    required: tuple[ParameterModel, ...]
    optional: tuple[ParameterModel, ...]


def verbs() -> list[VerbModel]:
    """Every verb of the control plane, in the order of the alphabet."""
    return [_verb(each) for each in described()]


def optional_parameters(found: Iterable[VerbModel]) -> list[ParameterModel]:
    """Each optional parameter once, with all that it may be in words."""
    by_name: dict[str, list[ParameterModel]] = {}
    for verb in found:
        for each in verb.optional:
            by_name.setdefault(each.name, []).append(each)
    return [_merged(by_name[name]) for name in sorted(by_name)]


def _merged(same: list[ParameterModel]) -> ParameterModel:
    if len({each.shape for each in same}) > 1:
        raise ValueError(f"{same[0].name} has several types: {sorted({each.shape for each in same})}")
    return same[0]._replace(allowed=", or ".join(dict.fromkeys(each.allowed for each in same)))


def _verb(described_verb: Mapping[str, Any]) -> VerbModel:
    given = described_verb["parameters"]
    return VerbModel(
        described_verb["name"],
        described_verb["subject"],
        described_verb["summary"],
        _result(described_verb["result"]),
        tuple(_parameter(each) for each in given if each["required"]),
        tuple(_parameter(each) for each in given if not each["required"]),
    )


def _parameter(given: Mapping[str, Any]) -> ParameterModel:
    allowed = given["allowed"].replace("None", "null").replace("True or False", "true or false")
    return ParameterModel(given["name"], _shape(given), allowed)


def _shape(given: Mapping[str, Any]) -> str:
    if given["name"] in DURATIONS:
        return "duration"
    if given["kind"] != "list":
        return SHAPES[given["kind"]]
    schema = given["schema"]
    items = schema.get("anyOf", [schema])[0].get("items", {}).get("type")
    return {"string": "text[]", "integer": "integer[]"}.get(items if isinstance(items, str) else "", "any[]")


def _result(annotation: str) -> str | None:
    if annotation == "None":
        return None
    by_partition = annotation.replace("dict[TopicPartition, int]", "dict[str, dict[int, int]]")
    return re.sub(r"\w+", lambda found: RESULTS.get(found[0], found[0]), by_partition)


def parsed(result: str) -> tuple[str, list[str]]:
    """The outer part of a type, and its arguments: `dict`, [`text`, `integer`]; `optional` for
    `... | None`."""
    if result.endswith(" | None"):
        return "optional", [result.removesuffix(" | None")]
    outer, bracket, rest = result.partition("[")
    if not bracket:
        return outer, []
    inner = rest[:-1]
    return (outer, inner.split(", ", 1)) if outer == "dict" else (outer, [inner])


def camel(name: str) -> str:
    """`create_topic` -> `createTopic`."""
    first, *rest = name.split("_")
    return first + "".join(each.capitalize() for each in rest)
