"""The APIs of the quorum, and those by which brokers and controllers speak to the active
controller. The columns are those of `row`."""

from __future__ import annotations

from .row import BODIES, NONE, QUORUM, ApiRow

ROWS = (
    ApiRow(
        "Vote",
        forwarded=False,
        parts=NONE,
        right="CLUSTER_ACTION cluster",
        part_right=NONE,
        secrets=NONE,
        module=QUORUM,
    ),
    ApiRow(
        "BeginQuorumEpoch",
        forwarded=False,
        parts=NONE,
        right="CLUSTER_ACTION cluster",
        part_right=NONE,
        secrets=NONE,
        module=QUORUM,
    ),
    ApiRow(
        "EndQuorumEpoch",
        forwarded=False,
        parts=NONE,
        right="CLUSTER_ACTION cluster",
        part_right=NONE,
        secrets=NONE,
        module=QUORUM,
    ),
    ApiRow(
        "DescribeQuorum",
        forwarded=True,
        parts=NONE,
        right="DESCRIBE cluster",
        part_right=NONE,
        secrets=NONE,
        module=QUORUM,
    ),
    ApiRow(
        "AlterPartition", forwarded=False, parts=NONE, right="CLUSTER_ACTION cluster", part_right=NONE, secrets=NONE
    ),
    ApiRow("Envelope", forwarded=False, parts=NONE, right="CLUSTER_ACTION cluster", part_right=NONE, secrets=BODIES),
    ApiRow(
        "FetchSnapshot",
        forwarded=False,
        parts=NONE,
        right="CLUSTER_ACTION cluster",
        part_right=NONE,
        secrets=NONE,
        module=QUORUM,
    ),
    ApiRow(
        "BrokerRegistration", forwarded=False, parts=NONE, right="CLUSTER_ACTION cluster", part_right=NONE, secrets=NONE
    ),
    ApiRow(
        "BrokerHeartbeat", forwarded=False, parts=NONE, right="CLUSTER_ACTION cluster", part_right=NONE, secrets=NONE
    ),
    ApiRow(
        "AllocateProducerIds", forwarded=True, parts=NONE, right="CLUSTER_ACTION cluster", part_right=NONE, secrets=NONE
    ),
    ApiRow(
        "ControllerRegistration",
        forwarded=False,
        parts=NONE,
        right="CLUSTER_ACTION cluster",
        part_right=NONE,
        secrets=NONE,
    ),
    ApiRow(
        "AssignReplicasToDirs",
        forwarded=False,
        parts=NONE,
        right="CLUSTER_ACTION cluster",
        part_right=NONE,
        secrets=NONE,
    ),
    ApiRow(
        "AddRaftVoter", forwarded=True, parts=NONE, right="ALTER cluster", part_right=NONE, secrets=NONE, module=QUORUM
    ),
    ApiRow(
        "RemoveRaftVoter",
        forwarded=True,
        parts=NONE,
        right="ALTER cluster",
        part_right=NONE,
        secrets=NONE,
        module=QUORUM,
    ),
    ApiRow(
        "UpdateRaftVoter",
        forwarded=False,
        parts=NONE,
        right="CLUSTER_ACTION cluster",
        part_right=NONE,
        secrets=NONE,
        module=QUORUM,
    ),
)
