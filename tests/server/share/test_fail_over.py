"""Share state on three brokers: the coordinator is another broker than the one that writes, and
fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafkadouble.server.groups.share.share_group import ShareGroup
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE
from kafkadouble.server.node import Node
from kafkadouble.server.share.default_state_persister import DefaultStatePersister
from kafkadouble.server.share.persister import Persister, ReadStateResult, SharePartitionKey
from tests.server.share.broker import batch
from tests.server.transactions.brokers import BROKERS, Brokers

SETTINGS = {
    "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.snapshot.update.records.per.snapshot": 2,
}
RETRIED_MS = 60_000
"""Longer than all pauses of a persister."""


class ShareBrokers(Brokers):
    """The coordinator of all share partitions is 12, until it fails. `writer` is another broker."""

    def __init__(self) -> None:
        super().__init__(SETTINGS)
        self._create(SHARE_GROUP_STATE, [12, 11, 13])
        self.until(lambda: all(self.nodes[id].image.topic_named(SHARE_GROUP_STATE) is not None for id in BROKERS))
        self.until(lambda: self.led_by(SHARE_GROUP_STATE) is not None)
        self.key = SharePartitionKey("g", self.leader.image.topic_ids["t"], 0)

    @property
    def writer(self) -> Persister:
        return self.nodes[11].persister

    def result(self, begin: Callable[[Callable[..., None]], None]) -> Any:
        """What a call of a persister ends with."""
        found: list[Any] = []
        begin(lambda *outcome: found.append(outcome[0] if len(outcome) == 1 else outcome))
        self.until(lambda: bool(found), RETRIED_MS)
        assert len(found) == 1
        return found[0]

    def initialize(self) -> Any:
        return self.result(lambda then: self.writer.initialize_state(self.key, 1, 0, then))

    def write(self, first: int, last: int) -> Any:
        batches = [batch(first, last)]
        return self.result(lambda then: self.writer.write_state(self.key, 1, 0, 0, last + 1, batches, then))

    def read(self, node: Node | None = None) -> Any:
        persister = self.writer if node is None else node.persister
        return self.result(lambda then: persister.read_state(self.key, 0, then))


@pytest.fixture
def brokers() -> ShareBrokers:
    return ShareBrokers()


def test_every_broker_reads_what_one_wrote(brokers: ShareBrokers) -> None:
    assert brokers.initialize() == (0, None)
    assert brokers.write(0, 4) == (0, None)
    for id in BROKERS:
        assert brokers.read(brokers.nodes[id]) == ReadStateResult(0, None, 1, 0, [batch(0, 4)])


@pytest.mark.parametrize("how", ["killed", "isolated"])
def test_the_coordinator_fails_and_the_state_continues(brokers: ShareBrokers, how: str) -> None:
    assert brokers.initialize() == (0, None)
    for offset in range(5):
        assert brokers.write(offset, offset) == (0, None)
    first = brokers.led_by(SHARE_GROUP_STATE)
    assert first is not None
    assert first.id == 12
    if how == "killed":
        brokers.kill(first.id)
    else:
        brokers.cut.add(first.id)
    # The write is sent to the failed broker, and later to its successor.
    assert brokers.write(5, 6) == (0, None)
    assert brokers.new_leader(SHARE_GROUP_STATE, first).id != first.id
    assert brokers.read() == ReadStateResult(0, None, 1, 0, [batch(0, 6)])
    if how == "isolated":
        brokers.cut.clear()
        brokers.until(lambda: brokers.nodes[first.id].share_coordinator.runtime.shard_at(0) is None)
        assert brokers.read(first) == ReadStateResult(0, None, 1, 0, [batch(0, 6)])


def test_a_killed_coordinator_returns_and_leads_again(brokers: ShareBrokers) -> None:
    assert brokers.initialize() == (0, None)
    assert brokers.write(0, 3) == (0, None)
    brokers.fail_over(SHARE_GROUP_STATE)
    brokers.until(lambda: brokers.write(4, 4) == (0, None))
    brokers.add_broker(12)
    brokers.until(lambda: 12 in brokers.of(SHARE_GROUP_STATE).isr, RETRIED_MS)
    second = brokers.fail_over(SHARE_GROUP_STATE)
    assert brokers.read(second) == ReadStateResult(0, None, 1, 0, [batch(0, 4)])


def test_a_write_needs_in_sync_replicas(brokers: ShareBrokers) -> None:
    """The coordinator alone may not write, and the persister gives up in the end."""
    assert brokers.initialize() == (0, None)
    brokers.kill(13)
    brokers.until(lambda: len(brokers.of(SHARE_GROUP_STATE).isr) == 2, RETRIED_MS)
    assert brokers.write(0, 1) == (0, None)
    brokers.cut.add(11)
    brokers.until(lambda: len(brokers.of(SHARE_GROUP_STATE).isr) == 1, RETRIED_MS)
    persister = brokers.nodes[12].persister
    outcome = brokers.result(lambda then: persister.write_state(brokers.key, 1, 0, 0, 0, [], then))
    assert outcome[0] == codes.COORDINATOR_NOT_AVAILABLE


class ShareGroups(ShareBrokers):
    """The group "s" is coordinated by 13, until it fails."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch = 0

    def heartbeat(self) -> Any:
        """The response of the group's coordinator to a heartbeat of the only member."""
        names = ["t"] if self.epoch == 0 else None
        body = ShareGroupHeartbeatRequest(
            group_id="s", member_id="m", member_epoch=self.epoch, subscribed_topic_names=names
        )
        answer = self.ask(self.coordinator_of_groups, body, 1)
        if not answer.error_code:
            self.epoch = answer.member_epoch
        return answer

    @property
    def coordinator_of_groups(self) -> Node:
        self.until(lambda: self.led_by(CONSUMER_OFFSETS) is not None, RETRIED_MS)
        node = self.led_by(CONSUMER_OFFSETS)
        assert node is not None
        return node

    def has_assignment(self) -> bool:
        self.step(1000)
        self.heartbeat()
        group = self.coordinator_of_groups.groups.shard("s").groups["s"]
        assert isinstance(group, ShareGroup)
        member = group.members.get("m")
        return member is not None and bool(member.assigned_partitions)

    def lag(self) -> tuple[int, int, int]:
        """Error code, start offset and lag of t-0, from the group's coordinator."""
        of = DescribeShareGroupOffsetsRequest
        body = of(groups=[of.DescribeShareGroupOffsetsRequestGroup(group_id="s", topics=None)])
        (group,) = self.ask(self.coordinator_of_groups, body, 1).groups
        ((partition,),) = [topic.partitions for topic in group.topics]
        return partition.error_code, partition.start_offset, partition.lag


