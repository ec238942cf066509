"""The metadata log as the quorum sees it."""

from pathlib import Path

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft import control_records
from kafkadouble.server.raft.raft_log import DivergedLog, FollowerPosition, RaftLog, ValidOffsetAndEpoch
from kafkadouble.wire.batch import KRAFT_VERSION, KRAFT_VOTERS, decode_all, encode_control_batch
from kafkadouble.wire.errors import WireError
from tests.server.raft.followed import batch
from tests.server.raft.quorum import START, Snapshots, dynamic_voters, static_voters

VALID = ValidOffsetAndEpoch(FollowerPosition.VALID)


def written(*epochs: int, per_epoch: int = 3) -> RaftLog:
    """Some records of each epoch, one to a batch."""
    log = RaftLog(PartitionLog("__cluster_metadata", 0), static_voters([1]))
    for epoch in epochs:
        for number in range(per_epoch):
            log.append_values([b"%d.%d" % (epoch, number)], epoch, START)
    return log


def test_an_empty_log_ends_at_0_in_epoch_0() -> None:
    assert written().end == OffsetAndEpoch(0, 0)
    log = written()
    log.begin_epoch(5)
    assert log.end == OffsetAndEpoch(0, 0), "an epoch in which nothing is written is no claim"


def test_an_epoch_without_a_record_does_not_count() -> None:
    log = written(1)
    log.begin_epoch(5)
    assert log.end == OffsetAndEpoch(3, 1)
    log.append_values([b"x"], 5, START)
    assert log.end == OffsetAndEpoch(4, 5)


def test_an_empty_log_goes_by_its_snapshot() -> None:
    log = RaftLog(PartitionLog("m", 0), static_voters([1]), Snapshots(OffsetAndEpoch(7, 3)))
    assert (log.end, log.start_offset, log.high_watermark) == (OffsetAndEpoch(7, 3), 7, 7)
    assert log.validate(7, 3) == VALID
    assert log.validate(7, 2) == ValidOffsetAndEpoch(FollowerPosition.SNAPSHOT, OffsetAndEpoch(7, 3))
    assert log.validate(8, 3) == ValidOffsetAndEpoch(FollowerPosition.DIVERGING, OffsetAndEpoch(7, 3))
    log.append_as_follower(batch(7, b"a", epoch=4), 4, START)
    assert log.end == OffsetAndEpoch(8, 4)
    assert log.validate(7, 3) == VALID


def test_at_the_start_of_the_log_only_the_epoch_of_the_snapshot_there_goes_on() -> None:
    """A follower whose log ends there with a record of a later epoch has diverged, though the log
    has that epoch too.
    """
    id = OffsetAndEpoch(7, 3)
    log = RaftLog(PartitionLog("m", 0), static_voters([1]), Snapshots(id))
    log.append_as_follower(batch(7, b"a", epoch=4), 4, START)
    assert log.validate(7, 3) == VALID
    assert (
        log.validate(7, 4)
        == log.validate(7, 2)
        == log.validate(7, 5)
        == ValidOffsetAndEpoch(FollowerPosition.SNAPSHOT, id)
    )


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        (0, 0, VALID),
        (3, 1, VALID),
        (2, 1, VALID),
        (6, 3, VALID),
        (4, 3, VALID),
        (4, 1, ValidOffsetAndEpoch(FollowerPosition.DIVERGING, OffsetAndEpoch(3, 1))),
        (4, 2, ValidOffsetAndEpoch(FollowerPosition.DIVERGING, OffsetAndEpoch(3, 1))),
        (3, 2, ValidOffsetAndEpoch(FollowerPosition.DIVERGING, OffsetAndEpoch(3, 1))),
        (7, 3, ValidOffsetAndEpoch(FollowerPosition.DIVERGING, OffsetAndEpoch(6, 3))),
        (6, 4, ValidOffsetAndEpoch(FollowerPosition.DIVERGING, OffsetAndEpoch(6, 3))),
        (1, 0, ValidOffsetAndEpoch(FollowerPosition.DIVERGING, OffsetAndEpoch(0, 0))),
    ],
)
def test_end_offset_of_a_diverging_follower(offset: int, epoch: int, expected: ValidOffsetAndEpoch) -> None:
    assert written(1, 3).validate(offset, epoch) == expected


