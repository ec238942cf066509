"""Requests between nodes, as a test of a user sees them."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask


def create(kafka: KafkaDouble, name: str) -> None:
    """By a client, at the first broker."""
    topic = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    answer = ask(kafka.bootstrap_servers, CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7)
    assert answer.topics[0].error_code == 0


def test_peer_requests_are_kept_apart_and_linked_to_the_request_of_the_client() -> None:
    with KafkaDouble(brokers=2, peer_requests=True) as kafka:
        create(kafka, "t")
        (requested,) = kafka.requests.of("CreateTopics")
        assert requested.forwarded is not None
        assert (requested.broker, requested.forwarded.outcome, requested.forwarded.forwarded_from) == (
            1,
            "answered",
            requested,
        )
        (envelope,) = kafka.peer_requests.of("Envelope")
        (inner,) = kafka.peer_requests.of("CreateTopics")
        assert inner is requested.forwarded
        assert envelope.broker == inner.broker == 3
        assert not kafka.requests.of("Envelope", "Fetch", "BrokerHeartbeat")
        kafka.peer_requests.clear()
        assert not kafka.peer_requests.of("Envelope")
        assert kafka.requests.of("CreateTopics") == [requested]
        kafka.reset()
        assert not kafka.requests.of("CreateTopics")
        create(kafka, "t")
        assert len(kafka.peer_requests.of("Envelope")) == 1


def test_peer_requests_are_not_kept_by_default() -> None:
    with KafkaDouble(brokers=2) as kafka:
        create(kafka, "t")
        (requested,) = kafka.requests.of("CreateTopics")
        assert requested.forwarded is None
        with pytest.raises(UsageError, match="give peer_requests=True"):
            _ = kafka.peer_requests


def test_a_single_node_has_none() -> None:
    with KafkaDouble(peer_requests=True) as kafka:
        ask(kafka.bootstrap_servers, MetadataRequest(topics=[]), 12)
        assert [seen.api for seen in kafka.requests] == ["Metadata"]
        assert len(kafka.peer_requests) == 0


def commit_twice(kafka: KafkaDouble) -> None:
    """The second transaction begins when the markers of the first one are written."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "orders", "linger.ms": 0})
    producer.init_transactions(20)
    for _ in range(2):
        producer.begin_transaction()
        producer.produce("t", b"pear")
        producer.commit_transaction(20)


def test_a_request_of_a_node_to_itself_is_one_of_them() -> None:
    with KafkaDouble(peer_requests=True) as kafka:
        commit_twice(kafka)
        first = kafka.peer_requests.of("WriteTxnMarkers")[0]
        assert (first.outcome, first.broker, first.api) == ("answered", 1, "WriteTxnMarkers")
        assert first.answer.markers[0].topics[0].partitions[0].error_code == 0
        assert not kafka.requests.of("WriteTxnMarkers")


@pytest.mark.parametrize(
    ("verb", "outcome"), [("disconnect", "disconnected"), ("ignore", "abandoned"), ("drop_answer", "abandoned")]
)
def test_a_rule_applies_to_a_request_of_a_node_to_itself(verb: str, outcome: str) -> None:
    """It is sent again: at once, or when its time is over."""
    with KafkaDouble(peer_requests=True, config={"request.timeout.ms": 500}) as kafka:
        rule = getattr(kafka, verb)("WriteTxnMarkers", peers=True)
        commit_twice(kafka)
        assert rule.hits == 1
        assert [seen.outcome for seen in kafka.peer_requests.of("WriteTxnMarkers")][:2] == [outcome, "answered"]


def test_a_part_of_a_request_of_a_node_to_itself_fails() -> None:
    with KafkaDouble(peer_requests=True) as kafka:
        rule = kafka.fail("WriteTxnMarkers", "NOT_LEADER_OR_FOLLOWER", topic="t", peers=True)
        commit_twice(kafka)
        assert rule.hits == 1
        errors = [seen.error for seen in kafka.peer_requests.of("WriteTxnMarkers")][:2]
        assert errors == ["NOT_LEADER_OR_FOLLOWER", None]


def test_a_rule_for_clients_does_not_apply_to_a_request_of_a_node_to_itself() -> None:
    with KafkaDouble(peer_requests=True) as kafka:
        with kafka.fail("WriteTxnMarkers", "NOT_LEADER_OR_FOLLOWER", topic="t") as rule:
            commit_twice(kafka)
        assert rule.hits == 0
