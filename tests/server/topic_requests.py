"""Requests about topics and their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.produce import ProduceRequest


def creating(
    *names: str,
    partitions: int = 1,
    replicas: int = 1,
    brokers: Sequence[int] = (),
    configs: Mapping[str, str] | None = None,
    **fields: Any,
) -> CreateTopicsRequest:
    """With `brokers` each topic has one partition, on these."""
    of = CreateTopicsRequest
    how: dict[str, Any] = {"num_partitions": partitions, "replication_factor": replicas}
    if brokers:
        assigned = of.CreatableReplicaAssignment(partition_index=0, broker_ids=brokers)
        how = {"num_partitions": -1, "replication_factor": -1, "assignments": [assigned]}
    how["configs"] = [of.CreatableTopicConfig(name=name, value=value) for name, value in (configs or {}).items()]
    return of(topics=[of.CreatableTopic(name=name, **how) for name in names], **{"timeout_ms": 1000, **fields})


def deleting(name: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=[DeleteTopicsRequest.DeleteTopicState(name=name)], timeout_ms=1000)


def appending(topic: str, batch: bytes | bytearray, index: int = 0, **fields: Any) -> ProduceRequest:
    of = ProduceRequest
    data = of.PartitionProduceData(index=index, records=bytes(batch))
    requested = of.TopicProduceData(name=topic, partition_data=[data])
    return of(**{"acks": -1, "timeout_ms": 1000, "topic_data": [requested], **fields})


def fetching(topic: str, offset: int = 0, index: int = 0, **fields: Any) -> FetchRequest:
    of = FetchRequest
    partition = of.FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
    topics = [of.FetchTopic(topic=topic, partitions=[partition])]
    return of(**{"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20, "topics": topics, **fields})


def purging(topic: str, offset: int, index: int = 0, timeout_ms: int = 1000) -> DeleteRecordsRequest:
    of = DeleteRecordsRequest
    partition = of.DeleteRecordsPartition(partition_index=index, offset=offset)
    return of(topics=[of.DeleteRecordsTopic(name=topic, partitions=[partition])], timeout_ms=timeout_ms)
