"""KIP-101: a follower truncates by leader epochs instead of by the high watermark. Each test is
named for a statement of the KIP.

Cases with a second replica are played with two logs: followers here are logs, not nodes.
"""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.log.divergence import compare_with
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import UNDEFINED, OffsetAndEpoch
from kafkadouble.server.log.replica import checked_batches
from kafkadouble.wire.batch import HEADER_SIZE, read_header
from tests.kips.story import Story, bytes_of, known, replicate
from tests.server.log.batches import NOW, epochs_in, everything, new_log, produced
from tests.server.log.compaction.compacted_log import cleaned, compacted, fill


@pytest.fixture
def story() -> Story:
    return Story()


def follow(follower: PartitionLog, leader: PartitionLog) -> None:
    """Steps 4.1 to 4.6 of the KIP: ask where the latest known epoch ends at the leader, truncate to
    that offset, fetch."""
    end = leader.end_offset_for_epoch(follower.epochs.latest)
    if end == UNDEFINED:
        follower.truncate_to(follower.high_watermark)
    elif end.offset < follower.log_end_offset:
        follower.truncate_to(end.offset)
    replicate(leader, follower)
    follower.high_watermark = leader.high_watermark


def test_every_batch_is_tagged_with_the_epoch_of_the_leader_that_took_it(story: Story) -> None:
    story.produce(2)
    story.elect()
    story.elect()
    story.produce(1, 1)
    assert epochs_in(story.log) == [0, 2, 2]


def test_leader_epoch_of_a_produced_batch_is_overwritten(story: Story) -> None:
    batch = produced(1)
    # The epoch is before the bytes that the checksum covers.
    batch[12:16] = (99).to_bytes(4, "big")
    assert read_header(batch).partition_leader_epoch == 99
    assert story.append(batch).error_code == 0
    assert epochs_in(story.log) == [0]


def test_a_new_leader_notes_its_epoch_and_the_end_of_its_log(story: Story) -> None:
    assert story.epochs == [(0, 0)]
    story.produce(3)
    assert story.elect() == 1
    assert story.epochs == [(0, 0), (1, 3)]


def test_the_epoch_grows_with_every_election_though_the_leader_stays(story: Story) -> None:
    assert [story.elect() for _ in range(3)] == [1, 2, 3]
    assert (story.metadata().leader_id, story.metadata().leader_epoch) == (1, 3)


def test_the_last_offset_of_an_epoch_is_the_first_of_the_next(story: Story) -> None:
    story.produce(3)
    story.elect()
    story.produce(4)
    assert story.end_of(0) == (0, 0, 3)


def test_the_last_offset_of_the_latest_epoch_is_the_end_of_the_log(story: Story) -> None:
    story.produce(3)
    story.elect()
    story.produce(4)
    assert story.end_of(1) == (0, 1, 7)
    story.elect()
    assert story.end_of(2) == (0, 2, 7), "although it has no record"


def test_a_follower_that_lags_by_several_epochs_gets_the_end_of_its_own_epoch(story: Story) -> None:
    for _ in range(3):
        story.produce(2)
        story.elect()
    assert story.epochs == [(0, 0), (1, 2), (2, 4), (3, 6)]
    assert story.end_of(0) == (0, 0, 2)
    assert story.end_of(1) == (0, 1, 4)


def test_epochs_without_data_leave_no_trace_but_the_last(story: Story) -> None:
    story.produce(2)
    for _ in range(4):
        story.elect()
    assert story.epochs == [(0, 0), (4, 2)]
    assert story.end_of(2) == (0, 0, 2)


def test_a_leader_without_the_epoch_answers_undefined_and_the_follower_falls_back_to_its_high_watermark(
    story: Story,
) -> None:
    story.produce(2)
    assert story.end_of(-1) == (0, -1, -1)
    assert story.end_of(7) == (0, -1, -1)
    leader, follower = new_log(), new_log()
    for log in (leader, follower):
        log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    follower.append_as_leader(produced(1), leader_epoch=3, now=NOW)
    follower.high_watermark = 1
    follow(follower, leader)
    assert everything(follower) == [0]


@pytest.mark.parametrize(("topic", "index"), [("t", 1), ("t", -1), ("nowhere", 0), ("", 0), ("__cluster_metadata", 0)])
def test_a_partition_that_is_not_led_here_is_an_error_of_its_own(story: Story, topic: str, index: int) -> None:
    assert story.end_of(0, topic=topic, index=index) == (error_codes.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)


