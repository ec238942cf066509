"""The meaning of fields for a comparison of two servers: which hold ids that each server
chooses, and which may differ.

Names are those of Kafka's specification. `API.field` is a field of one API only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.message import Struct
from kafkadouble.server.apis.served import TABLE
from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.wire.errors import UsageError

NODE, MEMBER, PRODUCER, SESSION, UUID = "node", "member", "producer", "session", "uuid"
"""The kinds of ids that a server chooses."""

ID_KINDS = {
    **dict.fromkeys(
        (
            "NodeId",
            "BrokerId",
            "BrokerIds",
            "LeaderId",
            "ControllerId",
            "ReplicaNodes",
            "IsrNodes",
            "OfflineReplicas",
            "EligibleLeaderReplicas",
            "LastKnownElr",
            "Replicas",
            "AddingReplicas",
            "RemovingReplicas",
            "PreferredReadReplica",
        ),
        NODE,
    ),
    **dict.fromkeys(("MemberId", "JoinGroup.Leader"), MEMBER),
    **dict.fromkeys(("ProducerId", "V3AndBelowProducerId", "OngoingTxnProducerId"), PRODUCER),
    "Fetch.SessionId": SESSION,
}
"""The kind of id that a field holds. Every field of the type uuid holds one, too."""

MAY_DIFFER = {
    "ThrottleTimeMs": "what the load of the server asks for",
    "Host": "an address",
    "Port": "an address",
    "ClientHost": "an address",
    "ClusterId": "an id that the server chooses",
    "FinalizedFeaturesEpoch": "a count of the server",
    "InitProducerId.ProducerEpoch": "a count of the server; requests are sent with the one that was found",
    "JoinGroup.GenerationId": "a count of the server; requests are sent with the one that was found",
    "ErrorMessage": "a text for people",
    "LogAppendTimeMs": "a time",
    "TransactionStartTimeMs": "a time",
    "LastTimestamp": "a time",
    "LastFetchTimestamp": "a time",
    "LastCaughtUpTimestamp": "a time",
    "IssueTimestamp": "a time",
    "IssueTimestampMs": "a time",
    "ExpiryTimestamp": "a time",
    "ExpiryTimestampMs": "a time",
    "MaxTimestamp": "a time",
    "MaxTimestampMs": "a time",
    "Fetch.HighWatermark": "larger when another client writes meanwhile",
    "Fetch.LastStableOffset": "larger when another client writes meanwhile",
    "Hmac": "a secret",
    "TokenId": "a secret",
    "SaslAuthenticate.AuthBytes": "a secret",
    "DescribeLogDirs.LogDir": "a path",
    "DescribeLogDirs.TotalBytes": "the size of a disk",
    "DescribeLogDirs.UsableBytes": "the size of a disk",
}
"""The fields of answers that two servers of the same behaviour may fill in differently, and why."""

NAMING = frozenset(
    (
        "Name",
        "Topic",
        "TopicName",
        "PartitionIndex",
        "Index",
        "Partition",
        "PartitionId",
        "GroupId",
        "Key",
        "TransactionalId",
        "ApiKey",
        "ResourceType",
        "ResourceName",
        "PatternType",
        "Principal",
        "Operation",
        "User",
        "EntityType",
        "EntityName",
        "Feature",
    )
)
"""Fields by which an element of a list is found in another list, beside Kafka's own `mapKey`."""

UNORDERED = frozenset(("IsrNodes", "OfflineReplicas", "EligibleLeaderReplicas", "LastKnownElr"))
"""Lists in which the order means nothing."""


def id_kind(api: str, field: FieldInfo) -> str | None:
    """The kind of ids in a field, if it has ids."""
    if field.type == "uuid":
        return UUID
    return ID_KINDS.get(f"{api}.{field.kafka_name}") or ID_KINDS.get(field.kafka_name)


def may_differ(api: str, field: FieldInfo) -> bool:
    """Whether the field of an answer may differ."""
    return field.kafka_name in MAY_DIFFER or f"{api}.{field.kafka_name}" in MAY_DIFFER


def is_naming(field: FieldInfo) -> bool:
    """Whether an element of a list is found by this field."""
    return field.key or field.kafka_name in NAMING


def is_unordered(field: FieldInfo) -> bool:
    """Whether the order of a list of values means nothing."""
    return field.kafka_name in UNORDERED


def check_ignored(names: Iterable[str]) -> frozenset[str]:
    """Names of fields as a caller gives them: `errorMessage`, or `Metadata.errorMessage`. Raises
    UsageError for a field that no answer has."""
    known = {name for api, field in _answer_fields() for name in (field.json_name, f"{api}.{field.json_name}")}
    found = frozenset(names)
    for name in found - known:
        raise UsageError(f"no answer has the field {name!r}{near(name, known)}")
    return found


def _answer_fields() -> Iterator[tuple[str, FieldInfo]]:
    for served in TABLE:
        yield from ((served.name, field) for field in _fields_in(served.api.response))


def _fields_in(cls: type[Struct]) -> Iterator[FieldInfo]:
    for field in fields_of(cls):
        yield field
        if field.struct is not None:
            yield from _fields_in(field.struct)
