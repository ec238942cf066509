"""A log that is truncated and goes on: whatever a loss of power takes, the log has one history and
no gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from random import Random

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.disk import FlushStep
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.checksum import Buffer

from ..batches import NOW, everything, flush, produced
from .lossy_disk import Contents, LossyDisk, LossyFile

ONE = len(produced(1))
EPOCHS = "t-0/leader-epoch-checkpoint"


class Wearing(LossyDisk):
    """A disk that fails after so many more changes and flushes."""

    left = 1_000_000

    def check(self) -> None:
        self.left -= 1
        self.failing |= self.left < 0
        super().check()


def opened(disk: LossyDisk, recovery_point: int = 0) -> PartitionLog:
    settings = LogConfig.of({"segment.bytes": 3 * ONE})
    return open_log(
        disk, "t-0", "t", 0, settings, clean=False, recovery_point=recovery_point, log_start_offset=0, now=NOW
    )


def append(log: PartitionLog, count: int, epoch: int) -> None:
    for _ in range(count):
        log.append_as_leader(produced(1), leader_epoch=epoch, now=NOW)
    log.commit_all()


def path(base: int) -> str:
    return f"t-0/{base:020d}.log"


def found_with(disk: LossyDisk, *whole: str) -> LossyDisk:
    """The disk after a loss of power that took everything that was not flushed, except the names
    and these files, which are whole."""
    left = {path: Contents(bytes(each.data) if path in whole else each.durable) for path, each in disk.contents.items()}
    return LossyDisk(left, {"", "t-0"})


@pytest.mark.parametrize("whole", [(path(3),), (path(3), EPOCHS)])
def test_a_segment_that_was_begun_behind_a_cut_never_stays_without_the_cut(whole: tuple[str, ...]) -> None:
    """Otherwise the log would have record 2 of the old leader, and records from 3 on of the new
    leader, which asks for the epoch of the last record only."""
    disk = LossyDisk()
    log = opened(disk)
    append(log, 5, epoch=0)
    flush(log)
    log.truncate_to(2)
    append(log, 4, epoch=1)
    due = [bytes(batch) for batch in log.batches(0)]
    left = [bytes(batch) for batch in opened(found_with(disk, *whole), recovery_point=2).batches(0)]
    assert left == due[:2]


@pytest.mark.parametrize("steps", range(16))
def test_power_loss_during_a_truncation_leaves_no_gap(steps: int) -> None:
    disk = Wearing()
    log = opened(disk)
    append(log, 8, epoch=0)
    flush(log)
    disk.left = steps
    with suppress(DiskFailure):
        log.truncate_to(2)
    for seed in range(40):
        left = everything(opened(disk.power_lost(Random(seed)), recovery_point=8))
        assert left in ([*range(count)] for count in (2, 3, 6, 8))


def test_records_truncated_in_a_recovery_are_removed_for_good() -> None:
    disk = LossyDisk()
    log = opened(disk)
    append(log, 8, epoch=0)
    flush(log)
    damaged = LossyDisk({path: Contents(content.durable) for path, content in disk.contents.items()}, {"", "t-0"})
    damaged.contents[path(3)].data[2 * ONE - 1] ^= 1
    assert everything(opened(damaged)) == [0, 1, 2, 3]
    assert {each: len(data) // ONE for each, data in damaged.durable().items() if each.endswith(".log")} == {
        path(0): 3,
        path(3): 1,
    }


def test_a_flush_that_is_never_reported_as_done_is_due_again() -> None:
    disk = LossyDisk()
    log = opened(disk)
    append(log, 2, epoch=0)
    flush(log)
    log.delete_records_before(1)
    assert log.unflushed() is not None  # and it is never run
    flush(log)
    assert log.unflushed() is None
    assert disk.durable()[EPOCHS] == b"0\n1\n0 1\n"


def test_a_new_log_that_had_nothing_to_flush_is_flushed_with_the_name_of_its_folder() -> None:
    """It was to be flushed, and was truncated to nothing before the flush began."""
    disk = LossyDisk()
    log = opened(disk)
    append(log, 1, epoch=0)
    log.truncate_to(0)
    assert log.unflushed() is None
    log.flushed(log.log_end_offset)
    append(log, 2, epoch=1)
    flush(log)
    assert log.recovery_point == 2
    assert len(disk.durable()[path(0)]) == 2 * ONE


class Noting(LossyDisk):
    """A disk that notes the order in which files and folders are flushed, truncated and written."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[str, str]] = []

    def open(self, path: str) -> LossyFile:
        return NotingFile(self, path, super().open(path).contents)

    def flush_folder(self, folder: str) -> None:
        self.noted.append(("flush", folder))
        super().flush_folder(folder)


class NotingFile(LossyFile):
    """A file of such a disk."""

    def __init__(self, disk: Noting, path: str, contents: Contents) -> None:
        super().__init__(disk, path, contents)
        self._noted = disk.noted

    def append(self, buffers: Sequence[Buffer]) -> None:
        self._noted.append(("append", self._path))
        super().append(buffers)

    def truncate(self, size: int) -> None:
        if size < self.size:
            self._noted.append(("truncate", self._path))
        super().truncate(size)

    def flushing(self) -> FlushStep:
        def run() -> None:
            self._noted.append(("flush", self._path))
            work()

        work = super().flushing()
        return run


def test_a_truncation_is_flushed_before_the_next_append() -> None:
    """First that later segments are gone, then the cut."""
    disk = Noting()
    log = opened(disk)
    append(log, 8, epoch=0)
    flush(log)
    disk.noted.clear()
    log.truncate_to(4)
    append(log, 1, epoch=0)
    batches = [each for each in disk.noted if each[1].endswith((".log", "t-0"))]
    assert batches == [("flush", "t-0"), ("truncate", path(3)), ("flush", path(3)), ("append", path(3))]


def test_a_flush_goes_from_batches_to_what_is_made_of_them_to_folders() -> None:
    disk = Noting()
    log = opened(disk)
    append(log, 8, epoch=0)
    disk.noted.clear()
    flush(log)
    kinds = [".log", ".index", ".timeindex"]
    segments = [f"t-0/{base:020d}{kind}" for base in (0, 3) for kind in kinds] + [path(6)]
    small = ["t-0/leader-epoch-checkpoint", *(f"t-0/{base:020d}.snapshot" for base in (3, 6))]
    assert disk.noted == [("flush", each) for each in [*segments, *small, "t-0", ""]]


def test_a_log_that_is_recreated_after_a_clean_stop_is_flushed_with_its_folder() -> None:
    """Nothing was flushed when it was closed, since nothing was left in it."""
    disk = LossyDisk()
    log = opened(disk)
    log.append_as_leader(produced(2), leader_epoch=0, now=NOW)
    log.commit_all()
    log.delete_records_before(1)
    log.truncate_to(1)
    log.close()
    log = open_log(disk, "t-0", "t", 0, log.config, clean=True, recovery_point=0, log_start_offset=1, now=NOW)
    append(log, 2, epoch=1)
    flush(log)
    assert log.recovery_point == 3
    assert len(disk.durable()[path(1)]) == 2 * ONE
