"""Results of verbs in their JSON form, as parameters of verbs.

What a verb returns can be given to every verb that takes it, in any language: a record, a rule, a
snapshot, a request, a partition, a committed offset. Anything else stays as it is, so that the
check of the parameter refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkadouble.coordinators.group_values import Committed
from kafkadouble.records.read_records import ReadRecord
from kafkadouble.records.record_filter import ReadPosition
from kafkadouble.seen.request_filter import SeenNumber
from kafkadouble.server.faults.rule import Rule

PLACE_FIELDS = {"topic", "partition", "offset"}
PARTITION_FIELDS = {"topic", "partition"}
HANDLE_FIELDS = {"id", "rule", "hits", "spent"}


def record(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a record to append. A record that was read keeps its timestamp, but not its
    offset and partition."""
    is_read = fields.keys() == {*ReadRecord._fields}
    return {name: fields[name] for name in fields if name not in PLACE_FIELDS} if is_read else fields


def partition(value: Any) -> Any:
    """A pair of a topic and an index, from a list, or from an object with the two."""
    if isinstance(value, Mapping) and value.keys() == PARTITION_FIELDS:
        return value["topic"], value["partition"]
    return tuple(value) if isinstance(value, list) else value


def offset(value: Any) -> Any:
    """An offset, or one that a group committed."""
    return Committed(**value) if isinstance(value, Mapping) and value.keys() == {*Committed._fields} else value


def rule(value: Any) -> Any:
    """A rule, from its own JSON or from that of its handle."""
    if isinstance(value, Mapping) and value.keys() == HANDLE_FIELDS:
        value = value["rule"]
    return Rule.from_dict(value) if isinstance(value, Mapping) else value


def rule_id(value: Any) -> Any:
    """The id of a rule, given itself or by its handle."""
    return value["id"] if isinstance(value, Mapping) and value.keys() == HANDLE_FIELDS else value


def snapshot(value: Any) -> Any:
    """The name of a snapshot, given itself or by what `snapshot` returned."""
    return value["name"] if isinstance(value, Mapping) and "name" in value else value


def since(value: Any) -> Any:
    """A time, or which request it was."""
    if isinstance(value, Mapping) and {"number", "time"} <= value.keys():
        return SeenNumber(value["number"], value["time"])
    return value


def read_since(value: Any) -> Any:
    """An offset, records that were read, or offsets by partition."""
    if isinstance(value, list):
        return [*map(_place, value)]
    if isinstance(value, Mapping) and not value.keys() >= PLACE_FIELDS:
        return {int(index) if str(index).isdecimal() else index: offset for index, offset in value.items()}
    return _place(value)


def _place(value: Any) -> Any:
    if isinstance(value, Mapping) and value.keys() >= PLACE_FIELDS:
        return ReadPosition(value["topic"], value["partition"], value["offset"])
    return value
