"""One partition as its follower has it: where it truncates its log, and where it begins (KIP-101,
KIP-279)."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.replica.replication.follower_partition import FollowerPartition
from tests.server.log.batches import NOW, new_log, produced

LEADER, EPOCH = 1, 9


def following(*epochs: int) -> FollowerPartition:
    """A log with ten records of each of these epochs, in a batch each; five records are known to be
    committed."""
    log = new_log()
    for epoch in epochs:
        for _ in range(10):
            log.append_as_leader(produced(1), leader_epoch=epoch, now=NOW)
    log.high_watermark = 5
    return FollowerPartition(Uuid(b"t" * 16), log, LEADER, EPOCH)


@pytest.mark.parametrize(
    ("leaders", "end"),
    [
        (OffsetAndEpoch(10, 1), 10),  # the leader's epoch ends where ours does
        (OffsetAndEpoch(7, 1), 7),  # before ours: we have records that the leader does not have
        (OffsetAndEpoch(15, 1), 10),  # after ours: our records behind it are of another epoch
        # We do not have this epoch: our records before it end there.
        (OffsetAndEpoch(12, 2), 10),
        (OffsetAndEpoch(18, 3), 18),
        (OffsetAndEpoch(-1, -1), 5),  # the leader knows no epoch: the high watermark
    ],
)
def test_histories_are_cut_where_both_had_the_same(leaders: OffsetAndEpoch, end: int) -> None:
    follower = following(1, 3, 5)
    follower.truncate(leaders)
    assert follower.log.log_end_offset == end


def test_the_log_begins_where_that_of_the_leader_does() -> None:
    """Records that were deleted do not come back when this replica is elected (KIP-107)."""
    follower = following(1, 3)
    data = FetchResponse.PartitionData(high_watermark=20, log_start_offset=11, records=b"")
    follower.process(data, NOW)
    assert (follower.log.log_start_offset, follower.log.high_watermark) == (11, 20)
    data.log_start_offset = 4
    follower.process(data, NOW)
    assert follower.log.log_start_offset == 11
