"""Followers that are caught up: their fetches read no partition, yet they still learn of every
change, and stay in sync."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.node import Node
from kafkadouble.server.replica.fetching import log_reader
from kafkadouble.server.replica.fetching.cached_partition import CachedPartition
from kafkadouble.server.replica.fetching.follower_fetch_session import FollowerFetchSession
from kafkadouble.server.replica.replication.follower_partition import FollowerPartition
from tests.server.controllers import Controllers
from tests.server.machine import produce_request
from tests.server.topic_requests import purging

BROKERS = (11, 12, 13)
PARTITIONS = 6
LAG_MS, WAIT_MS = 30_000, 500
"""replica.lag.time.max.ms and replica.fetch.wait.max.ms"""


@pytest.fixture
def cluster() -> Controllers:
    found = Controllers(1)
    found.add_brokers(BROKERS)
    found.create("t", partitions=PARTITIONS, replicas=3)
    found.until(lambda: all(found.nodes[id].controller.image.topic_named("t") is not None for id in BROKERS))
    produce(found)
    found.step(6 * WAIT_MS)
    return found


def leader_of(cluster: Controllers) -> Node:
    return cluster.nodes[cluster.topic("t").partitions[0].leader]


def produce(cluster: Controllers) -> None:
    answer = cluster.ask(leader_of(cluster), produce_request("t", b"v", acks=-1, timeout_ms=60_000), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0


def logs(cluster: Controllers) -> Iterator[Any]:
    """The log of partition 0 at each of its followers."""
    for id in BROKERS:
        node = cluster.nodes[id]
        assert node.fetchers is not None
        yield from (each.log for each in node.fetchers.partitions.values() if (each.topic, each.index) == ("t", 0))


def sessions(cluster: Controllers) -> list[FollowerFetchSession]:
    found = [each for id in BROKERS for each in cluster.nodes[id].fetch_sessions._sessions.values()]
    return [partition for partition in found if isinstance(partition, FollowerFetchSession)]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[CachedPartition]:
    """The partitions that are read from now on."""
    partitions: list[CachedPartition] = []
    really = log_reader.read

    def read(partition: Any, cached: CachedPartition, *others: Any, **named: Any) -> Any:
        partitions.append(cached)
        return really(partition, cached, *others, **named)

    monkeypatch.setattr(log_reader, "read", read)
    return partitions


def test_fetches_that_have_nothing_to_say_look_at_nothing(cluster: Controllers, looks: list[CachedPartition]) -> None:
    before = [session.epoch for session in sessions(cluster)]
    assert len(before) == 6
    cluster.step(4 * WAIT_MS)
    assert looks == []
    assert all(after >= epoch + 3 for after, epoch in zip([s.epoch for s in sessions(cluster)], before, strict=True))


def test_a_record_has_its_own_partition_looked_at(cluster: Controllers, looks: list[CachedPartition]) -> None:
    produce(cluster)
    cluster.step(4 * WAIT_MS)
    assert looks
    assert {(cached.topic, cached.index) for cached in looks} == {("t", 0)}
    looks.clear()
    cluster.step(4 * WAIT_MS)
    assert looks == []
    assert {log.high_watermark for log in logs(cluster)} == {2}


def test_followers_ask_for_what_has_moved(cluster: Controllers, monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[int] = []
    really = FollowerPartition.fetch_partition

    def ask(following: FollowerPartition, max_bytes: int) -> Any:
        requested.append(following.index)
        return really(following, max_bytes)

    monkeypatch.setattr(FollowerPartition, "fetch_partition", ask)
    cluster.step(4 * WAIT_MS)
    assert requested == []
    produce(cluster)
    cluster.step(4 * WAIT_MS)
    assert set(requested) == {0}
    assert {log.log_end_offset for log in logs(cluster)} == {2}


def test_each_record_is_fetched_at_once(cluster: Controllers) -> None:
    before = cluster.now
    for _ in range(20):
        produce(cluster)
    assert cluster.now - before < WAIT_MS, "no fetch had to be over first"


def test_followers_learn_where_the_log_begins(cluster: Controllers) -> None:
    answer = cluster.ask(leader_of(cluster), purging("t", 1), 2)
    assert answer.topics[0].partitions[0].error_code == 0
    cluster.step(2 * WAIT_MS)
    assert [log.log_start_offset for log in logs(cluster)] == [1, 1]


def test_a_follower_that_was_silent_for_long_is_in_sync_when_a_record_comes(cluster: Controllers) -> None:
    cluster.step(2 * LAG_MS)
    first = leader_of(cluster)
    partition = first.partitions.get("t", 0)
    assert partition is not None
    assert partition.in_sync is not None
    cluster.submit(first, produce_request("t", b"v", acks=1, timeout_ms=1000), 9, lambda answer: None)
    assert first.alter_partition_manager is not None
    first.alter_partition_manager.maybe_shrink_all()
    assert partition.in_sync.proposed is None, "both have fetched within the last half second"


def test_a_follower_that_stopped_silently_leaves_the_isr_a_lag_after_its_last_fetch(cluster: Controllers) -> None:
    first = leader_of(cluster)
    dead = next(id for id in BROKERS if id != first.id)
    cluster.step(LAG_MS)
    cluster.cut.add(dead)
    cluster.step(1000)
    partition = first.partitions.get("t", 0)
    assert partition is not None
    assert partition.in_sync is not None
    cluster.submit(first, produce_request("t", b"v", acks=1, timeout_ms=1000), 9, lambda answer: None)
    remote = partition.in_sync.remotes[dead]
    assert cluster.now - 1000 - 2 * WAIT_MS <= remote.last_caught_up <= cluster.now - 1000 + WAIT_MS
    cluster.until(lambda: partition.in_sync is not None and dead not in partition.in_sync.isr, 2 * LAG_MS)


def test_a_partition_in_a_new_epoch_is_looked_at(cluster: Controllers, looks: list[CachedPartition]) -> None:
    first = leader_of(cluster)
    partition = first.partitions.get("t", 0)
    assert partition is not None
    partition.lead(partition.leader_epoch + 1)
    cluster.step(2 * WAIT_MS)
    assert {(cached.topic, cached.index) for cached in looks} == {("t", 0)}
    assert partition.check_epoch(partition.leader_epoch - 1) == error_codes.FENCED_LEADER_EPOCH


def test_another_life_of_a_broker_has_everything_looked_at(cluster: Controllers) -> None:
    session = sessions(cluster)[0]
    replica = session._replica
    assert replica is not None
    assert session.for_replica(replica) is session
    assert session.partitions_to_read() == []
    assert session.for_replica((replica[0], replica[1] + 1)) is session
    assert len(session.partitions_to_read()) == len(session.partitions) == PARTITIONS // len(BROKERS)
    assert session.for_replica(None) is None
