"""Replicas of a topic with `flush.messages=1`: an acknowledged record is on the disks of all
in-sync replicas, whatever happens to their power."""

from __future__ import annotations

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.replica import scheduled_tasks
from tests.kips.replicas import Replicas

A, B = 11, 12


@pytest.mark.parametrize("seed", range(12))
def test_a_follower_has_flushed_what_it_fetches_on_from(seed: int) -> None:
    """A fetch from a later offset claims that the follower has the earlier records, and the high
    watermark relies on it."""
    replicas = Replicas(flushing=True)
    for number in range(6):
        assert replicas.produce(b"m%d" % number * 50) == (0, number)
    replicas.lose_power(A, seed)
    replicas.lose_power(B, seed + 1000)
    replicas.until(lambda: replicas.leader == -1)
    replicas.start(A)
    replicas.start(B)
    replicas.until(lambda: replicas.leader != -1 and replicas.is_led)
    replicas.converge()
    assert all(b"m%d" % number in replicas.contents(id) for number in range(6) for id in (A, B))


def test_new_leader_flushes_its_unflushed_log() -> None:
    """Also when nothing else is written: otherwise a retry of an existing record would wait for
    ever."""
    replicas = Replicas(flushing=True)
    for number in range(3):
        assert replicas.produce(b"m%d" % number) == (0, number)
    replicas.kill(A)
    replicas.kill(B)
    replicas.until(lambda: replicas.leader == -1)
    for id in (A, B):
        replicas.start(id)
    replicas.until(lambda: replicas.leader != -1 and replicas.is_led)
    replicas.until(lambda: all(replicas.log(id).high_watermark == 3 for id in (A, B)))


def test_follower_log_is_flushed_like_the_leader_log() -> None:
    replicas = Replicas()
    assert replicas.produce(b"m") == (0, 0)
    replicas.cluster.step(1000)
    for id in replicas.ids:
        node = replicas.cluster.nodes[id]
        replicas.log(id).config = LogConfig({"flush.ms": 1})
        scheduled_tasks.flush_overdue_logs(node, node.now)
    replicas.cluster.step(10)
    assert [replicas.log(id).recovery_point for id in replicas.ids] == [1, 1]


def test_a_follower_that_flushes_keeps_up_beside_a_partition_that_is_idle() -> None:
    """A fetch of the idle partition alone would wait for data, and delay the report of what was
    flushed meanwhile."""
    replicas = Replicas(flushing=True)
    replicas.cluster.create("idle", brokers=replicas.ids)
    replicas.cluster.step(1000)
    begun = replicas.cluster.now
    for number in range(20):
        assert replicas.produce(b"m%d" % number) == (0, number)
    assert replicas.cluster.now - begun < 20 * 50
