"""A new leader epoch, and a tail that is lost: the effects on the log, on requests that wait for
it, and on the state that is replayed from it."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.server.replica import leadership
from kafkadouble.server.requests.request import Refusal
from tests.kips.story import Story
from tests.server.groups.asking import commit_request
from tests.server.images import image_of_log
from tests.server.log.batches import everything, idempotent

OFFSETS = "__consumer_offsets"


@pytest.fixture
def story() -> Story:
    return Story()


class TestElecting:
    def test_leadership_change_is_a_metadata_record(self, story: Story) -> None:
        seen: list[object] = []
        story.cluster.node.controller.listeners.append(lambda before, after, records: seen.extend(records))
        assert story.elect() == 1
        (record,) = seen
        assert isinstance(record, PartitionChangeRecord)
        assert (record.partition_id, record.leader, record.isr) == (0, 1, None)
        log = story.cluster.node.controller.log
        folded = image_of_log(log.batches(0)).topic_named("t")
        assert folded is not None
        assert (folded.partitions[0].leader, folded.partitions[0].leader_epoch) == (1, 1)
        assert folded.partitions[0].partition_epoch == 1

    def test_the_log_stays_as_it_is(self, story: Story) -> None:
        story.produce(2, 1)
        story.elect()
        assert (everything(story.log), story.log.high_watermark) == ([0, 1, 2], 3)

    def test_a_coordinator_that_is_elected_again_goes_on(self, story: Story) -> None:
        story.cluster.create(OFFSETS)
        shard = story.cluster.node.groups.shard("g")
        leadership.elect(story.cluster.node, story.cluster.partition(OFFSETS))
        assert story.cluster.node.groups.shard("g") is shard
        assert not shard.closed


class TestLosingATail:
    @pytest.mark.parametrize("offset", [0, 1, 4, 5])
    def test_the_log_ends_there_and_the_new_epoch_begins(self, story: Story, offset: int) -> None:
        story.produce(1, 1, 1, 1, 1)
        assert story.lose(offset) == 1
        assert everything(story.log) == list(range(offset))
        ends = (story.log.log_end_offset, story.log.high_watermark, story.log.last_stable_offset)
        assert ends == (offset, offset, offset)
        assert story.epochs == ([(0, 0), (1, offset)] if offset else [(1, 0)])
        story.produce(1)
        assert everything(story.log) == list(range(offset + 1))

    def test_a_batch_goes_as_a_whole(self, story: Story) -> None:
        story.produce(2, 4)
        story.lose(4)
        assert (everything(story.log), story.log.log_end_offset) == ([0, 1], 4)
        story.produce(1)
        assert everything(story.log) == [0, 1, 4]

    @pytest.mark.parametrize("offset", [-1, 0, 2, 6, 2**62])
    def test_an_offset_that_the_log_has_not_is_refused_and_nothing_changes(self, story: Story, offset: int) -> None:
        story.produce(1, 1, 1, 1, 1)
        story.log.delete_records_before(3)
        before = story.epochs
        with pytest.raises(
            Refusal, match=f"t-0 holds the offsets from 3 to 5: it cannot be cut at {offset}"
        ) as refused:
            story.lose(offset)
        assert refused.value.code == error_codes.OFFSET_OUT_OF_RANGE
        assert (story.epochs, everything(story.log)) == (before, [3, 4])

    def test_the_log_start_may_be_all_that_is_left(self, story: Story) -> None:
        story.produce(1, 1, 1)
        story.log.delete_records_before(2)
        story.lose(2)
        assert (story.log.log_start_offset, story.log.log_end_offset, story.epochs) == (2, 2, [(1, 2)])

    def test_leader_epochs_follow_repeated_losses(self, story: Story) -> None:
        story.produce(1, 1, 1, 1)
        assert [story.lose(offset) for offset in (3, 3, 2, 2)] == [1, 2, 3, 4]
        assert story.epochs == [(0, 0), (4, 2)]

    def test_a_fetch_that_waits_beyond_the_new_end_is_answered(self, story: Story) -> None:
        story.produce(1, 1, 1)
        unaware, fenced = story.begin_fetch(3), story.begin_fetch(3, current=0)
        story.lose(1)
        assert unaware.response.responses[0].partitions[0].error_code == error_codes.OFFSET_OUT_OF_RANGE
        assert fenced.response.responses[0].partitions[0].error_code == error_codes.FENCED_LEADER_EPOCH

    def test_a_fetch_that_waits_for_more_than_is_left_waits_on(self, story: Story) -> None:
        story.produce(1, 1, 1)
        waiting = story.begin_fetch(0, wait=1000, least=10**6)
        story.lose(1)
        assert not waiting.done
        story.cluster.tick(1000)
        found = waiting.response.responses[0].partitions[0]
        assert (found.error_code, found.high_watermark) == (0, 1)

    def test_unreplicated_idempotent_batch_is_forgotten(self, story: Story) -> None:
        for sequence in range(3):
            assert story.append(idempotent(sequence)).error_code == 0
        story.lose(1)
        assert story.append(idempotent(2)).error_code == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert story.append(idempotent(1)).base_offset == 1, "it is no duplicate any more"

    def test_other_partitions_are_left_alone(self, story: Story) -> None:
        story.cluster.create("u")
        story.produce(1)
        story.lose(0)
        assert story.cluster.partition("u").leader_epoch == 0


class TestLosingTheTailOfACoordinator:
    @pytest.fixture
    def story(self) -> Story:
        story = Story()
        story.cluster.create(OFFSETS)
        return story

    def lose(self, story: Story, offset: int) -> None:
        leadership.lose_tail(story.cluster.node, story.cluster.partition(OFFSETS), offset)
        story.cluster.tick(0)

    def committed(self, story: Story) -> int:
        group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g", topics=None)
        topics = story.cluster.submit(OffsetFetchRequest(groups=[group]), 9).groups[0].topics
        return int(topics[0].partitions[0].committed_offset) if topics else -1

    def commit(self, story: Story, offset: int) -> int:
        answer = story.cluster.submit(commit_request({"t": {0: offset}}, "g"), 9)
        return int(answer.topics[0].partitions[0].error_code)

    def test_a_lost_commit_never_was_and_the_next_one_holds(self, story: Story) -> None:
        assert [self.commit(story, offset) for offset in (5, 7)] == [0, 0]
        self.lose(story, 1)
        assert self.committed(story) == 5
        assert self.commit(story, 6) == 0
        assert self.committed(story) == 6
        self.lose(story, 0)
        assert self.committed(story) == -1

    def test_the_next_commit_has_the_new_epoch(self, story: Story) -> None:
        self.commit(story, 5)
        self.lose(story, 1)
        self.commit(story, 6)
        log = story.cluster.partition(OFFSETS).log
        assert [(entry.epoch, entry.offset) for entry in log.epochs.entries] == [(0, 0), (1, 1)]

    def test_a_waiting_member_gets_not_coordinator(self, story: Story) -> None:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
        first = story.cluster.submit(self.join("", protocol), 3)
        pending = story.cluster.begin(self.join("", protocol), 3)
        assert first.error_code == 0
        assert not pending.done
        self.lose(story, 0)
        assert pending.response.error_code == error_codes.NOT_COORDINATOR

    def join(self, member: str, protocol: JoinGroupRequest.JoinGroupRequestProtocol) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id="g",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            member_id=member,
            protocol_type="consumer",
            protocols=[protocol],
        )
