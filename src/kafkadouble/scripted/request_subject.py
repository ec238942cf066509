"""The subject of a request, by which it is found among the recorded ones.

Rules. Two requests have the same subject if they name the same topics, partitions, groups and so
on, in any order. Topic ids count as the names of the topics. What a client chooses in each run
(waits, sizes, session ids, timestamps of records) says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.uuid import Uuid

SUBJECT = frozenset(
    (
        "GroupId",
        "GroupsNames",
        "Groups",
        "TransactionalId",
        "V3AndBelowTransactionalId",
        "TransactionalIds",
        "Topic",
        "TopicName",
        "TopicNames",
        "TopicId",
        "Name",
        "PartitionIndex",
        "PartitionIndexes",
        "Partition",
        "Partitions",
        "Index",
        "Timestamp",
        "KeyType",
        "Key",
        "CoordinatorKeys",
        "ResourceType",
        "ResourceName",
    )
)
"""The fields that name what a request is about."""

CHOSEN_ANEW = frozenset(
    (
        "Records",
        "SessionId",
        "SessionEpoch",
        "MaxWaitMs",
        "MinBytes",
        "MaxBytes",
        "PartitionMaxBytes",
        "ClientSoftwareName",
        "ClientSoftwareVersion",
        "Metadata",
    )
)
"""Fields that say nothing about what a request is about."""

Leaves = Counter[tuple[str, Any]]


class RequestSubject(NamedTuple):
    """`names` are the leaves that name the subject, `others` the rest."""

    names: Leaves
    others: Leaves

    def distance(self, other: RequestSubject) -> int:
        """The number of other leaves that differ."""
        return ((self.others - other.others) + (other.others - self.others)).total()


def subject_of(body: Any, topic_names: Mapping[Uuid, str]) -> RequestSubject:
    """The subject of a decoded request."""
    names, others = Leaves(), Leaves()
    for field, value in _leaves(body):
        if field.type == "uuid" and value in topic_names:
            names["topic", topic_names[value]] += 1
        elif field.kafka_name in SUBJECT:
            names[_kind(field), value] += 1
        elif field.kafka_name not in CHOSEN_ANEW:
            others[field.kafka_name, value] += 1
    return RequestSubject(names, others)


def _kind(field: FieldInfo) -> str:
    """Topics have several names for their name."""
    return "topic" if field.kafka_name in ("Topic", "TopicName", "TopicNames", "Name") else field.kafka_name


def _leaves(struct: Any) -> Iterator[tuple[FieldInfo, Any]]:
    """Every value that is not the default, so that versions with more fields have the same
    leaves."""
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if value is None or (field.struct is None and field.is_default(value)):
            continue
        if field.struct is not None:
            for each in value if field.array else (value,):
                yield from _leaves(each)
        elif field.array:
            for each in value:
                yield field, each
        else:
            yield field, bytes(value) if field.type in ("bytes", "records") else value
