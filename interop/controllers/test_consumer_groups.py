"""A consumer group moves between a broker of ours and one of Apache Kafka's, in the middle of a
reconciliation: each loads what the other has written, shows the same group, and goes on with it.

    pytest interop/controllers/test_consumer_groups.py --broker local
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from struct import pack
from typing import Any

import pytest

from interop.support import unique
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from kafkadouble.server.coordinator.coordinator_runtime import partition_for
from tests.support.client import ask
from tests.support.waiting import eventually

from . import admin, placed, replicas
from .broker_lives import KEPT
from .kinds import DOUBLE, Kafka
from .mixed import Mixed, mixed
from .node import Node
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)

OURS, THEIRS = 1, 2
BOTH = [OURS, THEIRS]
LEADERS = [BOTH, BOTH[::-1]]
"""The replicas of the partitions of the offsets topic, the leader first."""
OFFSETS = "__consumer_offsets"
PARTITIONS = 6
SETTINGS = {
    "min.insync.replicas": "1",
    # Kafka counts the partitions when it starts, before the topic exists.
    "offsets.topic.num.partitions": "2",
    "group.consumer.assignment.interval.ms": "0",
    # A session must outlast the death of a broker.
    "group.consumer.session.timeout.ms": "60000",
}
JOIN, LEAVE, LEAVE_FOR_A_WHILE = 0, -1, -2
LOADED = (error_codes.NONE, error_codes.GROUP_ID_NOT_FOUND)
"""What a broker says of a group once it coordinates it."""


@pytest.fixture(scope="module")
def cluster(real: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mixed]:
    """Broker 1 is ours, broker 2 is Kafka's."""
    nodes = controller(0, real), broker(0, DOUBLE), broker(1, real)
    with mixed(tmp_path_factory.mktemp("consumer-groups"), *nodes, overrides=KEPT | SETTINGS) as running:
        placed.create(running.bootstrap, OFFSETS, LEADERS, cleanup_policy="compact")
        yield running


class Group:
    """One group of this partition of the offsets topic. Requests to the broker that coordinates it
    step its members."""

    def __init__(self, partition: int, topic: str) -> None:
        prefix = unique("group")
        self.id = next(id for number in count() if partition_for(id := f"{prefix}-{number}", 2) == partition)
        self.topic = topic
        self.coordinator = ""
        self.epochs: dict[str, int] = {}
        self.owned: dict[str, list[Any]] = {}

    def moves_to(self, node: Node) -> None:
        """Waits until this broker coordinates the group."""
        self.coordinator = node.bootstrap
        request = FindCoordinatorRequest(coordinator_keys=[self.id])
        eventually(lambda: ask(node.bootstrap, request, 4).coordinators[0].node_id, lambda id: id == node.id)
        eventually(lambda: self.described()["errorCode"], lambda code: code in LOADED)

    def heartbeat(self, member: str, **fields: Any) -> Any:
        """Sends a heartbeat with what the member owns, and follows the answer."""
        body = ConsumerGroupHeartbeatRequest(
            group_id=self.id,
            member_id=member,
            member_epoch=self.epochs.get(member, JOIN),
            topic_partitions=self.owned.get(member, []),
        )
        if body.member_epoch == JOIN:
            body.rebalance_timeout_ms = 300_000
        for name, value in fields.items():
            setattr(body, name, value)
        answer = ask(self.coordinator, body, 1)
        assert answer.error_code == error_codes.NONE, answer
        self.epochs[member] = max(answer.member_epoch, JOIN)
        if answer.assignment is not None:
            topic = ConsumerGroupHeartbeatRequest.TopicPartitions
            self.owned[member] = [
                topic(topic_id=each.topic_id, partitions=list(each.partitions))
                for each in answer.assignment.topic_partitions
            ]
        return answer

    def described(self) -> dict[str, Any]:
        (found,) = ask(self.coordinator, ConsumerGroupDescribeRequest(group_ids=[self.id]), 1).groups
        members = {
            member.member_id: (
                member.member_epoch,
                member.instance_id,
                member.rack_id,
                member.member_type,
                sorted(member.subscribed_topic_names),
                member.subscribed_topic_regex,
                partitions_of(member.assignment),
                partitions_of(member.target_assignment),
            )
            for member in found.members
        }
        return {
            "errorCode": found.error_code,
            "state": found.group_state,
            "epochs": (found.group_epoch, found.assignment_epoch),
            "assignor": found.assignor_name,
            "members": members,
        }

    def join_classic(self, member: str = "") -> str:
        """Lets a classic member join and sync; returns its member id."""
        data = pack(">h", 1) + ConsumerProtocolSubscription(topics=[self.topic]).encode(1)
        protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=data)
        body = JoinGroupRequest(
            group_id=self.id,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=300_000,
            member_id=member,
            protocol_type="consumer",
            protocols=[protocol],
        )
        joined = ask(self.coordinator, body, 9)
        if joined.error_code == error_codes.MEMBER_ID_REQUIRED:
            return self.join_classic(joined.member_id)
        assert joined.error_code == error_codes.NONE, joined
        sync = SyncGroupRequest(
            group_id=self.id,
            generation_id=joined.generation_id,
            member_id=member,
            protocol_type="consumer",
            protocol_name="range",
        )
        assert ask(self.coordinator, sync, 5).error_code == error_codes.NONE
        self.epochs[member] = joined.generation_id
        return member

    def heartbeat_classic(self, member: str) -> int:
        body = HeartbeatRequest(group_id=self.id, generation_id=self.epochs[member], member_id=member)
        return int(ask(self.coordinator, body, 4).error_code)

    def commit(self, member: str, partition: int, offset: int) -> int:
        of = OffsetCommitRequest
        topics = [
            of.OffsetCommitRequestTopic(
                name=self.topic,
                partitions=[of.OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)],
            )
        ]
        body = of(group_id=self.id, member_id=member, generation_id_or_member_epoch=self.epochs[member], topics=topics)
        return int(ask(self.coordinator, body, 9).topics[0].partitions[0].error_code)

    def settle(self, *members: str, classic: str) -> None:
        """Lets all go on until the group is Stable."""

        def round() -> str:
            for member in members:
                self.heartbeat(member)
            if self.heartbeat_classic(classic) == error_codes.REBALANCE_IN_PROGRESS:
                self.join_classic(classic)
            return str(self.described()["state"])

        eventually(round, lambda state: state == "Stable")


