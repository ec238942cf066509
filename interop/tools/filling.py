"""Fills a log directory through a broker with every kind of content: every codec, headers,
tombstones, null keys, committed and aborted transactions, an idempotent producer, a group's
offsets, several segments, and a compacted topic."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from interop.support import unique
from tests.support.waiting import eventually

COMPACTED, LARGE, MIXED = "compacted", "large", "mixed"
SEGMENT = 1 << 20
"""The smallest segment in bytes that Kafka 4 allows."""
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

OVERRIDES = {
    "log.cleaner.backoff.ms": 200,
    "log.initial.task.delay.ms": 100,
    "metadata.log.max.snapshot.interval.ms": 1000,
}
"""Settings with which a broker compacts soon, and writes metadata snapshots."""

_COMPACT = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.bytes": str(SEGMENT)}


Headers = list[tuple[str, str | bytes | None]]


def fill(bootstrap: str, *, topics: bool = True) -> None:
    """Writes everything; without the topics if they exist already."""
    if topics:
        _topics(bootstrap)
    for codec in CODECS:
        _codec(bootstrap, codec)
    _large(bootstrap)
    _compacted(bootstrap)
    _transactions(bootstrap)
    _group(bootstrap)


def again(bootstrap: str) -> None:
    """Writes a few more records, for a node that was restarted."""
    _codec(bootstrap, "none")
    _transactions(bootstrap)


def leave_open(bootstrap: str) -> list[Producer]:
    """Fences a producer in the middle of a transaction, and leaves a transaction of its successor
    open, with records and with an offset. Returns the producers, which must outlive the broker."""
    settings = {"bootstrap.servers": bootstrap, "transactional.id": unique("open"), "compression.type": "lz4"}
    zombie, successor = Producer(settings), Producer(settings)
    for producer in (zombie, successor):
        producer.init_transactions(30)
        producer.begin_transaction()
        for index in range(4):
            producer.produce(MIXED, b"fenced or open", partition=index % 2)
        producer.flush(30)
    member = Consumer({"bootstrap.servers": bootstrap, "group.id": "open"})
    offsets = [TopicPartition(MIXED, 0, 1, metadata="open")]
    successor.send_offsets_to_transaction(offsets, member.consumer_group_metadata(), 30)
    member.close()
    return [zombie, successor]


def _topics(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [
        NewTopic(MIXED, 2, 1),
        NewTopic(LARGE, 1, 1, config={"segment.bytes": str(SEGMENT)}),
        NewTopic(COMPACTED, 1, 1, config=_COMPACT),
    ]
    for done in admin.create_topics(topics).values():
        done.result()


def _codec(bootstrap: str, codec: str) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "compression.type": codec,
            "enable.idempotence": codec == "zstd",
            "linger.ms": 50,
        }
    )
    for index in range(30):
        headers: Headers | None = [("trace", b"%d" % index), ("empty", b""), ("none", None)] if index % 3 == 0 else None
        key = None if index % 5 == 0 else b"key-%d" % index
        value = None if index % 7 == 1 else b"value of %s " % codec.encode() * 10
        producer.produce(MIXED, key=key, value=value, headers=headers, partition=index % 2)
    assert producer.flush(30) == 0


def _large(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, "batch.size": 16384})
    for index in range(300):
        producer.produce(LARGE, value=b"%09d" % index * 1000, timestamp=1_700_000_000_000 + index * 1000)
        producer.poll(0)
    assert producer.flush(30) == 0


def _compacted(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
    for index in range(400):
        producer.produce(COMPACTED, key=b"%d" % (index % 7), value=b"%d " % index * 2000)
        producer.poll(0)
    assert producer.flush(30) == 0


def _transactions(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique("files")})
    producer.init_transactions(30)
    for number in range(6):
        producer.begin_transaction()
        for index in range(3):
            producer.produce(MIXED, b"transaction %d" % number, partition=index % 2)
        producer.flush(30)
        (producer.abort_transaction if number % 2 else producer.commit_transaction)(30)


def _group(bootstrap: str) -> None:
    settings = {"bootstrap.servers": bootstrap, "group.id": "files", "auto.offset.reset": "earliest"}
    consumer = Consumer(settings | {"enable.auto.commit": False})
    try:
        consumer.subscribe([MIXED])
        eventually(lambda: consumer.poll(1), lambda found: found is not None and found.error() is None)
        eventually(lambda: _committed(consumer))
    finally:
        consumer.close()


def _committed(consumer: Consumer) -> bool:
    try:
        consumer.commit(
            offsets=[TopicPartition(MIXED, 0, 5, metadata="why"), TopicPartition(MIXED, 1, 6)], asynchronous=False
        )
    except KafkaException:
        return False
    return True
