"""Batches that a producer delivers: their partitions, their order, and how often they are stored
when a request fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import ApiError, Client, NoSuchTopic, TimedOut, TopicPartition
from kafkadouble.wire.errors import UsageError
from tests.support.pipeline_client import batch, client_of

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def double() -> Iterator[KafkaDouble]:
    with KafkaDouble() as double:
        double.create_topic("t", partitions=2)
        yield double


def stored(double: KafkaDouble, partition: TopicPartition) -> list[bytes]:
    return [record.value or b"" for record in double.records(*partition)]


def test_batches_arrive_in_their_order(double: KafkaDouble, client: Client) -> None:
    with client.producer() as producer:
        first = producer.send({T0: [batch(b"a", b"b"), batch(b"c")], T1: [batch(b"x")]})
        assert first == {T0: 0, T1: 0}
        assert producer.send({T0: [batch(b"d")]}) == {T0: 3}
    assert stored(double, T0) == [b"a", b"b", b"c", b"d"]
    assert stored(double, T1) == [b"x"]


def test_produce_request_has_a_batch_for_each_partition(double: KafkaDouble, client: Client) -> None:
    double.requests.clear()
    client.producer().send({T0: [batch(b"a"), batch(b"b")], T1: [batch(b"x"), batch(b"y")]})
    assert len(double.requests.of("Produce")) == 2
    double.requests.clear()
    with client_of(double.bootstrap_servers, max_request_size=100) as small:
        small.producer().send({T0: [batch(b"a" * 50)], T1: [batch(b"x" * 50)]})
    assert len(double.requests.of("Produce")) == 2


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_produce_request_has_the_acks_of_the_setting(double: KafkaDouble, client: Client, acks: str) -> None:
    offsets = client.producer(acks=acks).send({T0: [batch(b"a"), batch(b"b")]})
    assert offsets == {T0: -1 if acks == "0" else 0}
    assert client.producer(acks="all").send({T0: [batch(b"c")]}) == {T0: 2}
    assert stored(double, T0) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("lost", ["the request", "the answer"])
def test_produce_request_sent_twice_is_stored_once(double: KafkaDouble, client: Client, lost: str) -> None:
    rule = double.disconnect("Produce", after=lost == "the answer", times=3)
    assert client.producer().send({T0: [batch(b"a"), batch(b"b")]}) == {T0: 0}
    assert rule.hits == 3
    assert stored(double, T0) == [b"a", b"b"]


def test_batch_without_idempotence_may_be_stored_twice(double: KafkaDouble, client: Client) -> None:
    double.disconnect("Produce", after=True)
    client.producer(idempotent=False).send({T0: [batch(b"a")]})
    assert stored(double, T0) == [b"a", b"a"]


def test_duplicate_batch_counts_as_delivered(double: KafkaDouble, client: Client) -> None:
    double.fail("Produce", "DUPLICATE_SEQUENCE_NUMBER")
    assert set(client.producer().send({T0: [batch(b"a")]})) == {T0}


@pytest.mark.parametrize(
    "error", ["NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT", "KAFKA_STORAGE_ERROR"]
)
def test_produce_with_retriable_error_is_sent_again(double: KafkaDouble, client: Client, error: str) -> None:
    rule = double.fail("Produce", error, times=2)
    assert client.producer().send({T0: [batch(b"a")]}) == {T0: 0}
    assert rule.hits == 2


def test_a_refusal_is_reported_and_another_producer_id_follows(double: KafkaDouble, client: Client) -> None:
    producer = client.producer()
    producer.send({T0: [batch(b"a")]})
    double.fail("Produce", "OUT_OF_ORDER_SEQUENCE_NUMBER")
    with pytest.raises(ApiError, match="sending to t-0: OUT_OF_ORDER_SEQUENCE_NUMBER"):
        producer.send({T0: [batch(b"b")]})
    double.requests.clear()
    producer.send({T0: [batch(b"b")]})
    assert len(double.requests.of("InitProducerId")) == 1
    assert stored(double, T0) == [b"a", b"b"]


def test_a_batch_that_is_too_large_is_named(double: KafkaDouble, client: Client) -> None:
    double.create_topic("small", config={"max.message.bytes": 200})
    with pytest.raises(ApiError, match=r"small-0: MESSAGE_TOO_LARGE: .*max.message.bytes"):
        client.producer().send({TopicPartition("small", 0): [batch(b"v" * 300)]})


def test_a_topic_is_created_by_a_broker_that_does(client: Client) -> None:
    assert client.producer().send({TopicPartition("new", 0): [batch(b"a")]}) == {TopicPartition("new", 0): 0}


def test_a_topic_is_not_created_by_a_broker_that_does_not() -> None:
    with KafkaDouble(config={"auto.create.topics.enable": False}) as double:
        client = client_of(double.bootstrap_servers, delivery_timeout_ms=100)
        with client, pytest.raises(NoSuchTopic, match="no topic 'new'"):
            client.producer().send({TopicPartition("new", 0): [batch(b"a")]})


def test_produce_is_given_up_after_the_delivery_timeout(double: KafkaDouble) -> None:
    with client_of(double.bootstrap_servers, delivery_timeout_ms=50) as client:
        double.fail("Produce", "NOT_ENOUGH_REPLICAS", times=None)
        with pytest.raises(TimedOut, match=r"sending: not within 50 ms \(delivery.timeout.ms\): .*NOT_ENOUGH_REPLICAS"):
            client.producer().send({T0: [batch(b"a")]})


def test_invalid_batch_is_refused_before_it_is_sent(client: Client) -> None:
    for wrong in (b"", b"abc", batch(b"a")[:-1], batch(b"a") + batch(b"b")):
        with pytest.raises(UsageError, match="what is to be sent is"):
            client.producer().send({T0: [wrong]})


def test_settings_that_do_not_go_together(double: KafkaDouble, client: Client) -> None:
    with pytest.raises(UsageError, match="acks 'some' is none"):
        client.producer(acks="some")
    with pytest.raises(UsageError, match="needs acks=all, not 1"):
        client.producer(acks="1", idempotent=True)
    strict = client_of(double.bootstrap_servers, acks="1", enable_idempotence=True)
    with pytest.raises(UsageError, match="needs acks=all"):
        strict.producer()


@pytest.mark.parametrize(("retries", "delivered"), [(0, False), (1, False), (2, True)])
def test_produce_is_retried_as_often_as_the_setting_allows(double: KafkaDouble, retries: int, delivered: bool) -> None:
    double.fail("Produce", "NOT_ENOUGH_REPLICAS", times=2)
    with client_of(double.bootstrap_servers, retries=retries) as client:
        if delivered:
            client.producer().send({T0: [batch(b"a")]})
        else:
            with pytest.raises(TimedOut, match=rf"sending: not with {retries} retries \(retries\): t-0: NOT_ENOUGH"):
                client.producer().send({T0: [batch(b"a")]})
    assert stored(double, T0) == [b"a"] * delivered


def test_internal_topics_are_listed_if_they_are_not_excluded(double: KafkaDouble, client: Client) -> None:
    client.commit("g", {})
    double.create_topic("__consumer_offsets") if "__consumer_offsets" not in client.topics(internal=True) else None
    with client_of(double.bootstrap_servers, exclude_internal_topics=False) as every:
        assert every.topics() == client.topics(internal=True) == ["__consumer_offsets", "t"]
    assert client.topics() == ["t"]
