"""Requests about quotas, as the tests of this package send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from tests.server.harness import Harness
from tests.support.records import batch

DEFAULT: str | None = None

Entry = AlterClientQuotasRequest.EntryData
Creatable = CreateTopicsRequest.CreatableTopic


def set_quota(cluster: Harness, entity: Mapping[str, str | None], **quotas: float | None) -> None:
    """Sets the quotas of an entity; None removes one."""
    parts = [AlterClientQuotasRequest.EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    ops = [
        AlterClientQuotasRequest.OpData(key=key, value=value or 0.0, remove=value is None)
        for key, value in quotas.items()
    ]
    response = cluster.submit(AlterClientQuotasRequest(entries=[Entry(entity=parts, ops=ops)]), 1, "admin")
    assert [(each.error_code, each.error_message) for each in response.entries] == [(0, None)]


def produce(size: int, topic: str = "t", acks: int = -1) -> ProduceRequest:
    """One record of about `size` bytes."""
    data = ProduceRequest.PartitionProduceData(index=0, records=batch(["x" * size]))
    return ProduceRequest(
        acks=acks, timeout_ms=1000, topic_data=[ProduceRequest.TopicProduceData(name=topic, partition_data=[data])]
    )


def fetch(offset: int = 0, topic: str = "t", **fields: Any) -> FetchRequest:
    """A fetch of one partition, without a session unless `fields` say otherwise."""
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    named = [FetchRequest.FetchTopic(topic=topic, partitions=[partition])]
    given: dict[str, Any] = {
        "topics": named,
        "max_wait_ms": 0,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "session_id": 0,
        "session_epoch": -1,
    }
    return FetchRequest(**(given | fields))


def create(*names: str, partitions: int = 1) -> CreateTopicsRequest:
    topics = [Creatable(name=name, num_partitions=partitions, replication_factor=1) for name in names]
    return CreateTopicsRequest(topics=topics, timeout_ms=1000)
