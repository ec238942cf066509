"""The methods of KafkaDouble about topics and their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from kafkadouble.arguments.parameters import check
from kafkadouble.common.marking import verb
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.records import seeding

if TYPE_CHECKING:
    from os import PathLike
    from typing import Unpack

    from kafkadouble.common.literals import IsolationLevel, RecordFormat
    from kafkadouble.host.host import Host
    from kafkadouble.records import bulk, partitioner, read_records, record_filter
    from kafkadouble.records.bulk import Numbered
    from kafkadouble.records.read_records import ReadRecord
    from kafkadouble.records.record_filter import RecordNarrowing
    from kafkadouble.records.seeding import HeadersLike
    from kafkadouble.topics import placement, topic_description
    from kafkadouble.topics.topic_description import TopicDescription
    from kafkadouble.verbs.forms import json_form

    RecordLike: TypeAlias = str | bytes | Mapping[str, Any] | ReadRecord | None
else:  # a first call of another verb waits for none of them
    bulk = OnFirstUse("kafkadouble.records.bulk")
    partitioner = OnFirstUse("kafkadouble.records.partitioner")
    read_records = OnFirstUse("kafkadouble.records.read_records")
    record_filter = OnFirstUse("kafkadouble.records.record_filter")
    placement = OnFirstUse("kafkadouble.topics.placement")
    topic_description = OnFirstUse("kafkadouble.topics.topic_description")
    json_form = OnFirstUse("kafkadouble.verbs.forms.json_form")


@verb
def create_topic(
    host: Host,
    name: str,
    partitions: int = 1,
    config: Mapping[str, object] | None = None,
    replication_factor: int | None = None,
) -> None:
    """Creates a topic, with `default.replication.factor` unless another is given. Raises
    KafkaError where an admin client would get an error, such as TOPIC_ALREADY_EXISTS."""
    replicas = -1 if replication_factor is None else replication_factor
    seeding.check_topics(host.ask(seeding.to_create(name, partitions, config or {}, replicas)).topics)


@verb
def delete_topic(host: Host, name: str) -> None:
    """Deletes a topic with its records. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
    seeding.check_topics(host.ask(seeding.to_delete(name)).responses)


@verb
def produce(
    host: Host,
    topic: str,
    value: str | bytes | None = None,
    key: str | bytes | None = None,
    headers: HeadersLike = (),
    partition: int | None = None,
    timestamp: int | None = None,
) -> int:
    """Appends one record, and returns its offset. Text becomes UTF-8. `timestamp` is in ms
    since the epoch; the default is the broker's time.

    Without `partition` the key decides, as in Kafka's producer; without a key the partitions
    take turns. A missing topic is created if `auto.create.topics.enable` is on. Raises
    KafkaError if the record is refused.
    """
    key_bytes = seeding.as_bytes(key)
    at = host.clock.now() if timestamp is None else timestamp
    batch = seeding.batch_of(value, key_bytes, headers, at)

    def choose(partitions: int) -> int:
        return _choose(host, key_bytes, partitions) if partition is None else partition

    return seeding.appended_at(host.outcome(host.call(seeding.append, host.serving().broker, topic, choose, batch)))


def _choose(host: Host, key: bytes | None, partitions: int) -> int:
    if key is not None:
        return partitioner.partition_for(key, partitions)
    with host.lock:
        host.turns += 1
        return (host.turns - 1) % partitions


@verb
def produce_all(host: Host, topic: str, records: Iterable[RecordLike], partition: int | None = None) -> int:
    """Appends many records in batches, and returns how many. Each is a value, or a mapping with
    some of `value`, `key`, `headers`, `partition` and `timestamp`, as the parameters of
    `produce`, or a record from `records`, which keeps its timestamp. `partition` is for records
    that have none.

    Raises UsageError for a wrong record and KafkaError for one that the broker refuses. Both
    name it by its number, from 1; the records before it are appended.
    """
    return _append_all(host, topic, bulk.of_iterable(records), partition)


@verb
def produce_file(
    host: Host, topic: str, path: str | PathLike[str], format: RecordFormat | None = None, partition: int | None = None
) -> int:
    """Appends a record for each line of a file, and returns how many. With the format `json` a
    line is an object with some of `value`, `key`, `headers`, `partition` and `timestamp`; bytes
    that are no text are `{"base64": "..."}`. With `text` a line is a value. Without a format it
    is `json` for *.json, *.jsonl and *.ndjson, and otherwise `text`.

    Raises OSError if the file cannot be read, and as `produce_all` with the number of the line.
    """
    return _append_all(host, topic, bulk.of_file(path, format, json_form.record_from_json), partition)


def _append_all(host: Host, topic: str, source: Numbered, partition: int | None) -> int:
    if partition is not None:
        check(partition=partition)
    broker = host.serving().broker
    count = len(host.call(seeding.topic_to_append, broker, topic).partitions)
    if partition is not None:
        host.call(placement.partitions_of, broker, topic, partition)

    def append(index: int, batch: bytearray) -> Any:
        return host.outcome(host.call(seeding.append, broker, topic, lambda _: index, batch))

    limit = host.call(bulk.most_bytes, broker, topic)
    appender = bulk.BulkAppender(source.what, limit, append, lambda key: _choose(host, key, count))
    return bulk.append_all(source, appender, host.clock.now, partition)


@verb
def topics(host: Host, internal: bool = False) -> dict[str, TopicDescription]:
    """The topics by name: the leaders, replicas, in-sync replicas and offsets of their
    partitions, and the configs that were set. Internal topics are left out unless `internal` is
    True."""
    return host.call(topic_description.topics, host.serving().broker, internal)


@verb
def end_offsets(host: Host, topic: str) -> dict[int, int]:
    """The end offset of each partition, by index: the offset of the next record that a consumer
    will read. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION), LEADER_NOT_AVAILABLE."""
    return host.call(topic_description.offsets, host.serving().broker, topic)


@verb
def records(
    host: Host,
    topic: str,
    partition: int | None = None,
    isolation: IsolationLevel = "read_uncommitted",
    **narrowing: Unpack[RecordNarrowing],
) -> list[ReadRecord]:
    """The records of a topic, or of one partition, by partition and offset. `read_committed`
    leaves out aborted records, and everything from the first open transaction on. `since`
    leaves out what is before an offset, or what was read: records, or offsets by partition.
    `key`, `value`, `header` and `offset` are what a record has; `header` is a name, or values
    by name.

    Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
    """
    committed, narrowed = (
        read_records.check_isolation(isolation),
        record_filter.RecordFilter.checked(topic, narrowing),
    )
    taken = host.call(read_records.take_all, host.serving().broker, topic, partition, committed, narrowed.first_offset)
    return [record for one in taken for record in read_records.read(one) if narrowed.accepts(record)]
