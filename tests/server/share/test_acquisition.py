"""Which records a member acquires: limits, ranges, throttling and gaps (KIP-932, KIP-1206)."""

from __future__ import annotations

import pytest

from kafkadouble.server.share.acknowledgement import complete, release
from kafkadouble.server.share.acquisition import AcquireRequest, ShareAcquireMode, acquire, merged
from kafkadouble.server.share.in_flight_records import InFlightRecords
from kafkadouble.server.share.record_state import ACKNOWLEDGED, ACQUIRED, ARCHIVED, AVAILABLE

from .shapes import GROUP, NOW, headers, kept, states, take

RECORD_LIMIT = ShareAcquireMode.RECORD_LIMIT


def give_back(records: InFlightRecords, member: str = "m") -> None:
    """Releases everything that the member has acquired."""
    complete(records, release(records, member, GROUP), committed=True, now=NOW)


def test_new_records_are_acquired_in_one_range() -> None:
    records = InFlightRecords(10)
    assert take(records, (10, 14), (15, 19)) == [(10, 19, 1)]
    assert states(records) == [(10, 19, ACQUIRED, 1, "m")]
    assert (records.start_offset, records.end_offset, records.next_fetch_offset, records.count) == (10, 19, 20, 10)
    assert records.next_lock_deadline(NOW) == NOW + GROUP.record_lock_duration_ms


def test_records_before_the_start_offset_are_not_acquired() -> None:
    records = InFlightRecords(10)
    assert acquire(records, headers((0, 9)), AcquireRequest("m", 10, 100), GROUP, NOW) == []
    assert acquire(records, [], AcquireRequest("m", 10, 100), GROUP, NOW) == []
    assert take(records, (5, 14)) == [(10, 14, 1)]


def test_acquired_records_are_not_acquired_twice() -> None:
    records = InFlightRecords(0)
    take(records, (0, 9))
    assert take(records, (0, 9), member="n") == []
    assert acquire(records, headers((0, 9)), AcquireRequest("n", 0, 100), GROUP, NOW) == []


@pytest.mark.parametrize(
    ("size", "ranges"),
    [
        (100, [(0, 29, 1)]),
        (30, [(0, 29, 1)]),
        (10, [(0, 9, 1), (10, 19, 1), (20, 29, 1)]),
        (11, [(0, 19, 1), (20, 29, 1)]),
        (1, [(0, 9, 1), (10, 19, 1), (20, 29, 1)]),
    ],
)
def test_ranges_end_with_record_batches(size: int, ranges: list[tuple[int, int, int]]) -> None:
    records = InFlightRecords(0)
    assert take(records, (0, 9), (10, 19), (20, 29), size=size) == ranges
    assert [(batch.first_offset, batch.last_offset) for batch in records] == [each[:2] for each in ranges]


def test_batch_optimized_goes_on_to_the_end_of_a_record_batch() -> None:
    records = InFlightRecords(0)
    assert take(records, (0, 9), (10, 19), most=5) == [(0, 9, 1)]
    assert take(records, (0, 9), (10, 19), (20, 29), most=15) == [(10, 29, 1)]


def test_record_limit_is_never_exceeded() -> None:
    records = InFlightRecords(0)
    assert take(records, (0, 9), (10, 19), most=4, mode=RECORD_LIMIT) == [(0, 3, 1)]
    assert states(records) == [(0, 3, ACQUIRED, 1, "m"), (4, 9, AVAILABLE, 0, "")]
    assert records.next_fetch_offset == 4
    assert take(records, (0, 9), (10, 19), member="n", most=3, mode=RECORD_LIMIT) == [(4, 6, 1)]
    assert take(records, (0, 9), (10, 19), member="o", most=5, mode=RECORD_LIMIT) == [(7, 9, 1), (10, 11, 1)]
    assert records.end_offset == 19


def test_record_limit_splits_a_released_batch() -> None:
    records = InFlightRecords(0)
    take(records, (0, 9))
    give_back(records)
    assert take(records, (0, 9), member="n", most=3, mode=RECORD_LIMIT) == [(0, 2, 2)]
    assert states(records) == [(0, 2, ACQUIRED, 2, "n"), (3, 9, AVAILABLE, 1, "")]


def test_released_records_come_before_new_ones() -> None:
    records = InFlightRecords(0)
    take(records, (0, 4), member="m")
    take(records, (0, 4), (5, 9), member="n")
    give_back(records, "m")
    assert records.next_fetch_offset == 0
    assert take(records, (0, 4), (5, 9), (10, 14), member="o") == [(0, 4, 2), (10, 14, 1)]
    assert states(records) == [(0, 4, ACQUIRED, 2, "o"), (5, 9, ACQUIRED, 1, "n"), (10, 14, ACQUIRED, 1, "o")]