def test_a_group_whose_coordinator_fails_before_its_partitions_are_initialized(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    groups = ShareGroups()
    with monkeypatch.context() as patched:
        patched.setattr(DefaultStatePersister, "initialize_state", lambda *given: None)
        assert groups.heartbeat().error_code == 0
    first = groups.coordinator_of_groups
    assert first.id == 13
    groups.fail_over(CONSUMER_OFFSETS)
    groups.until(groups.has_assignment, RETRIED_MS)
    assert groups.coordinator_of_groups.id != 13


def test_group_and_share_coordinator_fail_over_in_turn() -> None:
    groups = ShareGroups()
    groups.until(groups.has_assignment, RETRIED_MS)
    epoch = groups.epoch
    second = groups.fail_over(CONSUMER_OFFSETS)
    assert groups.heartbeat().member_epoch == epoch
    groups.add_broker(13)
    groups.until(lambda: 13 in groups.of(SHARE_GROUP_STATE).isr, RETRIED_MS)
    if second.id != 12:
        groups.fail_over(SHARE_GROUP_STATE)
    assert groups.heartbeat().member_epoch == epoch
    groups.key = groups.key._replace(group_id="s")
    assert groups.read(groups.coordinator_of_groups) == ReadStateResult(0, None, 2, -1, [])


def test_the_lag_is_computed_from_the_leaders_end_offset() -> None:
    groups = ShareGroups()
    groups.until(groups.has_assignment, RETRIED_MS)
    assert groups.lag() == (0, -1, -1)
    producer = groups.producer()
    for value in (b"a", b"b", b"c"):
        assert producer.send(value) == 0
    assert producer.end(commit=True) == 0
    groups.until(lambda: groups.label == "CompleteCommit")
    key = groups.key._replace(group_id="s")
    writer = groups.writer
    assert groups.result(lambda then: writer.write_state(key, 2, 0, 1, 1, [batch(2, 2)], then)) == (0, None)
    # Three records and a marker, from offset 1 on, one of which was acknowledged.
    assert groups.lag() == (0, 1, 2)
