"""Partitions with several replicas: followers have the leader's records, committed records outlive
a leader, and the rest is truncated (KIP-101)."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.server.node import Node
from kafkadouble.server.replica.fetching.fetch_sessions import FetchSessionCache
from kafkadouble.server.requests.listener_spec import ListenerSpec
from tests.server.controllers import Controllers
from tests.server.machine import produce_request
from tests.server.replica.replication.replicated_topic import (
    BROKERS,
    alive,
    contents,
    create,
    fetched,
    leader,
    log_of,
    partition,
    produce,
    reassign,
    settled,
)
from tests.server.topic_requests import fetching
from tests.support.listeners import BROKER


@pytest.fixture
def cluster() -> Controllers:
    found = Controllers(1)
    found.add_brokers(BROKERS)
    create(found, "t")
    found.until(lambda: all(found.nodes[id].controller.image.topic_named("t") is not None for id in BROKERS))
    return found


def test_followers_get_byte_for_byte_what_the_leader_has(cluster: Controllers) -> None:
    for number in range(5):
        assert produce(cluster, b"v%d" % number) == (0, number)
    assert partition(cluster).isr == partition(cluster).replicas
    cluster.until(lambda: settled(cluster))
    assert len(contents(leader(cluster))) > 300
    cluster.step(1000)
    assert {log_of(node).high_watermark for node in alive(cluster)} == {5}


def test_acks_all_waits_for_every_in_sync_replica(cluster: Controllers) -> None:
    first = leader(cluster)
    follower = next(id for id in BROKERS if id != first.id)
    cluster.cut.add(follower)
    answers: list[Any] = []
    cluster.submit(first, produce_request("t", b"v", timeout_ms=60_000), 9, answers.append)
    cluster.step(5000)
    assert answers == []
    assert fetched(cluster, first)[1:] == (0, b""), "no reader sees what is not committed"
    assert produce(cluster, b"w", acks=1) == (0, 1)
    cluster.until(lambda: bool(answers), 60_000)
    assert answers[0].responses[0].partition_responses[0].error_code == 0
    assert follower not in partition(cluster).isr, "it fell out after replica.lag.time.max.ms"
    cluster.cut.clear()
    cluster.until(lambda: follower in partition(cluster).isr, 60_000)
    cluster.until(lambda: settled(cluster))


def test_a_waiting_producer_learns_that_another_broker_leads(cluster: Controllers) -> None:
    first = leader(cluster)
    cluster.cut.add(first.id)
    answers: list[Any] = []
    cluster.submit(first, produce_request("t", b"v", timeout_ms=120_000), 9, answers.append)
    cluster.until(lambda: partition(cluster).leader not in (first.id, -1), 60_000)
    cluster.cut.clear()
    cluster.until(lambda: bool(answers))
    assert answers[0].responses[0].partition_responses[0].error_code == error_codes.NOT_LEADER_OR_FOLLOWER


def test_below_min_insync_replicas_nothing_is_accepted(cluster: Controllers) -> None:
    first = leader(cluster)
    for id in BROKERS:
        if id != first.id:
            cluster.kill(id)
    cluster.until(lambda: len(partition(cluster).isr) == 1, 60_000)
    assert produce(cluster, b"v")[0] == error_codes.NOT_ENOUGH_REPLICAS
    assert produce(cluster, b"v", acks=1)[0] == 0


def test_a_killed_leader_is_replaced_by_one_that_has_every_record(cluster: Controllers) -> None:
    for number in range(3):
        assert produce(cluster, b"v%d" % number) == (0, number)
    first = leader(cluster)
    before, epoch = contents(first), partition(cluster).leader_epoch
    cluster.kill(first.id)
    cluster.until(lambda: partition(cluster).leader not in (first.id, -1))
    second = leader(cluster)
    cluster.until(lambda: second.partitions.get("t", 0) is not None)
    assert contents(second) == before
    assert partition(cluster).leader_epoch > epoch
    assert produce(cluster, b"more") == (0, 3)
    cluster.add_broker(first.id)
    cluster.until(lambda: first.id in partition(cluster).isr, 60_000)
    cluster.until(lambda: settled(cluster))
    assert list(log_of(cluster.nodes[first.id]).epochs.entries) == list(log_of(second).epochs.entries)


def test_unreplicated_records_are_truncated_when_the_old_leader_returns(cluster: Controllers) -> None:
    """The record is not committed, and another takes its offset: the epochs tell where the logs
    diverged (KIP-101)."""
    assert produce(cluster, b"common") == (0, 0)
    first = leader(cluster)
    others = [id for id in BROKERS if id != first.id]
    cluster.cut.update(others)
    assert produce(cluster, b"lost", b"too", acks=1) == (0, 1)
    cluster.kill(first.id)
    cluster.cut.clear()
    cluster.until(lambda: partition(cluster).leader in others)
    cluster.until(lambda: leader(cluster).partitions.get("t", 0) is not None)
    assert produce(cluster, b"instead") == (0, 1)
    back = cluster.add_broker(first.id)
    cluster.until(lambda: first.id in partition(cluster).isr, 60_000)
    cluster.until(lambda: settled(cluster))
    assert b"lost" not in contents(back)
    assert b"instead" in contents(back)


def test_a_follower_that_lost_its_log_gets_all_of_it_again(cluster: Controllers) -> None:
    for number in range(3):
        assert produce(cluster, b"v%d" % number) == (0, number)
    follower = next(id for id in BROKERS if id != leader(cluster).id)
    cluster.wipe(follower)
    cluster.until(lambda: follower not in partition(cluster).isr, 60_000)
    cluster.add_broker(follower)
    cluster.until(lambda: follower in partition(cluster).isr, 60_000)
    cluster.until(lambda: settled(cluster))


def test_a_replica_moves_to_another_broker(cluster: Controllers) -> None:
    """A new replica is added, comes into sync, and then the old one is removed, with its log
    (KIP-455)."""
    for number in range(3):
        assert produce(cluster, b"v%d" % number) == (0, number)
    first, second, third = partition(cluster).replicas
    assert reassign(cluster, first, second) == 0
    cluster.until(lambda: tuple(partition(cluster).replicas) == (first, second))
    cluster.until(lambda: not cluster.nodes[third].fetchers.partitions)  # type: ignore[union-attr]  # a broker has them
    assert produce(cluster, b"more") == (0, 3)
    assert reassign(cluster, third, second) == 0
    cluster.until(
        lambda: tuple(partition(cluster).replicas) == (third, second) and not partition(cluster).adding_replicas
    )
    assert set(partition(cluster).isr) == {third, second}
    cluster.until(lambda: leader(cluster).partitions.get("t", 0) is not None)
    cluster.until(lambda: cluster.nodes[first].partitions.get("t", 0) is None)
    topic_id = cluster.leader.controller.image.topic_ids["t"]
    kept = cluster.nodes[first].logs.open("t", topic_id, 0, log_of(leader(cluster)).config, cluster.now)
    assert kept.log_end_offset == 0, "it has led, and is no replica any more"
    assert produce(cluster, b"last") == (0, 4)
    cluster.until(lambda: contents(cluster.nodes[third]) == contents(cluster.nodes[second]))


def test_a_producer_that_waits_for_replicas_learns_of_the_new_leader(cluster: Controllers) -> None:
    """The batch may have reached the new leader, and be acknowledged there: so the error differs
    from that of a deleted topic."""
    first, second, third = partition(cluster).replicas
    cluster.cut.add(second)
    answers: list[Any] = []
    cluster.submit(cluster.nodes[first], produce_request("t", b"v", timeout_ms=60_000), 10, answers.append)
    cluster.step(1000)
    assert answers == []
    assert reassign(cluster, third, second) == 0
    cluster.until(lambda: bool(answers))
    (result,) = answers[0].responses[0].partition_responses
    assert (result.error_code, result.base_offset) == (error_codes.NOT_LEADER_OR_FOLLOWER, 0)
    assert result.current_leader.leader_id == third


def test_a_follower_goes_on_over_a_leader_that_forgets_its_session(cluster: Controllers) -> None:
    assert produce(cluster, b"v") == (0, 0)
    cluster.step(1000)
    leader(cluster).fetch_sessions = FetchSessionCache(10, Random(1))
    assert produce(cluster, b"w") == (0, 1)
    cluster.until(lambda: settled(cluster))


def test_a_leader_that_stops_in_order_hands_over_first(cluster: Controllers) -> None:
    assert produce(cluster, b"v") == (0, 0)
    first = leader(cluster)
    cluster.stop_broker(first.id)
    assert partition(cluster).leader not in (first.id, -1)
    cluster.until(lambda: leader(cluster).partitions.get("t", 0) is not None)
    assert produce(cluster, b"w") == (0, 1)


RACKS = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}


def near(cluster: Controllers, node: Node, rack: str, offset: int = 0, listener: ListenerSpec = BROKER) -> Any:
    request = fetching("t", offset, max_wait_ms=500, rack_id=rack)
    return cluster.ask(node, request, 12, listener=listener).responses[0].partitions[0]


def test_a_consumer_reads_in_its_own_rack() -> None:
    """The leader names the follower in the consumer's rack, which serves records up to the high
    watermark that it knows (KIP-392)."""
    cluster = Controllers(1)
    for id in BROKERS:
        cluster.add_broker(id, {**RACKS, "broker.rack": f"rack-{id}"})
    cluster.until(lambda: len(cluster.leader.controller.image.live_brokers()) == 3)
    create(cluster, "t")
    cluster.until(lambda: all(cluster.nodes[id].controller.image.topic_named("t") is not None for id in BROKERS))
    assert produce(cluster, b"v") == (0, 0)
    cluster.step(1000)
    first = leader(cluster)
    other = next(id for id in BROKERS if id != first.id)
    sent = near(cluster, first, f"rack-{other}")
    assert (sent.preferred_read_replica, bytes(sent.records or b"")) == (other, b"")
    assert near(cluster, first, f"rack-{first.id}").preferred_read_replica == -1
    assert near(cluster, first, "nowhere").preferred_read_replica == -1
    not_advertised = BROKER._replace(name="OTHER")
    assert near(cluster, first, f"rack-{other}", listener=not_advertised).preferred_read_replica == -1
    given = near(cluster, cluster.nodes[other], f"rack-{other}")
    assert (given.error_code, given.high_watermark) == (0, 1)
    assert bytes(given.records) == contents(first)
    answers: list[Any] = []
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=1 << 20)
    topic = FetchRequest.FetchTopic(topic="t", partitions=[partition])
    request = FetchRequest(max_wait_ms=5000, min_bytes=1, max_bytes=1 << 20, topics=[topic])
    cluster.submit(cluster.nodes[other], request, 12, answers.append)
    assert produce(cluster, b"w") == (0, 1)
    cluster.until(lambda: bool(answers), 2000)
    assert b"w" in bytes(answers[0].responses[0].partitions[0].records)
