"""Sessions of real clients to record, and exchanges made by hand."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from kafkadouble.messages.message import Message
from kafkadouble.replay.recorded.exchange import Exchange
from kafkadouble.replay.recorded.recording import Recording, load
from kafkadouble.replay.replay_report import ReplayReport
from kafkadouble.replay.replay_run import ReplayOptions
from kafkadouble.replay.replaying import replay

# It reads its message specifications by a call that Python 3.11 and 3.12 deprecate.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

COUNT, WAIT_S = 40, 30
QUIET = {"log_level": 0}
IMPATIENT = ReplayOptions(patience=3)


def confluent(bootstrap: str, prefix: str = "") -> list[bytes]:
    """A topic; an idempotent producer; a group that copies in two transactions, one aborted.
    Returns the values that it read, sorted."""
    servers: dict[str, Any] = {"bootstrap.servers": bootstrap, **QUIET}
    admin = AdminClient(servers)
    topics = [NewTopic(f"{prefix}in", 3, 1), NewTopic(f"{prefix}out", 1, 1)]
    for created in admin.create_topics(topics).values():
        created.result(WAIT_S)
    _produce(servers, f"{prefix}in")
    producer = Producer({**servers, "transactional.id": f"{prefix}copies"})
    producer.init_transactions(WAIT_S)
    settings = {"group.id": f"{prefix}copiers", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({**servers, **settings})
    consumer.subscribe([f"{prefix}in"])
    read = []
    for end in (producer.abort_transaction, producer.commit_transaction):
        producer.begin_transaction()
        for _ in range(COUNT // 2):
            read.append(_next(consumer))
            producer.produce(f"{prefix}out", read[-1])
        offsets = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), WAIT_S)
        end(WAIT_S)
    consumer.close()
    return sorted(read)


def _produce(servers: dict[str, Any], topic: str) -> None:
    producer = Producer({**servers, "enable.idempotence": True})
    for number in range(COUNT):
        producer.produce(topic, key=str(number), value=f"value {number}", headers={"number": str(number)})
    assert producer.flush(WAIT_S) == 0


def _next(consumer: Consumer) -> bytes:
    for _ in range(WAIT_S):
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            value = message.value()
            assert isinstance(value, bytes)
            return value
    raise AssertionError("no record")


def kafka_python(bootstrap: str, prefix: str = "") -> list[bytes]:
    """A topic, records with acks=0 and acks=all, a group that commits. Returns the values that it
    read, sorted."""
    servers = bootstrap.split(",")
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics({f"{prefix}plain": {"num_partitions": 2, "replication_factor": 1}})
    admin.close()
    for acks in (0, "all"):
        producer = KafkaProducer(bootstrap_servers=servers, acks=acks, enable_idempotence=False)
        for number in range(COUNT):
            producer.send(f"{prefix}plain", b"value %d" % number, partition=number % 2)
        producer.flush(WAIT_S)
        producer.close()
    consumer = KafkaConsumer(
        f"{prefix}plain", bootstrap_servers=servers, group_id=f"{prefix}readers", auto_offset_reset="earliest"
    )
    read: list[bytes] = []
    while len(read) < 2 * COUNT:
        read += [record.value for records in consumer.poll(timeout_ms=1000).values() for record in records]
    consumer.commit()
    consumer.close()
    return sorted(read)


PROGRAMS: dict[str, Callable[..., list[bytes]]] = {"confluent-kafka": confluent, "kafka-python": kafka_python}


def recorded(path: Path, program: Callable[[str], object], *, brokers: int = 1, **given: Any) -> Recording:
    """The session of a program with a new double."""
    with KafkaDouble(brokers=brokers, capture=path, capture_frames=True, **given) as kafka:
        program(kafka.bootstrap_servers)
    return load(path)


def replayed(recording: Recording, kafka: KafkaDouble, options: ReplayOptions = IMPATIENT) -> ReplayReport:
    return asyncio.run(replay(recording, ("127.0.0.1", kafka.port), options))


def exchange(
    request: Message,
    answer: Message | None,
    version: int,
    *,
    number: int = 1,
    began_us: int = 0,
    ended_us: int = 0,
    connection: str = "1",
    outcome: str = "answered",
    node: int = 1,
) -> Exchange:
    """An exchange made by hand."""
    frame = b"".join(map(bytes, headers.write_request(request, number, "test", version)))[4:]
    head = headers.read_request_header(frame)
    written = None
    if answer is not None:
        written = b"".join(map(bytes, headers.write_response(answer, number, head.api_key, version)))
    return Exchange(
        number,
        began_us,
        ended_us,
        node,
        connection,
        outcome,
        "test",
        number,
        head.api_key,
        version,
        head.body_offset,
        frame,
        written,
    )
