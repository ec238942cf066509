"""Records of consumer groups that another coordinator wrote, perhaps of another version."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.consumer_group_current_member_assignment_record import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.generated.consumer_group_partition_metadata_record import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
)
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.coordinator.coordinator_record import CoordinatorRecord
from kafkadouble.server.groups.consumer import records
from kafkadouble.server.groups.modern.modern_group_member import MemberState
from tests.server.groups.asking import commit, delete_groups
from tests.server.groups.bench import GROUP
from tests.server.groups.consumer.bench import Consumer, ConsumerBench, settle
from tests.server.groups.consumer.schedule import state_of

NEWER_STATE = 9


def write_current(bench: ConsumerBench, topic_id: Uuid, epochs: list[int] | None, state: int) -> None:
    """Writes what member a has now, as another version writes it."""
    topic = ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=2,
        previous_member_epoch=1,
        state=state,
        assigned_partitions=[topic(topic_id=topic_id, partitions=[0, 1], assignment_epochs=epochs)],
    )
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=GROUP, member_id="a")
    bench.shard().write([CoordinatorRecord(key, value)])


@pytest.mark.parametrize(("written", "read"), [(None, [2, 2]), ([1, 2], [1, 2]), ([1], [2, 2])])
def test_partitions_without_an_epoch_have_that_of_the_member(
    bench: ConsumerBench, written: list[int] | None, read: list[int]
) -> None:
    t = bench.create_topic("t", 2)
    settle(Consumer(bench, "a", "t"))
    write_current(bench, t, written, MemberState.STABLE)
    assert bench.consumer_group().members["a"].assigned_partitions == {t: dict(enumerate(read))}


def test_a_state_of_a_newer_version_fences_the_member_until_it_gives_up_all(bench: ConsumerBench) -> None:
    t = bench.create_topic("t", 2)
    a = Consumer(bench, "a", "t")
    settle(a)
    write_current(bench, t, None, NEWER_STATE)
    assert bench.consumer_group().members["a"].state is MemberState.UNKNOWN
    assert a.code() == codes.FENCED_MEMBER_EPOCH
    a.owned = {}
    a.repeat()
    assert a.partitions(t) == [0, 1]


def test_a_record_that_only_older_versions_write_is_deleted(bench: ConsumerBench) -> None:
    bench.create_topic("t")
    a = Consumer(bench, "a", "t")
    settle(a)
    value = ConsumerGroupPartitionMetadataValue()
    bench.shard().write([CoordinatorRecord(ConsumerGroupPartitionMetadataKey(group_id=GROUP), value)])
    bench.fail_over()
    assert bench.consumer_group().has_subscription_metadata_record
    a.beat()
    assert not bench.consumer_group().has_subscription_metadata_record


def test_tombstones_of_what_was_compacted_away_are_ignored(bench: ConsumerBench) -> None:
    bench.create_topic("t")
    bench.shard().write([*records.member_tombstones(GROUP, "gone"), records.regular_expression_tombstone(GROUP, "x")])
    assert GROUP not in bench.shard().groups
    settle(Consumer(bench, "a", "t"))
    before = state_of(bench)
    bench.shard().write([*records.member_tombstones(GROUP, "gone"), records.regular_expression_tombstone(GROUP, "x")])
    assert state_of(bench) == before


def test_a_deleted_group_is_not_loaded(bench: ConsumerBench) -> None:
    bench.create_topic("t")
    a = Consumer(bench, "a", "t", regex="t.*")
    settle(a)
    commit(bench, {"t": {0: 1}}, member="a", generation=a.epoch)
    assert delete_groups(bench, GROUP) == {GROUP: codes.NON_EMPTY_GROUP}
    a.leave()
    empty = state_of(bench)
    bench.fail_over()
    assert state_of(bench) == empty != {}
    assert delete_groups(bench, GROUP) == {GROUP: codes.NONE}
    bench.fail_over()
    assert GROUP not in bench.shard().groups


def test_a_group_that_had_only_offsets_becomes_a_consumer_group_and_keeps_them(bench: ConsumerBench) -> None:
    bench.create_topic("t")
    commit(bench, {"t": {0: 7}})
    a = Consumer(bench, "a", "t")
    settle(a)
    before = state_of(bench)
    bench.fail_over()
    assert state_of(bench) == before != {}
    assert [offset.committed_offset for _, offset in bench.shard().offsets.stable.items(GROUP)] == [7]
