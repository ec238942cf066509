"""confluent-kafka, which is librdkafka, in the common shape."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import confluent_kafka.admin

from kafkadouble.messages import error_codes

from . import shape
from .shape import Client, Closing, Partition, Record, Refused, Seen

# Its type stubs cover only half of what is used here.
ck: Any = confluent_kafka
ca: Any = confluent_kafka.admin

RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "max.request.size": "message.max.bytes",
}
"""Options for which librdkafka has another name than Kafka."""

OF_THE_BROKER = ("heartbeat_interval_ms", "session_timeout_ms", "partition_assignment_strategy")
"""Options that the broker decides with group.protocol=consumer (KIP-848)."""

RESOURCES = {"topic": ca.ResourceType.TOPIC, "broker": ca.ResourceType.BROKER}


def _settings(bootstrap: str, options: Mapping[str, Any]) -> dict[str, Any]:
    named = {key.replace("_", "."): value for key, value in options.items()}
    quiet = {"log_level": 0, "error_cb": lambda error: None}
    return {"bootstrap.servers": bootstrap, **quiet, **{RENAMED.get(key, key): value for key, value in named.items()}}


@contextmanager
def translated_errors() -> Iterator[None]:
    try:
        yield
    except ck.KafkaException as error:
        raise _refused(error.args[0]) from error


translating = shape.methods_in(translated_errors)
AWAY = frozenset({ck.KafkaError._TRANSPORT, ck.KafkaError._ALL_BROKERS_DOWN, ck.KafkaError._TIMED_OUT})
"""librdkafka's own errors for brokers that it cannot reach. It marks no error of a consumer as
retriable, because it retries by itself."""


FENCED = error_codes.PRODUCER_FENCED
"""librdkafka has an error of its own for it."""


def _refused(error: Any) -> Refused:
    code = FENCED if error.code() == ck.KafkaError._FENCED else error.code()
    passes = error.retriable() or code in AWAY or error_codes.is_retriable(code)
    return Refused(code, f"{error.name()}: {error.str()}", passes=passes)


@translating
class Producer(shape.Producer):
    def __init__(self, bootstrap: str, **options: Any) -> None:
        self._it = ck.Producer(_settings(bootstrap, options))

    def send(self, topic: str, records: Sequence[Record]) -> list[int]:
        reports: dict[int, tuple[Any, Any]] = {}
        for number, record in enumerate(records):
            self._it.produce(
                topic,
                record.value,
                record.key,
                partition=-1 if record.partition is None else record.partition,
                on_delivery=lambda error, message, number=number: reports.update({number: (error, message)}),
                timestamp=record.timestamp or 0,
                headers=list(record.headers),
            )
        self._wait_for_acknowledgements()
        for error, _ in reports.values():
            if error is not None:
                raise _refused(error)
        return [reports[number][1].offset() for number in range(len(records))]

    def _wait_for_acknowledgements(self) -> None:
        assert self._it.flush(shape.PATIENCE) == 0, "not all was sent in time"

    def close(self) -> None:
        self._wait_for_acknowledgements()


@translating
class TransactionalProducer(Producer, shape.TransactionalProducer):
    def __init__(self, bootstrap: str, **options: Any) -> None:
        super().__init__(bootstrap, **options)
        with translated_errors():
            self._it.init_transactions(shape.PATIENCE)

    def begin(self) -> None:
        self._it.begin_transaction()

    def enqueue(self, topic: str, records: Sequence[Record]) -> None:
        for r in records:
            self._it.produce(topic, r.value, r.key, partition=-1 if r.partition is None else r.partition)

    def send_offsets(self, offsets: Mapping[Partition, int], consumer: Any) -> None:
        given = [ck.TopicPartition(*tp, offset) for tp, offset in offsets.items()]
        self._it.send_offsets_to_transaction(given, consumer.group_metadata(), shape.PATIENCE)

    def commit_transaction(self) -> None:
        self._it.commit_transaction(shape.PATIENCE)

    def abort_transaction(self) -> None:
        self._it.abort_transaction(shape.PATIENCE)

    def _wait_for_acknowledgements(self) -> None:
        """Waits by `flush`. If the producer is fenced, `flush` raises its error in the middle of a
        callback, which Python reports as a SystemError with that error as its cause."""
        try:
            super()._wait_for_acknowledgements()
        except SystemError as error:
            raise error.__cause__ or error from None

    def close(self) -> None:
        """Drops what was not sent. An open transaction is left to its timeout."""
        self._it.purge()


@translating
class Consumer(shape.Consumer):
    def __init__(
        self, bootstrap: str, topics: Sequence[str] = (), partitions: Sequence[Partition] = (), **options: Any
    ) -> None:
        settings = shape.CONSUMER | {"group_id": "none"} | options
        for name in OF_THE_BROKER if options.get("group_protocol") == "consumer" else ():
            settings.pop(name, None)
        self._it = ck.Consumer(_settings(bootstrap, settings))
        if topics:
            self._it.subscribe(list(topics))
        elif partitions:
            self._it.assign([ck.TopicPartition(*one) for one in partitions])

    def polled(self, seconds: float) -> list[Seen]:
        """Waits only for the first record, as the other clients do, and takes the records that came
        with it."""
        found = self._it.consume(1, seconds)
        found += self._it.consume(10_000, 0) if found else []
        for message in found:
            if message.error():
                raise _refused(message.error())
        return [_seen(message) for message in found]

    def assignment(self) -> set[Partition]:
        return {Partition(one.topic, one.partition) for one in self._it.assignment()}

    def commit(self, offsets: Mapping[Partition, tuple[int, str]] | None = None) -> None:
        arguments = {"offsets": [ck.TopicPartition(*tp, *one) for tp, one in offsets.items()]} if offsets else {}
        for one in self._it.commit(asynchronous=False, **arguments):
            if one.error:
                raise _refused(one.error)

    def committed(self, partition: Partition) -> tuple[int, str] | None:
        (found,) = self._it.committed([ck.TopicPartition(*partition)], shape.PATIENCE)
        if found.error:
            raise _refused(found.error)
        return None if found.offset < 0 else (found.offset, found.metadata or "")

    def position(self, partition: Partition) -> int:
        """The offset of the next record to read. librdkafka knows it from the records that it
        returned; before the first one, from a seek or the committed offset."""
        (found,) = self._it.position([ck.TopicPartition(*partition)])
        return int(found.offset)

    def seek(self, partition: Partition, offset: int) -> None:
        self._it.seek(ck.TopicPartition(*partition, offset))

    def seek_to_beginning(self, partition: Partition) -> None:
        self.seek(partition, ck.OFFSET_BEGINNING)

    def seek_to_end(self, partition: Partition) -> None:
        self.seek(partition, ck.OFFSET_END)

    def bounds(self, partition: Partition) -> tuple[int, int]:
        first, end = self._it.get_watermark_offsets(ck.TopicPartition(*partition), shape.PATIENCE)
        return first, end

    def offset_at(self, partition: Partition, timestamp: int) -> int | None:
        (found,) = self._it.offsets_for_times([ck.TopicPartition(*partition, timestamp)], shape.PATIENCE)
        return None if found.offset < 0 else found.offset

    def group_metadata(self) -> Any:
        return self._it.consumer_group_metadata()

    def close(self) -> None:
        self._it.close()


def _seen(message: Any) -> Seen:
    kind, timestamp = message.timestamp()
    return Seen(
        message.topic(),
        message.partition(),
        message.offset(),
        message.key(),
        message.value(),
        list(message.headers() or []),
        timestamp,
        kind - 1,  # librdkafka has 0 for none, 1 for create time, 2 for append time
    )


@translating
class Admin(Closing):
    def __init__(self, bootstrap: str, **options: Any) -> None:
        self._it = ca.AdminClient(_settings(bootstrap, options))

    def _result(self, futures: Mapping[Any, Any]) -> Any:
        (future,) = futures.values()
        return future.result(shape.PATIENCE)

    def create_topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None, replication: int = 1
    ) -> None:
        new_topic = ca.NewTopic(name, partitions, replication, config=dict(configs or {}))
        self._result(self._it.create_topics([new_topic]))

    def delete_topic(self, name: str) -> None:
        self._result(self._it.delete_topics([name]))

    def topics(self) -> list[str]:
        return list(self._it.list_topics(timeout=shape.PATIENCE).topics)

    def partitions_of(self, topic: str) -> list[int]:
        found = self._result(self._it.describe_topics(ck.TopicCollection([topic])))
        return [one.id for one in found.partitions]

    def create_partitions(self, topic: str, total: int) -> None:
        self._result(self._it.create_partitions([ca.NewPartitions(topic, total)]))

    def configs(self, kind: str, name: str) -> dict[str, str | None]:
        found = self._result(self._it.describe_configs([ca.ConfigResource(RESOURCES[kind], name)]))
        return {key: entry.value for key, entry in found.items()}

    def replace_configs(self, kind: str, name: str, configs: Mapping[str, str]) -> None:
        """Replaces all configs of the topic: a config that is not named falls back to its
        default."""
        resource = ca.ConfigResource(RESOURCES[kind], name, set_config=dict(configs))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "alter_configs has been deprecated", DeprecationWarning)
            self._result(self._it.alter_configs([resource]))

    def alter_configs(self, kind: str, name: str, *changes: tuple[str, str, str | None]) -> None:
        """Changes of (set | delete | append | subtract, name, value)."""
        entries = [
            ca.ConfigEntry(key, value, incremental_operation=ca.AlterConfigOpType[verb.upper()])
            for verb, key, value in changes
        ]
        resource = ca.ConfigResource(RESOURCES[kind], name, incremental_configs=entries)
        self._result(self._it.incremental_alter_configs([resource]))

    def cluster(self) -> tuple[str, int, list[str]]:
        """The id, the controller, and HOST:PORT of the brokers."""
        found = self._it.describe_cluster().result(shape.PATIENCE)
        return found.cluster_id, found.controller.id, [f"{one.host}:{one.port}" for one in found.nodes]

    def groups(self) -> list[str]:
        found = self._it.list_consumer_groups().result(shape.PATIENCE)
        for error in found.errors:
            raise _refused(error.args[0])
        return [one.group_id for one in found.valid]

    def group(self, group: str) -> tuple[str, int]:
        """The state in lower case, and how many members it has."""
        found = self._result(self._it.describe_consumer_groups([group]))
        return found.state.name.lower(), len(found.members)

    def delete_group(self, group: str) -> None:
        self._result(self._it.delete_consumer_groups([group]))

    def group_offsets(self, group: str) -> dict[Partition, int]:
        found = self._result(self._it.list_consumer_group_offsets([ck.ConsumerGroupTopicPartitions(group)]))
        return {Partition(one.topic, one.partition): one.offset for one in found.topic_partitions}

    def delete_records(self, partition: Partition, before: int) -> int:
        """Deletes the records before an offset; returns the new log start offset."""
        return int(self._result(self._it.delete_records([ck.TopicPartition(*partition, before)])).low_watermark)

    def offset_of(self, partition: Partition, which: str) -> tuple[int, int]:
        """Offset and timestamp of the earliest, latest, or max_timestamp."""
        spec = getattr(ca.OffsetSpec, which)()
        found = self._result(self._it.list_offsets({ck.TopicPartition(*partition): spec}))
        return found.offset, found.timestamp

    def close(self) -> None:
        """Does nothing: the client has no close, and ends when it is garbage-collected."""


CLIENT = Client("confluent-kafka", Producer, Consumer, Admin, TransactionalProducer)
