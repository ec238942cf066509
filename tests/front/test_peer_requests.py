"""Requests between nodes, as a test of a user sees them."""

from __future__ import annotations

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.front.client import ask


def create(kafka: KafkaDouble, name: str) -> None:
    """By a client, at the first broker."""
    host, port = kafka.bootstrap_servers.split(",")[0].split(":")
    topic = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    answer = ask((host, int(port)), CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7)
    assert answer.topics[0].error_code == 0


def test_they_are_kept_apart_and_linked_to_the_request_of_the_client() -> None:
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


def test_they_are_not_kept_by_default() -> None:
    with KafkaDouble(brokers=2) as kafka:
        create(kafka, "t")
        (requested,) = kafka.requests.of("CreateTopics")
        assert requested.forwarded is None
        with pytest.raises(UsageError, match="give peer_requests=True"):
            _ = kafka.peer_requests


def test_a_single_node_has_none() -> None:
    with KafkaDouble(peer_requests=True) as kafka:
        host, port = kafka.bootstrap_servers.split(":")
        ask((host, int(port)), MetadataRequest(topics=[]), 12)
        assert [seen.api for seen in kafka.requests] == ["Metadata"]
        assert len(kafka.peer_requests) == 0
