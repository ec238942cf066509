"""KIP-279: after several quick fail-overs a follower may know an epoch that the leader never had.
Each test is named for a statement of the KIP.

The answer names an epoch in addition to the offset, and from version 12 on a Fetch finds the
divergence by itself (KIP-595).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.log.divergence import FetchPositionKind, compare_with
from kafkadouble.server.log.log import PartitionLog
from tests.kips.story import Story, bytes_of, known, replicate
from tests.server.log.batches import NOW, new_log, produced


@pytest.fixture
def story() -> Story:
    """Epochs 0 from 0, 2 from 3, 4 from 5; the log ends at 8."""
    story = Story()
    story.produce(3)
    story.elect()
    story.elect()
    story.produce(2)
    story.elect()
    story.elect()
    story.produce(3)
    assert story.epochs == [(0, 0), (2, 3), (4, 5)]
    return story


def log_of(*terms: tuple[int, int]) -> PartitionLog:
    """A log of (epoch, record count); the records of one epoch are the same in every log, since one
    leader wrote them."""
    log = new_log()
    for epoch, count in terms:
        for _ in range(count):
            log.append_as_leader(produced(1, size=10 + epoch), leader_epoch=epoch, now=NOW)
    return log


def follow_by_asking(follower: PartitionLog, leader: PartitionLog) -> int:
    """Truncates as in the KIP, with as many requests as it takes; returns their number."""
    for times in range(1, 10):
        requested = follower.epochs.latest
        end = leader.end_offset_for_epoch(requested)
        own = follower.end_offset_for_epoch(end.epoch)
        follower.truncate_to(min(end.offset, own.offset, follower.log_end_offset))
        if end.epoch == requested or own.epoch == end.epoch:
            replicate(leader, follower)
            return times
    raise AssertionError("the two never agree")


def follow_by_fetching(follower: PartitionLog, leader: PartitionLog) -> int:
    """Fetches until the leader finds no divergence; returns how often it found one."""
    for times in range(10):
        found = compare_with(leader, follower.log_end_offset, follower.epochs.latest)
        if found.kind is not FetchPositionKind.DIVERGING:
            replicate(leader, follower)
            return times
        follower.truncate_to(min(found.end.offset, follower.end_offset_for_epoch(found.end.epoch).offset))
    raise AssertionError("the two never agree")


@pytest.mark.parametrize(
    ("requested", "named", "end"), [(0, 0, 3), (1, 0, 3), (2, 2, 5), (3, 2, 5), (4, 4, 8), (5, -1, -1), (-1, -1, -1)]
)
def test_the_answer_names_the_largest_epoch_up_to_the_requested_one(
    story: Story, requested: int, named: int, end: int
) -> None:
    assert story.end_of(requested) == (0, named, end)


def test_an_epoch_older_than_the_log_ends_where_the_log_begins(story: Story) -> None:
    story.log.delete_records_before(4)
    assert story.end_of(0) == (0, 0, 4)
    assert story.end_of(1) == (0, 1, 4)


QUICK_FAIL_OVERS = [
    pytest.param([(0, 2), (1, 1)], [(0, 2), (2, 1)], id="each led for one record"),
    pytest.param([(0, 2), (1, 3)], [(0, 2), (2, 1)], id="the follower is longer"),
    pytest.param([(0, 2), (1, 1)], [(0, 2), (2, 3)], id="the follower is shorter"),
    pytest.param([(0, 2), (1, 1), (3, 1)], [(0, 2), (2, 1), (4, 1)], id="by turns"),
    pytest.param([(0, 3), (2, 2), (5, 2)], [(0, 1), (1, 2), (3, 1), (6, 1)], id="by turns, and never at one place"),
    pytest.param([(1, 2)], [(0, 2), (2, 1)], id="no epoch in common"),
    pytest.param([(0, 3)], [(0, 2), (1, 1)], id="the same epoch, and longer"),
]


@pytest.mark.parametrize("follow", [follow_by_asking, follow_by_fetching], ids=["asking", "fetching"])
@pytest.mark.parametrize(("followers", "leaders"), QUICK_FAIL_OVERS)
def test_after_quick_fail_overs_the_logs_are_the_same_byte_for_byte(
    follow: Callable[[PartitionLog, PartitionLog], int],
    followers: list[tuple[int, int]],
    leaders: list[tuple[int, int]],
) -> None:
    follower, leader = log_of(*followers), log_of(*leaders)
    assert bytes_of(follower) != bytes_of(leader)
    follow(follower, leader)
    assert bytes_of(follower) == bytes_of(leader)
    assert known(follower) == known(leader)


def test_follower_may_need_several_epoch_answers_to_truncate() -> None:
    """The follower's epochs are 0, 2 and 5, the leader's 0, 1, 3 and 6: each names one that the
    other does not have."""
    assert follow_by_asking(log_of((0, 3), (2, 2), (5, 2)), log_of((0, 1), (1, 2), (3, 1), (6, 1))) > 1


def test_a_fetcher_gets_the_offset_where_its_last_epoch_diverges_from_the_log(story: Story) -> None:
    fetch = story.fetch(5, last=3)
    assert (fetch.error_code, fetch.diverging_epoch.epoch, fetch.diverging_epoch.end_offset) == (0, 2, 5)
    assert bytes(fetch.records) == b""
    past = story.fetch(500, last=4)
    assert (past.error_code, past.diverging_epoch.epoch, past.diverging_epoch.end_offset) == (0, 4, 8)


def test_a_fetcher_that_has_our_history_gets_records(story: Story) -> None:
    for offset, epoch in ((3, 0), (5, 2), (6, 4), (0, 0)):
        fetch = story.fetch(offset, last=epoch)
        assert (fetch.error_code, fetch.diverging_epoch.end_offset) == (0, -1)
        assert len(fetch.records)
    assert story.fetch(8, last=4).error_code == 0


def test_a_fetcher_of_an_epoch_yet_to_come_or_from_below_the_log_is_out_of_range(story: Story) -> None:
    assert story.fetch(5, last=7).error_code == error_codes.OFFSET_OUT_OF_RANGE
    story.log.delete_records_before(4)
    assert story.fetch(3, last=1).error_code == error_codes.OFFSET_OUT_OF_RANGE, "though the histories part, too"


def test_a_fetch_that_diverges_changes_nothing(story: Story) -> None:
    before = bytes_of(story.log), story.epochs, story.log.high_watermark, story.log.log_end_offset
    story.fetch(500, last=3)
    assert (bytes_of(story.log), story.epochs, story.log.high_watermark, story.log.log_end_offset) == before


def test_a_fetch_that_waits_is_answered_when_its_history_parts(story: Story) -> None:
    waiting = story.begin_fetch(8, last=4)
    assert not waiting.done
    story.lose(6)
    found = waiting.response.responses[0].partitions[0]
    assert (found.error_code, found.diverging_epoch.epoch, found.diverging_epoch.end_offset) == (0, 4, 6)
    assert found.high_watermark == 6
