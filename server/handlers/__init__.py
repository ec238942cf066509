"""The APIs that are served, one line each, on the listeners of brokers and on those of controllers; everything that must know which APIs there
are reads these tables.

A handler is a module named for its API in snake case. It has `answer(node, request)`, as `request.py` says, and `refuse(request, code,
message)`, the answer in which everything that was asked for failed with that code. Modules are imported when the first request for them
comes. The versions are those of the message specs, less what Kafka itself holds back as unstable.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any, Protocol, cast

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message


class Handler(Protocol):
    """What a handler module offers."""

    def answer(self, node: Any, request: Any) -> Any:
        """A response, None, or a generator that will return one of them."""
        ...

    def refuse(self, request: Any, code: int, message: str | None) -> Message | None:
        """The answer in which everything that was asked for failed with `code`."""
        ...


class Served:
    """One API of a table: `name` as Kafka has it, the lowest version advertised where that differs from the lowest served, and the module of
    its handler where it is not named for it."""

    def __init__(
        self, name: str, *, advertised_from: int | None = None, reason: str = "", module: str | None = None
    ) -> None:
        self.name, self.reason, self._module = name, reason, module
        self.api = registry.api_named(name)
        self.lowest, self.highest = self.api.stable_versions
        self.advertised_from = self.lowest if advertised_from is None else advertised_from

    @cached_property
    def handler(self) -> Handler:
        return cast(Handler, import_module("." + (self._module or self.api.request_entry.module), __name__))

    @cached_property
    def request(self) -> type[Message]:
        """The class of its requests."""
        return self.api.request

    def serves(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __repr__(self) -> str:
        return f"{self.name} {self.lowest}-{self.highest}"


QUORUM = "quorum"
"""The module of what the quorum itself answers."""

TABLE = (
    Served(
        "Produce",
        advertised_from=0,
        reason="librdkafka before 2.8 takes a broker that does not list version 0 for one that cannot compress (KAFKA-18659)",
    ),
    Served("Fetch"),
    Served("ListOffsets"),
    Served("Metadata"),
    Served("OffsetCommit"),
    Served("OffsetFetch"),
    Served("FindCoordinator"),
    Served("JoinGroup"),
    Served("Heartbeat"),
    Served("LeaveGroup"),
    Served("SyncGroup"),
    Served("DescribeGroups"),
    Served("ListGroups"),
    Served("ApiVersions"),
    Served("CreateTopics"),
    Served("DeleteTopics"),
    Served("DeleteRecords"),
    Served("InitProducerId"),
    Served("OffsetForLeaderEpoch"),
    Served("DescribeAcls"),
    Served("CreateAcls"),
    Served("DeleteAcls"),
    Served("DescribeConfigs"),
    Served("AlterConfigs"),
    Served("DescribeLogDirs"),
    Served("CreatePartitions"),
    Served("CreateDelegationToken"),
    Served("RenewDelegationToken"),
    Served("ExpireDelegationToken"),
    Served("DescribeDelegationToken"),
    Served("DeleteGroups"),
    Served("ElectLeaders"),
    Served("IncrementalAlterConfigs"),
    Served("AlterPartitionReassignments"),
    Served("ListPartitionReassignments"),
    Served("OffsetDelete"),
    Served("DescribeClientQuotas"),
    Served("AlterClientQuotas"),
    Served("DescribeUserScramCredentials"),
    Served("AlterUserScramCredentials"),
    Served("DescribeQuorum", module=QUORUM),
    Served("UpdateFeatures"),
    Served("DescribeCluster"),
    Served("DescribeProducers"),
    Served("UnregisterBroker"),
    Served("ListConfigResources"),
    Served("DescribeTopicPartitions"),
    Served("AddRaftVoter", module=QUORUM),
    Served("RemoveRaftVoter", module=QUORUM),
    Served("UnregisterController"),
)

SERVED = {served.api.key: served for served in TABLE}

CONTROLLER_TABLE = (
    Served("Fetch", module=QUORUM),
    Served("ApiVersions"),
    Served("CreateTopics"),
    Served("DeleteTopics"),
    Served("DescribeAcls"),
    Served("CreateAcls"),
    Served("DeleteAcls"),
    Served("DescribeConfigs"),
    Served("AlterConfigs"),
    Served("CreatePartitions"),
    Served("CreateDelegationToken"),
    Served("RenewDelegationToken"),
    Served("ExpireDelegationToken"),
    Served("ElectLeaders"),
    Served("IncrementalAlterConfigs"),
    Served("AlterPartitionReassignments"),
    Served("ListPartitionReassignments"),
    Served("AlterClientQuotas"),
    Served("DescribeUserScramCredentials"),
    Served("AlterUserScramCredentials"),
    Served("Vote", module=QUORUM),
    Served("BeginQuorumEpoch", module=QUORUM),
    Served("EndQuorumEpoch", module=QUORUM),
    Served("DescribeQuorum", module=QUORUM),
    Served("AlterPartition"),
    Served("UpdateFeatures"),
    Served("Envelope"),
    Served("FetchSnapshot", module=QUORUM),
    Served("DescribeCluster"),
    Served("BrokerRegistration"),
    Served("BrokerHeartbeat"),
    Served("UnregisterBroker"),
    Served("AllocateProducerIds"),
    Served("ControllerRegistration"),
    Served("AssignReplicasToDirs"),
    Served("AddRaftVoter", module=QUORUM),
    Served("RemoveRaftVoter", module=QUORUM),
    Served("UpdateRaftVoter", module=QUORUM),
    Served("UnregisterController"),
)

CONTROLLER_SERVED = {served.api.key: served for served in CONTROLLER_TABLE}
