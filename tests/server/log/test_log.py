"""A partition's log as its owner uses it: append, read, move the watermarks, truncate, delete."""

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.log.divergence import FetchPositionKind, compare_with
from kafkadouble.server.log.log import AppendOrigin, AppendResult, LogRefused, PartitionLog
from kafkadouble.server.log.memory import MemoryStorage
from kafkadouble.server.log.offset_and_epoch import UNDEFINED, OffsetAndEpoch
from kafkadouble.wire.batch import encode_batch, read_header, seal
from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.record import Record

from .batches import NOW, epochs_in, everything, filled, new_log, offsets, produced


def append(log: PartitionLog, count: int, epoch: int = 0) -> AppendResult:
    return log.append_as_leader(produced(count), leader_epoch=epoch, now=NOW)


class TestAppend:
    def test_offsets_follow_one_another(self) -> None:
        log = new_log()
        assert append(log, 3) == AppendResult(0, 2, -1, 0, len(produced(3)))
        assert append(log, 2) == AppendResult(3, 4, -1, 0, len(produced(2)))
        assert log.log_end_offset == 5
        assert log.size == len(produced(3)) + len(produced(2))

    def test_any_buffer_is_taken_and_none_is_changed(self) -> None:
        batch = bytes(produced(2))
        log = new_log()
        for kind in (bytes, bytearray, memoryview):
            given = kind(batch)
            log.append_as_leader(given, leader_epoch=7, now=NOW)
            assert given == batch
        assert everything(log) == list(range(6))

    def test_the_batch_carries_the_leaders_epoch(self) -> None:
        log = new_log()
        append(log, 2, epoch=3)
        append(log, 2, epoch=3)
        append(log, 2, epoch=5)
        assert epochs_in(log) == [3, 3, 5]
        assert log.epochs.entries == [OffsetAndEpoch(0, 3), OffsetAndEpoch(4, 5)]

    def test_a_leader_that_has_written_nothing_is_known_all_the_same(self) -> None:
        log = filled(3, epoch=2)
        log.begin_epoch(4)
        assert log.end_offset_for_epoch(4) == OffsetAndEpoch(3, 4)
        assert log.end_offset_for_epoch(3) == OffsetAndEpoch(3, 2)
        assert log.end_offset_for_epoch(5) == UNDEFINED
        log.begin_epoch(6)
        append(log, 1, epoch=6)
        assert log.epochs.entries == [OffsetAndEpoch(0, 2), OffsetAndEpoch(3, 6)]

    def test_our_own_batches_are_trusted_and_sealed_when_they_are_read(self) -> None:
        log = new_log()
        for first in (0, 2):
            own = encode_batch([Record(first + i, NOW, b"k", b"v") for i in range(2)], base_offset=first, seal=False)
            assert log.append_own(own, leader_epoch=1, now=NOW).base_offset == first
        log.high_watermark = 4
        assert offsets(log.read(0, 1000).records) == [0, 1, 2, 3]

    def test_our_own_batches_get_the_time_of_the_topic(self) -> None:
        log = new_log(message_timestamp_type="LogAppendTime")
        log.append_own(encode_batch([Record(0, 5, b"k", b"v")], seal=False), leader_epoch=1, now=NOW)
        log.high_watermark = 1
        records = log.read(0, 1000).records
        assert offsets(records) == [0]
        assert read_header(records).max_timestamp == NOW

    def test_our_own_batches_are_bound_in_size_but_for_the_quorums(self) -> None:
        log = new_log(max_message_bytes=50)
        with pytest.raises(LogRefused) as caught:
            log.append_own(produced(1), leader_epoch=0, now=NOW)
        assert caught.value.code == error_codes.MESSAGE_TOO_LARGE
        log.append_own(produced(1), leader_epoch=0, now=NOW, origin=AppendOrigin.RAFT)
        with pytest.raises(UsageError):
            log.append_own(produced(1) + produced(1), leader_epoch=0, now=NOW)


