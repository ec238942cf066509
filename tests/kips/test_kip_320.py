"""KIP-320: clients send the leader epoch that they know, and find out that records they have read
are lost.

Each test is named for a statement of the KIP. The consumer's part belongs to the clients;
`interop/test_truncation.py` runs it.
"""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from tests.kips.story import ANY, EARLIEST, LATEST, Story
from tests.server.groups.asking import commit_request
from tests.server.log.batches import NOW

FENCED, UNKNOWN = error_codes.FENCED_LEADER_EPOCH, error_codes.UNKNOWN_LEADER_EPOCH
BELIEFS = [(ANY, 0), (0, FENCED), (1, FENCED), (2, 0), (3, UNKNOWN), (2**31 - 1, UNKNOWN)]
"""Leader epochs that a client may send while the leader's is 2, and the answers."""


@pytest.fixture
def story() -> Story:
    """Epochs 0 from 0 and 2 from 3; the log ends at 5."""
    story = Story()
    story.produce(3)
    story.elect()
    story.elect()
    story.produce(2)
    return story


@pytest.mark.parametrize(("current", "code"), BELIEFS)
@pytest.mark.parametrize("version", [9, 11, 12, 13, 16, 18])
def test_fetch_checks_the_epoch_of_the_leader(story: Story, current: int, code: int, version: int) -> None:
    fetch = story.fetch(1, current, version=version)
    assert fetch.error_code == code
    assert (len(fetch.records) > 0) == (code == 0)


@pytest.mark.parametrize(("current", "code"), BELIEFS)
@pytest.mark.parametrize("version", [4, 6, 9])
def test_list_offsets_checks_the_epoch_of_the_leader(story: Story, current: int, code: int, version: int) -> None:
    found = story.offset_at(LATEST, current, version)
    assert (found.error_code, found.offset) == (code, -1 if code else 5)


@pytest.mark.parametrize(("current", "code"), BELIEFS)
@pytest.mark.parametrize("version", [2, 3, 4])
def test_offset_for_leader_epoch_checks_the_epoch_of_the_leader(
    story: Story, current: int, code: int, version: int
) -> None:
    assert story.end_of(0, current, version=version) == ((code, -1, -1) if code else (0, 0, 3))


def test_an_unknown_partition_comes_before_a_wrong_epoch(story: Story) -> None:
    assert story.end_of(0, 7, topic="nowhere") == (error_codes.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)


@pytest.mark.parametrize("replica", [-1, -2, 1, 9])
def test_every_replica_id_gets_the_same_answer(story: Story, replica: int) -> None:
    assert story.end_of(0, 2, replica=replica) == (0, 0, 3)


def test_metadata_has_the_epoch_of_the_leader(story: Story) -> None:
    assert story.metadata(7).leader_epoch == story.metadata(13).leader_epoch == 2
    assert story.metadata(6).leader_epoch == -1, "the field that version 6 has not"


def test_list_offsets_has_the_epoch_of_the_record_that_it_finds(story: Story) -> None:
    assert (story.offset_at(EARLIEST).offset, story.offset_at(EARLIEST).leader_epoch) == (0, 0)
    assert (story.offset_at(LATEST).offset, story.offset_at(LATEST).leader_epoch) == (5, 2)
    found = story.offset_at(NOW + 2)
    assert (found.offset, found.leader_epoch) == (2, 0)


def test_a_commit_carries_the_epoch_of_the_last_record_and_gives_it_back(story: Story) -> None:
    cluster = story.cluster
    cluster.create("__consumer_offsets", partitions=1)
    assert cluster.submit(commit_request({"t": {0: 5}}, "g", epoch=2), 9).topics[0].partitions[0].error_code == 0
    group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g", topics=None)
    found = cluster.submit(OffsetFetchRequest(groups=[group]), 9).groups[0].topics[0].partitions[0]
    assert (found.committed_offset, found.committed_leader_epoch) == (5, 2)


def test_a_fetch_that_waits_is_fenced_as_soon_as_another_epoch_begins(story: Story) -> None:
    waiting = story.begin_fetch(5, current=2)
    assert not waiting.done
    story.elect()
    assert waiting.response.responses[0].partitions[0].error_code == FENCED


def test_a_fetch_that_names_no_epoch_goes_on_waiting(story: Story) -> None:
    waiting = story.begin_fetch(5)
    story.elect()
    assert not waiting.done
    story.produce(1)
    assert len(waiting.response.responses[0].partitions[0].records)


def test_a_consumer_of_lost_records_gets_an_end_before_its_position(story: Story) -> None:
    position, last_epoch = 5, 2
    assert story.lose(4) == 3
    assert story.fetch(position, current=2).error_code == FENCED
    code, epoch, end = story.end_of(last_epoch, current=story.metadata().leader_epoch)
    assert (code, epoch, end) == (0, 2, 4)
    assert end < position, "truncated: what was read from 4 on is lost"


def test_the_loss_is_seen_though_the_log_has_grown_over_the_position(story: Story) -> None:
    story.lose(4)
    story.produce(9)
    assert story.fetch(5).error_code == 0, "a consumer without an epoch reads on in another history"
    code, epoch, end = story.end_of(2, current=3)
    assert (code, epoch, end) == (0, 2, 4)


def test_end_offset_of_a_lost_epoch_is_that_of_an_earlier_epoch(story: Story) -> None:
    story.lose(2)
    story.produce(9)
    assert story.end_of(2, current=3) == (0, 0, 2)


def test_an_epoch_that_the_leader_does_not_know_is_undefined(story: Story) -> None:
    assert story.end_of(7, current=2) == (0, -1, -1)


def test_without_an_epoch_only_a_position_beyond_the_end_is_noticed(story: Story) -> None:
    story.lose(4)
    assert story.fetch(5).error_code == error_codes.OFFSET_OUT_OF_RANGE
    assert story.fetch(4).error_code == 0
