"""Admin requests that a broker forwards to its controller. The requests are written here, since
librdkafka does not support half of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest
from kafkadouble.messages.generated.describe_acls import DescribeAclsRequest
from kafkadouble.messages.generated.describe_client_quotas import DescribeClientQuotasRequest
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.generated.list_partition_reassignments import ListPartitionReassignmentsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.messages.generated.unregister_broker import UnregisterBrokerRequest
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from tests.support.client import Address, ask
from tests.support.waiting import eventually

TIMEOUT = 10_000
ANY, MATCH, TOPIC, LITERAL, READ, ALLOW = 1, 2, 2, 3, 3, 3
"""Numbers of the ACL requests: an unset filter; resource type TOPIC, pattern LITERAL, operation
READ, permission ALLOW."""

WRITE = 4
SET, DELETE = 0, 1
BROKER = 4
"""The resource type BROKER."""


def partitions(bootstrap: str, topic: str) -> list[Any]:
    """The partitions in Metadata, by number; none for a topic that does not exist."""
    of = MetadataRequest.MetadataRequestTopic
    response = ask(bootstrap, MetadataRequest(topics=[of(name=topic)], allow_auto_topic_creation=False), 12)
    return sorted(response.topics[0].partitions, key=lambda each: int(each.partition_index))


def leaders(bootstrap: str, topic: str) -> list[int]:
    """The leader of each partition; -1 for none."""
    return [each.leader_id for each in partitions(bootstrap, topic)]


def in_sync(bootstrap: str, topic: str) -> list[list[int]]:
    """The in-sync replicas of each partition."""
    return [sorted(each.isr_nodes) for each in partitions(bootstrap, topic)]


def ended_epochs(bootstrap: str, topics: Sequence[str]) -> dict[tuple[str, int, int], int]:
    """The end offset of each leader epoch except the current one, by topic, partition and epoch."""
    of = OffsetForLeaderEpochRequest
    found = {}
    for topic in topics:
        for each in partitions(bootstrap, topic):
            for epoch in range(each.leader_epoch):
                partition = of.OffsetForLeaderPartition(partition=each.partition_index, leader_epoch=epoch)
                body = of(replica_id=-1, topics=[of.OffsetForLeaderTopic(topic=topic, partitions=[partition])])
                (response,) = ask(bootstrap, body, 4).topics[0].partitions
                if response.error_code == 0 and response.leader_epoch == epoch:
                    found[topic, each.partition_index, epoch] = response.end_offset
    return found


def replicas(bootstrap: str, topic: str) -> list[list[int]]:
    """The replicas of each partition, the preferred leader first."""
    return [list(each.replica_nodes) for each in partitions(bootstrap, topic)]


def registered(bootstrap: str) -> dict[int, bool]:
    """The registered brokers, and whether each is fenced."""
    response = ask(bootstrap, DescribeClusterRequest(include_fenced_brokers=True), 2)
    return {broker.broker_id: broker.is_fenced for broker in response.brokers}


def features(bootstrap: str) -> dict[str, int]:
    """The finalized features of the cluster."""
    response = ask(bootstrap, ApiVersionsRequest(client_software_name="x", client_software_version="1"), 4)
    return {feature.name: feature.max_version_level for feature in response.finalized_features}


def reassign(bootstrap: str, topic: str, replicas: Sequence[Sequence[int] | None]) -> list[int]:
    """Reassigns each partition to these replicas, or cancels its reassignment with None; returns
    the errors."""
    of = AlterPartitionReassignmentsRequest
    moved = [
        of.ReassignablePartition(partition_index=at, replicas=None if to is None else list(to))
        for at, to in enumerate(replicas)
    ]
    response = ask(bootstrap, of(timeout_ms=TIMEOUT, topics=[of.ReassignableTopic(name=topic, partitions=moved)]), 0)
    assert response.error_code == 0, response
    return [each.error_code for each in response.responses[0].partitions]


def reassigning(bootstrap: str) -> dict[str, int]:
    """The number of partitions of each topic that are being reassigned."""
    response = ask(bootstrap, ListPartitionReassignmentsRequest(timeout_ms=TIMEOUT), 0)
    assert response.error_code == 0, response
    return {topic.name: len(topic.partitions) for topic in response.topics}


def elect_preferred(bootstrap: str, topic: str, partitions: int) -> list[int]:
    """Elects the preferred leaders; returns the errors."""
    of = ElectLeadersRequest
    which = of.TopicPartitions(topic=topic, partitions=list(range(partitions)))
    response = ask(bootstrap, of(election_type=0, topic_partitions=[which], timeout_ms=TIMEOUT), 2)
    assert response.error_code == 0, response
    return [each.error_code for topic in response.replica_election_results for each in topic.partition_result]


def set_quota(bootstrap: str, name: str, key: str, value: float | None, kind: str = "client-id") -> None:
    """Sets a quota of one client id, or of another kind of entity; None removes it."""
    of = AlterClientQuotasRequest
    entry = of.EntryData(
        entity=[of.EntityData(entity_type=kind, entity_name=name)],
        ops=[of.OpData(key=key, value=value or 0.0, remove=value is None)],
    )
    (response,) = ask(bootstrap, of(entries=[entry]), 1).entries
    assert response.error_code == 0, response


def quotas(bootstrap: str, name: str, kind: str = "client-id") -> dict[str, float]:
    """The quotas of one client id, or of another kind of entity."""
    of = DescribeClientQuotasRequest
    component = of.ComponentData(entity_type=kind, match_type=0, match=name)
    response = ask(bootstrap, of(components=[component], strict=True), 1)
    assert response.error_code == 0, response
    return {value.key: value.value for entry in response.entries or () for value in entry.values}


def alter_configs(bootstrap: Address, resource_type: int, name: str, changes: Mapping[str, str | None]) -> Any:
    """Sets settings; None removes one. Returns the response for the resource."""
    of = IncrementalAlterConfigsRequest
    configs = [
        of.AlterableConfig(name=key, config_operation=DELETE if value is None else SET, value=value)
        for key, value in changes.items()
    ]
    resource = of.AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=configs)
    (response,) = ask(bootstrap, of(resources=[resource]), 1).responses
    return response


def set_default(bootstrap: str, name: str, value: str | None) -> None:
    """Sets the cluster-wide default of a broker setting; None removes it."""
    response = alter_configs(bootstrap, BROKER, "", {name: value})
    assert response.error_code == 0, response


def allow(bootstrap: str, principal: str, topic: str, operation: int) -> None:
    of = CreateAclsRequest
    made = of.AclCreation(
        resource_type=TOPIC,
        resource_name=topic,
        resource_pattern_type=LITERAL,
        principal=principal,
        host="*",
        operation=operation,
        permission_type=ALLOW,
    )
    (response,) = ask(bootstrap, of(creations=[made]), 3).results
    assert response.error_code == 0, response


def allowed(bootstrap: str, principal: str) -> list[tuple[str, int]]:
    """The allowed topics and operations."""
    response = ask(bootstrap, DescribeAclsRequest(**_filter(principal)), 3)
    assert response.error_code == 0, response
    return sorted((resource.resource_name, acl.operation) for resource in response.resources for acl in resource.acls)


def disallow(bootstrap: str, principal: str) -> int:
    """Deletes all ACLs of a user; returns their number."""
    of = DeleteAclsRequest
    fields = _filter(principal)
    renamed = {"pattern_type": "pattern_type_filter"}
    acl_filter = of.DeleteAclsFilter(**{renamed.get(key, key): value for key, value in fields.items()})
    (response,) = ask(bootstrap, of(filters=[acl_filter]), 3).filter_results
    assert response.error_code == 0, response
    return len(response.matching_acls)


def _filter(principal: str) -> Mapping[str, Any]:
    return {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": principal,
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
    }


def update_feature(bootstrap: str, name: str, level: int, *, kind: int = 1) -> int:
    """Changes the level of a feature; returns the error. `kind` 1 raises the level, 2 lowers it."""
    of = UpdateFeaturesRequest
    update = of.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
    code: int = ask(bootstrap, of(timeout_ms=TIMEOUT, feature_updates=[update]), 2).error_code
    return code


def unregister(bootstrap: str, id: int) -> int:
    """Unregisters a broker; returns the error."""
    code: int = ask(bootstrap, UnregisterBrokerRequest(broker_id=id), 0).error_code
    return code


def settled(bootstrap: str, topic: str, isr: list[list[int]]) -> None:
    """Waits until these are the in-sync replicas of each partition."""
    eventually(lambda: in_sync(bootstrap, topic), lambda found: found == isr)


def led(bootstrap: str, topic: str, by: list[int]) -> None:
    """Waits until these brokers lead the partitions in this broker's metadata; -1 is no leader."""
    eventually(lambda: leaders(bootstrap, topic), lambda found: found == by)
