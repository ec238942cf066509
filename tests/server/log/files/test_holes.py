"""A segment that lost its end, whole batches of it, though the next one is there: what was lost must be a tail."""

from __future__ import annotations

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import read_header

from ..batches import NOW, produced
from .lossy_disk import LossyDisk

ONE = len(produced(1))


def opened(disk: LossyDisk, recovery_point: int = 0, policy: str = "delete") -> PartitionLog:
    settings = LogConfig.of({"segment.bytes": 3 * ONE, "cleanup.policy": policy})
    return open_log(
        disk, "t-0", "t", 0, settings, clean=False, recovery_point=recovery_point, log_start_offset=0, now=NOW
    )


def with_a_hole(count: int = 8, cut: int = 3, left: int = 2) -> LossyDisk:
    """A log of so many batches in one epoch, three to a segment, of which the segment from `cut` on keeps only so many."""
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


def test_what_was_flushed_has_its_gaps_rightly() -> None:
    assert offsets(opened(with_a_hole(), recovery_point=7)) == [0, 1, 2, 3, 4, 6, 7]


def test_compaction_leaves_gaps() -> None:
    assert offsets(opened(with_a_hole(), policy="compact")) == [0, 1, 2, 3, 4, 6, 7]


def test_an_epoch_that_begins_after_a_cut_within_a_batch_leaves_one() -> None:
    disk = LossyDisk()
    log = opened(disk)
    log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    log.append_as_leader(produced(4), leader_epoch=0, now=NOW)
    log.truncate_to(3)
    log.begin_epoch(1)
    for _ in range(4):
        log.append_as_leader(produced(2), leader_epoch=1, now=NOW)
    assert len(log.segments) > 1
    before = offsets(log)
    assert before[:2] == [0, 3]
    assert offsets(opened(disk.copy())) == before