def test_the_maximum_in_flight_is_kept_but_for_the_last_batch() -> None:
    group = GROUP._replace(partition_max_record_locks=10)
    records = InFlightRecords(0)
    assert take(records, (0, 5), (6, 11), (12, 17), group=group) == [(0, 11, 1)]
    assert not records.can_acquire(10)
    assert take(records, (0, 5), (6, 11), (12, 17), group=group) == []
    give_back(records)
    assert records.can_acquire(10)
    assert take(records, (0, 5), (6, 11), (12, 17), group=group) == [(0, 11, 2)]


def test_half_of_the_limit_on_fewer_records_are_delivered_together() -> None:
    """With a limit of 5: 16 records are delivered together three times, then half, then one."""
    records = InFlightRecords(0)
    for count in (1, 2, 3):
        assert take(records, (0, 15)) == [(0, 15, count)]
        give_back(records)
    assert take(records, (0, 15), (16, 20)) == [(0, 7, 4)]
    give_back(records)
    assert take(records, (0, 15), (16, 20)) == [(0, 0, 5)]
    assert take(records, (0, 15), (16, 20)) == [(1, 1, 5)]
    give_back(records)
    assert states(records)[0] == (0, 1, ARCHIVED, 5, "")


def test_a_record_in_its_last_delivery_does_not_follow_others() -> None:
    records = InFlightRecords(0, [kept(0, 3, AVAILABLE, 1), kept(4, 9, AVAILABLE, 4)])
    assert take(records, (0, 9)) == [(0, 3, 2)]
    assert take(records, (0, 9)) == [(4, 4, 5)]


def test_a_limit_of_two_throttles_nothing() -> None:
    group = GROUP._replace(delivery_count_limit=2)
    records = InFlightRecords(0, [kept(0, 7, AVAILABLE, 1)])
    assert take(records, (0, 7), (8, 9), group=group) == [(0, 7, 2), (8, 9, 1)]


def test_single_offsets_are_acquired_in_as_few_ranges_as_possible() -> None:
    assert merged([]) == []
    parts = [(0, 0, 1), (1, 2, 1), (4, 5, 1), (6, 6, 2)]
    records = InFlightRecords(0)
    take(records, *((part[0], part[1]) for part in parts))
    give_back(records)
    assert take(records, (0, 6), mode=RECORD_LIMIT, most=6) == [(0, 5, 2)]


def test_persisted_share_state_is_delivered_with_its_gaps() -> None:
    records = InFlightRecords(0, [kept(5, 9, ACKNOWLEDGED), kept(15, 19, AVAILABLE, 2), kept(25, 29, ARCHIVED)])
    assert (records.start_offset, records.end_offset, records.next_fetch_offset) == (0, 29, 0)
    assert take(records, (0, 29), (30, 34)) == [(0, 4, 1), (10, 14, 1), (15, 19, 3), (20, 24, 1), (30, 34, 1)]
    assert records.open_gap is None
    assert records.next_fetch_offset == 35


def test_gaps_are_filled_step_by_step() -> None:
    records = InFlightRecords(0, [kept(5, 9, ACKNOWLEDGED), kept(15, 19, AVAILABLE, 2)])
    assert take(records, (0, 4), (5, 14), (15, 19), most=5) == [(0, 4, 1)]
    assert records.next_fetch_offset == 10
    assert take(records, (0, 4), (5, 14), (15, 19), most=5) == [(10, 14, 1)]
    assert records.next_fetch_offset == 15
    assert take(records, (0, 4), (5, 14), (15, 19)) == [(15, 19, 3)]
    assert records.next_fetch_offset == 20


@pytest.mark.parametrize(
    "batches",
    [
        [kept(3, 4, AVAILABLE)],
        [kept(7, 6, AVAILABLE)],
        [kept(5, 9, AVAILABLE), kept(9, 12, AVAILABLE)],
        [kept(5, 9, AVAILABLE)._replace(delivery_state=9)],
    ],
)
def test_an_impossible_state_is_refused(batches: list) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match=r"\d"):
        InFlightRecords(5, batches)


def test_records_that_were_compacted_away_are_archived() -> None:
    records = InFlightRecords(0)
    take(records, (0, 9))
    give_back(records)
    assert take(records, (6, 9), (10, 12)) == [(6, 9, 2), (10, 12, 1)]
    assert states(records)[0] == (0, 5, ARCHIVED, 1, "")