def test_the_voters_of_the_log_are_those_of_its_newest_record() -> None:
    log = written()
    log.append_control([control_records.kraft_version(1), control_records.voters(dynamic_voters([1, 2]))], 1, START)
    log.append_control([control_records.voters(dynamic_voters([1, 2, 3]))], 1, START)
    assert (log.history.voters.ids, log.history.voters_offset, log.history.kraft_version) == ((1, 2, 3), 2, 1)
    again = RaftLog(log.log, static_voters([1]))
    assert (again.history.voters.ids, again.history.voters_offset, again.history.kraft_version) == ((1, 2, 3), 2, 1)
    log.truncate_to_end_of(OffsetAndEpoch(2, 1))
    assert log.history.voters.ids == (1, 2)
    log.truncate_to_end_of(OffsetAndEpoch(0, 0))
    assert (log.history.voters, log.history.kraft_version) == (static_voters([1]), 0)


def test_the_voters_of_a_snapshot_hold_where_the_log_has_none() -> None:
    snapshots = Snapshots(OffsetAndEpoch(7, 3), voters=dynamic_voters([4, 5]), kraft_version=1)
    log = RaftLog(PartitionLog("m", 0), static_voters([1]), snapshots)
    assert (log.history.voters.ids, log.history.kraft_version) == ((4, 5), 1)


def test_31_static_voters_are_ignored_if_the_bootstrap_snapshot_has_voters() -> None:
    snapshots = Snapshots(OffsetAndEpoch(0, 0), voters=dynamic_voters([4, 5]), kraft_version=1)
    log = RaftLog(PartitionLog("m", 0), static_voters([1]), snapshots)
    assert (log.history.voters.ids, log.history.kraft_version) == ((4, 5), 1)
    assert log.validate(0, 0) == VALID


def test_37_a_log_that_begins_later_needs_a_snapshot_up_to_there() -> None:
    log = PartitionLog("m", 0)
    log.truncate_fully_and_start_at(5)
    for snapshots in (Snapshots(), Snapshots(OffsetAndEpoch(4, 1))):
        with pytest.raises(DivergedLog):
            RaftLog(log, static_voters([1]), snapshots)
    assert RaftLog(log, static_voters([1]), Snapshots(OffsetAndEpoch(5, 1))).end == OffsetAndEpoch(5, 1)


def test_38_a_snapshot_beyond_the_end_moves_the_log() -> None:
    log = written(1).log
    moved = RaftLog(log, static_voters([1]), Snapshots(OffsetAndEpoch(9, 2)))
    assert (moved.start_offset, moved.end) == (9, OffsetAndEpoch(9, 2))


def test_a_snapshot_of_a_later_epoch_moves_a_log_that_is_longer() -> None:
    """The process stopped after it fetched the snapshot and before it truncated the log, which may
    have diverged.
    """
    log = written(1, 1, 1).log
    moved = RaftLog(log, static_voters([1]), Snapshots(OffsetAndEpoch(4, 2)))
    assert (moved.start_offset, moved.end) == (4, OffsetAndEpoch(4, 2))


def test_a_snapshot_of_what_the_log_holds_leaves_it_alone() -> None:
    log = written(1, 2).log
    end = log.log_end_offset
    kept = RaftLog(log, static_voters([1]), Snapshots(OffsetAndEpoch(3, 1)))
    assert (kept.start_offset, kept.end) == (0, OffsetAndEpoch(end, 2))


def test_a_snapshot_that_is_ahead_replaces_the_log_and_one_behind_does_not() -> None:
    log = written(1, 2)
    log.snapshots = Snapshots(OffsetAndEpoch(9, 2), voters=dynamic_voters([4]), kraft_version=1)
    assert not log.start_from_snapshot(OffsetAndEpoch(6, 2))
    assert log.end == OffsetAndEpoch(6, 2)
    assert log.start_from_snapshot(OffsetAndEpoch(9, 2))
    assert (log.start_offset, log.end, log.history.voters.ids) == (9, OffsetAndEpoch(9, 2), (4,))