class TestRead:
    def test_read_of_an_empty_log_returns_no_records(self) -> None:
        piece = new_log().read(0, 1000)
        assert (len(piece.records), piece.next_offset) == (0, 0)

    def test_up_to_the_high_watermark_or_the_given_end(self) -> None:
        log = new_log()
        for count in (3, 2, 4):
            append(log, count)
        assert len(log.read(0, 1000).records) == 0
        log.high_watermark = 5
        assert offsets(log.read(0, 1000).records) == [0, 1, 2, 3, 4]
        assert len(log.read(5, 1000).records) == 0
        assert len(log.read(9, 1000).records) == 0
        assert offsets(log.read(0, 1000, 3).records) == [0, 1, 2]
        assert offsets(log.read(5, 1000, log.log_end_offset).records) == [5, 6, 7, 8]

    def test_an_offset_inside_a_batch_gives_the_whole_batch(self) -> None:
        piece = filled(3, 5).read(6, 1000)
        assert (piece.offset, offsets(piece.records), piece.next_offset) == (3, [3, 4, 5, 6, 7], 8)

    def test_at_least_one_batch_or_none(self) -> None:
        log = filled(3, 5)
        assert offsets(log.read(0, 1).records) == [0, 1, 2]
        assert len(log.read(0, 1, at_least_one=False).records) == 0
        assert len(log.read(0, -5, at_least_one=False).records) == 0

    @pytest.mark.parametrize("offset", [-1, 1, 9])
    def test_out_of_range(self, offset: int) -> None:
        log = filled(3, 5)
        log.delete_records_before(2)
        with pytest.raises(LogRefused) as caught:
            log.read(offset, 1000)
        assert caught.value.code == error_codes.OFFSET_OUT_OF_RANGE

    def test_over_chunks_and_segments(self) -> None:
        log = filled(*[7] * 500, segment_bytes=20_000)
        assert everything(log) == list(range(3500))
        for offset in range(0, 3500, 13):
            assert offsets(log.read(offset, 1).records)[0] == offset // 7 * 7

    def test_batch_by_batch(self) -> None:
        log = filled(3, 2, 4)
        assert [offsets(batch) for batch in log.batches(4)] == [[3, 4], [5, 6, 7, 8]]


class TestWatermarks:
    def test_the_high_watermark_stays_within_the_log(self) -> None:
        log = filled(3, 2)
        log.high_watermark = 99
        assert log.high_watermark == 5
        log.delete_records_before(2)
        log.high_watermark = 0
        assert log.high_watermark == 2

    def test_deleting_records(self) -> None:
        log = filled(3, 2, 4, epoch=1)
        log.delete_records_before(4)
        assert (log.log_start_offset, log.log_end_offset) == (4, 9)
        assert log.epochs.entries == [OffsetAndEpoch(4, 1)]
        assert offsets(log.read(4, 1).records) == [3, 4]
        log.delete_records_before(2)
        assert log.log_start_offset == 4
        log.delete_records_before(9)
        assert len(log.read(9, 1000).records) == 0

    def test_deleting_records_gives_memory_back_but_not_the_size(self) -> None:
        log = filled(*[10] * 200)
        chunks, size = _chunks(log), log.size
        log.delete_records_before(2000)
        assert _chunks(log) == 1 < chunks
        assert log.size == size

    def test_no_deleting_past_the_high_watermark(self) -> None:
        log = new_log()
        append(log, 5)
        log.high_watermark = 3
        with pytest.raises(LogRefused) as caught:
            log.delete_records_before(4)
        assert caught.value.code == error_codes.OFFSET_OUT_OF_RANGE


class TestTruncation:
    @pytest.mark.parametrize(("offset", "left"), [(9, 9), (8, 5), (5, 5), (4, 3), (1, 0), (0, 0)])
    def test_whole_batches_are_removed_and_the_next_offset_is_the_given_one(self, offset: int, left: int) -> None:
        log = filled(3, 2, 4)
        assert log.truncate_to(offset) == (offset < 9)
        assert everything(log) == list(range(left))
        assert (log.log_end_offset, log.high_watermark) == (offset, offset)
        assert append(log, 2).base_offset == offset
        assert everything(log) == [*range(left), offset, offset + 1]

    def test_beyond_the_end_only_epochs_go_that_have_no_records(self) -> None:
        log = filled(3, epoch=1)
        log.begin_epoch(2)
        assert not log.truncate_to(7)
        assert log.epochs.entries == [OffsetAndEpoch(0, 1)]
        assert everything(log) == [0, 1, 2]

    @pytest.mark.parametrize(("offset", "epochs"), [(5, [1, 2]), (4, [1, 2]), (3, [1]), (1, [1]), (0, [])])
    def test_only_the_epochs_that_were_reached_are_kept(self, offset: int, epochs: list[int]) -> None:
        log = new_log()
        for count, epoch in ((3, 1), (2, 2), (4, 4)):
            append(log, count, epoch)
        log.truncate_to(offset)
        assert [entry.epoch for entry in log.epochs.entries] == epochs

    def test_truncation_below_the_log_start_offset_empties_the_log(self) -> None:
        log = filled(3, 2, 4)
        log.delete_records_before(5)
        log.truncate_to(4)
        assert (log.log_start_offset, log.log_end_offset, everything(log)) == (4, 4, [])
        assert append(log, 1).base_offset == 4

    def test_below_the_first_segment(self) -> None:
        log = filled(3, 3, 3, segment_bytes=120)
        log.delete_records_before(6)
        log.retain(NOW)
        log.truncate_to(2)
        assert (log.log_start_offset, log.log_end_offset, log.high_watermark, log.size) == (2, 2, 2, 0)
        assert append(log, 1).base_offset == 2

    def test_log_is_truncated_fully_and_restarts_at_an_offset(self) -> None:
        log = filled(3, 2, epoch=3)
        log.truncate_fully_and_start_at(100)
        assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (100, 100, 100)
        assert len(log.epochs) == 0
        assert append(log, 2).base_offset == 100
        assert everything(log) == [100, 101]

    def test_truncation_to_a_negative_offset_is_refused(self) -> None:
        with pytest.raises(UsageError):
            filled(3).truncate_to(-1)

    def test_earlier_log_read_stays_valid(self) -> None:
        log = filled(3, 2, 4)
        piece = log.read(3, 1000)
        before = bytes(piece.records)
        log.truncate_to(3)
        for _ in range(50):
            append(log, 3)
        assert piece.records == before


