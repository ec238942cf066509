"""Values that a step's record takes from the record for which the step is called.

A parameter of `produce`, or the value of one header, may be `{record: key}`, which is a field of
the record that arrived, or `{header: NAME}`, which is the value of its last header with this name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import UsageError
from kafkadouble.verbs.forms.json_form import from_json

from .calls import located
from .files.document import ScenarioDocument, ValuePath

if TYPE_CHECKING:
    from kafkadouble.records.read_records import ReadRecord

RECORD, HEADER = "record", "header"

BYTES = "key", "value"
TAKEN_FROM: dict[str, tuple[str, ...]] = {
    "topic": BYTES,
    "value": BYTES,
    "key": BYTES,
    "headers": ("headers",),
    "partition": ("partition",),
    "timestamp": ("timestamp",),
}
"""By parameter of `produce`: the fields of a record that it may be taken from. A parameter that may
be a key or a value may be the value of a header, too."""

SAMPLES: dict[str, Any] = {"topic": "t", "partition": 0, "timestamp": 0, "headers": {}}
"""By parameter: a value that the verb accepts, in place of one that only a record will have."""

Taken = Callable[["ReadRecord"], Any]
"""Takes the value of a parameter from a record."""


def taken_of(document: ScenarioDocument, path: ValuePath, given: Mapping[str, Any]) -> dict[str, Taken]:
    """The parameters of a step that take their values from a record. A parameter that has a value
    of its own is left out."""
    taken: dict[str, Taken] = {}
    for name in [each for each in TAKEN_FROM if each in given]:
        with located(document, (*path, name)):
            found = _headers(given[name]) if name == "headers" else _taken(name, given[name])
        if found is not None:
            taken[name] = found
    return taken


def with_samples(given: Mapping[str, Any], taken: Mapping[str, Taken]) -> dict[str, Any]:
    """The parameters of a step as they are checked before a record is there."""
    return {**given, **{name: SAMPLES.get(name) for name in taken}}


def _taken(parameter: str, value: Any) -> Taken | None:
    if not isinstance(value, Mapping) or [*value] not in ([RECORD], [HEADER]):
        return None
    ((kind, name),) = value.items()
    fields = TAKEN_FROM[parameter]
    if kind == RECORD and name in fields:
        take: Taken = _field(name)
    elif kind == HEADER and fields == BYTES and isinstance(name, str):
        take = _header(name)
    else:
        forms = [*(f"{{record: {each}}}" for each in fields), *(["{header: NAME}"] if fields == BYTES else [])]
        raise UsageError(f"{parameter} is taken from a record by {' or '.join(forms)}, not by {dict(value)!r}")
    return _as_topic(take, f"{kind} {name}") if parameter == "topic" else take


def _field(name: str) -> Taken:
    return lambda record: getattr(record, name)


def _header(name: str) -> Taken:
    return lambda record: record.header(name)


def _as_topic(take: Taken, what: str) -> Taken:
    def topic(record: ReadRecord) -> str:
        found = take(record)
        if found is None:
            where = f"{record.topic}-{record.partition}@{record.offset}"
            raise UsageError(f"{where} has no topic to produce to in its {what}")
        return str(found, "utf-8", "replace")

    return topic


def _headers(value: Any) -> Taken | None:
    if value == {RECORD: "headers"}:
        return _field("headers")
    given = from_json("headers", value)
    pairs = [*given.items()] if isinstance(given, Mapping) else given
    if not isinstance(pairs, list):
        return None
    takes = [(name, _taken("value", each) or _constant(each)) for name, each in pairs]
    if not any(isinstance(each, Mapping) for _, each in pairs):
        return None
    return lambda record: [(name, take(record)) for name, take in takes]


def _constant(value: Any) -> Taken:
    if value is not None and not isinstance(value, str | bytes):
        raise UsageError(f"the value of a header is a text, bytes or None, not {value!r}")
    return lambda record: value
