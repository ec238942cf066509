"""A record is read as it was written, for every writing client, every codec and every reading
client."""

from __future__ import annotations

import time

import pytest

from interop.brokers import Broker
from interop.clients import CLIENTS, CREATOR, Client
from interop.clients.shape import Headers, Partition, Record
from interop.support import create_topic, refused

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
EACH = 200


def _numbered(codec: str) -> list[Record]:
    """Different records, every tenth without a key, and large enough that compression saves
    space."""
    return [
        Record(
            f"{codec}-{n}-{'x' * 100}".encode(),
            None if n % 10 == 9 else b"k%d" % (n % 50),
            [("codec", codec.encode()), ("n", b"%d" % n)],
            1_700_000_000_000 + n,
        )
        for n in range(EACH)
    ]


@pytest.mark.parametrize("writer", CLIENTS, ids=lambda client: client.name)
def test_records_of_a_client_with_each_codec_are_read_by_all_clients(
    broker: Broker, topic: str, writer: Client
) -> None:
    written: list[Record] = []
    for codec in CODECS:
        with writer.producer(broker.bootstrap, compression_type=codec, linger_ms=5) as producer:
            offsets = producer.send(topic, _numbered(codec))
        assert offsets == list(range(len(written), len(written) + EACH))
        written += _numbered(codec)
    for reader in CLIENTS:
        with reader.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
            read = [
                Record(seen.value, seen.key, seen.headers, seen.timestamp, seen.partition)
                for seen in consumer.read(len(written))
            ]
        assert read == written, reader.name


@pytest.mark.parametrize("codec", CODECS[1:])
def test_a_topic_with_a_codec_of_its_own_gives_back_what_was_written_without(
    broker: Broker, client: Client, name: str, codec: str
) -> None:
    create_topic(broker.bootstrap, name, configs={"compression.type": codec})
    with client.producer(broker.bootstrap) as producer:
        producer.send(name, _numbered("none"))
    for reader in CLIENTS:
        with reader.consumer(broker.bootstrap, partitions=[Partition(name, 0)]) as consumer:
            assert [seen.value for seen in consumer.read(EACH)] == [one.value for one in _numbered("none")]


HEADERS: dict[str, Headers] = {
    "none": [],
    "one": [("trace", b"1")],
    "the same name twice, in order": [("a", b"1"), ("b", b"2"), ("a", b"3")],
    "an empty value": [("empty", b"")],
    "an empty name": [("", b"1")],
    "a name beyond ASCII": [("schlüssel-日本", b"\x00\xff")],
    "a hundred": [(f"h{n}", b"%d" % n) for n in range(100)],
    "no value": [("null", None), ("empty", b""), ("null", b"x")],
}
TAKES_NO_NULL = ("kafka-python",)


@pytest.mark.parametrize("case", HEADERS)
def test_headers_come_back_as_they_were_in_every_client(broker: Broker, client: Client, topic: str, case: str) -> None:
    if case == "no value" and client.name in TAKES_NO_NULL:
        pytest.skip(f"{client.name} writes no header without a value")
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"v", headers=HEADERS[case])])
    for reader in CLIENTS:
        with reader.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
            assert consumer.read(1)[0].headers == HEADERS[case], reader.name


TAKES_NO_RECORD_OF_NOTHING = ("kafka-python", "aiokafka")

KEYS_AND_VALUES = [(b"k", b"v"), (b"k", None), (None, b"v"), (None, None), (b"", b""), (b"", None), (None, b"")]


def test_null_and_empty_keys_and_values_stay_what_they_are(broker: Broker, client: Client, topic: str) -> None:
    able = [one for one in KEYS_AND_VALUES if one != (None, None) or client.name not in TAKES_NO_RECORD_OF_NOTHING]
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(value, key) for key, value in able])
    for reader in CLIENTS:
        with reader.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
            assert [(seen.key, seen.value) for seen in consumer.read(len(able))] == able, reader.name


WITHOUT_INVALID_RECORD = ("aiokafka",)


def test_a_compacted_topic_takes_tombstones_and_refuses_what_has_no_key(
    broker: Broker, client: Client, name: str
) -> None:
    create_topic(broker.bootstrap, name, configs={"cleanup.policy": "compact"})
    with client.producer(broker.bootstrap) as producer:
        assert producer.send(name, [Record(b"v", b"k"), Record(None, b"k")]) == [0, 1]
        with refused("UNKNOWN_SERVER_ERROR" if client.name in WITHOUT_INVALID_RECORD else "INVALID_RECORD"):
            producer.send(name, [Record(b"keyless")])


def test_a_record_keeps_the_time_that_its_writer_gave_it(broker: Broker, client: Client, lasting: str) -> None:
    times = [1_600_000_000_000, 1_500_000_000_000, 1_600_000_000_001]
    with client.producer(broker.bootstrap) as producer:
        producer.send(lasting, [Record(b"v", timestamp=one) for one in times])
    with client.consumer(broker.bootstrap, partitions=[Partition(lasting, 0)]) as consumer:
        assert [(seen.timestamp, seen.timestamp_type) for seen in consumer.read(3)] == [(one, 0) for one in times]


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_a_topic_of_append_times_gives_every_record_the_time_of_the_broker(
    broker: Broker, client: Client, name: str, codec: str
) -> None:
    create_topic(broker.bootstrap, name, configs={"message.timestamp.type": "LogAppendTime"})
    before = time.time() * 1000
    with client.producer(broker.bootstrap, compression_type=codec, linger_ms=5) as producer:
        producer.send(name, [Record(b"v", timestamp=1000) for _ in range(3)])
    for reader in CLIENTS:
        with reader.consumer(broker.bootstrap, partitions=[Partition(name, 0)]) as consumer:
            for seen in consumer.read(3):
                assert seen.timestamp_type == 1
                assert before - 1000 <= seen.timestamp <= time.time() * 1000 + 1000


# KIP-1030: at most an hour ahead by default; any time in older releases.
@pytest.mark.needs("kafka_4")
def test_timestamp_too_far_ahead_is_refused(broker: Broker, client: Client, topic: str) -> None:
    with client.producer(broker.bootstrap) as producer, refused("INVALID_TIMESTAMP"):
        producer.send(topic, [Record(b"v", timestamp=int(time.time() * 1000) + 2 * 3_600_000)])


def test_records_with_one_key_stay_in_one_partition_of_a_kind_that_all_clients_agree_on(
    broker: Broker, name: str
) -> None:
    """librdkafka's default partitioner uses another hash than Java's: users set `partitioner` to
    have one rule everywhere."""
    every = create_topic(broker.bootstrap, name, 7)
    options = {"confluent-kafka": {"partitioner": "murmur2_random"}}
    for client in CLIENTS:
        with client.producer(broker.bootstrap, **options.get(client.name, {})) as producer:
            producer.send(name, [Record(b"v", b"key-%d" % n, partition=None) for n in range(50)])
    homes: dict[bytes, set[int]] = {}
    with CREATOR.consumer(broker.bootstrap, partitions=every) as consumer:
        for seen in consumer.read(150):
            homes.setdefault(seen.key or b"", set()).add(seen.partition)
    assert {len(partitions) for partitions in homes.values()} == {1}
