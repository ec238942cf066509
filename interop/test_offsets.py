"""Where a consumer reads: seeking, the bounds of a partition, offsets by time, and committed
offsets."""

from __future__ import annotations

import pytest

from interop.brokers import Broker
from interop.clients import CREATOR, Client
from interop.clients.shape import Consumer, Partition, Producer, Record, Seen
from interop.support import create_topic, refused
from tests.support.waiting import eventually

TIMES = [1000, 3000, 3000, 2000, 5000, 9000]


@pytest.fixture
def six(broker: Broker, client: Client, lasting: str) -> Partition:
    """A partition with six records with the timestamps TIMES."""
    with client.producer(broker.bootstrap) as producer:
        producer.send(lasting, [Record(b"%d" % number, timestamp=time) for number, time in enumerate(TIMES)])
    return Partition(lasting, 0)


def test_consumer_seek_decides_the_next_record(broker: Broker, client: Client, six: Partition) -> None:
    with client.consumer(broker.bootstrap, partitions=[six]) as consumer:
        assert [seen.value for seen in consumer.read(6)] == [b"%d" % n for n in range(6)]
        consumer.seek(six, 4)
        assert [seen.offset for seen in consumer.read(2)] == [4, 5]
        assert consumer.position(six) == 6
        consumer.seek_to_beginning(six)
        assert [seen.offset for seen in consumer.read(6)] == list(range(6))


def test_consumer_seek_to_the_end_reads_later_records(broker: Broker, client: Client, six: Partition) -> None:
    with (
        client.consumer(broker.bootstrap, partitions=[six]) as consumer,
        client.producer(broker.bootstrap) as producer,
    ):
        consumer.read(6)
        consumer.seek(six, 0)
        consumer.seek_to_end(six)
        assert consumer.poll(0.5) == []
        assert _first_of_new(consumer, producer, six).value == b"new"


def _first_of_new(consumer: Consumer, producer: Producer, six: Partition) -> Seen:
    """The first record that is read while others are sent. librdkafka asks for the end of a
    partition only after the Fetch under way, so a single record may be there before it asks."""

    def sent() -> list[Seen]:
        producer.send(six.topic, [Record(b"new")])
        return consumer.poll(0.5)

    return eventually(sent)[0]


@pytest.mark.parametrize(("reset", "value"), [("earliest", b"0"), ("latest", b"new")])
def test_without_a_committed_offset_the_reset_policy_decides(
    broker: Broker, client: Client, six: Partition, reset: str, value: bytes
) -> None:
    with (
        client.consumer(broker.bootstrap, partitions=[six], auto_offset_reset=reset, group_id=six.topic) as consumer,
        client.producer(broker.bootstrap) as producer,
    ):
        assert _first_of_new(consumer, producer, six).value == value


def test_an_offset_out_of_range_falls_back_to_the_reset_policy(broker: Broker, client: Client, six: Partition) -> None:
    with client.consumer(broker.bootstrap, partitions=[six]) as consumer:
        consumer.read(6)
        consumer.seek(six, 1000)
        assert [seen.offset for seen in consumer.read(6)] == list(range(6))


def test_the_bounds_of_a_partition(broker: Broker, client: Client, six: Partition) -> None:
    with client.consumer(broker.bootstrap, partitions=[six]) as consumer:
        assert consumer.bounds(six) == (0, 6)


BY_TIME = [(0, 0), (1000, 0), (1001, 1), (3000, 1), (3001, 4), (5001, 5), (9000, 5), (9001, None)]