class TestReplica:
    def copied(self, log: PartitionLog, batches: bytes | bytearray, epoch: int | None = None) -> AppendResult | None:
        return log.append_as_follower(batches, now=NOW, leader_epoch=epoch)

    def test_offsets_and_epochs_are_the_leaders(self) -> None:
        leader = new_log()
        for count, epoch in ((3, 1), (2, 2), (4, 2)):
            append(leader, count, epoch)
        follower = new_log()
        sent = bytes(leader.read(0, 1000, 9).records)
        assert self.copied(follower, sent) == AppendResult(0, 8, -1, 0, len(sent))
        assert follower.read(0, 1000, 9).records == sent
        assert follower.epochs.entries == leader.epochs.entries

    def test_a_batch_that_was_cut_off_is_left_for_next_time(self) -> None:
        sent = bytes(filled(3, 2).read(0, 1000).records)
        follower = new_log()
        self.copied(follower, sent[:-1])
        assert follower.log_end_offset == 3
        assert self.copied(follower, b"") is None

    def test_batches_of_a_later_epoch_are_left_out(self) -> None:
        leader = new_log()
        for epoch in (1, 2, 1):
            append(leader, 1, epoch)
        follower = new_log()
        self.copied(follower, bytes(leader.read(0, 1000, 3).records), epoch=1)
        assert follower.log_end_offset == 1

    def test_offsets_may_jump_ahead(self) -> None:
        follower = new_log()
        for base in (5, 9):
            self.copied(follower, _at(base, 2))
        assert everything(follower) == [5, 6, 9, 10]
        assert follower.log_end_offset == 11

    @pytest.mark.parametrize("bases", [(0, 0), (3, 0), (0, 1), (4, 5)])
    def test_offsets_never_go_back(self, bases: tuple[int, int]) -> None:
        follower = new_log()
        with pytest.raises(LogRefused) as caught:
            self.copied(follower, _at(bases[0], 2) + _at(bases[1], 2))
        assert caught.value.code == error_codes.UNKNOWN_SERVER_ERROR
        assert follower.log_end_offset == 0

    def test_a_batch_that_ends_before_it_begins(self) -> None:
        batch = _at(0, 2)
        batch[23:27] = (-1).to_bytes(4, "big", signed=True)
        seal(batch)
        with pytest.raises(LogRefused) as caught:
            self.copied(new_log(), batch)
        assert caught.value.code == error_codes.UNKNOWN_SERVER_ERROR

    def test_damage(self) -> None:
        sent = _at(0, 2) + _at(2, 2)
        sent[-1] ^= 1
        follower = new_log()
        with pytest.raises(LogRefused) as caught:
            self.copied(follower, sent)
        assert caught.value.code == error_codes.CORRUPT_MESSAGE
        assert follower.log_end_offset == 0

    def test_two_histories_are_brought_together(self) -> None:
        """The follower was leader in an epoch that no other replica has seen. The later leader
        tells it where to truncate."""
        leader, follower = new_log(), new_log()
        for log in (leader, follower):
            append(log, 3, 0)
        append(follower, 2, 1)
        append(leader, 4, 2)
        assert compare_with(leader, follower.log_end_offset, follower.epochs.latest).kind is FetchPositionKind.DIVERGING
        end = compare_with(leader, follower.log_end_offset, follower.epochs.latest).end
        assert end == OffsetAndEpoch(3, 0)
        follower.truncate_to(min(end.offset, follower.end_offset_for_epoch(end.epoch).offset))
        assert compare_with(leader, follower.log_end_offset, follower.epochs.latest).kind is FetchPositionKind.VALID
        self.copied(follower, bytes(leader.read(3, 1000, 7).records))
        assert follower.read(0, 1000, 7).records == leader.read(0, 1000, 7).records
        assert follower.epochs.entries == leader.epochs.entries


def _at(base: int, count: int) -> bytearray:
    """A batch as a leader sends it."""
    return encode_batch(
        [Record(base + index, NOW, None, b"v") for index in range(count)], base_offset=base, partition_leader_epoch=0
    )


def test_log_has_a_repr() -> None:
    log = filled(*[10] * 20, epoch=3)
    log.delete_records_before(5)
    assert repr(log) == "PartitionLog orders-0, offsets 5..200, epoch 3, 5 KB in 2 chunks"
    assert repr(new_log()) == "PartitionLog orders-0, offsets 0..0, epoch -1, 0 KB in 0 chunks"


def _chunks(log: PartitionLog) -> int:
    storage = log._storage
    assert isinstance(storage, MemoryStorage)
    return len(storage.segments[0].chunks)
