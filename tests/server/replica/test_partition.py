"""One partition that is led here: epochs, appends, and the waiters that they wake."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.replica.replication.in_sync_replicas import InSyncReplicas
from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.server.requests.waiting import Until, Wait, Waiting
from kafkadouble.wire.batch import Record, encode_batch, read_header

NOW = 1_700_000_000_000


@pytest.fixture
def partition() -> Partition:
    return Partition(Uuid(b"t" * 16), 1, 5, PartitionLog("t", 3))


def batch(value: bytes = b"v") -> bytes:
    return bytes(encode_batch([Record(0, NOW, b"k", value)]))


@pytest.mark.parametrize(
    ("epoch", "code"),
    [
        (-1, error_codes.NONE),
        (-2, error_codes.FENCED_LEADER_EPOCH),
        (5, error_codes.NONE),
        (4, error_codes.FENCED_LEADER_EPOCH),
        (0, error_codes.FENCED_LEADER_EPOCH),
        (6, error_codes.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_leader_epoch_of_a_client_is_checked(partition: Partition, epoch: int, code: int) -> None:
    assert partition.check_epoch(epoch) == code


def test_an_append_is_committed_at_once_and_carries_the_epoch(partition: Partition) -> None:
    result = partition.append(batch(), NOW)
    assert (result.base_offset, partition.high_watermark) == (0, 1)
    own = partition.append_own(encode_batch([Record(0, NOW, None, b"own")], seal=False), NOW)
    assert (own.base_offset, partition.high_watermark) == (1, 2)
    headers = [read_header(stored) for stored in partition.log.batches(0)]
    assert [(header.base_offset, header.partition_leader_epoch) for header in headers] == [(0, 5), (1, 5)]


def waiting_for(partition: Partition, lacking: int) -> tuple[Waiting, list[bool]]:
    waiting, woken = Waiting(), list[bool]()

    def steps() -> Wait[None]:
        woken.append((yield Until(None, [partition.waiters], lacking)))

    waiting.start(steps(), lambda result: None, lambda failure: None)
    return waiting, woken


def test_a_waiter_is_woken_by_as_many_bytes_as_it_lacks(partition: Partition) -> None:
    size = len(batch())
    waiting, woken = waiting_for(partition, size + 1)
    partition.append(batch(), NOW)
    waiting.run(NOW)
    assert woken == []
    partition.append(batch(), NOW)
    waiting.run(NOW)
    assert woken == [True]


def test_duplicate_batch_wakes_no_fetch(partition: Partition) -> None:
    produced = bytes(encode_batch([Record(0, NOW, None, b"v")], producer_id=7, producer_epoch=0, base_sequence=0))
    partition.append(produced, NOW)
    waiting, woken = waiting_for(partition, 1)
    assert partition.append(produced, NOW).duplicate
    waiting.run(NOW)
    assert woken == []
    assert partition.high_watermark == 1


def test_a_later_epoch_wakes_all_and_an_earlier_one_is_none(partition: Partition) -> None:
    waiting, woken = waiting_for(partition, 10**9)
    partition.lead(4)
    waiting.run(NOW)
    assert (partition.leader_epoch, woken) == (5, [])
    partition.lead(8)
    waiting.run(NOW)
    assert (partition.leader_epoch, woken) == (8, [True])
    assert partition.log.epochs.latest == 8
    assert repr(partition).startswith("led in epoch 8")


def test_the_high_watermark_does_not_go_back_with_a_follower_that_lost_its_log() -> None:
    image = PartitionImage((1, 2), (Uuid.ZERO,) * 2, (1, 2), 1, leader_epoch=5, partition_epoch=1)
    partition = Partition(Uuid(b"t" * 16), 1, 5, PartitionLog("t", 3), in_sync=InSyncReplicas(1, image, 0, NOW))
    for _ in range(4):
        partition.append(batch(), NOW)
    partition.fetched(2, 3, NOW)
    assert partition.high_watermark == 3
    for offset in (1, 0, 2, 3):
        partition.fetched(2, offset, NOW)
        assert partition.high_watermark == 3
    partition.fetched(2, 4, NOW)
    assert partition.high_watermark == 4
