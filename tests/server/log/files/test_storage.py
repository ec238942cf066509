"""A log in files during its use: segments that end, are deleted, are flushed, are replaced."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import encode_batch, read_header
from kafkadouble.wire.record import Record

from ..batches import NOW, everything, flush, offsets, produced
from .lossy_disk import LossyDisk

ONE = len(produced(1))


def new_log(disk: LossyDisk, **settings: Any) -> PartitionLog:
    config = LogConfig.of({name.replace("_", "."): value for name, value in settings.items()})
    return open_log(disk, "t-0", "t", 0, config, clean=True, recovery_point=0, log_start_offset=0, now=NOW)


def append(log: PartitionLog, count: int, size: int = 10) -> None:
    for _ in range(count):
        batch = produced(1, size=size, timestamp=NOW + log.log_end_offset)
        log.append_as_leader(batch, leader_epoch=0, now=NOW)
    log.commit_all()


def deleted(disk: LossyDisk) -> list[str]:
    return sorted(name for name in disk.names("t-0") if name.endswith(".deleted"))


def test_a_segment_ends_when_its_index_is_full() -> None:
    log = new_log(LossyDisk(), segment_index_bytes=80, index_interval_bytes=0)
    append(log, 30)
    sizes = {segment.size // ONE for segment in log.segments[:-1]}
    # The time index has room for five entries and one for the end; the first batch has none.
    assert sizes == {6}
    assert everything(log) == list(range(30))


def test_the_index_is_kafkas() -> None:
    disk = LossyDisk()
    log = new_log(disk)
    append(log, 200)
    log.close()
    data = disk.read_whole(f"t-0/{0:020d}.index")
    entries = [
        (int.from_bytes(data[at : at + 4], "big"), int.from_bytes(data[at + 4 : at + 8], "big"))
        for at in range(0, len(data), 8)
    ]
    due, since = [], 0
    for number in range(200):
        if since > 4096:
            due.append((number, number * ONE))
            since = 0
        since += ONE
    assert entries == due


def test_files_are_removed_when_nothing_can_read_them_any_more() -> None:
    disk = LossyDisk()
    log = new_log(disk, segment_bytes=2 * ONE, retention_bytes=2 * ONE, file_delete_delay_ms=1000)
    append(log, 7)
    reader = log.batches(0)
    first = bytes(next(reader))
    log.retain(NOW)
    assert (log.log_start_offset, everything(log)) == (4, [4, 5, 6])
    assert [name for name in deleted(disk) if ".log" in name] == [f"{base:020d}.log.deleted" for base in (0, 2)]
    log.tick(NOW)
    log.tick(NOW + 999)
    assert len(deleted(disk)) == 7  # three files for each, and the snapshot of the second
    assert offsets(first) == [0]
    assert offsets(next(reader)) == [1]
    log.tick(NOW + 1000)
    assert deleted(disk) == []


def test_truncation_takes_later_segments_and_snapshots_along() -> None:
    disk = LossyDisk()
    log = new_log(disk, segment_bytes=2 * ONE)
    append(log, 9)
    log.truncate_to(3)
    assert [segment.base_offset for segment in log.segments] == [0, 2]
    assert sorted(name for name in disk.names("t-0") if name.endswith("snapshot")) == [f"{2:020d}.snapshot"]
    append(log, 4)
    assert everything(log) == list(range(7))
    log.truncate_fully_and_start_at(100)
    append(log, 1)
    assert everything(log) == [100]


def test_a_flush_moves_the_recovery_point_when_it_is_done() -> None:
    disk = LossyDisk()
    log = new_log(disk, segment_bytes=2 * ONE)
    append(log, 5)
    flush = log.unflushed()
    assert flush is not None
    append(log, 1)
    assert (flush.offset, log.recovery_point) == (5, 0)
    flush.run()
    log.flushed(flush.offset)
    assert log.recovery_point == 5
    for seed in range(20):
        lost = disk.power_lost(Random(seed))
        again = open_log(lost, "t-0", "t", 0, log.config, clean=False, recovery_point=5, log_start_offset=0, now=NOW)
        assert everything(again)[:5] == [0, 1, 2, 3, 4]
    rest = log.unflushed()
    assert rest is not None
    rest.run()
    log.flushed(rest.offset)
    assert log.unflushed() is None


def test_failed_append_leaves_no_bytes() -> None:
    disk = LossyDisk()
    log = new_log(disk)
    append(log, 2)
    disk.failing = True
    with pytest.raises(DiskFailure):
        append(log, 1)
    assert (log.log_end_offset, log.size) == (2, 2 * ONE)
    assert everything(new_log(disk.copy())) == [0, 1]


def test_a_read_gives_bytes_of_its_own() -> None:
    log = new_log(LossyDisk())
    append(log, 30)
    piece = log.read(3, 5 * ONE)
    before = bytes(piece.records)
    assert offsets(before) == [3, 4, 5, 6, 7]
    log.truncate_to(4)
    append(log, 40, size=3)
    assert piece.records == before


@pytest.mark.parametrize("finished", [True, False])
def test_segments_are_rewritten(finished: bool) -> None:
    disk = LossyDisk()
    log = new_log(disk, segment_bytes=2 * ONE)
    append(log, 9)
    group = list(log.segments[1:3])
    rewriting = log.rewrite(group)
    for batch in (bytes(batch) for segment in group for batch in segment.batches(0, -(2**63))):
        if read_header(batch).base_offset != 3:
            rewriting.append(batch)
    assert everything(log) == list(range(9))
    if finished:
        rewriting.finish(())
    else:
        rewriting.drop()
    left = [number for number in range(9) if number != 3 or not finished]
    assert everything(log) == left
    assert not any(name.endswith((".cleaned", ".swap")) for name in disk.names("t-0"))
    assert log.read(3, 1000).offset == (4 if finished else 3)
    log.close()
    again = new_log(disk, segment_bytes=2 * ONE)
    again.commit_all()
    assert everything(again) == left


def test_a_reader_passes_over_a_segment_that_compaction_left_empty() -> None:
    log = new_log(LossyDisk(), segment_bytes=2 * ONE)
    append(log, 7)
    log.rewrite([log.segments[1]]).finish(())
    assert everything(log) == [0, 1, 4, 5, 6]
    assert log.read(2, 1000).offset == 4
    assert log.read(3, 1000).offset == 4


def test_batches_larger_than_any_window() -> None:
    log = new_log(LossyDisk(), max_message_bytes=8_000_000)
    for size in (5_000_000, 10, 300_000, 100_000):
        batch = encode_batch([Record(0, NOW, None, b"v" * size)])
        log.append_as_leader(batch, leader_epoch=0, now=NOW)
    log.commit_all()
    assert everything(log) == [0, 1, 2, 3]
    assert [read_header(batch).base_offset for batch in log.batches(0)] == [0, 1, 2, 3]
    for offset in range(4):
        assert log.read(offset, 1).offset == offset


EPOCHS = "t-0/leader-epoch-checkpoint"


@pytest.mark.parametrize("begins", ["leader", "first batch of a leader", "first batch of a follower"])
def test_an_epoch_that_begins_is_flushed(begins: str) -> None:
    """Before a batch of it is written, so that no batch is ever without its epoch (KIP-101)."""
    disk = LossyDisk()
    log = new_log(disk)
    append(log, 3)
    flush(log)
    if begins == "leader":
        log.begin_epoch(5)
    elif begins == "first batch of a leader":
        log.append_as_leader(produced(1), leader_epoch=5, now=NOW)
    else:
        batch = encode_batch([Record(3, NOW, None, b"x")], base_offset=3, partition_leader_epoch=5)
        log.append_as_follower(batch, now=NOW)
    assert disk.durable()[EPOCHS] == b"0\n2\n0 0\n5 3\n"


def test_only_the_first_batch_of_an_epoch_is_held_up_by_a_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a later batch, nor a truncation, nor the first epoch of a new log, which has no batch
    that could lack its epoch."""
    disk, written = LossyDisk(), list[tuple[str, bool]]()
    write_whole = disk.write_whole

    def noted(path: str, data: bytes, *, flush: bool = True) -> None:
        written.append((path, flush))
        write_whole(path, data, flush=flush)

    monkeypatch.setattr(disk, "write_whole", noted)
    log = new_log(disk)
    append(log, 3)
    assert written == [(EPOCHS, False)]
    flush(log)
    log.begin_epoch(5)
    log.append_as_leader(produced(1), leader_epoch=5, now=NOW)
    log.append_as_leader(produced(1), leader_epoch=5, now=NOW)
    assert written[1:] == [(EPOCHS, True)]
    log.truncate_to(2)
    log.commit_all()
    log.delete_records_before(1)
    assert written[2:] == [(EPOCHS, False)] * 2
    flush(log)
    assert disk.durable()[EPOCHS] == b"0\n1\n0 1\n"
