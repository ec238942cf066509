"""Which aborted transactions the answer to a fetch lists: those that begin before the entry of the
offset index that follows the bytes, as in Apache Kafka."""

from __future__ import annotations

from kafkadouble.server.log.aborted_in_fetch import aborted_in_fetch
from kafkadouble.server.log.compaction.cleaner import clean
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import read_header

from .batches import NOW, marker, new_log, produced, transactional

ONE = len(produced())
"""Size of a batch of one record in bytes, also of a transactional one."""


def append(log: PartitionLog, count: int = 1) -> None:
    for _ in range(count):
        log.append_as_leader(produced(), leader_epoch=0, now=NOW)
    log.commit_all()


def abort(log: PartitionLog, producer: int) -> None:
    log.append_as_leader(transactional(0, producer=producer), leader_epoch=0, now=NOW)
    log.append_own(marker(commit=False, producer=producer), leader_epoch=0, now=NOW)
    log.commit_all()


def with_two_aborted(**settings: object) -> PartitionLog:
    """Records at 0, 3 and 6; transactions at 1 and 4, whose markers are at 2 and 5."""
    log = new_log(**settings)
    append(log)
    abort(log, 1)
    append(log)
    abort(log, 2)
    append(log)
    return log


def listed(log: PartitionLog, offset: int, max_bytes: int, *, at_least_one: bool = True) -> list[int]:
    end = log.last_stable_offset
    found = log.lend(offset, max_bytes, end, at_least_one=at_least_one)
    return [each.first_offset for each in aborted_in_fetch(log, offset, max_bytes, end, found)]


def entries(log: PartitionLog) -> list[int]:
    """All entries of the offset index of the active segment."""
    segment, found = log.segments[-1], list[int]()
    while (entry := segment.entry_from(found[-1] + 1 if found else 0)) is not None:
        found.append(entry)
    return found


def test_without_an_entry_after_the_bytes_transactions_up_to_the_log_end_offset_are_listed() -> None:
    log = with_two_aborted()
    assert entries(log) == []
    assert listed(log, 0, 1) == [1, 4]
    assert listed(log, 3, 1) == [4]
    assert listed(log, 6, 1) == []


def test_a_listed_transaction_may_begin_beyond_the_last_stable_offset() -> None:
    log = new_log()
    append(log)
    log.append_as_leader(transactional(0, producer=9), leader_epoch=0, now=NOW)
    abort(log, 1)
    assert log.last_stable_offset == 1
    assert listed(log, 0, 1 << 20) == [2]


def test_an_entry_at_the_end_of_the_bytes_bounds_the_list_unless_it_is_the_first() -> None:
    log = with_two_aborted(index_interval_bytes=0)
    assert entries(log) == [1, 2, 3, 4, 5, 6]
    assert listed(log, 0, 1) == [1]  # the entry at 1 is the first, so the bound is 2
    assert listed(log, 3, 1) == []
    assert listed(log, 4, 1) == [4]


def test_the_next_batch_does_not_bound_the_list_if_kafka_sends_a_part_of_it() -> None:
    log = with_two_aborted(index_interval_bytes=0)
    assert listed(log, 3, ONE) == []
    assert listed(log, 3, ONE + 1) == [4]


def test_a_fetch_for_which_no_byte_is_left_lists_what_begins_before_the_next_entry() -> None:
    log = with_two_aborted(index_interval_bytes=0)
    assert listed(log, 1, 0, at_least_one=False) == [1]
    assert listed(log, 3, 0, at_least_one=False) == []


def test_without_an_entry_after_the_bytes_the_next_segment_bounds_the_list() -> None:
    log = new_log()
    append(log)
    abort(log, 1)
    log.roll()
    abort(log, 2)
    assert listed(log, 0, 1) == [1]
    assert listed(log, 2, 1) == [1]
    assert listed(log, 3, 1) == [3]


def test_an_entry_comes_after_more_than_the_interval_and_a_truncation_begins_to_count_again() -> None:
    log = new_log(index_interval_bytes=2 * ONE)
    append(log, 4)
    assert entries(log) == [3]
    log.truncate_to(3)
    append(log, 3)
    assert entries(log) == []
    append(log, 1)
    assert entries(log) == [6]


def test_a_cleaned_segment_has_an_entry_after_more_than_the_interval_of_what_is_left() -> None:
    log = new_log(index_interval_bytes=ONE + 1, cleanup_policy="compact")
    for key in (b"a", b"a", b"b", b"b", b"c", b"d", b"e"):
        log.append_as_leader(produced(key=key), leader_epoch=0, now=NOW)
    log.commit_all()
    log.roll()
    list(clean(log, NOW, 100))
    segment = log.segments[0]
    assert segment.next_offset == 7
    assert [segment.entry_from(offset) for offset in range(7)] == [4, 4, 4, 4, 4, 6, 6]


def test_an_entry_is_found_among_many() -> None:
    log = new_log(index_interval_bytes=0)
    for number in range(300):
        log.append_as_leader(produced(1 + number % 3), leader_epoch=0, now=NOW)
    log.commit_all()
    ends = [read_header(batch).last_offset for batch in log.batches(0)][1:]
    log.roll()
    closed = log.segments[0]
    found = [closed.entry_from(offset) for offset in range(log.log_end_offset + 1)]
    assert found == [next((end for end in ends if end >= offset), None) for offset in range(log.log_end_offset + 1)]
