"""What the fields of answers mean to a comparison of two servers: which hold ids that each server
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

MAY_DIFFER = frozenset(
    (
        "ThrottleTimeMs",
        "Host",
        "Port",
        "ClientHost",
        "ClusterId",
        "FinalizedFeaturesEpoch",
        # Texts for people.
        "ErrorMessage",
        # Times.
        "LogAppendTimeMs",
        "TransactionStartTimeMs",
        "LastTimestamp",
        "LastFetchTimestamp",
        "LastCaughtUpTimestamp",
        "IssueTimestamp",
        "IssueTimestampMs",
        "ExpiryTimestamp",
        "ExpiryTimestampMs",
        "MaxTimestamp",
        "MaxTimestampMs",
        # How far a log has grown, when another client writes to it meanwhile.
        "Fetch.HighWatermark",
        "Fetch.LastStableOffset",
        # Counted by the server; `id_translation.py` learns it.
        "InitProducerId.ProducerEpoch",
        "JoinGroup.GenerationId",
        # Secrets, and what a server makes of them.
        "Hmac",
        "TokenId",
        "SaslAuthenticate.AuthBytes",
        "DescribeLogDirs.LogDir",
        "DescribeLogDirs.TotalBytes",
        "DescribeLogDirs.UsableBytes",
    )
)
"""The fields of answers that two servers of the same behaviour may fill in differently."""

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
