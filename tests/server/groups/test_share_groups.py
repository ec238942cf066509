"""Share groups: what survives a restart, and when partitions are initialized and assigned."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.assignor.assignment import PartitionSet
from kafkadouble.server.groups.group_coordinator_shard import GroupCoordinatorShard
from kafkadouble.server.groups.share.share_group import ShareGroup
from kafkadouble.server.groups.share.state_partition_metadata import InitMapValue, StatePartitionMetadata
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.share.default_state_persister import DefaultStatePersister
from kafkadouble.server.share.persister import SharePartitionKey
from tests.server.harness import Harness

SETTINGS: dict[str, object] = {
    "offsets.topic.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.share.assignment.interval.ms": 0,
}
SESSION_MS, RETRY_MS = 45_000, 30_000


class Sharing(Harness):
    """A broker with the topic "t" of two partitions, and the group "s"."""

    def __init__(self, logs: MemoryLogs | None = None, **how: Any) -> None:
        super().__init__(SETTINGS, logs=logs, **how)
        if self.image.topic_named("t") is None:
            self.node.controller.create_internal_topic(CONSUMER_OFFSETS)
            self.create("t", partitions=2)
        self.epochs: dict[str, int] = {}

    def id_of(self, topic: str = "t") -> Uuid:
        return self.image.topic_ids[topic]

    def heartbeat(self, member_id: str = "a", epoch: int | None = None, topics: tuple[str, ...] | None = None) -> Any:
        epoch = self.epochs.get(member_id, 0) if epoch is None else epoch
        names = ("t",) if epoch == 0 and topics is None else topics
        body = ShareGroupHeartbeatRequest(
            group_id="s", member_id=member_id, member_epoch=epoch, subscribed_topic_names=names
        )
        answer = self.submit(body, 1)
        if not answer.error_code:
            self.epochs[member_id] = answer.member_epoch
        return answer

    def join(self, *member_ids: str) -> None:
        """Joins these members, until each has its share."""
        for _ in range(2):
            for member_id in member_ids:
                self.heartbeat(member_id)

    @property
    def shard(self) -> GroupCoordinatorShard:
        shard = self.node.groups.runtime.shard_at(0)
        assert shard is not None
        return shard

    @property
    def group(self) -> ShareGroup:
        found = self.shard.groups["s"]
        assert isinstance(found, ShareGroup)
        return found

    def assigned(self, topic: str = "t") -> dict[str, list[int]]:
        """Member id -> partitions of the topic."""
        members = self.group.members.values()
        return {member.member_id: sorted(member.assigned_partitions.get(self.id_of(topic), ())) for member in members}


def test_a_restart_keeps_the_group_and_begins_the_sessions() -> None:
    logs = MemoryLogs()
    first = Sharing(logs)
    first.join("a", "b")
    before = first.group
    again = Sharing(logs, now=first.now)
    after = again.group
    assert after.members == before.members
    assert (after.group_epoch, after.assignment_epoch) == (before.group_epoch, before.assignment_epoch)
    assert after.target_assignment == before.target_assignment
    assert after.metadata_hash == before.metadata_hash
    assert after.state_partition_metadata == before.state_partition_metadata
    again.epochs = dict(first.epochs)
    assert again.heartbeat("a").error_code == 0
    again.tick(SESSION_MS - 1)
    assert set(again.group.members) == {"a", "b"}
    again.heartbeat("a")
    again.tick(1)
    assert set(again.group.members) == {"a"}
    assert again.heartbeat("b").error_code == codes.UNKNOWN_MEMBER_ID


def test_failed_initialization_of_share_partitions_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    sharing, calls = Sharing(), []

    def failing(self: Any, key: SharePartitionKey, state_epoch: int, start_offset: int, then: Any) -> None:
        calls.append((key.partition, state_epoch, start_offset))
        then(codes.FENCED_STATE_EPOCH if key.partition else 0, "no")

    with monkeypatch.context() as patched:
        patched.setattr(DefaultStatePersister, "initialize_state", failing)
        sharing.heartbeat()
    assert calls == [(0, 2, -1), (1, 2, -1)]
    assert sharing.group.state_partition_metadata == StatePartitionMetadata()
    sharing.join("a")
    assert sharing.assigned() == {"a": [0, 1]}


@pytest.mark.parametrize(
    ("settings", "after_ms"), [({}, RETRY_MS), ({"group.share.initialize.retry.interval.ms": 1000}, 5000)]
)
def test_initialization_of_share_partitions_without_a_result_is_retried(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, object], after_ms: int
) -> None:
    """As in Kafka the interval is at least the commit timeout."""
    calls: list[int] = []

    def lost(self: Any, key: SharePartitionKey, *rest: Any) -> None:
        calls.append(key.partition)

    for name, value in settings.items():
        monkeypatch.setitem(SETTINGS, name, value)
    with monkeypatch.context() as patched:
        patched.setattr(DefaultStatePersister, "initialize_state", lost)
        sharing = Sharing()
        sharing.heartbeat()
        sharing.tick(after_ms - 1)
        sharing.heartbeat()
        assert calls == [0, 1]
    sharing.tick(1)
    sharing.join("a")
    assert sharing.assigned() == {"a": [0, 1]}


def test_a_deleted_topic_is_forgotten() -> None:
    sharing = Sharing()
    sharing.create("u")
    sharing.heartbeat(topics=("t", "u"))
    sharing.join("a")
    topic_id = sharing.id_of()
    sharing.submit(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    metadata = sharing.group.state_partition_metadata
    assert metadata is not None
    assert set(metadata.initialized) == {sharing.id_of("u")}
    sharing.join("a")
    assert topic_id not in sharing.group.members["a"].assigned_partitions
    assert sharing.assigned("u") == {"a": [0]}


def test_the_group_stays_while_its_state_cannot_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    sharing = Sharing()
    sharing.join("a")
    sharing.heartbeat("a", -1)

    def failing(self: Any, key: SharePartitionKey, then: Any) -> None:
        then(codes.NETWORK_EXCEPTION, "no")

    delete = DeleteGroupsRequest(groups_names=["s"])
    with monkeypatch.context() as patched:
        patched.setattr(DefaultStatePersister, "delete_state", failing)
        assert sharing.submit(delete, 2).results[0].error_code == codes.NETWORK_EXCEPTION
    assert sharing.group.state_partition_metadata == StatePartitionMetadata({}, {}, frozenset({sharing.id_of()}))
    assert sharing.submit(delete, 2).results[0].error_code == 0
    assert [key for each in sharing.node.share_coordinator for key in each.states] == []


def test_a_rebalance_and_a_session_that_ends_on_demand() -> None:
    sharing = Sharing()
    sharing.join("a", "b")
    epoch = sharing.group.group_epoch
    sharing.group.rebalance()
    assert sharing.heartbeat("a").member_epoch == epoch + 1
    sharing.group.expire_member("b")
    assert sharing.heartbeat("b").error_code == codes.UNKNOWN_MEMBER_ID
    with pytest.raises(Refusal, match="b is not a member"):
        sharing.group.expire_member("b")
    sharing.group.expire_member("a")
    with pytest.raises(Refusal, match="has no members"):
        sharing.group.rebalance()


def test_a_target_assignment_of_a_test_holds() -> None:
    sharing = Sharing()
    sharing.join("a", "b")
    topic_id = sharing.id_of()
    sharing.group.set_target_assignment({"a": {topic_id: PartitionSet((0, 1))}, "b": {topic_id: PartitionSet((1,))}})
    sharing.join("a", "b")
    assert sharing.assigned() == {"a": [0, 1], "b": [1]}
    with pytest.raises(Refusal, match="exactly the partitions that have a state"):
        sharing.group.set_target_assignment({"a": {topic_id: PartitionSet((0,))}})
    with pytest.raises(Refusal, match="z is not a member"):
        sharing.group.set_target_assignment({"z": {topic_id: PartitionSet((0,))}})


def test_share_group_partitions_are_initialized_and_deleted() -> None:
    """Initializing, initialized and deleting, as a partition goes through them."""
    one, two = Uuid(bytes(15) + b"1"), Uuid(bytes(15) + b"2")
    metadata = StatePartitionMetadata(deleting=frozenset({one, two}))
    begun = metadata.with_initializing({one: InitMapValue("t", frozenset({0, 1}), 5)})
    assert begun.deleting == {two}
    half = begun.with_initialized({one: InitMapValue("t", frozenset({0}), 6)})
    assert half.initializing == {one: InitMapValue("t", frozenset({1}), 5)}
    assert half.initialized == {one: InitMapValue("t", frozenset({0}), 6)}
    done = half.with_initialized({one: InitMapValue("t", frozenset({1}), 7)})
    assert done.initializing == {}
    assert done.initialized == {one: InitMapValue("t", frozenset({0, 1}), 7)}
    assert done.without_topics({one, two}) == StatePartitionMetadata()
    assert [done.has_any({topic}) for topic in (one, two, Uuid.ZERO)] == [True, True, False]
