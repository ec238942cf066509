"""The methods of KafkaDouble about transactions, beside a real producer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException, Producer

from kafkadouble import KafkaDouble, KafkaError, Transaction, UsageError
from kafkadouble.messages import error_codes

TIMEOUT_S = 20


@pytest.fixture(params=[1, 3], ids=["one broker", "three brokers"])
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=request.param) as double:
        double.create_topic("orders", partitions=2)
        yield double


@pytest.fixture
def producer(kafka: KafkaDouble) -> Producer:
    made = Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "shop", "linger.ms": 0, "log_level": 0}
    )
    made.init_transactions(TIMEOUT_S)
    return made


def begin(producer: Producer, value: bytes) -> None:
    producer.begin_transaction()
    for partition in (0, 1):
        producer.produce("orders", value, partition=partition)
    producer.flush(TIMEOUT_S)


def values(kafka: KafkaDouble) -> list[bytes | None]:
    return [record.value for record in kafka.records("orders", isolation="read_committed")]


def state(kafka: KafkaDouble) -> Transaction:
    return kafka.transactions()["shop"]


def test_a_transaction_is_shown_in_each_state(kafka: KafkaDouble, producer: Producer) -> None:
    assert (state(kafka).state, state(kafka).partitions, state(kafka).started_ms) == ("Empty", (), None)
    begin(producer, b"one")
    assert state(kafka).state == "Ongoing"
    assert state(kafka).partitions == (("orders", 0), ("orders", 1))
    assert state(kafka).timeout_ms == 60_000
    producer.commit_transaction(TIMEOUT_S)
    assert values(kafka) == [b"one", b"one"]


def test_an_expired_transaction_is_aborted_and_its_producer_fenced(kafka: KafkaDouble, producer: Producer) -> None:
    begin(producer, b"late")
    before = state(kafka)
    kafka.expire_transaction("shop")
    assert values(kafka) == []
    with pytest.raises(KafkaException):
        producer.commit_transaction(TIMEOUT_S)
    assert state(kafka).producer_epoch > before.producer_epoch


def test_only_an_open_transaction_expires(kafka: KafkaDouble, producer: Producer) -> None:
    with pytest.raises(KafkaError) as unknown:
        kafka.expire_transaction("another")
    assert unknown.value.code == error_codes.TRANSACTIONAL_ID_NOT_FOUND
    with pytest.raises(KafkaError) as empty:
        kafka.expire_transaction("shop")
    assert empty.value.code == error_codes.INVALID_TXN_STATE
    with pytest.raises(UsageError, match="transactional_id is a name"):
        kafka.expire_transaction(3)  # type: ignore[arg-type]


def test_a_hanging_transaction_stops_readers_of_committed_records(kafka: KafkaDouble) -> None:
    kafka.produce("orders", b"before", partition=0)
    producer_id = kafka.hang_transaction("orders", 0, b"hangs")
    kafka.produce("orders", b"after", partition=0)
    assert values(kafka) == [b"before"]
    assert [record.value for record in kafka.records("orders")] == [b"before", b"hangs", b"after"]
    assert producer_id not in {each.producer_id for each in kafka.transactions().values()}