def test_offsets_are_found_by_time(broker: Broker, client: Client, six: Partition) -> None:
    with client.consumer(broker.bootstrap, partitions=[six]) as consumer:
        assert [(time, consumer.offset_at(six, time)) for time, _ in BY_TIME] == BY_TIME


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_offsets_are_found_by_time_inside_a_compressed_batch(
    broker: Broker, client: Client, lasting: str, codec: str
) -> None:
    with client.producer(broker.bootstrap, compression_type=codec, linger_ms=20) as producer:
        producer.send(lasting, [Record(b"v" * 50, timestamp=time) for time in TIMES])
    partition = Partition(lasting, 0)
    with client.consumer(broker.bootstrap, partitions=[partition]) as consumer:
        assert [(time, consumer.offset_at(partition, time)) for time, _ in BY_TIME] == BY_TIME


def test_committed_offsets_have_their_metadata(broker: Broker, client: Client, six: Partition) -> None:
    with client.consumer(broker.bootstrap, partitions=[six], group_id=six.topic) as consumer:
        assert consumer.committed(six) is None
        consumer.commit({six: (3, "why: ünïcode")})
    with CREATOR.consumer(broker.bootstrap, partitions=[six], group_id=six.topic) as consumer:
        assert consumer.committed(six) == (3, "why: ünïcode")
    with client.admin(broker.bootstrap) as admin:
        assert admin.group_offsets(six.topic) == {six: 3}


LONGEST_METADATA = {"confluent-kafka": 4095}
"""confluent-kafka sends the zero byte that ends a string in C as part of the metadata. The other
clients can use all 4096 bytes of Kafka's default."""


def test_metadata_beyond_the_limit_is_refused(broker: Broker, client: Client, six: Partition) -> None:
    longest = LONGEST_METADATA.get(client.name, 4096)
    with client.consumer(broker.bootstrap, partitions=[six], group_id=six.topic) as consumer:
        consumer.commit({six: (1, "m" * longest)})
        with refused("OFFSET_METADATA_TOO_LARGE"):
            consumer.commit({six: (2, "m" * (longest + 1))})
        assert (consumer.committed(six) or (None,))[0] == 1


def test_a_consumer_that_assigns_itself_goes_on_where_it_committed(
    broker: Broker, client: Client, six: Partition
) -> None:
    for expected in ([0, 1, 2, 3, 4, 5], [4, 5]):
        with client.consumer(broker.bootstrap, partitions=[six], group_id=six.topic) as consumer:
            assert [seen.offset for seen in consumer.read(len(expected))] == expected
            consumer.commit({six: (4, "")})


def test_positions_are_committed_when_no_offsets_are_named(broker: Broker, client: Client, six: Partition) -> None:
    with client.consumer(broker.bootstrap, partitions=[six], group_id=six.topic) as consumer:
        consumer.read(6)
        consumer.commit()
        assert (consumer.committed(six) or (None,))[0] == 6


def test_two_groups_do_not_see_one_anothers_offsets(broker: Broker, client: Client, six: Partition) -> None:
    with client.consumer(broker.bootstrap, partitions=[six], group_id=six.topic + "-a") as consumer:
        consumer.commit({six: (5, "")})
    with client.consumer(broker.bootstrap, partitions=[six], group_id=six.topic + "-b") as consumer:
        assert consumer.committed(six) is None


def test_an_empty_partition_has_no_offsets_but_zero(broker: Broker, client: Client, topic: str) -> None:
    partition = Partition(topic, 0)
    with client.consumer(broker.bootstrap, partitions=[partition]) as consumer:
        assert consumer.poll(0.3) == []
        assert consumer.bounds(partition) == (0, 0)
        assert consumer.offset_at(partition, 0) is None


def test_consumer_reads_only_assigned_partitions(broker: Broker, client: Client, name: str) -> None:
    create_topic(broker.bootstrap, name, 4)
    with client.producer(broker.bootstrap) as producer:
        producer.send(name, [Record(b"%d" % index, partition=index) for index in range(4)])
    chosen = [Partition(name, 1), Partition(name, 3)]
    with client.consumer(broker.bootstrap, partitions=chosen) as consumer:
        assert sorted(seen.partition for seen in consumer.read(2)) == [1, 3]
        assert consumer.assignment() == set(chosen)
