"""A segment that lost whole batches at its end, though the next segment is there: only a tail of
the log may be lost.
"""

from __future__ import annotations

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import read_header

from ..batches import NOW, everything, produced
from .lossy_disk import LossyDisk

ONE = len(produced(1))


def opened(disk: LossyDisk, recovery_point: int = 0, policy: str = "delete", start: int = 0) -> PartitionLog:
    settings = LogConfig.of({"segment.bytes": 3 * ONE, "cleanup.policy": policy})
    return open_log(
        disk, "t-0", "t", 0, settings, clean=False, recovery_point=recovery_point, log_start_offset=start, now=NOW
    )


def with_a_hole(count: int = 8, cut: int = 3, left: int = 2) -> LossyDisk:
    """A log of so many batches in one epoch, three to a segment. The segment from `cut` on keeps
    only `left` of them."""
    disk = LossyDisk()
    log = opened(disk)
    for number in range(count):
        log.append_as_leader(produced(1, timestamp=NOW + number), leader_epoch=0, now=NOW)
    disk = disk.copy()
    disk.open(f"t-0/{cut:020d}.log").truncate(left * ONE)
    return disk


def offsets(log: PartitionLog) -> list[int]:
    return [read_header(batch).base_offset for batch in log.batches(0)]


@pytest.mark.parametrize("left", [0, 1, 2])
def test_the_log_ends_where_something_is_missing(left: int, caplog: pytest.LogCaptureFixture) -> None:
    log = opened(with_a_hole(left=left))
    assert (offsets(log), log.log_end_offset) == ([*range(3 + left)], 3 + left)
    assert f"the offsets from {3 + left} to 5 are missing" in caplog.text


def test_an_empty_segment_at_the_end_is_no_end() -> None:
    disk = with_a_hole()
    disk.open(f"t-0/{6:020d}.log").truncate(0)
    assert opened(disk).log_end_offset == 5


def test_flushed_segments_may_have_offset_gaps() -> None:
    assert offsets(opened(with_a_hole(), recovery_point=7)) == [0, 1, 2, 3, 4, 6, 7]


def test_compaction_leaves_gaps() -> None:
    assert offsets(opened(with_a_hole(), policy="compact")) == [0, 1, 2, 3, 4, 6, 7]


@pytest.mark.parametrize("start", [6, 7])
def test_segments_below_the_log_start_are_not_missing(start: int) -> None:
    log = opened(with_a_hole(), start=start)
    assert everything(log) == [*range(start, 8)]


@pytest.mark.parametrize("recovery_point", [0, 1])
@pytest.mark.parametrize("count", [2, 7])
def test_a_cut_within_a_batch_leaves_a_gap_that_is_no_hole(count: int, recovery_point: int) -> None:
    """Even when the segment has no room for the next batch, it goes on: so a gap between two
    segments is never ours."""
    disk = LossyDisk()
    log = opened(disk)
    log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    log.append_as_leader(produced(4), leader_epoch=0, now=NOW)
    log.commit_all()
    log.truncate_to(3)
    for _ in range(4):
        log.append_as_leader(produced(count), leader_epoch=1, now=NOW)
    assert len(log.segments) > 1
    before = offsets(log)
    assert before[:2] == [0, 3]
    assert offsets(opened(disk.copy(), recovery_point)) == before


@pytest.mark.parametrize("epochs_are_lost", [False, True])
@pytest.mark.parametrize(
    ("epochs", "recovery_point"), [((0, 0, 0, 1, 1, 1), 0), ((0, 1, 1, 1, 1, 1), 1), ((0, 1, 1, 2, 2, 2), 1)]
)
def test_the_beginning_of_an_epoch_is_no_reason_for_a_gap(
    epochs: tuple[int, ...], recovery_point: int, epochs_are_lost: bool
) -> None:
    """A replica that lost the end of a segment to the power looked like that of its leader."""
    disk = LossyDisk()
    log = opened(disk)
    for epoch in epochs:
        log.append_as_leader(produced(1), leader_epoch=epoch, now=NOW)
    disk = disk.copy()
    disk.open(f"t-0/{0:020d}.log").truncate(ONE)
    if epochs_are_lost:
        disk.remove("t-0/leader-epoch-checkpoint")
    assert offsets(opened(disk, recovery_point)) == [0]
