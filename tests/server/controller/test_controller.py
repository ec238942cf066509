"""What the controller writes first, how a decision is shown, and what it makes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.leader_change_message import LeaderChangeMessage
from kafkadouble.server.metadata.image import BROKER, TOPIC, Image
from kafkadouble.server.metadata.metadata_log import decode_batches
from kafkadouble.server.requests.request import Refusal
from kafkadouble.wire.batch import LEADER_CHANGE, control_type, decode_records, read_header
from tests.server.harness import Harness

BOOTSTRAP = [
    [],  # the leader change
    [
        "BeginTransactionRecord",
        *["FeatureLevelRecord"] * 6,
        "ConfigRecord",
        "EndTransactionRecord",
    ],
    ["RegisterControllerRecord"],
    ["RegisterBrokerRecord"],
    ["BrokerRegistrationChangeRecord"],
]


def test_a_new_cluster_begins_as_kafkas_does() -> None:
    cluster = Harness({"broker.rack": "r1"})
    batches = [batch for chunk in cluster.node.controller.log.batches(0) for batch in decode_batches(chunk)]
    assert [[type(record).__name__ for record in batch.records] for batch in batches] == BOOTSTRAP
    image = cluster.image
    assert image.features["metadata.version"] == 33
    assert dict(image.config_overrides(BROKER, "")) == {"min.insync.replicas": "1"}
    [broker] = image.live_brokers()
    assert (broker.id, broker.rack, len(broker.log_dirs)) == (1, "r1", 1)
    assert broker.epoch == batches[2].end.offset, "a broker's epoch is the offset of its registration"
    assert list(image.controllers) == [1]


def test_the_log_begins_with_a_leader_change() -> None:
    first = next(iter(Harness().node.controller.log.batches(0)))
    assert read_header(first).is_control
    [record] = decode_records(first)
    assert control_type(record) == (0, LEADER_CHANGE)
    change = LeaderChangeMessage.decode(record.value or b"", 0)
    assert (change.leader_id, [voter.voter_id for voter in change.voters]) == (1, [1])


def test_the_first_min_insync_replicas_is_that_of_the_settings() -> None:
    assert dict(Harness({"min.insync.replicas": 2}).image.config_overrides(BROKER, "")) == {"min.insync.replicas": "2"}


def test_the_same_seed_gives_the_same_bytes() -> None:
    def written(seed: int) -> bytes:
        cluster = Harness(seed=seed)
        cluster.create("t", partitions=2)
        return b"".join(bytes(batch) for batch in cluster.node.controller.log.batches(0))

    assert written(1) == written(1)
    assert written(1) != written(2)


def test_a_decision_without_records_writes_nothing() -> None:
    cluster = Harness()
    before = cluster.image
    cluster.node.controller.commit([])
    assert cluster.image is before
    assert cluster.node.controller.log.log_end_offset == before.end.offset


def feature(name: str) -> Any:
    return FeatureLevelRecord(name=name, feature_level=1)


def test_every_listener_gets_every_change_in_order_even_when_one_of_them_commits() -> None:
    cluster = Harness()
    controller = cluster.node.controller
    seen: list[str] = []

    def first(before: Image, after: Image, records: Sequence[Any]) -> None:
        seen.append(f"first {records[0].name}")
        assert records[0].name not in before.features
        assert records[0].name in after.features
        if records[0].name == "a":
            controller.commit([feature("b")])

    def second(before: Image, after: Image, records: Sequence[Any]) -> None:
        seen.append(f"second {records[0].name}")

    controller.listeners += [first, second]
    controller.commit([feature("a")])
    assert seen == ["first a", "second a", "first b", "second b"]


def test_a_listener_that_fails_does_not_stop_those_after_it_for_good() -> None:
    cluster = Harness()
    seen: list[str] = []

    def failing(before: Image, after: Image, records: Sequence[Any]) -> None:
        if records[0].name == "a":
            raise RuntimeError("on purpose")
        seen.append(records[0].name)

    cluster.node.controller.listeners.append(failing)
    with pytest.raises(RuntimeError, match="on purpose"):
        cluster.node.controller.commit([feature("a")])
    cluster.node.controller.commit([feature("b")])
    assert seen == ["b"]


INTERNAL = {  # name -> partitions, and configurations as Kafka 4.4 writes them
    "__consumer_offsets": (
        50,
        {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "104857600"},
    ),
    "__transaction_state": (
        50,
        {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": "1",
            "segment.bytes": "104857600",
            "unclean.leader.election.enable": "false",
        },
    ),
    "__share_group_state": (
        50,
        {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "min.insync.replicas": "1",
            "retention.ms": "-1",
            "segment.bytes": "104857600",
        },
    ),
}


@pytest.mark.parametrize("name", INTERNAL)
def test_topics_of_coordinators(name: str) -> None:
    cluster = Harness()
    topic = cluster.node.controller.create_internal_topic(name)
    partitions, configs = INTERNAL[name]
    assert len(topic.partitions) == partitions
    assert dict(cluster.image.config_overrides(TOPIC, name)) == configs
    assert len(cluster.node.partitions.of_topic(name)) == partitions
    log_config = cluster.partition(name).log.config
    assert log_config.compacts == (configs["cleanup.policy"] == "compact")
    assert log_config.segment_bytes == 104857600


def test_a_topic_of_a_coordinator_is_made_once() -> None:
    cluster = Harness({"offsets.topic.num.partitions": 3, "offsets.topic.segment.bytes": 1048576})
    first = cluster.node.controller.create_internal_topic("__consumer_offsets")
    end = cluster.image.end
    assert len(first.partitions) == 3
    assert cluster.partition("__consumer_offsets").log.config.segment_bytes == 1048576
    assert cluster.node.controller.create_internal_topic("__consumer_offsets") is first
    assert cluster.image.end == end


def test_a_topic_of_a_coordinator_that_cannot_be_made() -> None:
    cluster = Harness({"offsets.topic.replication.factor": 3})
    with pytest.raises(Refusal) as refused:
        cluster.node.controller.create_internal_topic("__consumer_offsets")
    assert refused.value.code == error_codes.INVALID_REPLICATION_FACTOR
    assert cluster.image.topic_named("__consumer_offsets") is None


def test_producer_ids_come_in_blocks_of_a_thousand() -> None:
    cluster = Harness()
    ids = cluster.node.controller.producer_ids
    end = cluster.image.end.offset
    assert [ids.next() for _ in range(1000)] == list(range(1000))
    assert (cluster.image.next_producer_id, cluster.image.end.offset) == (1000, end + 1)
    assert ids.next() == 1000
    assert (cluster.image.next_producer_id, cluster.image.end.offset) == (2000, end + 2)
    [last] = decode_batches(next(iter(cluster.node.controller.log.batches(end + 1))))
    [record] = last.records
    assert record.broker_id == 1  # type: ignore[attr-defined]  # a ProducerIdsRecord
    assert record.broker_epoch == cluster.image.brokers[1].epoch  # type: ignore[attr-defined]


def test_topic_ids_are_random_uuids() -> None:
    cluster = Harness()
    cluster.create(*(f"t{number}" for number in range(20)))
    assert len(cluster.image.topics) == 20
    assert all(topic_id[6] >> 4 == 4 and topic_id[8] >> 6 == 2 for topic_id in cluster.image.topics)
