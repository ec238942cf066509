"""Metadata that creates topics: under which settings, with which defaults, and how many."""

from __future__ import annotations

from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.server.harness import Harness


def codes(cluster: Harness, *names: str) -> dict[str, int]:
    """The error of each topic, when the client allows its creation."""
    topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    response = cluster.submit(MetadataRequest(topics=topics, allow_auto_topic_creation=True), 12)
    return {topic.name: topic.error_code for topic in response.topics}


def test_metadata_creates_no_topic_if_the_broker_forbids_it() -> None:
    cluster = Harness({"auto.create.topics.enable": False})
    for _ in range(2):
        assert codes(cluster, "new") == {"new": 3}


def test_metadata_of_too_many_unknown_topics_creates_no_topic() -> None:
    cluster = Harness()
    assert set(codes(cluster, *(f"n{number}" for number in range(10_001))).values()) == {3}
    assert cluster.image.topic_named("n0") is None


def test_metadata_creates_topics_with_the_defaults_of_the_broker() -> None:
    cluster = Harness({"num.partitions": 3})
    codes(cluster, "new", "__consumer_offsets")
    assert len(cluster.node.partitions.of_topic("new")) == 3
    assert len(cluster.node.partitions.of_topic("__consumer_offsets")) == 50
    assert cluster.partition("__consumer_offsets").log.config.compacts
