"""The sections of a scenario that are there from the start: topics with their records, groups with
their offsets, and fault rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafkadouble.common.errors import UsageError
from kafkadouble.records.bulk import FIELDS, bulk_record
from kafkadouble.verbs.forms.json_form import from_json, record_from_json
from kafkadouble.verbs.registry import VERBS

from .calls import ScenarioCall, checked_call, fields_of, items_of, located
from .files.document import ScenarioDocument, ValuePath

RECORDS = "records"
RULE_PARTS = "match", "trigger", "action"


class ScenarioTopic(NamedTuple):
    """A topic, and its records if it has some."""

    creation: ScenarioCall
    records: ScenarioCall | None

    @property
    def name(self) -> str:
        return str(self.creation.given["name"])

    @property
    def partitions(self) -> float:
        """The number of partitions; infinite if the broker decides (-1)."""
        count = self.creation.given.get("partitions", 1)
        return math.inf if count == -1 else count


def topics_of(document: ScenarioDocument, path: ValuePath, value: Any) -> tuple[ScenarioTopic, ...]:
    """The section `topics`."""
    topics: dict[str, ScenarioTopic] = {}
    for at, item in items_of(document, path, value):
        topic = _topic(document, at, item)
        if topic.name in topics:
            raise document.problem((*at, "name"), f"the topic {topic.name!r} is there twice")
        topics[topic.name] = topic
    return tuple(topics.values())


def _topic(document: ScenarioDocument, path: ValuePath, item: Any) -> ScenarioTopic:
    verb = VERBS["create_topic"]
    fields = dict(fields_of(document, path, "a topic", item, [*verb.parameters, RECORDS]))
    has_records = RECORDS in fields
    records = fields.pop(RECORDS, None)
    topic = ScenarioTopic(checked_call(document, path, verb, fields), None)
    if not has_records:
        return topic
    at = (*path, RECORDS)
    made = [_record(document, each, one, topic) for each, one in items_of(document, at, records)]
    call = ScenarioCall(VERBS["produce_all"], {"topic": topic.name, "records": made}, document, at)
    return topic._replace(records=call)


def _record(document: ScenarioDocument, path: ValuePath, item: Any, topic: ScenarioTopic) -> Any:
    """A record as `produce_all` takes it."""
    is_of_fields = isinstance(item, Mapping) and [*item] != ["base64"]
    if is_of_fields:
        fields_of(document, path, "a record", item, FIELDS)
    record = record_from_json(item)
    try:
        index = bulk_record(record).partition
    except UsageError as problem:
        raise document.problem(_of_wrong_field(path, record) if is_of_fields else path, str(problem)) from None
    if index is not None and not index < topic.partitions:
        raise document.problem((*path, "partition"), no_partition(topic, index))
    return record


def no_partition(topic: ScenarioTopic, index: int) -> str:
    """The error text for a partition that a topic does not have."""
    return f"{topic.name} has {topic.partitions} partition(s), from 0 on, and so no partition {index}"


def _of_wrong_field(path: ValuePath, record: Mapping[str, Any]) -> ValuePath:
    """The path of the first field of a record that is wrong by itself."""
    for name, value in record.items():
        try:
            bulk_record({name: value})
        except UsageError:
            return (*path, name)
    return path


def groups_of(document: ScenarioDocument, path: ValuePath, value: Any) -> tuple[ScenarioCall, ...]:
    """The section `groups`."""
    verb = VERBS["commit_offsets"]
    calls: dict[str, ScenarioCall] = {}
    for at, item in items_of(document, path, value):
        fields = fields_of(document, at, "a group", item, verb.parameters)
        if "offsets" in fields:
            _check_offsets(document, (*at, "offsets"), fields["offsets"])
        call = checked_call(document, at, verb, fields)
        if (group := call.given["group"]) in calls:
            raise document.problem((*at, "group"), f"the group {group!r} is there twice")
        calls[group] = call
    return tuple(calls.values())


def _check_offsets(document: ScenarioDocument, path: ValuePath, value: Any) -> None:
    """Refuses wrong offsets at their own place, one by one."""
    if not isinstance(value, Mapping):
        raise document.problem(path, f"offsets is a mapping of topics to offsets by partition, not {value!r}")
    parameter = VERBS["commit_offsets"].parameters["offsets"]
    for topic, offsets in value.items():
        if not isinstance(offsets, Mapping):
            raise document.problem((*path, topic), f"{topic} is a mapping of partitions to offsets, not {offsets!r}")
        for index, offset in offsets.items():
            with located(document, (*path, topic, index)):
                parameter.check(from_json("offsets", {topic: {index: offset}}))


def rules_of(document: ScenarioDocument, path: ValuePath, value: Any) -> tuple[ScenarioCall, ...]:
    """The section `rules`, in the JSON form of a rule."""
    return tuple(_rule(document, at, item) for at, item in items_of(document, path, value))


def _rule(document: ScenarioDocument, path: ValuePath, item: Any) -> ScenarioCall:
    verb = VERBS["arm"]
    fields_of(document, path, "a rule", item, RULE_PARTS)
    try:
        rule = from_json("rule", item)
    except UsageError as problem:
        raise document.problem(*_in_rule(path, item, str(problem))) from None
    return ScenarioCall(verb, {"rule": rule}, document, path, rule)


def _in_rule(path: ValuePath, item: Mapping[str, Any], problem: str) -> tuple[ValuePath, str, bool]:
    """The field of a rule that an error is about: it names the field or quotes its value."""
    fields = [
        (part, name, value)
        for part in RULE_PARTS
        if isinstance(item.get(part), Mapping)
        for name, value in item[part].items()
    ]
    for part, name, _ in fields:
        if problem.startswith(f"{name} of ") or f"no field {name!r}" in problem:
            return (*path, part, name), problem, "no field" in problem
    for part, name, value in fields:
        if f"has no API {value!r}" in problem or f"no action {value!r}" in problem or f"no error {value!r}" in problem:
            return (*path, part, name), problem, False
    about = next((each for each in RULE_PARTS if f"the {each} " in problem and each in item), None)
    return (path if about is None else (*path, about)), problem, False