def partitions_of(assignment: Any) -> dict[str, list[int]]:
    return {each.topic_name: sorted(each.partitions) for each in assignment.topic_partitions}


@pytest.mark.parametrize("partition", [0, 1], ids=["from ours to theirs", "from theirs to ours"])
def test_a_group_moves_in_the_middle_of_a_reconciliation_and_comes_back(cluster: Mixed, partition: int) -> None:
    cluster.start()
    first, second = (cluster.node(id) for id in LEADERS[partition])
    topic = unique("t")
    placed.create(cluster.bootstrap, topic, [LEADERS[partition]] * PARTITIONS)
    for each in (OFFSETS, topic):
        admin.settled(first.bootstrap, each, [BOTH] * len(admin.in_sync(first.bootstrap, each)))
    placed.elect(cluster.bootstrap, OFFSETS, placed.PREFERRED, partition)
    group = Group(partition, topic)
    group.moves_to(first)

    # a has all partitions but two that s has; c must wait for them, and b subscribes by a regular
    # expression.
    group.heartbeat("a", subscribed_topic_names=[topic], rack_id="r", server_assignor="uniform")
    group.heartbeat("s1", subscribed_topic_names=[topic], instance_id="i")
    group.heartbeat("a")
    group.heartbeat("a")
    group.heartbeat("s1", instance_id="i")
    group.heartbeat("b", subscribed_topic_regex=f"{topic}.*")
    eventually(lambda: group.described()["epochs"], lambda epochs: epochs[0] > epochs[1])
    group.heartbeat("b")
    classic = group.join_classic()
    group.heartbeat("a")
    group.heartbeat("s1", instance_id="i", member_epoch=LEAVE_FOR_A_WHILE, topic_partitions=None)
    before = group.described()
    assert before["state"] == "Reconciling"
    assert len(before["members"]) == 4
    (held,) = before["members"]["a"][6].values()
    assert group.commit("a", held[0], 5) == error_codes.NONE

    first.kill()
    group.moves_to(second)
    assert group.described() == before
    group.heartbeat("s2", subscribed_topic_names=[topic], instance_id="i")
    assert "s1" not in group.described()["members"]
    group.settle("a", "b", classic=classic)
    group.heartbeat("s2", instance_id="i")
    group.settle("a", "b", classic=classic)
    settled = group.described()
    assert sorted(one for member in settled["members"].values() for one in member[6].get(topic, [])) == [
        *range(PARTITIONS)
    ]

    first.start()
    for each in (OFFSETS, topic):
        admin.settled(second.bootstrap, each, [BOTH] * len(admin.in_sync(second.bootstrap, each)))
    placed.elect(second.bootstrap, OFFSETS, placed.PREFERRED, partition)
    group.moves_to(first)
    assert group.described() == settled
    group.heartbeat("a", member_epoch=LEAVE, topic_partitions=None)
    group.settle("b", classic=classic)
    cluster.stop()
    ours, theirs = (replicas.values(node, OFFSETS, partition) for node in cluster.brokers)
    assert ours == theirs != []
