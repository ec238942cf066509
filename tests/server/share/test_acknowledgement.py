"""What acknowledgements, releases and timeouts do to records, and what is written (KIP-932)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.share.acknowledgement import (
    CLIENT_REJECT,
    DELIVERY_COUNT_EXCEEDED,
    AcknowledgementBatch,
    StateChange,
    acknowledge,
    complete,
    release,
    time_out,
)
from kafkadouble.server.share.in_flight_records import InFlightRecords
from kafkadouble.server.share.record_state import (
    ACKNOWLEDGED,
    ACQUIRED,
    ARCHIVED,
    ARCHIVING,
    AVAILABLE,
    AcknowledgeType,
    RecordState,
)
from kafkadouble.server.share.start_offset_movement import advance, move_to_log_start

from .shapes import GROUP, NOW, kept, states, take

GAP, ACCEPT, RELEASE, REJECT, RENEW = AcknowledgeType
LATER = NOW + GROUP.record_lock_duration_ms
INVALID_STATE, INVALID_REQUEST = error_codes.INVALID_RECORD_STATE, error_codes.INVALID_REQUEST


def begin(
    records: InFlightRecords, *batches: tuple[int, int, Sequence[int]], member: str = "m", now: int = NOW
) -> list[StateChange]:
    """Acknowledge, without an end of the write."""
    return acknowledge(records, member, [AcknowledgementBatch(*batch) for batch in batches], GROUP, now)


def ack(records: InFlightRecords, *batches: tuple[int, int, Sequence[int]], member: str = "m") -> list[tuple[int, ...]]:
    """Acknowledge; the write succeeds. What was written."""
    changes = begin(records, *batches, member=member)
    complete(records, changes, committed=True, now=NOW)
    advance(records)
    return [tuple(change.written) for change in changes]


def taken(*ranges: tuple[int, int]) -> InFlightRecords:
    """Records in flight, of which m has acquired everything; one batch for each range."""
    records = InFlightRecords(ranges[0][0])
    take(records, *ranges, size=1)
    return records


@pytest.mark.parametrize(
    ("type", "state"), [(GAP, ARCHIVED), (ACCEPT, ACKNOWLEDGED), (RELEASE, AVAILABLE), (REJECT, ARCHIVED)]
)
def test_each_type_leads_to_its_state(type: AcknowledgeType, state: RecordState) -> None:
    records = taken((0, 9), (10, 19))
    assert ack(records, (10, 19, [type])) == [(10, 19, state, 1)]
    assert states(records) == [(0, 9, ACQUIRED, 1, "m"), (10, 19, state, 1, "")]


def test_a_part_of_a_batch_is_acknowledged() -> None:
    records = taken((0, 9))
    assert ack(records, (2, 4, [ACCEPT])) == [(2, 4, ACKNOWLEDGED, 1)]
    assert states(records) == [(0, 1, ACQUIRED, 1, "m"), (2, 4, ACKNOWLEDGED, 1, ""), (5, 9, ACQUIRED, 1, "m")]


def test_each_offset_has_its_own_type() -> None:
    records = taken((0, 2), (3, 5))
    written = ack(records, (0, 5, [ACCEPT, RELEASE, RELEASE, RELEASE, REJECT, GAP]))
    assert written == [
        (0, 0, ACKNOWLEDGED, 1),
        (1, 2, AVAILABLE, 1),
        (3, 3, AVAILABLE, 1),
        (4, 4, ARCHIVED, 1),
        (5, 5, ARCHIVED, 1),
    ]
    assert (records.start_offset, records.next_fetch_offset) == (1, 1)


def test_share_acknowledge_covers_several_batches() -> None:
    records = taken((0, 4), (5, 9))
    assert ack(records, (0, 4, [ACCEPT]), (5, 9, [ACCEPT])) == [(0, 4, ACKNOWLEDGED, 1), (5, 9, ACKNOWLEDGED, 1)]
    assert (records.is_empty, records.start_offset, records.end_offset) == (True, 10, 10)
    assert records.next_fetch_offset == 10


@pytest.mark.parametrize(
    ("member", "batch", "code", "why"),
    [
        ("n", (0, 9, [ACCEPT]), INVALID_STATE, "Member is not the owner of batch record"),
        ("n", (2, 3, [ACCEPT]), INVALID_STATE, "Member is not the owner of batch record"),
        ("n", (10, 10, [ACCEPT]), INVALID_STATE, "Member is not the owner of offset"),
        ("m", (12, 12, [ACCEPT]), INVALID_STATE, "The offset cannot be acknowledged. The offset is not acquired."),
        ("m", (20, 29, [ACCEPT]), INVALID_STATE, "The batch cannot be acknowledged. The batch is not in the acquired state."),
        ("m", (35, 45, [ACCEPT]), INVALID_REQUEST, "Batch record not found. The last offset in request is past acquired records."),
        ("m", (45, 45, [ACCEPT]), INVALID_REQUEST, "Batch record not found. The first offset in request is past acquired records."),
    ],
)  # fmt: skip
def test_acknowledgement_of_records_not_acquired_is_refused(
    member: str, batch: tuple[int, int, Sequence[int]], code: int, why: str
) -> None:
    records = taken((0, 9), (10, 19), (20, 29), (30, 39))
    ack(records, (12, 13, [ACCEPT]))
    ack(records, (20, 29, [RELEASE]))
    before = states(records)
    with pytest.raises(Refusal) as caught:
        begin(records, (30, 30, [ACCEPT]), batch, member=member) if member == "m" else begin(
            records, batch, member=member
        )
    assert (caught.value.code, caught.value.message) == (code, why)
    assert states(records) == before


def test_offsets_that_were_never_in_flight_are_refused() -> None:
    records = InFlightRecords(10)
    with pytest.raises(Refusal, match="not found in the cache") as caught:
        begin(records, (10, 11, [ACCEPT]))
    assert caught.value.code == INVALID_STATE


def test_offsets_before_the_start_offset_are_ignored() -> None:
    records = taken((0, 9))
    ack(records, (0, 3, [ACCEPT]))
    assert records.start_offset == 4
    assert ack(records, (0, 3, [ACCEPT])) == []
    assert ack(records, (2, 5, [ACCEPT])) == [(4, 5, ACKNOWLEDGED, 1)]


def test_records_are_acknowledged_once_while_the_write_is_pending() -> None:
    records = taken((0, 9))
    changes = begin(records, (0, 9, [ACCEPT]))
    with pytest.raises(Refusal):
        begin(records, (0, 9, [ACCEPT]))
    with pytest.raises(Refusal):
        begin(records, (0, 3, [ACCEPT]))
    complete(records, changes, committed=True, now=NOW)
    assert states(records) == [(0, 9, ACKNOWLEDGED, 1, "")]


def test_failed_write_undoes_the_acknowledged_records() -> None:
    records = taken((0, 9), (10, 19))
    changes = begin(records, (0, 19, [ACCEPT]))
    assert records.delivery_complete_count == 20
    complete(records, changes, committed=False, now=NOW)
    assert states(records) == [(0, 19, ACQUIRED, 1, "m")]
    assert records.delivery_complete_count == 0
    assert not advance(records)


def test_after_a_failed_write_locks_that_timed_out_release_their_records() -> None:
    records = taken((0, 9))
    changes = begin(records, (0, 9, [ACCEPT]))
    assert time_out(records, GROUP, LATER) == []
    assert records.next_lock_deadline(LATER) is None
    complete(records, changes, committed=False, now=LATER)
    assert states(records) == [(0, 9, AVAILABLE, 1, "")]
    assert records.next_fetch_offset == 0


def test_renewed_record_lock_begins_again() -> None:
    records = taken((0, 9), (10, 19))
    assert begin(records, (0, 4, [RENEW]), (10, 19, [RENEW]), now=NOW + 100) == []
    assert [change.written[:2] for change in time_out(records, GROUP, LATER)] == [(5, 9)]
    assert records.next_lock_deadline(LATER) == LATER + 100
    assert [change.written[:2] for change in time_out(records, GROUP, LATER + 100)] == [(0, 4), (10, 19)]


def test_renewal_of_record_locks_may_be_disabled() -> None:
    records = taken((0, 9))
    group = GROUP._replace(renew_acknowledge_enable=False)
    with pytest.raises(Refusal, match="not enabled") as caught:
        acknowledge(records, "m", [AcknowledgementBatch(0, 9, [RENEW])], group, NOW + 100)
    assert caught.value.code == INVALID_STATE
    assert records.next_lock_deadline(NOW) == LATER


def test_release_gives_back_what_the_member_has() -> None:
    records = taken((0, 9), (10, 19))
    take(records, (0, 9), (10, 19), (20, 24), member="n")
    ack(records, (3, 4, [ACCEPT]))
    changes = release(records, "m", GROUP)
    assert [tuple(change.written) for change in changes] == [
        (0, 2, AVAILABLE, 1),
        (5, 9, AVAILABLE, 1),
        (10, 19, AVAILABLE, 1),
    ]
    complete(records, changes, committed=True, now=NOW)
    assert records.next_fetch_offset == 0
    assert release(records, "m", GROUP) == []


def test_record_locks_time_out_at_their_deadline() -> None:
    records = taken((0, 9))
    take(records, (0, 9), (10, 14), member="n", now=NOW + 1)
    assert time_out(records, GROUP, LATER - 1) == []
    assert [tuple(each.written) for each in time_out(records, GROUP, LATER)] == [(0, 9, AVAILABLE, 1)]
    assert records.next_lock_deadline(LATER) == LATER + 1
    assert records.next_fetch_offset == 0


def test_a_lock_that_times_out_at_the_limit_gives_the_record_up() -> None:
    records = InFlightRecords(0, [kept(0, 0, AVAILABLE, 4)])
    assert take(records, (0, 0)) == [(0, 0, 5)]
    assert [tuple(each.written) for each in time_out(records, GROUP, LATER)] == [(0, 0, ARCHIVED, 5)]
    assert advance(records)
    assert records.start_offset == 1


def test_with_a_dead_letter_queue_records_are_archived_in_two_steps() -> None:
    group = GROUP._replace(dlq_topic="dlq")
    records = InFlightRecords(0, [kept(0, 0, AVAILABLE, 4)])
    take(records, (0, 0))
    take(records, (0, 0), (1, 9))
    changes = acknowledge(
        records, "m", [AcknowledgementBatch(0, 0, [RELEASE]), AcknowledgementBatch(1, 9, [REJECT])], group, NOW
    )
    assert [(tuple(change.written), change.dlq_cause) for change in changes] == [
        ((0, 0, ARCHIVING, 5), DELIVERY_COUNT_EXCEEDED),
        ((1, 9, ARCHIVING, 1), CLIENT_REJECT),
    ]
    complete(records, changes, committed=True, now=NOW)
    assert not advance(records)
    assert records.delivery_complete_count == 0
    for change in changes:
        for state in change.states:
            state.archive()
    assert advance(records)
    assert records.start_offset == 10


def test_the_start_offset_stops_at_the_first_record_that_is_not_done() -> None:
    records = taken((0, 9), (10, 19), (20, 29))
    ack(records, (10, 19, [ACCEPT]))
    assert (records.start_offset, records.delivery_complete_count) == (0, 10)
    ack(records, (0, 9, [ACCEPT]))
    assert (records.start_offset, records.delivery_complete_count, records.first_key) == (20, 0, 20)
    ack(records, (20, 24, [ACCEPT]))
    assert (records.start_offset, records.first_key, records.end_offset) == (25, 20, 29)
    assert records.delivery_complete_count == 0


def test_the_start_offset_does_not_pass_a_gap() -> None:
    records = InFlightRecords(0, [kept(0, 4, ACKNOWLEDGED), kept(10, 14, ACKNOWLEDGED), kept(15, 19, AVAILABLE)])
    assert advance(records)
    assert records.start_offset == 5
    assert take(records, (0, 19)) == [(5, 9, 1), (15, 19, 2)]
    ack(records, (5, 9, [ACCEPT]))
    assert records.start_offset == 15


def test_the_start_offset_moves_with_the_log() -> None:
    records = taken((0, 9), (10, 19))
    ack(records, (0, 9, [RELEASE]))
    assert not move_to_log_start(records, 0)
    assert move_to_log_start(records, 15)
    assert states(records) == [(0, 9, ARCHIVED, 1, ""), (10, 19, ACQUIRED, 1, "m")]
    assert (records.start_offset, records.end_offset) == (15, 19)
    assert ack(records, (10, 19, [RELEASE])) == [(15, 19, AVAILABLE, 1)]
    assert records.next_fetch_offset == 15


@pytest.mark.parametrize("is_late", [False, True])
def test_records_that_the_log_has_lost_are_archived_when_they_are_released(is_late: bool) -> None:
    records = taken((0, 9), (10, 19))
    move_to_log_start(records, 15)
    changes = time_out(records, GROUP, LATER) if is_late else release(records, "m", GROUP)
    assert [tuple(change.written) for change in changes] == [
        (0, 9, ARCHIVED, 1),
        (10, 14, ARCHIVED, 1),
        (15, 19, AVAILABLE, 1),
    ]


def test_a_log_that_begins_after_everything_in_flight_is_read_from_its_start() -> None:
    records = taken((0, 9))
    ack(records, (0, 9, [RELEASE]))
    assert move_to_log_start(records, 50)
    assert (records.start_offset, records.end_offset, records.next_fetch_offset) == (50, 50, 50)
    assert take(records, (50, 59)) == [(50, 59, 1)]
    assert ack(records, (50, 59, [ACCEPT])) == [(50, 59, ACKNOWLEDGED, 1)]
    assert (records.start_offset, records.is_empty) == (60, True)
