"""Requests to a broker for partitions that another broker leads: which are refused with a wrong
leader, and which a follower answers.

Apache Kafka 4.4 with three brokers does the same; `interop/differential/scripts/three` shows it.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_producers import DescribeProducersRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from tests.kips.replicas import TOPIC, Replicas
from tests.server.machine import produce_request
from tests.server.topic_requests import purging

LEADER, FOLLOWER, STRANGER = 11, 12, 13
CONSUMER, DEBUGGING = -1, -2
NONE, NOT_LEADER = error_codes.NONE, error_codes.NOT_LEADER_OR_FOLLOWER
FENCED, UNKNOWN = error_codes.FENCED_LEADER_EPOCH, error_codes.UNKNOWN_LEADER_EPOCH


@pytest.fixture(scope="module")
def replicas() -> Replicas:
    """Three records, a follower that is in sync, and a broker that has no replica."""
    made = Replicas()
    made.start(STRANGER)
    made.until(lambda: len(made.cluster.leader.controller.image.live_brokers()) == 3)
    assert made.produce(b"a", b"b", b"c") == (NONE, 0)
    made.until(lambda: made.log(FOLLOWER).high_watermark == 3)
    return made


def ask(replicas: Replicas, broker: int, body: Any, version: int) -> Any:
    return replicas.cluster.ask(replicas.cluster.nodes[broker], body, version)


def fetch(replicas: Replicas, broker: int, version: int, replica: int = CONSUMER, epoch: int = -1) -> Any:
    of = FetchRequest
    topic_id = replicas.cluster.leader.controller.image.topic_ids[TOPIC]
    partition = of.FetchPartition(partition=0, current_leader_epoch=epoch, partition_max_bytes=1000)
    topic = of.FetchTopic(topic=TOPIC, topic_id=topic_id, partitions=[partition])
    state = of.ReplicaState(replica_id=replica)
    return ask(replicas, broker, of(replica_state=state, max_wait_ms=0, topics=[topic], max_bytes=1000), version)


def leader_and_places(answer: Any, partition: Any) -> tuple[int, int, list[int]]:
    leader = partition.current_leader
    return leader.leader_id, leader.leader_epoch, [endpoint.node_id for endpoint in answer.node_endpoints]


@pytest.mark.parametrize("broker", [FOLLOWER, STRANGER])
def test_a_producer_at_a_follower_is_redirected_to_the_leader(replicas: Replicas, broker: int) -> None:
    answer = ask(replicas, broker, produce_request(TOPIC, b"x", acks=1, timeout_ms=1000), 10)
    response = answer.responses[0].partition_responses[0]
    assert response.error_code == NOT_LEADER
    assert leader_and_places(answer, response) == (LEADER, 0, [LEADER])


def test_a_consumer_at_a_broker_without_a_replica_is_redirected_to_the_leader(replicas: Replicas) -> None:
    answer = fetch(replicas, STRANGER, 16)
    found = answer.responses[0].partitions[0]
    assert found.error_code == NOT_LEADER
    assert leader_and_places(answer, found) == (LEADER, 0, [LEADER])


def test_a_replica_gets_the_leader_id_without_its_endpoint(replicas: Replicas) -> None:
    answer = fetch(replicas, FOLLOWER, 16, replica=STRANGER)
    found = answer.responses[0].partitions[0]
    assert found.error_code == NOT_LEADER
    assert leader_and_places(answer, found) == (LEADER, 0, [])


def test_before_fetch_16_and_produce_10_no_leader_is_named(replicas: Replicas) -> None:
    answer = fetch(replicas, STRANGER, 15)
    found = answer.responses[0].partitions[0]
    assert (found.error_code, leader_and_places(answer, found)) == (NOT_LEADER, (-1, -1, []))
    answer = ask(replicas, FOLLOWER, produce_request(TOPIC, b"x", acks=1, timeout_ms=1000), 9)
    found = answer.responses[0].partition_responses[0]
    assert (found.error_code, leader_and_places(answer, found)) == (NOT_LEADER, (-1, -1, []))


@pytest.mark.parametrize(("epoch", "at_follower"), [(-1, NOT_LEADER), (0, NOT_LEADER), (-2, FENCED), (1, UNKNOWN)])
def test_a_follower_looks_at_the_epoch_first_and_a_stranger_does_not(
    replicas: Replicas, epoch: int, at_follower: int
) -> None:
    epochs, offsets = OffsetForLeaderEpochRequest, ListOffsetsRequest
    of_epoch = epochs.OffsetForLeaderPartition(partition=0, current_leader_epoch=epoch, leader_epoch=0)
    of_time = offsets.ListOffsetsPartition(partition_index=0, current_leader_epoch=epoch, timestamp=-1)
    for broker, code in ((FOLLOWER, at_follower), (STRANGER, NOT_LEADER)):
        requested = epochs(replica_id=-1, topics=[epochs.OffsetForLeaderTopic(topic=TOPIC, partitions=[of_epoch])])
        assert ask(replicas, broker, requested, 4).topics[0].partitions[0].error_code == code
        times = offsets(replica_id=CONSUMER, topics=[offsets.ListOffsetsTopic(name=TOPIC, partitions=[of_time])])
        assert ask(replicas, broker, times, 7).topics[0].partitions[0].error_code == code
        if broker == STRANGER:  # a follower serves this fetch
            assert fetch(replicas, broker, 17, epoch=epoch).responses[0].partitions[0].error_code == code


@pytest.mark.parametrize(("timestamp", "offset"), [(-1, 3), (-2, 0)])
def test_a_debugging_client_may_request_offsets_from_a_follower(
    replicas: Replicas, timestamp: int, offset: int
) -> None:
    of = ListOffsetsRequest
    partition = of.ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    requested = of(replica_id=DEBUGGING, topics=[of.ListOffsetsTopic(name=TOPIC, partitions=[partition])])
    found = ask(replicas, FOLLOWER, requested, 7).topics[0].partitions[0]
    assert (found.error_code, found.offset, found.leader_epoch) == (NONE, offset, 0)
    assert ask(replicas, STRANGER, requested, 7).topics[0].partitions[0].error_code == NOT_LEADER


def test_producers_are_described_where_there_is_a_replica(replicas: Replicas) -> None:
    requested = DescribeProducersRequest(
        topics=[DescribeProducersRequest.TopicRequest(name=TOPIC, partition_indexes=[0, 1])]
    )
    codes = {
        broker: [each.error_code for each in ask(replicas, broker, requested, 0).topics[0].partitions]
        for broker in (LEADER, FOLLOWER, STRANGER)
    }
    unknown = error_codes.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == {LEADER: [NONE, unknown], FOLLOWER: [NONE, unknown], STRANGER: [NOT_LEADER, unknown]}


def test_no_more_need_be_in_sync_than_there_are_replicas() -> None:
    replicas = Replicas(min_isr=3)
    assert replicas.produce(b"a") == (NONE, 0)
    replicas.kill(FOLLOWER)
    replicas.until(lambda: replicas.partition.isr == (LEADER,))
    request = produce_request(TOPIC, b"b", acks=-1, timeout_ms=1000)
    response = ask(replicas, LEADER, request, 9).responses[0].partition_responses[0]
    assert (response.error_code, response.log_start_offset) == (error_codes.NOT_ENOUGH_REPLICAS, 0)


def deleted(replicas: Replicas, offset: int, timeout_ms: int = 2000) -> tuple[int, int]:
    """Error code and low watermark."""
    requested = purging(TOPIC, offset, timeout_ms=timeout_ms)
    found = ask(replicas, LEADER, requested, 2).topics[0].partitions[0]
    return found.error_code, found.low_watermark


def test_records_are_deleted_when_the_followers_have_deleted_them() -> None:
    replicas = Replicas()
    assert replicas.produce(b"a", b"b", b"c") == (NONE, 0)
    assert deleted(replicas, 2) == (NONE, 2)
    assert replicas.log(FOLLOWER).log_start_offset == 2
    replicas.cluster.cut.add(FOLLOWER)
    assert deleted(replicas, 3) == (error_codes.REQUEST_TIMED_OUT, 2)
    assert replicas.log(LEADER).log_start_offset == 3, "its own are gone all the same"
    replicas.until(lambda: len(replicas.cluster.leader.controller.image.live_brokers()) == 1)
    replicas.until(lambda: len(replicas.cluster.nodes[LEADER].controller.image.live_brokers()) == 1)
    assert deleted(replicas, 3) == (NONE, 3), "a fenced replica is not waited for"
