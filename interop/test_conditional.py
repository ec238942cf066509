"""Conditional publish (KIP-27), which only the double has: what unmodified clients can do with it,
and what happens on a broker without it.

Apache Kafka never got it. It refuses an expected offset in a batch, and IGNORES one in a header:
the last tests show that.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from interop.brokers import Broker
from interop.clients import CREATOR, Client, aio
from interop.clients.python import CLIENT as KAFKA_PYTHON
from interop.clients.shape import Partition, Producer, Record, Refused
from interop.relay import relay
from interop.support import create_topic, refused
from kafkadouble import expected_offset
from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse

ON_THE_DOUBLE = pytest.mark.needs("faults")
"""Only the double has the capability `faults`."""

PLAIN: dict[str, Any] = {"acks": "all", "enable_idempotence": False}
"""Idempotence is off because the expected offset does the same: no record is written twice or out
of order."""

ERROR_OF = {"aiokafka": "UNKNOWN_SERVER_ERROR"}
"""aiokafka has no name for INVALID_RECORD, and reports it as unknown. It does not retry either."""

READ = {"kafka-python": expected_offset.ExpectedOffsetMismatch}
"""The exceptions that `expected_offset.refusal` can read: kafka-python reports the broker's reason,
the other clients do not."""


def error_of(client: Client) -> str:
    return ERROR_OF.get(client.name, "INVALID_RECORD")


def at(offset: int, value: bytes = b"v") -> Record:
    return Record(value, headers=[expected_offset.header(offset)])


@pytest.fixture
def conditional(broker: Broker, name: str) -> str:
    """A topic on which every batch must have an expected offset."""
    create_topic(broker.bootstrap, name, configs={"produce.expected.offset": "required"})
    return name


@pytest.fixture
def producer(broker: Broker, client: Client) -> Iterator[Producer]:
    with client.producer(broker.bootstrap, **PLAIN) as made:
        yield made


def values(broker: Broker, topic: str, count: int) -> list[bytes | None]:
    """The values of the log, which must hold exactly this number of records."""
    with CREATOR.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
        found = [seen.value for seen in consumer.read(count)]
        assert consumer.bounds(Partition(topic, 0)) == (0, count)
    return found


@ON_THE_DOUBLE
def test_a_record_is_written_where_its_header_expects_it(broker: Broker, conditional: str, producer: Producer) -> None:
    for offset in range(5):
        assert producer.send(conditional, [at(offset, b"%d" % offset)]) == [offset]
    assert values(broker, conditional, 5) == [b"0", b"1", b"2", b"3", b"4"]


@ON_THE_DOUBLE
def test_a_wrong_expectation_is_refused_once_and_the_producer_goes_on(
    broker: Broker, conditional: str, client: Client, producer: Producer
) -> None:
    assert producer.send(conditional, [at(0, b"first")]) == [0]
    for wrong in (0, 2, 100):
        with refused(error_of(client)):
            producer.send(conditional, [at(wrong)])
    assert producer.send(conditional, [at(1, b"second")]) == [1]
    assert values(broker, conditional, 2) == [b"first", b"second"]


@ON_THE_DOUBLE
def test_helper_reads_the_offset_from_the_refusal(conditional: str, client: Client, producer: Producer) -> None:
    producer.send(conditional, [at(0)])
    with pytest.raises(Refused) as caught:
        producer.send(conditional, [at(7)])
    found = expected_offset.refusal(caught.value)
    assert type(found) is READ.get(client.name, expected_offset.UntoldRefusal)
    if isinstance(found, expected_offset.ExpectedOffsetMismatch):
        assert (found.expected, found.actual) == (7, 1)


@ON_THE_DOUBLE
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_compression_hides_nothing(broker: Broker, conditional: str, client: Client, codec: str) -> None:
    options = PLAIN | {"compression_type": codec, "linger_ms": 50}
    with client.producer(broker.bootstrap, **options) as producer:
        assert producer.send(conditional, [at(offset) for offset in range(40)]) == list(range(40))
        with refused(error_of(client)):
            producer.send(conditional, [at(39)])
    assert len(values(broker, conditional, 40)) == 40


@ON_THE_DOUBLE
def test_of_two_producers_one_gets_through(
    broker: Broker, conditional: str, client: Client, producer: Producer
) -> None:
    with client.producer(broker.bootstrap, **PLAIN) as other:
        for offset in range(5):
            first, second = (producer, other) if offset % 2 else (other, producer)
            assert first.send(conditional, [at(offset, b"%d" % offset)]) == [offset]
            with refused(error_of(client)):
                second.send(conditional, [at(offset, b"too late")])
    assert values(broker, conditional, 5) == [b"0", b"1", b"2", b"3", b"4"]


@ON_THE_DOUBLE
@pytest.mark.needs("loopback")
def test_an_idempotent_producer_that_lost_an_answer_gets_the_first_one(
    broker: Broker, conditional: str, client: Client
) -> None:
    with relay(broker.bootstrap) as between, client.producer(between.bootstrap, enable_idempotence=True) as producer:
        assert producer.send(conditional, [at(0)]) == [0]
        for offset in range(1, 4):
            between.swallow(ApiKeys.PRODUCE)
            assert producer.send(conditional, [at(offset)]) == [offset]
        assert between.cuts == 3
    values(broker, conditional, 4)


@ON_THE_DOUBLE
@pytest.mark.needs("loopback")
# Without kafka-python: it is not made to retry without idempotence.
@pytest.mark.clients(names=("aiokafka", "confluent-kafka"))
def test_any_other_is_refused_for_its_own_record_and_finds_it_in_the_log(
    broker: Broker, conditional: str, client: Client
) -> None:
    with relay(broker.bootstrap) as between, client.producer(between.bootstrap, **PLAIN) as producer:
        assert producer.send(conditional, [at(0, b"first")]) == [0]
        between.swallow(ApiKeys.PRODUCE)
        with refused(error_of(client)):
            producer.send(conditional, [at(1, b"mine")])
    assert values(broker, conditional, 2) == [b"first", b"mine"]


GIVES_UP = {"aiokafka", "kafka-python"}
"""Idempotent clients that write nothing more after a refusal, since the next sequence number would
leave a gap. librdkafka continues."""


@ON_THE_DOUBLE
def test_an_idempotent_producer_after_a_refusal(broker: Broker, conditional: str, client: Client) -> None:
    with client.producer(broker.bootstrap, enable_idempotence=True) as producer:
        assert producer.send(conditional, [at(0)]) == [0]
        with refused(error_of(client)):
            producer.send(conditional, [at(5)])
        try:
            assert producer.send(conditional, [at(1)]) == [1]
        except Refused:
            assert client.name in GIVES_UP
        else:
            assert client.name not in GIVES_UP


@ON_THE_DOUBLE
# Only this client sends the next batch before the first is answered.
@pytest.mark.clients(names=("confluent-kafka",))
@pytest.mark.parametrize("idempotent", [False, True])
def test_a_refused_batch_does_not_stop_those_that_are_in_flight_behind_it(
    broker: Broker, conditional: str, client: Client, idempotent: bool
) -> None:
    """The same holds with idempotence: librdkafka renumbers batches that came out of order. An
    application that needs the order must wait for each batch."""
    options = {"acks": "all", "enable_idempotence": idempotent, "batch_num_messages": 1, "linger_ms": 0}
    with client.producer(broker.bootstrap, **options) as producer:
        assert producer.send(conditional, [at(0, b"0")]) == [0]
        with refused(error_of(client)):
            producer.send(conditional, [at(7, b"refused"), at(1, b"1"), at(2, b"2"), at(3, b"3")])
    assert values(broker, conditional, 4) == [b"0", b"1", b"2", b"3"]


@ON_THE_DOUBLE
def test_the_setting_shows_where_it_is_set(broker: Broker, client: Client, conditional: str) -> None:
    with client.admin(broker.bootstrap) as admin:
        admin.create_topic(topic := conditional + "-not", 1)
        assert admin.configs("topic", conditional)["produce.expected.offset"] == "required"
        assert "produce.expected.offset" not in admin.configs("topic", topic)


@ON_THE_DOUBLE
@pytest.mark.clients(names=("aiokafka",))
@pytest.mark.parametrize("codec", [None, "gzip", "zstd"])
@pytest.mark.parametrize("idempotent", [False, True])
def test_a_batch_of_aiokafka_is_expected_as_a_whole(
    broker: Broker, client: Client, conditional: str, codec: str | None, idempotent: bool
) -> None:
    assert aio.run(_batches(broker, conditional, (0, 3), codec, idempotent)) == [0, 3]
    with refused(error_of(client)):
        aio.run(_batches(broker, conditional, (4,), codec, idempotent))
    values(broker, conditional, 6)


async def _batches(
    broker: Broker, topic: str, bases: tuple[int, ...], codec: str | None = None, idempotent: bool = False
) -> list[int]:
    """Batches of three records from aiokafka, and the offsets at which they were written."""
    options = {"compression_type": codec, "enable_idempotence": idempotent, "acks": "all"}
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap, **options)
    await producer.start()
    try:
        offsets = []
        for base in bases:
            batch = expected_offset.expect(producer.create_batch(), base)
            for _ in range(3):
                batch.append(key=None, value=b"v", timestamp=None)
            offsets.append((await (await producer.send_batch(batch, topic, partition=0))).offset)
        return offsets
    finally:
        await producer.stop()


def _of_kafka_python(base: int, codec: int = 0) -> bytes:
    """Three records in a batch that kafka-python built, with the expected offset `base`."""
    from kafka.record.memory_records import MemoryRecordsBuilder

    builder = MemoryRecordsBuilder(2, codec, 1000)
    for _ in range(3):
        builder.append(None, None, b"v")
    return bytes(expected_offset.expect(builder, base).buffer())


def _produced(broker: Broker, topic: str, batch: bytes, version: int = 9) -> Any:
    """The response for the one partition."""
    data = ProduceRequest.PartitionProduceData(index=0, records=batch)
    topic_data = ProduceRequest.TopicProduceData(name=topic, partition_data=[data])
    request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic_data])
    host, _, port = broker.bootstrap.split(",")[0].rpartition(":")
    with socket.create_connection((host, int(port)), 30) as line, line.makefile("rb") as answers:
        line.sendall(b"".join(bytes(part) for part in headers.write_request(request, 1, "interop", version)))
        (size,) = struct.unpack(">i", answers.read(4))
        _, answer = headers.read_response(answers.read(size), ProduceRequest.api_key, version)
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses[0]


@ON_THE_DOUBLE
@pytest.mark.parametrize("codec", range(5))
def test_a_batch_of_kafka_python_is_expected_as_a_whole(broker: Broker, conditional: str, codec: int) -> None:
    # The import of kafka-python is a case of its own.
    assert KAFKA_PYTHON.name == "kafka-python"
    assert [_produced(broker, conditional, _of_kafka_python(base, codec)).base_offset for base in (0, 3)] == [0, 3]
    answer = _produced(broker, conditional, _of_kafka_python(5, codec))
    assert (answer.error_code, answer.error_message) == (
        error_codes.INVALID_RECORD,
        "conditional publish: expected offset 5, actual 6",
    )


@pytest.mark.parametrize("version", [3, 9])
def test_a_batch_with_an_expected_offset_is_refused_where_that_is_not_supported(
    broker: Broker, topic: str, version: int
) -> None:
    """The batch is refused even if its expected offset is right, since the broker does not know the
    field. So the mistake is found at once."""
    assert _produced(broker, topic, _of_kafka_python(0), version).base_offset == 0
    for base in (3, 7, -1):
        answer = _produced(broker, topic, _of_kafka_python(base), version)
        assert (answer.error_code, answer.base_offset) == (error_codes.INVALID_RECORD, -1)
    values(broker, topic, 3)


@pytest.mark.clients(names=("aiokafka",))
def test_expected_offset_outside_a_batch_of_aiokafka_is_refused(broker: Broker, client: Client, topic: str) -> None:
    assert aio.run(_batches(broker, topic, (0,))) == [0]
    with refused(error_of(client)):
        aio.run(_batches(broker, topic, (3,)))
    values(broker, topic, 3)


def test_expected_offset_outside_a_header_is_ignored(
    broker: Broker, client: Client, topic: str, producer: Producer
) -> None:
    """A risk: the writer cannot see that the broker ignores the header."""
    assert producer.send(topic, [at(0)]) == [0]
    assert producer.send(topic, [at(0)]) == [1]
    assert producer.send(topic, [at(999)]) == [2]
    values(broker, topic, 3)


def test_a_topic_with_the_setting_can_be_made_only_where_it_means_something(
    broker: Broker, client: Client, name: str
) -> None:
    """The way to avoid that risk: a program that creates its topic with the setting fails on a
    broker without it, before it writes anything."""
    settings = {"produce.expected.offset": "required"}
    with client.admin(broker.bootstrap) as admin:
        if "faults" in broker.capabilities:
            admin.create_topic(name, 1, settings)
            assert admin.configs("topic", name)["produce.expected.offset"] == "required"
        else:
            with refused("INVALID_CONFIG"):
                admin.create_topic(name, 1, settings)
