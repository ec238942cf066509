"""Parameters of verbs from JSON, and results of verbs for JSON.

Bytes are a text if they are valid UTF-8, and otherwise `{"base64": "..."}`. A mapping by partition,
`{("orders", 0): 5}`, is `{"orders": {"0": 5}}`. A named tuple is an object, without what is None by
default; a rule is its own JSON. Numbers that JSON does not have are `"NaN"` and `"Infinity"`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from math import isfinite, isnan
from typing import Any

from kafkadouble.access.acls import AclBinding, checked_acls
from kafkadouble.brokers.snapshot import Snapshot
from kafkadouble.common.errors import UsageError
from kafkadouble.messages.message import Message
from kafkadouble.records.seeding import header_pair
from kafkadouble.rules.rule_handle import RuleHandle
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.tracing.history import SeenRequest
from kafkadouble.wire.plain_values import is_unicode

from . import given_back


def to_json(value: Any) -> Any:
    """The same as a value that `json.dumps` takes. Raises UsageError if there is none."""
    if value is None or isinstance(value, bool | int | float | str):
        if isinstance(value, float) and not isfinite(value):
            return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
        if isinstance(value, str) and not is_unicode(value):  # the name of a header
            return _of_bytes(value.encode("utf-8", "surrogateescape"))
        return value.value if isinstance(value, Enum) else value
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value)
    if is_dataclass(value) and not isinstance(value, type):
        return to_json(asdict(value))
    raise UsageError(f"a {type(value).__name__} has no form in JSON")


def _of_bytes(value: bytes | bytearray | memoryview) -> Any:
    data = bytes(value)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _of_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, each in value.items():
        if isinstance(key, tuple):
            topic, partition = key
            made.setdefault(topic, {})[str(partition)] = to_json(each)
        else:
            made[str(key)] = to_json(each)
    return made


def _of_tuple(value: tuple[Any, ...]) -> Any:
    names = getattr(value, "_fields", None)
    return [to_json(each) for each in value] if names is None else _of_mapping(dict(zip(names, value, strict=True)))


def _of_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    return {name: getattr(snapshot, name) for name in ("name", "topics", "records", "size_bytes", "taken_ms")}


def _of_handle(handle: RuleHandle) -> dict[str, Any]:
    return {"id": handle.id, "rule": _of_rule(handle.rule), "hits": handle.hits, "spent": handle.spent}


def _of_rule(rule: Rule) -> Any:
    """A sentence for a rule with a function, which only Python can hold."""
    return repr(rule) if rule.has_function else rule.to_dict()


_CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((bytes, bytearray, memoryview), _of_bytes),
    (Mapping, _of_mapping),
    (tuple, _of_tuple),
    ((list, set, frozenset, range), lambda value: [to_json(each) for each in value]),
    (RuleHandle, _of_handle),
    (Rule, _of_rule),
    (Snapshot, _of_snapshot),
    (SeenRequest, lambda value: value.to_json()),
    (Message, lambda value: value.to_json(value.versions[1])),
)


def from_json(name: str, value: Any, verb: str = "") -> Any:
    """The value that a verb takes for a parameter of this name. What is wrong stays as it is: the
    check of the parameter refuses it."""
    convert = _PARAMETERS.get(f"{verb}.{name}") or _PARAMETERS.get(name)
    return value if convert is None else convert(value)


def _to_bytes(value: Any) -> Any:
    if isinstance(value, Mapping) and [*value] == ["base64"]:
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (binascii.Error, TypeError, ValueError):
            return value
    return value


def _to_name(value: Any) -> Any:
    """The name of a header: bytes that are no UTF-8 as `surrogateescape` has them."""
    found = _to_bytes(value)
    return found.decode("utf-8", "surrogateescape") if isinstance(found, bytes) else found


def _to_headers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _to_bytes(each) for name, each in value.items()}
    if isinstance(value, list):
        return [(_to_name(name), _to_bytes(each)) for name, each in map(header_pair, value)]
    return value


def _to_offsets(value: Any) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(each, Mapping) for each in value.values()):
        return value
    return {
        (topic, int(index) if str(index).isdecimal() else index): given_back.offset(offset)
        for topic, partitions in value.items()
        for index, offset in partitions.items()
    }


def _to_assignment(value: Any) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(each, list) for each in value.values()):
        return value
    return {member: [*map(given_back.partition, partitions)] for member, partitions in value.items()}


def acl_from_json(value: Any) -> Any:
    """An ACL: its text, or made of its fields. Raises UsageError for one that is wrong."""
    if isinstance(value, Mapping):
        unknown = next((name for name in value if name not in AclBinding._fields), None)
        if unknown is not None:
            raise UsageError(f"an ACL has no field {unknown!r}; it has {', '.join(AclBinding._fields)}")
        missing = [name for name in AclBinding._fields[:3] if name not in value]
        if missing:
            raise UsageError(f"an ACL needs {' and '.join(missing)}")
        value = AclBinding(**value)
    if isinstance(value, str | AclBinding):
        checked_acls([value])
    return value


def record_from_json(value: Any) -> Any:
    """A record for `produce_all`: a value, a mapping of fields, or a record that was read."""
    if isinstance(value, Mapping) and [*value] != ["base64"]:
        return {name: from_json(name, each) for name, each in given_back.record(value).items()}
    return _to_bytes(value)


_PARAMETERS: dict[str, Callable[[Any], Any]] = {
    "value": _to_bytes,
    "key": _to_bytes,
    "headers": _to_headers,
    "offsets": _to_offsets,
    "assignment": _to_assignment,
    "records": lambda value: [*map(record_from_json, value)] if isinstance(value, list) else value,
    "acls": lambda value: [*map(acl_from_json, value)] if isinstance(value, list) else value,
    "rule": given_back.rule,
    "remove_rule.rule": given_back.rule_id,
    "wait_for_rule.rule": given_back.rule_id,
    "snapshot": given_back.snapshot,
    "since": given_back.since,
    "records.since": given_back.read_since,
    "wait_for_records.since": given_back.read_since,
    "header": lambda value: _to_headers(value) if isinstance(value, Mapping) else value,
}
