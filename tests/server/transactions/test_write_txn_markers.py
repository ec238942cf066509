"""WriteTxnMarkers: each partition has its own outcome, and the answer waits for the replicas."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.write_txn_markers import WriteTxnMarkersRequest
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from tests.server.replica.replication.replicated_topic import BROKERS
from tests.server.transactions.broker import Broker
from tests.server.transactions.brokers import Brokers
from tests.support.transactional_producer import TransactionalProducer, committed_offset, committed_values

COMMIT, ABORT = True, False


def request(
    producer: TransactionalProducer,
    result: bool,
    *partitions: tuple[str, int],
    epoch: int | None = None,
    coordinator: int = 1,
    version: int = 1,
) -> WriteTxnMarkersRequest:
    of = WriteTxnMarkersRequest
    marker = of.WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch if epoch is None else epoch,
        transaction_result=result,
        topics=[of.WritableTxnMarkerTopic(name=topic, partition_indexes=[index]) for topic, index in partitions],
        coordinator_epoch=coordinator,
        transaction_version=version,
    )
    return of(markers=[marker])


def codes_of(response: Any) -> dict[tuple[str, int], int]:
    return {
        (topic.name, partition.partition_index): partition.error_code
        for marker in response.markers
        for topic in marker.topics
        for partition in topic.partitions
    }


def write(broker: Broker, *how: Any, **named: Any) -> list[int]:
    return list(codes_of(broker.ask(request(*how, **named), 2)).values())


@pytest.fixture
def producer(broker: Broker) -> TransactionalProducer:
    """It has an open transaction of version 1 in "t", epoch 1."""
    found = broker.producer(version=1)
    assert [found.init(), found.epoch, found.send(b"a"), found.send_offset(3)] == [0, 1, 0, 0]
    return found


@pytest.mark.parametrize(("result", "offset"), [(COMMIT, 3), (ABORT, -1)])
def test_the_groups_partition_completes_the_offsets_at_once(
    broker: Broker, producer: TransactionalProducer, result: bool, offset: int
) -> None:
    index = broker.node.groups.runtime.partition_of("g")
    assert committed_offset(broker.ask) == (codes.UNSTABLE_OFFSET_COMMIT, -1)
    assert write(broker, producer, result, (CONSUMER_OFFSETS, index)) == [0]
    assert committed_offset(broker.ask) == (0, offset)


def test_a_group_coordinator_that_is_not_here(broker: Broker, producer: TransactionalProducer) -> None:
    index = broker.node.groups.runtime.partition_of("g")
    broker.node.groups.runtime.on_resignation(broker.partition(CONSUMER_OFFSETS, index))
    assert write(broker, producer, COMMIT, (CONSUMER_OFFSETS, index)) == [codes.NOT_LEADER_OR_FOLLOWER]


def test_an_old_producer_epoch(broker: Broker, producer: TransactionalProducer) -> None:
    assert write(broker, producer, ABORT, ("t", 0), epoch=0) == [codes.INVALID_PRODUCER_EPOCH]
    assert broker.partition("t").log.log_end_offset == 1


@pytest.mark.parametrize("result", [COMMIT, ABORT])
def test_a_repeated_marker_changes_nothing(broker: Broker, producer: TransactionalProducer, result: bool) -> None:
    for _ in range(3):
        assert write(broker, producer, result, ("t", 0)) == [0]
    assert committed_values(broker.ask) == ([b"a"] if result else [])
    assert broker.partition("t").log.log_end_offset == 4


def test_a_marker_of_a_producer_that_wrote_nothing(broker: Broker, producer: TransactionalProducer) -> None:
    assert write(broker, producer, ABORT, ("t", 1)) == [0]
    assert committed_values(broker.ask, index=1) == []


def test_no_markers(broker: Broker) -> None:
    assert broker.ask(WriteTxnMarkersRequest(markers=[]), 2).markers == []


def test_the_producers_of_a_request_are_separate(broker: Broker, producer: TransactionalProducer) -> None:
    other = broker.producer("other", version=1)
    assert [other.init(), other.epoch, other.send(b"b")] == [0, 1, 0]
    body = request(producer, ABORT, ("t", 0))
    body.markers = [*body.markers, *request(other, COMMIT, ("t", 0), epoch=0).markers]
    response = broker.ask(body, 2)
    found = {marker.producer_id: marker.topics[0].partitions[0].error_code for marker in response.markers}
    assert found == {producer.producer_id: 0, other.producer_id: codes.INVALID_PRODUCER_EPOCH}


class TestReplicas:
    @pytest.fixture
    def brokers(self) -> Brokers:
        return Brokers()

    def test_a_follower_answers_that_it_does_not_lead(self, brokers: Brokers) -> None:
        producer = brokers.producer()
        body = request(producer, COMMIT, ("t", 0), ("alone", 0), (CONSUMER_OFFSETS, 0))
        found = codes_of(brokers.ask(brokers.coordinator, body, 2))
        not_leader, unknown = codes.NOT_LEADER_OR_FOLLOWER, codes.UNKNOWN_TOPIC_OR_PARTITION
        assert found == {("t", 0): not_leader, ("alone", 0): unknown, (CONSUMER_OFFSETS, 0): not_leader}

    def test_the_answer_waits_for_the_in_sync_replicas(self, brokers: Brokers) -> None:
        producer = brokers.producer()
        assert producer.send(b"a") == 0
        leader = brokers.led_by("t")
        assert leader is not None
        brokers.cut |= {id for id in BROKERS if id != leader.id}
        answers: list[Any] = []
        brokers.submit(leader, request(producer, COMMIT, ("t", 0)), 2, answers.append)
        brokers.step(1000)
        assert answers == []
        brokers.cut.clear()
        brokers.until(lambda: bool(answers))
        assert codes_of(answers[0]) == {("t", 0): 0}
        assert committed_values(brokers.route) == [b"a"]

    def test_too_few_replicas_are_in_sync(self, brokers: Brokers) -> None:
        producer = brokers.producer()
        assert producer.send(b"a") == 0
        leader = brokers.led_by("t")
        partition = None if leader is None else leader.partitions.get("t", 0)
        assert leader is not None
        assert partition is not None
        for id in BROKERS:
            if id != leader.id:
                brokers.kill(id)
        brokers.until(lambda: partition.lacks_replicas, 60_000)
        end = partition.log.log_end_offset
        found = codes_of(brokers.ask(leader, request(producer, COMMIT, ("t", 0)), 2))
        assert found == {("t", 0): codes.NOT_ENOUGH_REPLICAS}
        assert partition.log.log_end_offset == end
