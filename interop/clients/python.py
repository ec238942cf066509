"""kafka-python in the common shape."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from . import shape
from .shape import Client, Closing, Partition, Record, Refused, Seen

# It reads its message specifications by a call that Python 3.11 and 3.12 deprecate.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    from kafka import (
        KafkaAdminClient,
        KafkaConsumer,
        KafkaProducer,
        OffsetAndMetadata,
        OffsetSpec,
        TopicPartition,
        errors,
    )
    from kafka.admin import AlterConfigOp, ConfigResource
    from kafka.errors import BrokerResponseError, KafkaError


@contextmanager
def translated_errors() -> Iterator[None]:
    try:
        yield
    except KafkaError as error:
        raise shape.refusal(error, BrokerResponseError) from error


translating = shape.methods_in(translated_errors)


@translating
class Producer(shape.Producer):
    def __init__(self, bootstrap: str, **options: Any) -> None:
        if options.get("compression_type") == "none":
            options["compression_type"] = None
        self._it = KafkaProducer(bootstrap_servers=bootstrap, **options)

    def send(self, topic: str, records: Sequence[Record]) -> list[int]:
        sent = [self._it.send(topic, r.value, r.key, list(r.headers), r.partition, r.timestamp) for r in records]
        self._it.flush()
        return [one.get(shape.PATIENCE).offset for one in sent]

    def close(self) -> None:
        self._it.close(timeout=5)


@translating
class TransactionalProducer(Producer, shape.TransactionalProducer):
    def __init__(self, bootstrap: str, **options: Any) -> None:
        super().__init__(bootstrap, **options)
        try:
            with translated_errors():
                self._it.init_transactions()
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        self._it.begin_transaction()

    def enqueue(self, topic: str, records: Sequence[Record]) -> None:
        for r in records:
            self._it.send(topic, r.value, r.key, list(r.headers), r.partition, r.timestamp)

    def send_offsets(self, offsets: Mapping[Partition, int], consumer: Any) -> None:
        given = {TopicPartition(*tp): OffsetAndMetadata(offset, "", -1) for tp, offset in offsets.items()}
        self._it.send_offsets_to_transaction(given, consumer.group_metadata())

    def commit_transaction(self) -> None:
        self._it.commit_transaction()

    def abort_transaction(self) -> None:
        self._it.abort_transaction()


@translating
class Consumer(shape.Consumer):
    def __init__(
        self, bootstrap: str, topics: Sequence[str] = (), partitions: Sequence[Partition] = (), **options: Any
    ) -> None:
        self._it = KafkaConsumer(bootstrap_servers=bootstrap, **shape.CONSUMER | options)
        if topics:
            self._it.subscribe(list(topics))
            # Waits for metadata: a leader that joins before the metadata came assigns nothing, and
            # may never assign again.
            self._it.topics()
        else:
            self._it.assign([TopicPartition(*one) for one in partitions])

    def polled(self, seconds: float) -> list[Seen]:
        found = self._it.poll(timeout_ms=int(seconds * 1000))
        return [shape.seen(record) for records in found.values() for record in records]

    def assignment(self) -> set[Partition]:
        return {Partition(*one) for one in self._it.assignment()}

    def commit(self, offsets: Mapping[Partition, tuple[int, str]] | None = None) -> None:
        given = offsets and {TopicPartition(*tp): OffsetAndMetadata(*one, -1) for tp, one in offsets.items()}
        self._it.commit(given, timeout_ms=int(shape.PATIENCE * 1000))

    def committed(self, partition: Partition) -> tuple[int, str] | None:
        found = self._it.committed(TopicPartition(*partition), metadata=True)
        return found and (found.offset, found.metadata)

    def position(self, partition: Partition) -> int:
        return int(self._it.position(TopicPartition(*partition)))

    def seek(self, partition: Partition, offset: int) -> None:
        self._it.seek(TopicPartition(*partition), offset)

    def seek_to_beginning(self, partition: Partition) -> None:
        self._it.seek_to_beginning(TopicPartition(*partition))

    def seek_to_end(self, partition: Partition) -> None:
        self._it.seek_to_end(TopicPartition(*partition))

    def bounds(self, partition: Partition) -> tuple[int, int]:
        tp = TopicPartition(*partition)
        return self._it.beginning_offsets([tp])[tp], self._it.end_offsets([tp])[tp]

    def offset_at(self, partition: Partition, timestamp: int) -> int | None:
        tp = TopicPartition(*partition)
        time = self._it.offsets_for_times({tp: timestamp})[tp]
        return None if time is None else int(time.offset)

    def group_metadata(self) -> Any:
        return self._it.group_metadata()

    def close(self) -> None:
        self._it.close(timeout_ms=5000)


@translating
class Admin(Closing):
    def __init__(self, bootstrap: str, **options: Any) -> None:
        self.itself = KafkaAdminClient(bootstrap_servers=bootstrap, **options)

    def create_topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None, replication: int = 1
    ) -> None:
        new_topic = {"num_partitions": partitions, "replication_factor": replication, "configs": dict(configs or {})}
        self.itself.create_topics({name: new_topic})

    def delete_topic(self, name: str) -> None:
        self.itself.delete_topics([name])

    def topics(self) -> list[str]:
        return list(self.itself.list_topics())

    def partitions_of(self, topic: str) -> list[int]:
        return [one["partition_index"] for one in self.itself.describe_topics([topic])[0]["partitions"]]

    def create_partitions(self, topic: str, total: int) -> None:
        self.itself.create_partitions({topic: total})

    def configs(self, kind: str, name: str) -> dict[str, str | None]:
        found = self.itself.describe_configs([ConfigResource(kind, name)], config_filter="all")
        return {key: entry["value"] for key, entry in found[kind][name].items()}

    def replace_configs(self, kind: str, name: str, configs: Mapping[str, str]) -> None:
        """Replaces all configs of the topic: a config that is not named falls back to its default.
        The client itself adds those that are set already."""
        found = self.itself.alter_configs([ConfigResource(kind, name, dict(configs))], incremental=False)
        _check(found[kind][name])

    def alter_configs(self, kind: str, name: str, *changes: tuple[str, str, str | None]) -> None:
        """Changes of (set | delete | append | subtract, name, value)."""
        changes_by_name = {key: (AlterConfigOp[verb.upper()], value) for verb, key, value in changes}
        configs = self.itself.alter_configs(
            [ConfigResource(kind, name, changes_by_name)], incremental=True, raise_on_unknown=False
        )
        _check(configs[kind][name])

    def cluster(self) -> tuple[str, int, list[str]]:
        """The id, the controller, and HOST:PORT of the brokers."""
        found = self.itself.describe_cluster()
        brokers = [f"{one['host']}:{one['port']}" for one in found["brokers"]]
        return found["cluster_id"], found["controller_id"], brokers

    def groups(self) -> list[str]:
        return [one["group_id"] for one in self.itself.list_groups()]

    def group(self, group: str) -> tuple[str, int]:
        """The state in lower case, and how many members it has."""
        found = self.itself.describe_groups([group])[group]
        return found["group_state"].lower(), len(found["members"])

    def delete_group(self, group: str) -> None:
        _check(self.itself.delete_groups([group])[group])

    def group_offsets(self, group: str) -> dict[Partition, int]:
        offset = self.itself.list_group_offsets(group)[group]
        return {Partition(*tp): one.offset for tp, one in offset.items()}

    def delete_records(self, partition: Partition, before: int) -> int:
        """Deletes the records before an offset; returns the new log start offset."""
        records = self.itself.delete_records({TopicPartition(*partition): before})
        return int(records[TopicPartition(*partition)]["low_watermark"])

    def offset_of(self, partition: Partition, which: str) -> tuple[int, int]:
        """Offset and timestamp of the earliest, latest, or max_timestamp."""
        tp = TopicPartition(*partition)
        offset = self.itself.list_partition_offsets({tp: OffsetSpec[which.upper()]})[tp]
        return offset.offset, offset.timestamp

    def close(self) -> None:
        self.itself.close()


def _check(result: str) -> None:
    """Raises the error that the client reports only by a text, which begins with the error's number
    or is its class."""
    if result != "OK":
        raise Refused(_code(result), result)


def _code(text: str) -> int:
    if text.startswith("["):
        return int(text[1:].partition(" ")[2].partition("]")[0] or -1000)
    return int(getattr(errors, text.partition("(")[0]).errno)


CLIENT = Client("kafka-python", Producer, Consumer, Admin, TransactionalProducer)
