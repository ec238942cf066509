"""What is found in a partition's folder, and what is made of it."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.wire.batch import decode_records, read_header

from ..batches import NOW, everything, idempotent, marker, produced, transactional
from .lossy_disk import Contents, LossyDisk

GOLDEN = Path(__file__).parents[3] / "golden" / "log_directory"
ONE = len(produced(1))
CONFIG = LogConfig.of({"segment.bytes": 3 * ONE})


def opened(
    disk: LossyDisk | RealDisk,
    *,
    clean: bool = False,
    recovery_point: int = 0,
    start: int = 0,
    folder: str = "t-0",
    verified: bool = False,
) -> PartitionLog:
    return open_log(
        disk,
        folder,
        "t",
        0,
        CONFIG,
        clean=clean,
        recovery_point=recovery_point,
        log_start_offset=start,
        now=NOW,
        verified=verified,
    )


def filled(count: int, *, close: bool = False) -> LossyDisk:
    """A disk with a log of that many batches of one record, three to a segment."""
    disk = LossyDisk()
    log = opened(disk)
    for number in range(count):
        log.append_as_leader(produced(1, timestamp=NOW + number), leader_epoch=number // 4, now=NOW)
    log.commit_all()
    if close:
        log.close()
    return disk.copy()


def path(base: int, kind: str = ".log") -> str:
    return f"t-0/{base:020d}{kind}"


def kinds(disk: LossyDisk) -> set[str]:
    return {name.partition(".")[2] for name in disk.names("t-0") if name[0] == "0"}


@pytest.mark.parametrize("clean", [True, False])
def test_an_index_without_its_segment_is_removed(clean: bool) -> None:
    """A deletion was interrupted: as in Kafka."""
    disk = filled(5, close=True)
    for kind in (".log", ".snapshot"):
        disk.contents.pop(path(0, kind), None)
    log = opened(disk, clean=clean, recovery_point=5)
    assert (log.log_start_offset, log.log_end_offset) == (3, 5)
    assert not [name for name in disk.names("t-0") if name.startswith(f"{0:020d}")]


@pytest.mark.parametrize("text", [b"", b"0\n1\n", b"0\n1\n0 "])
def test_damaged_epochs_of_a_log_without_records_are_written_again(text: bytes) -> None:
    """A loss of power took the records and half of the file: the next stop leaves a whole file."""
    disk = filled(0)
    disk.contents["t-0/leader-epoch-checkpoint"] = Contents(text)
    opened(disk, clean=False).close()
    assert disk.contents["t-0/leader-epoch-checkpoint"].data == b"0\n0\n"


@pytest.mark.parametrize("clean", [True, False])
def test_an_empty_folder_is_an_empty_log(clean: bool) -> None:
    disk = LossyDisk()
    log = opened(disk, clean=clean)
    assert (log.log_start_offset, log.log_end_offset) == (0, 0)
    assert sorted(disk.names("t-0")) == [f"{0:020d}{kind}" for kind in (".index", ".log", ".timeindex")]
    assert log.unflushed() is None
    assert opened(LossyDisk(), start=7).append_as_leader(produced(1), leader_epoch=0, now=NOW).base_offset == 7


def test_after_a_stop_in_good_order_there_is_nothing_to_flush() -> None:
    disk = filled(4, close=True)
    assert opened(disk.copy(), clean=True).unflushed() is None
    assert opened(disk, clean=False).unflushed() is not None


@pytest.mark.parametrize("clean", [True, False])
def test_reopened_log_has_all_records_and_epochs(clean: bool) -> None:
    log = opened(filled(10, close=clean), clean=clean)
    assert everything(log) == list(range(10))
    assert log.epochs.entries == [OffsetAndEpoch(0, 0), OffsetAndEpoch(4, 1), OffsetAndEpoch(8, 2)]
    assert log.offset_for(NOW + 7).offset == 7
    assert [segment.base_offset for segment in log.segments] == [0, 3, 6, 9]
    assert log.append_as_leader(produced(1), leader_epoch=2, now=NOW).base_offset == 10


def test_producers_and_transactions_are_known_again() -> None:
    for close in (True, False):
        disk = LossyDisk()
        log = opened(disk)
        for step in (transactional(0, 2), marker(commit=False), idempotent(0, 3, producer=9), transactional(2)):
            if read_header(step).is_control:
                log.append_own(step, leader_epoch=0, now=NOW)
            else:
                log.append_as_leader(step, leader_epoch=0, now=NOW)
        if close:
            log.close()
        again = opened(disk.copy(), clean=close)
        again.commit_all()
        assert again.first_unstable_offset == 6
        assert again.transactions.aborted == log.transactions.aborted
        assert [each.last_offset for each in again.transactions.aborted] == [2]
        assert again.append_as_leader(idempotent(0, 3, producer=9), leader_epoch=0, now=NOW).duplicate


@pytest.mark.parametrize("name", ["mixed-0", "mixed-1", "__consumer_offsets-0", "__transaction_state-0"])
@pytest.mark.parametrize("clean", [True, False])
def test_log_directory_of_kafka_is_opened(tmp_path: Path, name: str, clean: bool) -> None:
    shutil.copytree(GOLDEN / name, tmp_path / name)
    before = {each.name: each.read_bytes() for each in (tmp_path / name).iterdir()}
    log = open_log(
        RealDisk(str(tmp_path)), name, "t", 0, LogConfig(), clean=clean, recovery_point=0, log_start_offset=0, now=NOW
    )
    records = [record for batch in log.batches(0) for record in decode_records(batch)]
    assert log.log_end_offset == records[-1].offset + 1
    assert everything(log) == [record.offset for record in records]
    assert log.epochs.latest == 0
    log.close()
    assert {each.name: each.read_bytes() for each in (tmp_path / name).iterdir()} == before


class TestLeftovers:
    def test_deleted_files_go(self) -> None:
        disk = filled(4)
        disk.contents[path(0, ".log.deleted")] = Contents(b"x")
        disk.contents[path(0, ".snapshot.deleted")] = Contents(b"x")
        assert everything(opened(disk)) == [0, 1, 2, 3]
        assert not any(kind.endswith("deleted") for kind in kinds(disk))

    def test_cleaned_files_and_later_swap_files_are_deleted(self) -> None:
        disk = filled(10)
        for base, mark in ((3, ".cleaned"), (3, ".swap"), (6, ".swap")):
            disk.contents[path(base, ".log" + mark)] = Contents(bytes(disk.contents[path(base)].data))
        assert everything(opened(disk)) == list(range(10))
        assert kinds(disk) == {"log", "index", "timeindex", "snapshot"}

    def test_swap_file_replaces_the_segments_it_was_made_of(self) -> None:
        disk = filled(12)
        data = disk.contents[path(3)].data + disk.contents[path(6)].data
        for kind in (".log", ".index", ".timeindex"):
            disk.contents[path(3, kind + ".swap")] = Contents(bytes(data) if kind == ".log" else b"")
        log = opened(disk, clean=True)
        assert [segment.base_offset for segment in log.segments] == [0, 3, 9]
        assert everything(log) == list(range(12))
        assert log.offset_for(NOW + 7).offset == 7

    def test_unknown_files_of_a_log_directory_stay(self) -> None:
        disk = filled(2)
        for name in ("t-0/notes.log", "t-0/123.log", "t-0/partition.metadata"):
            disk.contents[name] = Contents(b"something")
        assert everything(opened(disk)) == [0, 1]
        assert {"notes.log", "123.log", "partition.metadata"} <= set(disk.names("t-0"))


class TestIndexes:
    @pytest.mark.parametrize("kind", [".index", ".timeindex"])
    @pytest.mark.parametrize("clean", [True, False])
    def test_a_lost_index_is_rebuilt(self, kind: str, clean: bool) -> None:
        config = LogConfig.of({"index.interval.bytes": 0})
        disk = LossyDisk()
        how: dict[str, Any] = {"log_start_offset": 0, "now": NOW}
        log = open_log(disk, "t-0", "t", 0, config, clean=True, recovery_point=0, **how)
        for number in range(50):
            log.append_as_leader(produced(1, timestamp=NOW + number), leader_epoch=0, now=NOW)
        log.close()
        before = bytes(disk.contents[path(0, kind)].data)
        assert before
        del disk.contents[path(0, kind)]
        again = open_log(disk, "t-0", "t", 0, config, clean=clean, recovery_point=0, **how)
        again.commit_all()
        assert again.offset_for(NOW + 31).offset == 31
        again.close()
        assert disk.contents[path(0, kind)].data == before

    def test_index_without_its_segment_is_not_used(self) -> None:
        disk = filled(3)
        disk.contents[path(3, ".index")] = Contents(bytes(range(80)))
        disk.contents[path(3, ".txnindex")] = Contents(bytes(340))
        log = opened(disk)
        for _ in range(2):
            log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
        assert everything(log) == [0, 1, 2, 3, 4]
        assert log.transactions.aborted == []
        log.close()
        assert everything(opened(disk, clean=True)) == [0, 1, 2, 3, 4]


class TestDamage:
    def test_past_the_recovery_point_the_log_is_truncated_and_reports_it(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        disk = filled(10)
        disk.contents[path(3)].data[ONE + 70] ^= 1
        with caplog.at_level(logging.WARNING):
            log = opened(disk, recovery_point=4)
        assert everything(log) == [0, 1, 2, 3]
        assert f"{path(3)}: checksum" in caplog.text
        assert "truncated there, at offset 4, and 2 later segments are deleted" in caplog.text
        assert path(6, ".log.deleted") in disk.contents
        assert log.append_as_leader(produced(1), leader_epoch=5, now=NOW).base_offset == 4

    def test_below_the_recovery_point_the_log_is_truncated_too(self, caplog: pytest.LogCaptureFixture) -> None:
        disk = filled(10)
        disk.contents[path(3)].data[ONE + 70] ^= 1
        log = opened(disk, recovery_point=6)
        assert (everything(log), log.recovery_point) == ([0, 1, 2, 3], 4)
        assert "truncated there, at offset 4, and 2 later segments are deleted" in caplog.text

    def test_below_the_recovery_point_a_metadata_log_is_refused_and_nothing_is_deleted(self) -> None:
        disk = filled(10)
        disk.contents[path(3)].data[ONE + 70] ^= 1
        before = {content: bytes(disk.contents[content].data) for content in disk.contents if content.endswith(".log")}
        with pytest.raises(BadFile) as caught:
            opened(disk, recovery_point=6, verified=True)
        assert (caught.value.file, caught.value.offset) == (path(3), ONE)
        assert {each: bytes(disk.contents[each].data) for each in disk.contents if each.endswith(".log")} == before

    def test_only_segments_past_the_recovery_point_are_recovered(self) -> None:
        disk = filled(10)
        disk.contents[path(0)].data[70] ^= 1
        assert opened(disk, recovery_point=7).log_end_offset == 10

    @pytest.mark.parametrize("clean", [True, False])
    def test_segments_that_overlap(self, clean: bool) -> None:
        disk = filled(10, close=True)
        disk.contents[path(0)].data += disk.contents[path(3)].data
        with pytest.raises(BadFile) as caught:
            opened(disk, clean=clean, recovery_point=10)
        assert (caught.value.file, caught.value.offset) == (path(0), 3 * ONE)

    def test_recovery_point_beyond_the_log_end_offset_is_ignored(self) -> None:
        disk = filled(10)
        del disk.contents[path(9)], disk.contents[path(6)]
        disk.contents[path(0)].data[70] ^= 1
        log = opened(disk, recovery_point=10)
        assert (log.log_end_offset, log.recovery_point) == (0, 0)

    def test_a_log_start_beyond_the_end_restarts_the_log_there(self) -> None:
        log = opened(filled(4), start=50)
        assert (log.log_start_offset, log.log_end_offset, log.size) == (50, 50, 0)

    @pytest.mark.parametrize("lost", [1, 2])
    def test_epochs_with_lost_last_bytes_are_rebuilt(self, lost: int) -> None:
        """Without its end of line the last offset may lack digits, and be a number all the same."""
        disk = filled(14, close=True)
        known = opened(disk.copy(), clean=True).epochs.entries
        assert known[-1] == OffsetAndEpoch(12, 3)
        del disk.contents["t-0/leader-epoch-checkpoint"].data[-lost:]
        assert opened(disk, clean=True).epochs.entries == known

    def test_a_wrong_offset_is_found_where_it_is(self) -> None:
        disk = filled(3)
        disk.contents[path(0)].data[ONE + 7] = 2  # offset 1 says that it is 2, as the next one does
        assert everything(opened(disk)) == [0]

    @pytest.mark.parametrize("text", [b"", b"0\n3\n0 0\n", b"nonsense\n", b"0\n3\n0 0\n1 4\n2"])
    def test_epochs_are_rebuilt(self, text: bytes) -> None:
        disk = filled(10)
        disk.contents["t-0/leader-epoch-checkpoint"] = Contents(text)
        for clean in (False, True):
            log = opened(disk.copy(), clean=clean, recovery_point=5)
            assert log.epochs.entries == [OffsetAndEpoch(0, 0), OffsetAndEpoch(4, 1), OffsetAndEpoch(8, 2)]

    def test_epochs_of_a_future_that_was_lost_give_way_to_the_batches(self) -> None:
        disk = filled(10)
        disk.contents["t-0/leader-epoch-checkpoint"] = Contents(b"0\n2\n0 0\n2 9\n")
        due = [OffsetAndEpoch(0, 0), OffsetAndEpoch(4, 1), OffsetAndEpoch(8, 2)]
        assert opened(disk).epochs.entries == due

    @pytest.mark.parametrize(
        ("content", "recovery_point"),
        [
            (b"0\n3\n0 0\n1 4\n3 6\n", 0),
            (b"0\n3\n0 0\n1 4\n3 6\n", 7),
            (b"0\n2\n0 0\n3 5\n", 0),
            (b"0\n3\n0 0\n1 4\n5 9\n", 7),
        ],
    )
    def test_epochs_of_a_cut_that_was_lost_give_way_to_the_batches(self, content: bytes, recovery_point: int) -> None:
        disk = filled(10)
        disk.contents["t-0/leader-epoch-checkpoint"] = Contents(content)
        log = opened(disk, recovery_point=recovery_point)
        assert log.epochs.entries == [OffsetAndEpoch(0, 0), OffsetAndEpoch(4, 1), OffsetAndEpoch(8, 2)]

    @pytest.mark.parametrize(("recovery_point", "end"), [(0, 8), (9, 10)])
    def test_unflushed_segments_of_another_history_are_deleted(self, recovery_point: int, end: int) -> None:
        """As when a loss of power undid the removal of a segment, but kept what was appended in its
        place."""
        disk, other = filled(10), LossyDisk()
        log = opened(other)
        for _ in range(9):
            log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
        disk.contents[path(6)].data[2 * ONE :] = other.contents[path(6)].data[2 * ONE :]
        disk.contents[path(9)].data[12:16] = bytes(4)  # its leader epoch: no checksum covers it
        assert opened(disk, recovery_point=recovery_point).log_end_offset == end

    def test_epochs_are_kept_to_the_log(self) -> None:
        disk = filled(10)
        disk.contents["t-0/leader-epoch-checkpoint"] = Contents(b"0\n4\n0 0\n1 4\n2 8\n3 10\n")
        log = opened(disk, start=5)
        assert log.epochs.entries == [OffsetAndEpoch(5, 1), OffsetAndEpoch(8, 2)]
        assert disk.contents["t-0/leader-epoch-checkpoint"].data == b"0\n2\n1 5\n2 8\n"

    def test_a_damaged_segment_is_neither_deleted_for_its_age_nor_in_the_way(self) -> None:
        disk = filled(10, close=True)
        disk.contents[path(3)].data[10] ^= 64  # a length
        del disk.contents[path(3, ".timeindex")]
        disk.contents[path(9)].data[8:12] = bytes(4)
        with pytest.raises(BadFile):
            opened(disk.copy(), clean=True)
        disk = filled(10, close=True)
        log = opened(disk, clean=True)
        disk.contents[path(3)].data[10] ^= 64
        assert log.segments[1].max_timestamp >= 0
        assert log.retain(NOW + 1000) == []
        assert log.read(0, 1, 10).offset == 0
        with pytest.raises(BadFile):
            log.read(3, 1, 10)
        assert log.append_as_leader(produced(1), leader_epoch=9, now=NOW).base_offset == 10


@pytest.mark.parametrize("clean", [True, False])
def test_a_segment_that_is_opened_counts_the_bytes_to_its_next_index_entry_from_zero(clean: bool) -> None:
    """As in Kafka: fewer than three batches after an entry, and after the start, give none."""
    disk, config = LossyDisk(), LogConfig.of({"index.interval.bytes": 2 * ONE})
    ends = []
    for count in (6, 3):
        log = open_log(disk, "t-0", "t", 0, config, clean=clean, recovery_point=0, log_start_offset=0, now=NOW)
        for _ in range(count):
            log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
        ends.append((log.segments[-1].entry_from(0), log.segments[-1].entry_from(4)))
        log.close()
    assert ends == [(3, None), (3, None)]
