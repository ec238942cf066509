"""Attacks on the controller listener, each written by hand. First the two requests that end the
process of an Apache Kafka 4.3 controller (FetchSnapshot with MaxBytes -1, and with the id of the
leader as the replica's)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.node import Node
from kafkadouble.server.raft import reconfiguration
from kafkadouble.server.raft.messages import TOPIC
from kafkadouble.server.raft.quorum_state import LAST_EPOCH
from tests.server.controller import broker_life
from tests.server.raft.asking import begin, end, vote
from tests.server.raft.changing import update

from .quorum_stage import QuorumStage, features
from .stage import logged


@pytest.fixture(params=[False, True], ids=["static", "dynamic"])
def stage(request: pytest.FixtureRequest) -> Iterator[QuorumStage]:
    with logged() as log:
        yield QuorumStage(log, request.param)


def snapshot(of: Node, leader: Node) -> FetchSnapshotRequest:
    ids = leader.quorum.snapshots.ids()
    request = FetchSnapshotRequest
    id = request.SnapshotId(end_offset=ids[-1].offset, epoch=ids[-1].epoch)
    requested = request.PartitionSnapshot(current_leader_epoch=leader.controller.epoch, snapshot_id=id)
    requested.replica_directory_id = of.quorum.replica.key.directory_id
    return request(cluster_id="a-cluster", topics=[request.TopicSnapshot(name=TOPIC, partitions=[requested])])


def code(answer: Any) -> int:
    """The only error code in the answer, at whichever level it is."""
    codes = [answer.error_code, *(each.error_code for topic in answer.topics for each in topic.partitions)]
    return int(max(codes, key=abs))


@pytest.mark.parametrize("version", [0, 1])
def test_requests_that_end_apache_kafka_are_refused(stage: QuorumStage, version: int) -> None:
    leader = stage.controllers.leader
    leader.snapshot_generator.write("the test requests it")
    stage.pass_time(500)
    good = stage.controllers.ask(leader, snapshot(leader, leader), version)
    assert code(good) == 0
    assert len(good.topics[0].partitions[0].unaligned_records) > 100
    for node in stage.nodes.values():
        for name, value in (("max_bytes", -1), ("max_bytes", -(2**31)), ("replica_id", leader.id)):
            requested = snapshot(node, leader)
            setattr(requested, name, value)
            answer = stage.controllers.ask(node, requested, version)
            expected = error_codes.INVALID_REQUEST, error_codes.NOT_LEADER_OR_FOLLOWER
            assert code(answer) in (expected if node is not leader else expected[:1]), (node, name, answer)
            stage.look()
    assert stage.controllers.leader is leader
    assert stage.works()


def test_the_last_epoch_ends_elections_and_nothing_else(stage: QuorumStage) -> None:
    """As in the protocol: an epoch that any request names is accepted. After the last epoch no
    leader can be elected, and no record is lost."""
    done = dict(stage.done)
    for node in list(stage.nodes.values()):
        for epoch in (2**31 - 1, LAST_EPOCH, -1, -(2**31)):
            for body in (vote(epoch, 9, cluster="a-cluster"), begin(9, epoch, cluster="a-cluster"), end(9, epoch)):
                if hasattr(body, "voter_id"):
                    body.voter_id = node.id
                stage.controllers.ask(node, body, 1)
                stage.look()
    stage.pass_time(20_000)
    assert stage.excuse() == "the last epoch"
    for node in stage.nodes.values():
        assert all(node.controller.image.topic_named(name) for name in done)
    for id in (1, 2, 3):
        stage.controllers.kill(id)
        assert stage.controllers.restart(id).quorum.replica.epoch <= LAST_EPOCH
    stage.pass_time(5000)


@pytest.mark.parametrize("stage", [True], indirect=True)
def test_a_voter_with_too_many_listeners_is_refused(stage: QuorumStage) -> None:
    leader = stage.controllers.leader
    before = leader.quorum.log.log_end_offset
    requested = update(leader.id, leader.controller.epoch)
    requested.cluster_id, requested.voter_directory_id = "a-cluster", leader.quorum.replica.key.directory_id
    listener = type(requested).Listener
    most = reconfiguration.MAX_VOTERS_SIZE_BYTES // 30_000 + 2
    requested.listeners = [listener(name="CONTROLLER", host="h", port=1)]
    requested.listeners += [listener(name=str(number), host="h" * 30_000, port=1) for number in range(most)]
    assert stage.controllers.ask(leader, requested, 0).error_code == error_codes.INVALID_REQUEST
    assert leader.quorum.log.log_end_offset == before
    assert stage.works()


def test_registrations_by_the_thousand_are_kept_once(stage: QuorumStage) -> None:
    """The registrations are of one broker, with one incarnation after the other; unconfirmed state
    is removed with the registration."""
    leader = stage.controllers.leader
    for number in range(300):
        incarnation = Uuid((10**6 + number).to_bytes(16))
        body: Message = broker_life.request(77, cluster_id="a-cluster", incarnation_id=incarnation, features=features())
        assert stage.controllers.ask(leader, body, 4).error_code == 0
    assert len(leader.controller.draft.brokers) == 4
    assert len(leader.controller.active.heartbeats._known) <= 5
    assert stage.works()
