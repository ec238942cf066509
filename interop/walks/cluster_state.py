"""The answers of brokers about their cluster: leaders, replicas, coordinators. The requests are
written here and go to one broker each."""

from __future__ import annotations

from typing import Any

from interop.brokers import Broker
from interop.local.identity import whole
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask
from tests.support.waiting import eventually

GROUP, TRANSACTION = 0, 1
"""Types of keys of FindCoordinator."""


def metadata(bootstrap: str, topic: str) -> tuple[dict[int, str], list[Any]]:
    """The addresses of the brokers by id, and the partitions of the topic."""
    answer = ask(bootstrap, MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)]), 12)
    return {broker.node_id: f"{broker.host}:{broker.port}" for broker in answer.brokers}, answer.topics[0].partitions


def leaders(bootstrap: str, topic: str) -> dict[int, str]:
    """The address of the leader of each partition that has one."""
    brokers, partitions = metadata(bootstrap, topic)
    return {each.partition_index: brokers[each.leader_id] for each in partitions if each.leader_id in brokers}


def coordinator(bootstrap: str, key_type: int, key: str) -> str:
    """The address of the coordinator of a group or of a transactional id."""
    answer = ask(bootstrap, FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key]), 4)
    found = answer.coordinators[0]
    assert found.error_code == 0, found
    return f"{found.host}:{found.port}"


def await_in_sync(broker: Broker, *topics: str) -> None:
    """Waits until every replica of the topics is in sync again."""
    whole(broker.bootstrap, len(broker.servers))
    eventually(
        lambda: [_out_of_sync(broker.bootstrap, topic) for topic in topics],
        lambda found: not any(found),
    )


def _out_of_sync(bootstrap: str, topic: str) -> list[int]:
    _, partitions = metadata(bootstrap, topic)
    return [each.partition_index for each in partitions if set(each.isr_nodes) != set(each.replica_nodes)]
