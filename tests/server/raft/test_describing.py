"""DescribeQuorum, in each version."""

from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.uuid import Uuid
from tests.server.raft.asking import ask, describe, fetch, member, sole
from tests.server.raft.quorum import CLUSTER, Quorum, directory, elected


def described(quorum: Quorum, version: int = 2) -> Any:
    leader = quorum.leader
    assert leader is not None
    return ask(quorum.members[leader.key.id], describe(), version, quorum.now)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_leader_describes_the_offsets_of_every_replica(version: int) -> None:
    quorum = Quorum(dynamic=True)
    quorum.add(9)
    leader = quorum.elect()
    quorum.write(b"one")
    quorum.run(1000)
    silent = quorum.followers()[0].key.id
    quorum.kill(silent)
    quorum.write(b"two")
    quorum.run(700)
    answer = described(quorum, version)
    got = sole(answer)
    end = leader.log.end_offset
    assert (got.leader_id, got.leader_epoch, got.high_watermark) == (leader.key.id, leader.epoch, end)
    ends = {voter.replica_id: voter.log_end_offset for voter in got.current_voters}
    assert ends == {id: end - (id == silent) for id in (1, 2, 3)}
    assert [(observer.replica_id, observer.log_end_offset) for observer in got.observers] == [(9, end)]
    if version >= 1:
        fetched = {voter.replica_id: voter.last_fetch_timestamp for voter in (*got.current_voters, *got.observers)}
        assert fetched[leader.key.id] == quorum.now
        assert quorum.now - 700 <= fetched[9] <= quorum.now
        assert quorum.now - 1800 <= fetched[silent] < quorum.now - 700
        caught = {voter.replica_id: voter.last_caught_up_timestamp for voter in got.current_voters}
        assert caught[leader.key.id] == quorum.now
        assert caught[silent] <= fetched[silent]
    if version >= 2:
        assert {voter.replica_directory_id for voter in got.current_voters} == {directory(id) for id in (1, 2, 3)}
        nodes = {node.node_id: [(at.name, at.host, at.port) for at in node.listeners] for node in answer.nodes}
        assert nodes == {id: [("CONTROLLER", f"host-{id}", 9000 + id)] for id in (1, 2, 3)}
        assert (got.error_message, answer.error_message) == ("", "")
    else:
        assert {voter.replica_directory_id for voter in got.current_voters} == {Uuid.ZERO}


def test_a_voter_that_never_fetched_is_at_minus_1() -> None:
    quorum = Quorum()
    quorum.kill(3)
    quorum.elect()
    voter = next(voter for voter in sole(described(quorum)).current_voters if voter.replica_id == 3)
    assert (voter.log_end_offset, voter.last_fetch_timestamp, voter.last_caught_up_timestamp) == (-1, -1, -1)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_node_that_does_not_lead_describes_nothing(version: int) -> None:
    quorum, leader = elected()
    quorum.run(100)
    follower = quorum.members[quorum.followers()[0].key.id]
    got = sole(ask(follower, describe(), version, quorum.now))
    assert got.error_code == e.NOT_LEADER_OR_FOLLOWER
    assert (got.leader_id, got.leader_epoch, got.high_watermark) == (0, 0, 0)
    assert leader.epoch > 0
    assert sole(ask(member(), describe(), version)).error_code == e.NOT_LEADER_OR_FOLLOWER
    if version >= 2:
        assert got.error_message


@pytest.mark.parametrize(("topic", "partition"), [("other", 0), ("__cluster_metadata", 1), ("", 0)])
def test_of_another_topic_nothing_is_known(topic: str, partition: int) -> None:
    quorum = Quorum([1])
    quorum.run(1)
    got = sole(ask(quorum.members[1], describe(topic, partition), 2, quorum.now))
    assert got.error_code == e.UNKNOWN_TOPIC_OR_PARTITION
    assert got.partition_index == partition


def test_an_observer_that_went_away_is_left_out() -> None:
    quorum = Quorum([1])
    quorum.run(1)
    leader = quorum[1]
    ask(quorum.members[1], fetch(9, 1, 1, epoch=1), now=quorum.now)
    assert [observer.replica_id for observer in sole(described(quorum)).observers] == [9]
    quorum.run(300_000)
    assert [observer.replica_id for observer in sole(described(quorum)).observers] == []
    assert leader.cluster_id == CLUSTER
