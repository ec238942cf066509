"""Which requests of clients a broker hands on to the controller, in an Envelope (KIP-590).

They are those that Apache Kafka 4.4 marks as forwardable: what decides about the cluster's metadata, and what only the leader of the quorum
knows. Everything else is answered by whoever was asked.
"""

from __future__ import annotations

from kafkadouble.messages import registry

NAMES = (
    "CreateTopics",
    "DeleteTopics",
    "CreateAcls",
    "DeleteAcls",
    "AlterConfigs",
    "CreatePartitions",
    "CreateDelegationToken",
    "RenewDelegationToken",
    "ExpireDelegationToken",
    "ElectLeaders",
    "IncrementalAlterConfigs",
    "AlterPartitionReassignments",
    "ListPartitionReassignments",
    "AlterClientQuotas",
    "AlterUserScramCredentials",
    "DescribeQuorum",
    "UpdateFeatures",
    "UnregisterBroker",
    "AllocateProducerIds",
    "AddRaftVoter",
    "RemoveRaftVoter",
    "UnregisterController",
)

FORWARDABLE = frozenset(registry.api_named(name).key for name in NAMES)
"""Their keys."""