def test_a_follower_drops_what_lies_behind_the_last_offset_and_the_epochs_that_began_there() -> None:
    leader, follower = new_log(), new_log()
    for log in (leader, follower):
        log.append_as_leader(produced(2), leader_epoch=0, now=NOW)
    follower.append_as_leader(produced(3), leader_epoch=1, now=NOW)
    leader.append_as_leader(produced(1), leader_epoch=2, now=NOW)
    follow(follower, leader)
    assert known(follower) == known(leader) == [(0, 0), (2, 2)]
    assert bytes_of(follower) == bytes_of(leader)


def test_a_follower_learns_epochs_from_what_it_fetches() -> None:
    leader, follower = new_log(), new_log()
    for epoch in (0, 0, 3, 5):
        leader.append_as_leader(produced(2), leader_epoch=epoch, now=NOW)
    replicate(leader, follower)
    assert known(follower) == known(leader) == [(0, 0), (3, 4), (5, 6)]


def test_deleted_records_take_their_epochs_along() -> None:
    log = new_log()
    for epoch in (0, 1, 2):
        log.append_as_leader(produced(2), leader_epoch=epoch, now=NOW)
    log.high_watermark = log.log_end_offset
    log.delete_records_before(3)
    assert known(log) == [(1, 3), (2, 4)], "the epoch in force at the start begins there now"
    assert log.end_offset_for_epoch(0) == OffsetAndEpoch(3, 0)
    log.delete_records_before(6)
    assert known(log) == [(2, 6)]


def test_deleted_segments_take_their_epochs_along() -> None:
    log = new_log(segment_bytes=HEADER_SIZE + 100, retention_ms=1000)
    for epoch in (0, 1, 2):
        log.append_as_leader(produced(1, size=80), leader_epoch=epoch, now=NOW)
    log.high_watermark = log.log_end_offset
    log.retain(NOW + 10**9)
    assert (log.log_start_offset, known(log)) == (3, [(2, 3)])


def test_compaction_leaves_the_epochs_where_they_begin() -> None:
    """In the KIP each epoch begins at its earliest retained record. Kafka does not do this, and a
    follower is still truncated correctly."""
    log = compacted()
    for epoch in (0, 1, 2):
        fill(log, 60, 1, epoch=epoch)
    before = sum(segment.size for segment in log.segments)
    cleaned(log)
    assert sum(segment.size for segment in log.segments) < before / 2
    assert known(log) == [(0, 0), (1, 60), (2, 120)]
    assert compare_with(log, 70, 0).end == OffsetAndEpoch(60, 0), (
        "where a follower is cut that has 70 records of epoch 0"
    )


def test_epochs_beyond_the_end_of_the_log_are_dropped_when_it_is_found_shorter() -> None:
    log = new_log()
    log.append_as_leader(produced(2), leader_epoch=0, now=NOW)
    log.begin_epoch(1)
    # A checkpoint may say this if it was written before the records were.
    log.epochs.assign(2, 9)
    log.truncate_to(log.log_end_offset)
    assert known(log) == [(0, 0)]


def test_story_one_a_follower_that_becomes_leader_before_it_gets_the_high_watermark_loses_nothing() -> None:
    a, b = new_log(), new_log()
    a.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    a.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    replicate(a, b)
    a.high_watermark, b.high_watermark = 2, 0
    # b comes back, and a still leads: nothing is truncated, although b's high watermark is 0.
    follow(b, a)
    assert everything(b) == [0, 1]
    b.begin_epoch(1)  # a fails before b learns more
    b.append_as_leader(produced(1), leader_epoch=1, now=NOW)
    follow(a, b)
    assert everything(a) == [0, 1, 2]
    assert bytes_of(a) == bytes_of(b)


def test_story_two_logs_that_went_apart_in_a_power_cut_come_together_again() -> None:
    a, b = new_log(), new_log()
    a.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    replicate(a, b)
    a.append_as_leader(produced(1, size=20), leader_epoch=0, now=NOW)  # this never reached b
    b.begin_epoch(1)
    b.append_as_leader(produced(1, size=30), leader_epoch=1, now=NOW)
    assert (a.log_end_offset, b.log_end_offset) == (2, 2), "the same length, and other records"
    assert bytes_of(a) != bytes_of(b)
    follow(a, b)
    assert bytes_of(a) == bytes_of(b)
    assert known(a) == known(b) == [(0, 0), (1, 1)]


def test_batches_that_a_follower_is_sent_are_taken_as_they_are() -> None:
    leader, follower = new_log(), new_log()
    leader.append_as_leader(produced(2), leader_epoch=4, now=NOW)
    sent = bytes_of(leader)
    assert [header.partition_leader_epoch for _, header in checked_batches(sent, None, 0)] == [4]
    follower.append_as_follower(sent, now=NOW)
    assert bytes_of(follower) == sent
