"""A topic with replicas on three brokers: its creation, produce requests, its replicas' logs."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.node import Node
from tests.server.controllers import Controllers
from tests.server.machine import produce_request
from tests.server.topic_requests import fetching

BROKERS = (11, 12, 13)


def create(cluster: Controllers, name: str, replicas: int = 3, min_isr: int = 2) -> None:
    cluster.create(name, replicas=replicas, configs={"min.insync.replicas": str(min_isr)})


def partition(cluster: Controllers, name: str = "t") -> PartitionImage:
    return cluster.topic(name).partitions[0]


def leader(cluster: Controllers, name: str = "t") -> Node:
    return cluster.nodes[partition(cluster, name).leader]


def produce(
    cluster: Controllers, *values: bytes, acks: int = -1, to: Node | None = None, timeout_ms: int = 1000
) -> tuple[int, int]:
    request = produce_request("t", *values, acks=acks, timeout_ms=timeout_ms)
    answered = cluster.ask(to or leader(cluster), request, 9).responses[0].partition_responses[0]
    return answered.error_code, answered.base_offset


def log_of(node: Node, name: str = "t") -> Any:
    led = node.partitions.get(name, 0)
    if led is not None:
        return led.log
    assert node.fetchers is not None
    return next(each.log for each in node.fetchers.partitions.values() if each.topic == name)


def contents(node: Node, name: str = "t") -> bytes:
    return b"".join(bytes(batch) for batch in log_of(node, name).batches(0))


def alive(cluster: Controllers) -> list[Node]:
    return [cluster.nodes[id] for id in BROKERS if id in cluster.nodes]


def settled(cluster: Controllers) -> bool:
    return len({contents(node) for node in alive(cluster)}) == 1


def fetched(cluster: Controllers, node: Node, offset: int = 0) -> tuple[int, int, bytes]:
    data = cluster.ask(node, fetching("t", offset), 12).responses[0].partitions[0]
    return data.error_code, data.high_watermark, bytes(data.records or b"")


def reassign(cluster: Controllers, *replicas: int) -> int:
    of = AlterPartitionReassignmentsRequest
    partition = of.ReassignablePartition(partition_index=0, replicas=list(replicas))
    topic = of.ReassignableTopic(name="t", partitions=[partition])
    answer = cluster.ask(cluster.leader, of(timeout_ms=1000, topics=[topic]), 0)
    code: int = answer.responses[0].partitions[0].error_code
    return code