@pytest.mark.parametrize(
    ("offset", "epoch", "lacks"),
    [
        (0, 0, False),
        (3, 1, False),
        (5, 2, False),
        (6, 2, False),
        (7, 2, True),
        (9, 1, True),  # committed, whereas our last records of a later epoch never were
        (6, 1, True),
        (5, 1, True),
        (3, 3, True),
    ],
)
def test_a_log_lacks_a_snapshot_that_it_ends_before_or_has_another_history_than(
    offset: int, epoch: int, lacks: bool
) -> None:
    id = OffsetAndEpoch(offset, epoch)
    log = written(1, 2)
    assert log.lacks(id) == lacks
    log.snapshots = Snapshots(id)
    assert log.start_from_snapshot(id) == lacks
    assert log.end == (id if lacks else OffsetAndEpoch(6, 2))


def test_committed_log_is_not_replaced_by_an_older_snapshot() -> None:
    log = written(1, 2)
    log.commit(5)
    assert log.lacks(OffsetAndEpoch(5, 1))
    assert not log.start_from_snapshot(OffsetAndEpoch(5, 1))
    assert log.start_from_snapshot(OffsetAndEpoch(6, 1))


def test_a_snapshot_that_ends_before_the_log_begins_does_not_validate_a_follower() -> None:
    log = written(1, 2)
    log.commit(6)
    log.snapshots = Snapshots(OffsetAndEpoch(3, 1), OffsetAndEpoch(5, 2))
    log.move_start(OffsetAndEpoch(5, 2))
    assert log.validate(5, 2) == VALID
    assert log.validate(5, 1) == ValidOffsetAndEpoch(FollowerPosition.SNAPSHOT, OffsetAndEpoch(5, 2))
    assert log.validate(4, 2) == ValidOffsetAndEpoch(FollowerPosition.SNAPSHOT, OffsetAndEpoch(5, 2))


def test_the_high_watermark_never_falls() -> None:
    log = written(1)
    log.commit(2)
    log.commit(1)
    assert log.high_watermark == 2
    with pytest.raises(DivergedLog):
        log.truncate_to_end_of(OffsetAndEpoch(1, 1))
    assert log.end_offset == 3


def test_a_control_batch_counts_from_its_own_offset() -> None:
    log = written(1)
    placed = log.append_control([control_records.voters(dynamic_voters([1, 2]))], 2, START)
    assert placed == OffsetAndEpoch(3, 2)
    assert log.history.voters_offset == 3
    (record,) = decode_all(bytes(log.read(3, 1 << 20).records))
    assert record.timestamp == START


@pytest.mark.parametrize(
    "bad",
    [
        encode_control_batch(KRAFT_VOTERS, b"", partition_leader_epoch=1),
        encode_control_batch(KRAFT_VERSION, b"\x00\x00\x00\x07\x00", partition_leader_epoch=1),
        encode_control_batch(KRAFT_VERSION, b"x", partition_leader_epoch=1),
    ],
)
def test_a_control_record_that_cannot_be_read_is_not_appended(bad: bytearray) -> None:
    log = written()
    with pytest.raises(WireError):
        log.append_as_follower(bytes(bad), 1, START)
    assert log.end_offset == 0


def in_files(path: Path) -> PartitionLog:
    name = "__cluster_metadata"
    disk = RealDisk(str(path))
    return open_log(
        disk, f"{name}-0", name, 0, LogConfig(), clean=False, recovery_point=0, log_start_offset=0, now=START
    )


def test_a_log_in_files_goes_on_where_it_was(tmp_path: Path) -> None:
    opened = in_files(tmp_path)
    log = RaftLog(opened, static_voters([1]), storage=opened._storage)
    log.append_control([control_records.voters(dynamic_voters([1, 2]))], 1, START)
    log.append_values([b"one"], 1, START)
    log.flush()
    assert opened._storage.recovery_point == 2
    opened.close()
    again = RaftLog(in_files(tmp_path), static_voters([1]))
    assert (again.end, again.history.voters.ids) == (OffsetAndEpoch(2, 1), (1, 2))


def test_unflushed_records_of_an_earlier_process_are_flushed_at_the_start(tmp_path: Path) -> None:
    """Or a leader would count it, and a loss of power take it from a majority that had it."""
    opened = in_files(tmp_path)
    RaftLog(opened, static_voters([1]), storage=opened).append_values([b"one"], 1, START)
    again = in_files(tmp_path)
    assert (again.log_end_offset, again.recovery_point) == (1, 0)
    RaftLog(again, static_voters([1]), storage=again)
    assert again.recovery_point == 1
