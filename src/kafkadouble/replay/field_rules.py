"""What the fields of answers mean to a comparison of two servers: which hold ids that each server
chooses, and which may differ.

Names are those of Kafka's specification. `API.field` is a field of one API only.
"""

from __future__ import annotations

from kafkadouble.messages.fields import FieldInfo

NODE, MEMBER, PRODUCER, SESSION, UUID = "node", "member", "producer", "session", "uuid"
"""The kinds of ids that a server chooses."""

ID_KINDS = {
    **dict.fromkeys(
        (
            "NodeId",
            "BrokerId",
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


def id_kind(api: str, field: FieldInfo) -> str | None:
    """The kind of ids in a field, if it has ids."""
    if field.type == "uuid":
        return UUID
    return ID_KINDS.get(f"{api}.{field.kafka_name}") or ID_KINDS.get(field.kafka_name)


def may_differ(api: str, field: FieldInfo) -> bool:
    """Whether the field of an answer may differ."""
    return field.kafka_name in MAY_DIFFER or f"{api}.{field.kafka_name}" in MAY_DIFFER
