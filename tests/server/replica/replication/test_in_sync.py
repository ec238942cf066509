"""The in-sync set as its leader knows it, when the controller's answers and the metadata cross on
the way (KIP-497)."""

from __future__ import annotations

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.replica.replication.in_sync_replicas import InSyncReplicas, RemoteReplica

LEADER, OTHER, THIRD = 1, 2, 3


def image_of(epoch: int, *isr: int) -> PartitionImage:
    replicas = (LEADER, OTHER, THIRD)
    return PartitionImage(replicas, (Uuid.ZERO,) * 3, isr, LEADER, leader_epoch=0, partition_epoch=epoch)


def in_sync_at(epoch: int, *isr: int) -> InSyncReplicas:
    replicas = InSyncReplicas(LEADER, image_of(epoch, *isr), epoch_start=0, now=0)
    for broker, offset in ((OTHER, 10), (THIRD, 7)):
        replicas.fetched(broker, offset, 10, now=0)
    return replicas


def test_metadata_older_than_what_the_controller_has_answered_change_nothing() -> None:
    """Otherwise the high watermark would pass a replica that is in sync according to the committed
    metadata."""
    in_sync = in_sync_at(5, LEADER, OTHER, THIRD)
    in_sync.apply_image(image_of(4, LEADER, OTHER), now=1)
    assert sorted(in_sync.isr) == [LEADER, OTHER, THIRD]
    assert in_sync.partition_epoch == 5
    assert in_sync.high_watermark(10, min_isr=1) == 7


def test_a_proposal_stays_when_the_metadata_bring_the_known_epoch() -> None:
    """The controller may have granted it by now."""
    in_sync = in_sync_at(4, LEADER, OTHER)
    in_sync.proposed = frozenset({LEADER, OTHER, THIRD})
    in_sync.apply_image(image_of(4, LEADER, OTHER), now=1)
    assert in_sync.high_watermark(10, min_isr=1) == 7


def test_newer_metadata_decide_a_proposal() -> None:
    in_sync = in_sync_at(4, LEADER, OTHER)
    in_sync.proposed = frozenset({LEADER, OTHER, THIRD})
    in_sync.apply_image(image_of(5, LEADER, OTHER), now=1)
    assert in_sync.high_watermark(10, min_isr=1) == 10


def test_a_follower_comes_in_from_the_start_of_the_epoch_on() -> None:
    """Below that offset, the replica might lack records that an earlier leader has committed,
    without this leader knowing (KIP-966)."""
    for epoch_start, high_watermark, offset, may in (
        (8, 5, 7, False),
        (8, 5, 8, True),
        (5, 8, 7, False),
        (5, 8, 8, True),
    ):
        in_sync = InSyncReplicas(LEADER, image_of(1, LEADER, OTHER), epoch_start, now=0)
        in_sync.fetched(OTHER, 10, 10, now=0)
        in_sync.fetched(THIRD, offset, 10, now=0)
        wished = in_sync.changed_isr(10, high_watermark, [THIRD], now=0, lag=100)
        assert wished == (frozenset({LEADER, OTHER, THIRD}) if may else None)


def test_older_metadata_do_not_change_the_replicas() -> None:
    in_sync = in_sync_at(5, LEADER, OTHER, THIRD)
    in_sync.apply_image(image_of(4, LEADER, OTHER)._replace(replicas=(LEADER, OTHER)), now=1)
    assert sorted(in_sync.remotes) == [OTHER, THIRD]
    assert in_sync.replicas == (LEADER, OTHER, THIRD)


@pytest.mark.parametrize(("min_isr", "high_watermark"), [(1, 10), (2, 10), (3, -1)])
def test_below_min_insync_replicas_the_high_watermark_does_not_move(min_isr: int, high_watermark: int) -> None:
    assert in_sync_at(5, LEADER, OTHER).high_watermark(10, min_isr) == high_watermark


def test_a_follower_that_keeps_up_is_in_sync_and_one_that_lags_is_not() -> None:
    """A follower of a busy leader never has every record; it is in sync if it has all that existed
    at its last fetch."""
    keeps_up, stands_still = RemoteReplica(now=0), RemoteReplica(now=0)
    for fetch in range(1, 6):
        keeps_up.fetched((fetch - 1) * 10, fetch * 10, now=fetch * 100)
        stands_still.fetched(0, fetch * 10, now=fetch * 100)
    assert keeps_up.is_in_sync(60, now=550, lag=200)
    assert not stands_still.is_in_sync(60, now=550, lag=200)


def test_a_follower_with_every_record_stays_in_sync_while_nothing_is_produced() -> None:
    remote = RemoteReplica(now=0)
    remote.fetched(10, 10, now=100)
    assert remote.is_in_sync(10, now=10**9, lag=200)
    assert remote.is_in_sync(11, now=300, lag=200)
    assert not remote.is_in_sync(11, now=301, lag=200)
