"""When segments end, and when they are deleted."""

from itertools import pairwise

import pytest

from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.retention import DeletedSegments
from kafkadouble.wire.batch import Record, encode_batch

from .batches import NOW, everything, filled, marker, new_log, produced, transactional

ONE = len(produced(1))


def bases(log: PartitionLog) -> list[int]:
    return [segment.base_offset for segment in log._storage.segments]


def append(log: PartitionLog, timestamp: int, now: int = NOW) -> None:
    log.append_as_leader(produced(1, timestamp=timestamp), leader_epoch=0, now=now)
    log.high_watermark = log.log_end_offset


class TestRolling:
    def test_a_full_segment_ends(self) -> None:
        assert bases(filled(1, 1, 1, 1, 1, segment_bytes=2 * ONE)) == [0, 2, 4]
        assert bases(filled(1, 1, 1, 1, 1, segment_bytes=2 * ONE + 1)) == [0, 2, 4]
        assert bases(filled(1, 1, 1, segment_bytes=3 * ONE)) == [0]

    def test_a_segment_ends_when_the_records_are_so_much_later(self) -> None:
        log = new_log(segment_ms=1000)
        for timestamp in (NOW, NOW + 1000, NOW + 1001, NOW + 1500, NOW + 2002):
            append(log, timestamp, now=NOW)
        assert bases(log) == [0, 2, 4]

    def test_with_a_jitter_segments_end_sooner_by_chance(self) -> None:
        """So that the segments of many partitions do not all end at the same moment: they end
        sooner by less than the jitter."""
        log = new_log(segment_ms=1000, segment_jitter_ms=400)
        for late in range(0, 30_000, 10):
            append(log, NOW + late, now=NOW)
        lengths = [10 * (end - begin) for begin, end in pairwise(bases(log))]
        assert len(set(lengths)) > 5
        assert all(600 < length <= 1010 for length in lengths)

    def test_without_timestamps_the_clock_counts(self) -> None:
        log = new_log(segment_ms=1000)
        for now in (NOW, NOW + 1000, NOW + 1001):
            log.append_as_leader(encode_batch([Record(0, -1, None, b"v")]), leader_epoch=0, now=now)
        assert bases(log) == [0, 2]

    def test_offsets_too_far_apart_for_one_index(self) -> None:
        log = new_log()
        for base in (0, 2**31 - 1, 2**31):
            batch = produced(1, partition_leader_epoch=0)
            batch[0:8] = base.to_bytes(8, "big")
            log.append_as_follower(batch, now=NOW)
        assert bases(log) == [0, 2**31]


class TestRetention:
    def test_default_retention_is_a_week(self) -> None:
        log = new_log(segment_bytes=ONE)
        for day in range(10):
            append(log, NOW + day * 86_400_000, NOW + day * 86_400_000)
        assert log.retain(NOW + 9 * 86_400_000) == [DeletedSegments("retention.ms", 2, 2 * ONE)]
        assert (log.log_start_offset, everything(log)) == (2, [2, 3, 4, 5, 6, 7, 8, 9])

    def test_by_time_even_the_active_segment_goes(self) -> None:
        log = filled(1, 1, retention_ms=1000)
        assert log.retain(NOW + 1000) == []
        assert log.retain(NOW + 1001) == [DeletedSegments("retention.ms", 1, 2 * ONE)]
        assert (log.log_start_offset, log.log_end_offset, log.size) == (2, 2, 0)
        assert log.retain(NOW + 9999) == []
        append(log, NOW)
        assert everything(log) == [2]

    def test_a_young_segment_protects_the_older_ones_after_it(self) -> None:
        log = new_log(segment_bytes=ONE, retention_ms=1000)
        for timestamp in (NOW, NOW + 5000, NOW):
            append(log, timestamp)
        log.retain(NOW + 2000)
        assert log.log_start_offset == 1

    def test_without_timestamps_the_last_write_counts(self) -> None:
        log = new_log(retention_ms=1000)
        log.append_as_leader(encode_batch([Record(0, -1, None, b"v")]), leader_epoch=0, now=NOW)
        log.high_watermark = 1
        assert log.retain(NOW + 1000) == []
        assert len(log.retain(NOW + 1001)) == 1

    @pytest.mark.parametrize(
        ("limit", "start"), [(5 * ONE, 0), (4 * ONE, 1), (4 * ONE + 1, 0), (2 * ONE, 3), (0, 5), (-1, 0)]
    )
    def test_by_size_whole_segments_as_long_as_enough_is_left(self, limit: int, start: int) -> None:
        log = filled(1, 1, 1, 1, 1, segment_bytes=ONE, retention_bytes=limit)
        log.retain(NOW)
        assert log.log_start_offset == start

    def test_by_size_the_only_segment_stays(self) -> None:
        log = filled(1, 1, 1, 1, 1, retention_bytes=ONE)
        assert log.retain(NOW) == []

    def test_retention_keeps_segments_above_the_high_watermark(self) -> None:
        log = filled(1, 1, 1, segment_bytes=ONE, retention_bytes=0)
        log.high_watermark = 2
        log.retain(NOW)
        assert log.log_start_offset == 2

    @pytest.mark.parametrize("policy", ["compact", ""])
    def test_compacted_log_deletes_only_segments_below_the_log_start_offset(self, policy: str) -> None:
        log = new_log(segment_bytes=ONE + 2, retention_bytes=0, retention_ms=0, cleanup_policy=policy)
        for _ in range(4):
            log.append_as_leader(produced(1, key=b"kk"), leader_epoch=0, now=NOW)
        log.high_watermark = 4
        assert log.retain(NOW + 5000) == []
        log.delete_records_before(2)
        assert log.retain(NOW + 5000) == [DeletedSegments("below the log start offset", 2, 2 * ONE + 4)]
        assert log.log_start_offset == 2

    def test_the_active_segment_stays_even_when_all_its_records_are_deleted(self) -> None:
        log = filled(1, 1)
        log.delete_records_before(2)
        assert log.retain(NOW) == []
        assert log.size == 2 * ONE

    def test_a_start_inside_a_segment_keeps_the_segment(self) -> None:
        log = filled(1, 1, 1, 1, segment_bytes=2 * ONE)
        log.delete_records_before(3)
        assert log.retain(NOW) == [DeletedSegments("below the log start offset", 1, 2 * ONE)]
        assert (log.log_start_offset, bases(log), log.size) == (3, [2], 2 * ONE)

    def test_every_rule_counts_what_the_ones_before_it_have_left(self) -> None:
        log = filled(*[1] * 6, segment_bytes=ONE, retention_bytes=4 * ONE)
        log.delete_records_before(1)
        assert log.retain(NOW) == [
            DeletedSegments("below the log start offset", 1, ONE),
            DeletedSegments("retention.bytes", 1, ONE),
        ]

    def test_epochs_and_aborted_transactions_go_with_their_segments(self) -> None:
        log = new_log(segment_bytes=2 * ONE, retention_bytes=2 * ONE)
        for epoch in range(3):
            log.append_as_leader(transactional(epoch), leader_epoch=epoch, now=NOW)
            log.append_own(marker(commit=False), leader_epoch=epoch, now=NOW)
        log.high_watermark = 6
        log.retain(NOW)
        first = log._storage.segments[0].base_offset
        assert log.log_start_offset == first > 0
        assert log.epochs.earliest.offset >= first
        assert [aborted.last_offset for aborted in log.transactions.aborted] == [
            last for last in (1, 3, 5) if last >= first
        ]
        assert log.modified == NOW
