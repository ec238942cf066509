"""What the tests of kafka-wire without Spark share: a query's settings for a double, its driver,
and the rows that its tasks read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.pipeline.client import Client, TopicPartition
from kafkadouble.pipeline.wire import batch, options, pool, reading, surplus
from kafkadouble.pipeline.wire.options import BATCH, SINK, STREAM, QueryOptions
from kafkadouble.pipeline.wire.stream import MicroBatchStream
from kafkadouble.pipeline.wire.task import ReadTask
from kafkadouble.pipeline.wire.watch import Watch

QUICK = {"kafka.retry.backoff.ms": "5", "kafka.retry.backoff.max.ms": "20", "kafka.metadata.max.age.ms": "0"}
"""A client that retries at once and caches no metadata."""


_streams: list[MicroBatchStream] = []


def settings(double: KafkaDouble, use: Any = BATCH, **given: str) -> QueryOptions:
    """Options by name, Kafka's with underscores for dots; the topic is `t` unless an option says
    otherwise."""
    named = {name.replace("_", "."): value for name, value in given.items()}
    topics = {} if use == SINK or named.keys() & {"assign", "subscribePattern"} else {"subscribe": "t"}
    return options.read({"kafka.bootstrap.servers": double.bootstrap_servers, **QUICK, **topics, **named}, use)


def stream_of(double: KafkaDouble, **given: str) -> MicroBatchStream:
    """The driver of a streaming query that begins at the earliest offsets."""
    chosen = settings(double, STREAM, **{"startingOffsets": "earliest", **given})
    _streams.append(MicroBatchStream(Client(chosen.client), chosen))
    return _streams[-1]


def stop() -> None:
    """Ends the queries of a test, and drops the clients and batches that its tasks cached for later
    tasks."""
    while _streams:
        _streams.pop().stop()
    pool.close()
    surplus.of_process.clear()


def plan_of(double: KafkaDouble, **given: str) -> list[ReadTask]:
    """The tasks of a batch query."""
    chosen = settings(double, **given)
    with Client(chosen.client) as client:
        return batch.plan(Watch(client, chosen), chosen)


def values(tasks: Iterable[ReadTask], chosen: QueryOptions) -> list[str]:
    """The values that the tasks read, in the order of the tasks."""
    found: list[str] = []
    for task in tasks:
        for rows in reading.read(task, ("value",), chosen):
            found += [value.decode() for value in rows.column("value").to_pylist()]
    return found


def fill(double: KafkaDouble, *texts: str, partition: int = 0, topic: str = "t", **more: Any) -> None:
    for text in texts:
        double.produce(topic, text, partition=partition, **more)


def spans(tasks: Iterable[ReadTask]) -> list[ReadTask]:
    """Tasks without their leaders, for comparison."""
    return [task._replace(leader=None) for task in tasks]


def add_partitions(double: KafkaDouble, topic: str, count: int) -> None:
    row = CreatePartitionsRequest.CreatePartitionsTopic(name=topic, count=count, assignments=None)
    answer = double._double_host.ask(CreatePartitionsRequest(topics=[row], timeout_ms=60_000))
    assert [result.error_code for result in answer.results] == [0]


def delete_before(double: KafkaDouble, tp: TopicPartition, offset: int) -> None:
    """Deletes the records before `offset`, as retention does."""
    row = DeleteRecordsRequest.DeleteRecordsTopic
    part = DeleteRecordsRequest.DeleteRecordsPartition(partition_index=tp.partition, offset=offset)
    double._double_host.ask(DeleteRecordsRequest(topics=[row(name=tp.topic, partitions=[part])], timeout_ms=60_000))
