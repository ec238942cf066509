"""The scenarios of KIP-101 and KIP-279, with brokers that fail and disks that lose data: in the end
all replicas hold the same bytes."""

from __future__ import annotations

import pytest

from tests.kips.replicas import Replicas

A, B, C = 11, 12, 13
SEEDS = range(12)


def test_high_watermark_truncation_followed_by_immediate_leader_election() -> None:
    """Scenario 1: a follower whose high watermark is behind restarts, and leads at once: its
    records are not truncated."""
    replicas = Replicas(min_isr=2, elr=True)
    assert replicas.produce(b"m1") == (0, 0)
    assert replicas.produce(b"m2") == (0, 1)
    assert replicas.log(B).high_watermark < 2, "it comes with the next answer"
    replicas.cluster.stop_broker(B)
    replicas.kill(A)
    replicas.until(lambda: replicas.leader == -1)
    replicas.start(B)
    replicas.led_by(B)
    assert b"m2" in replicas.contents(B)
    replicas.start(A)
    replicas.converge()
    assert b"m2" in replicas.contents(A)


@pytest.mark.parametrize("seed", SEEDS)
def test_replica_divergence_on_restart_after_multiple_hard_failures(seed: int) -> None:
    """Scenario 2: both lose power, the one that has less is back first and leads; the other finds
    by the epoch where their logs diverge."""
    replicas = Replicas(unclean=True)
    assert replicas.produce(b"m0") == (0, 0)
    replicas.cluster.step(1000)
    replicas.produce(b"m1", b"m1 too")
    replicas.lose_power(A, seed)
    replicas.lose_power(B, seed + 1000)
    replicas.until(lambda: replicas.leader == -1)
    replicas.start(B)
    replicas.led_by(B)
    error, offset = replicas.produce(b"m2", b"m2 too")
    assert error == 0
    replicas.start(A)
    replicas.converge()
    assert b"m2" in replicas.contents(A)
    last = replicas.log(B).epochs.latest
    assert replicas.log(A).end_offset_for_epoch(last).offset == offset + 2


@pytest.mark.parametrize("seed", SEEDS)
def test_fast_leader_fail_over_with_epochs_that_have_no_records(seed: int) -> None:
    """KIP-279: leaders change without writing, so that neither knows the other's last epoch; they
    still find the common part."""
    replicas = Replicas(unclean=True)
    assert replicas.produce(b"common") == (0, 0)
    replicas.cluster.step(1000)
    replicas.cluster.cut.add(B)
    replicas.produce(b"only A", acks=1)
    replicas.kill(A)
    replicas.cluster.cut.clear()
    replicas.led_by(B)
    replicas.lose_power(B, seed)
    replicas.until(lambda: replicas.leader == -1)
    replicas.start(A)
    replicas.led_by(A)
    assert replicas.produce(b"A again", acks=1)[0] == 0
    replicas.kill(A)
    replicas.start(B)
    replicas.led_by(B)
    assert replicas.produce(b"B", acks=1)[0] == 0
    replicas.start(A)
    replicas.converge()
    assert b"B" in replicas.contents(A)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_log_that_power_tore_is_mended_from_the_leader(seed: int) -> None:
    """A follower fetches again what it had not flushed, or only in part; no acknowledged record is
    lost."""
    replicas = Replicas(3, min_isr=2, elr=True)
    for number in range(6):
        assert replicas.produce(b"m%d" % number * 100) == (0, number)
    replicas.lose_power(B, seed)
    for number in range(6, 9):
        assert replicas.produce(b"m%d" % number * 100, acks=1) == (0, number)
    replicas.until(lambda: B not in replicas.partition.isr)
    replicas.start(B)
    replicas.converge()
    assert all(b"m%d" % number in replicas.contents(B) for number in range(9))


def test_a_leader_that_returns_without_an_election_leads_in_a_new_epoch() -> None:
    """The leader may have lost unflushed records: by the epoch, its followers learn which of their
    records to truncate (KAFKA-7128, KIP-966)."""
    replicas = Replicas(unclean=True)
    assert replicas.produce(b"m0") == (0, 0)
    before = replicas.partition.leader_epoch
    replicas.lose_power(A, 5)
    replicas.kill(B)
    replicas.until(lambda: replicas.leader == -1)
    replicas.start(A)
    replicas.led_by(A)
    assert replicas.partition.leader_epoch > before
    replicas.produce(b"m1", acks=1)
    replicas.start(B)
    replicas.converge()
