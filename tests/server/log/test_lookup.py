"""Looks up offsets by timestamp, and by the special timestamps of ListOffsets."""

import pytest

from kafkadouble.server.log import lookup
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.lookup import NOTHING, TimestampAndOffset
from kafkadouble.wire.batch import Record, encode_batch, seal

from .batches import NOW, filled, new_log, produced


def with_times(*batches: list[int], **settings: int) -> PartitionLog:
    """A log with a batch for each list of timestamps, counted from NOW; each in its own epoch."""
    log = new_log(**settings)
    for epoch, times in enumerate(batches):
        records = [Record(index, NOW + time, None, b"v") for index, time in enumerate(times)]
        log.append_as_leader(encode_batch(records), leader_epoch=epoch, now=NOW)
    log.high_watermark = log.log_end_offset
    return log


@pytest.mark.parametrize(
    ("time", "offset", "found"),
    [(-5, 0, 0), (0, 0, 0), (1, 1, 30), (30, 1, 30), (31, 6, 40), (21, 1, 30), (40, 6, 40), (41, -1, None)],
)
def test_offset_for_timestamp_returns_first_record_at_or_after_it(time: int, offset: int, found: int | None) -> None:
    log = with_times([0, 30, 10], [5, 20, 7], [40])
    expected = NOTHING if found is None else TimestampAndOffset(NOW + found, offset, 2 if offset == 6 else 0)
    assert log.offset_for(NOW + time) == expected


def test_offset_for_timestamp_in_a_log_with_many_segments() -> None:
    times = [[index * 10 + (7 * batch) % 5 for index in range(batch * 3, batch * 3 + 3)] for batch in range(400)]
    log = with_times(*times, segment_bytes=9000)
    flat = [time for batch in times for time in batch]
    for timestamp in (*range(0, flat[-1], 97), flat[-1], flat[-1] + 1):
        first = next((offset for offset, time in enumerate(flat) if time >= timestamp), -1)
        assert log.offset_for(NOW + timestamp).offset == first


def test_offset_for_timestamp_ignores_records_below_the_log_start() -> None:
    log = with_times([0, 30, 10], [5, 20, 7], [40])
    log.delete_records_before(2)
    assert log.offset_for(NOW).offset == 2
    assert log.offset_for(NOW + 15).offset == 4
    log.delete_records_before(7)
    assert log.offset_for(NOW) == NOTHING


def test_max_timestamp_returns_the_first_record_with_this_timestamp() -> None:
    log = with_times([0, 30, 10], [5, 50, 50, 7], [50], [20])
    assert log.offset_for(lookup.MAX_TIMESTAMP) == TimestampAndOffset(NOW + 50, 4, 1)
    for start in (5, 8, 9):  # records below the log start offset count as long as they are stored
        log.delete_records_before(start)
        assert log.offset_for(lookup.MAX_TIMESTAMP) == TimestampAndOffset(NOW + 50, 4, 1)


def test_max_timestamp_is_kept_after_its_segment_was_released() -> None:
    log = with_times(*([time, time + 1] for time in (0, 3, 5000, *range(10, 900, 3))), segment_bytes=1 << 20)
    log.delete_records_before(log.log_end_offset)
    assert log.offset_for(lookup.MAX_TIMESTAMP) == TimestampAndOffset(NOW + 5001, 5, 2)


def test_offset_for_timestamp_reads_only_the_first_late_enough_segment() -> None:
    """The record in this segment may be below the log start offset. Then the lookup finds no
    offset, as in Kafka."""
    log = with_times([0], [50], [20], [30], segment_bytes=2 * len(produced(1, size=1)))
    assert len(log.segments) == 2
    assert log.offset_for(NOW + 30).offset == 1
    log.delete_records_before(2)
    assert log.offset_for(NOW + 30) == NOTHING
    log.delete_old_segments()
    assert log.offset_for(NOW + 30).offset == 3


def test_max_timestamp_after_a_truncation() -> None:
    log = with_times([0, 30, 10], [5, 50, 7], [20])
    log.truncate_to(3)
    assert log.offset_for(lookup.MAX_TIMESTAMP).offset == 1


def test_log_append_time_is_looked_up_by_batch() -> None:
    log = new_log(message_timestamp_type="LogAppendTime")
    for now in (NOW, NOW + 10):
        log.append_as_leader(produced(3, timestamp=5), leader_epoch=0, now=now)
    log.high_watermark = 6
    assert log.offset_for(NOW + 1) == TimestampAndOffset(NOW + 10, 3, 0)
    assert log.offset_for(lookup.MAX_TIMESTAMP) == TimestampAndOffset(NOW + 10, 3, 0)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_offset_for_timestamp_inside_compressed_batches(codec: int) -> None:
    log = new_log()
    log.append_as_leader(produced(50, compression=codec), leader_epoch=0, now=NOW)
    assert log.offset_for(NOW + 33).offset == 33


def test_special_timestamps_are_looked_up() -> None:
    log = filled(3, 2, epoch=4)
    log.append_as_leader(produced(1), leader_epoch=6, now=NOW)
    assert log.offset_for(lookup.EARLIEST) == TimestampAndOffset(-1, 0, 4)
    assert log.offset_for(lookup.LATEST) == TimestampAndOffset(-1, 6, 6)
    log.delete_records_before(2)
    assert log.offset_for(lookup.EARLIEST) == log.offset_for(lookup.EARLIEST_LOCAL) == TimestampAndOffset(-1, 2, 4)
    assert log.offset_for(lookup.LATEST_TIERED) == log.offset_for(lookup.EARLIEST_PENDING_UPLOAD) == NOTHING


def test_special_timestamps_of_an_empty_log() -> None:
    log = new_log()
    assert log.offset_for(lookup.EARLIEST) == log.offset_for(lookup.LATEST) == TimestampAndOffset(-1, 0, -1)
    assert log.offset_for(lookup.MAX_TIMESTAMP) == log.offset_for(NOW) == NOTHING


def test_earliest_has_no_epoch_if_epochs_begin_above_the_log_start() -> None:
    log = new_log()
    log.truncate_fully_and_start_at(5, log_start_offset=3)
    log.append_as_leader(produced(1), leader_epoch=2, now=NOW)
    assert log.offset_for(lookup.EARLIEST) == TimestampAndOffset(-1, 3, -1)


def test_offset_for_timestamp_skips_an_unreadable_batch() -> None:
    log = new_log()
    damaged = produced(100, timestamp=NOW)
    # the header count of the last record, which was not checked
    damaged[-1] = 0xFF
    seal(damaged)
    log.append_as_leader(damaged, leader_epoch=0, now=NOW)
    log.append_as_leader(produced(1, timestamp=NOW + 5), leader_epoch=0, now=NOW)
    assert log.offset_for(NOW).offset == 100
