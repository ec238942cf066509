"""Followers that are out of sync wait while the traffic of throttled replicas exceeds the quota;
in-sync followers never wait (KIP-73)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.server.config_requests import DELETE, incremental
from tests.server.controllers import Controllers
from tests.server.replica.replication.replicated_topic import (
    BROKERS,
    contents,
    leader,
    log_of,
    partition,
    produce,
    reassign,
)

TOPIC, BROKER = 2, 4
LEADER_RATE, FOLLOWER_RATE = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
LEADERS, FOLLOWERS = "leader.replication.throttled.replicas", "follower.replication.throttled.replicas"
KB = 1000
RECORDS, SIZE = 100, 100 * KB
FIRST, NEW = 11, 13
CHUNK = 2 * SIZE
"""The bytes that a follower gets in one fetch of a partition."""


@pytest.fixture
def cluster() -> Controllers:
    """Three brokers, of which one has a topic of 10 MB."""
    controllers = Controllers(1)
    controllers.add_brokers(BROKERS, {"replica.fetch.max.bytes": CHUNK})
    create(controllers, "t", FIRST)
    for _ in range(RECORDS):
        assert produce(controllers, bytes(SIZE))[0] == 0
    return controllers


def create(cluster: Controllers, name: str, *brokers: int) -> None:
    cluster.create(name, brokers=brokers)
    cluster.until(lambda: all(cluster.nodes[id].controller.image.topic_named(name) is not None for id in BROKERS))


def alter(cluster: Controllers, resource: int, name: str, **configs: str | int | None) -> None:
    """Sets these configurations; None removes one."""
    given = {key.replace("_", "."): DELETE if value is None else str(value) for key, value in configs.items()}
    body = incremental((resource, name, given))
    answer = cluster.ask(cluster.leader, body, 1)
    assert answer.responses[0].error_code == 0, answer
    cluster.step(1000)


def throttle(cluster: Controllers, rates: Mapping[str, int | None], lists: Mapping[str, str | None]) -> None:
    alter(cluster, BROKER, "", **rates)
    alter(cluster, TOPIC, "t", **lists)


def moved(cluster: Controllers, within: int = 120_000) -> int:
    """The time until another broker has the topic, too (ms)."""
    began = cluster.now
    assert reassign(cluster, FIRST, NEW) == 0
    cluster.until(lambda: set(partition(cluster).isr) == {FIRST, NEW}, within)
    assert contents(cluster.nodes[NEW]) == contents(leader(cluster))
    return cluster.now - began


def test_without_a_throttle_it_takes_no_time(cluster: Controllers) -> None:
    assert moved(cluster) < 1000


SIDES = {
    "the leader's side": ({LEADER_RATE: 500 * KB}, {LEADERS: "0:11"}),
    "the follower's side": ({FOLLOWER_RATE: 500 * KB}, {FOLLOWERS: "0:13"}),
    "both sides": ({LEADER_RATE: 500 * KB, FOLLOWER_RATE: 500 * KB}, {LEADERS: "0:11", FOLLOWERS: "0:13"}),
    "every replica": ({LEADER_RATE: 500 * KB, FOLLOWER_RATE: 500 * KB}, {LEADERS: "*", FOLLOWERS: "*"}),
    "the stricter one counts": ({LEADER_RATE: 500 * KB, FOLLOWER_RATE: 5000 * KB}, {LEADERS: "*", FOLLOWERS: "*"}),
}


@pytest.mark.parametrize(("rates", "lists"), SIDES.values(), ids=SIDES)
def test_a_reassignment_takes_the_time_that_the_rate_gives_it(
    cluster: Controllers, rates: dict[str, int], lists: dict[str, str]
) -> None:
    """10 MB at 500 KB a second take 20 seconds, except for the chunk that is sent before anything
    is measured, and the one in flight."""
    throttle(cluster, rates, lists)
    due = RECORDS * SIZE * 1000 // (500 * KB)
    assert due * 0.85 < moved(cluster) < due * 1.15


ELSEWHERE = {
    "another partition": ({LEADER_RATE: 1, FOLLOWER_RATE: 1}, {LEADERS: "1:11", FOLLOWERS: "1:13"}),
    "other brokers": ({LEADER_RATE: 1, FOLLOWER_RATE: 1}, {LEADERS: "0:13", FOLLOWERS: "0:11"}),
    "no replica": ({LEADER_RATE: 1, FOLLOWER_RATE: 1}, {LEADERS: "", FOLLOWERS: ""}),
    "no rate": ({}, {LEADERS: "*", FOLLOWERS: "*"}),
}


@pytest.mark.parametrize(("rates", "lists"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_unlisted_replica_or_missing_rate_is_not_throttled(
    cluster: Controllers, rates: dict[str, int], lists: dict[str, str]
) -> None:
    throttle(cluster, rates, lists)
    assert moved(cluster) < 1000


def test_a_rate_of_one_broker_is_for_that_one(cluster: Controllers) -> None:
    alter(cluster, TOPIC, "t", **{FOLLOWERS: "*"})
    alter(cluster, BROKER, "12", **{FOLLOWER_RATE: 1})
    assert moved(cluster) < 1000


def test_the_throttle_can_be_lifted_on_the_way(cluster: Controllers) -> None:
    throttle(cluster, {LEADER_RATE: 10 * KB}, {LEADERS: "*"})
    assert reassign(cluster, FIRST, NEW) == 0
    cluster.step(10_000)
    assert log_of(cluster.nodes[NEW]).log_end_offset < RECORDS // 10
    began = cluster.now
    alter(cluster, BROKER, "", **{LEADER_RATE: None})
    cluster.until(lambda: set(partition(cluster).isr) == {FIRST, NEW}, 5000)
    assert cluster.now - began < 3000


def test_in_sync_replicas_are_not_throttled(cluster: Controllers) -> None:
    """Whatever the rates are, and however long they are exceeded: acks=all is not delayed."""
    moved(cluster)
    throttle(cluster, {LEADER_RATE: 1, FOLLOWER_RATE: 1}, {LEADERS: "*", FOLLOWERS: "*"})
    for number in range(30):
        began = cluster.now
        assert produce(cluster, bytes(SIZE)) == (0, RECORDS + number)
        assert cluster.now - began <= 20
        cluster.step(200)
    cluster.step(40_000)  # replica.lag.time.max.ms is 30 s
    assert set(partition(cluster).isr) == {FIRST, NEW}


def test_a_leader_of_many_gives_at_once_what_it_did_not_give_before(cluster: Controllers) -> None:
    """As in Apache Kafka, the leader's rate is that of the last eleven seconds, beginning with its
    first answer to a follower. It sends at once what that period allows, and the rest when the
    period is over."""
    create(cluster, "free", FIRST, 12)
    cluster.step(15_000)
    throttle(cluster, {LEADER_RATE: 500 * KB}, {LEADERS: "*"})
    assert 10_500 < moved(cluster) < 12_500


def test_another_partition_of_the_same_leader_is_not_held_up(cluster: Controllers) -> None:
    create(cluster, "free", FIRST, NEW)
    throttle(cluster, {LEADER_RATE: 1, FOLLOWER_RATE: 1}, {LEADERS: "*", FOLLOWERS: "*"})
    assert reassign(cluster, FIRST, NEW) == 0
    cluster.step(5000)
    assert NEW not in partition(cluster).isr
    from tests.server.machine import produce_request

    for number in range(5):
        began = cluster.now
        request = produce_request("free", b"v", acks=-1, timeout_ms=5000)
        answer = cluster.ask(leader(cluster, "free"), request, 9).responses[0].partition_responses[0]
        assert (answer.error_code, answer.base_offset) == (0, number)
        assert cluster.now - began <= 1000


def test_throttled_replication_is_deterministic() -> None:
    def story() -> int:
        controllers = Controllers(1)
        controllers.add_brokers(BROKERS, {"replica.fetch.max.bytes": CHUNK})
        create(controllers, "t", FIRST)
        for _ in range(20):
            assert produce(controllers, bytes(SIZE))[0] == 0
        throttle(controllers, {LEADER_RATE: 300 * KB, FOLLOWER_RATE: 300 * KB}, {LEADERS: "*", FOLLOWERS: "*"})
        return moved(controllers)

    assert story() == story()
