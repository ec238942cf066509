"""The basic path: a sole voter that leads itself, and three voters that exchange messages: votes,
the start of an epoch, fetches, the high watermark.
"""

import pytest

from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.kafka_raft_client import NotLeader
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.wire.batch import LEADER_CHANGE
from tests.server.raft.quorum import START, Quorum, control_kinds, elected


def test_a_quorum_of_one_leads_in_its_first_tick_and_commits_at_once() -> None:
    quorum = Quorum([1])
    replica = quorum[1]
    replica.tick(START)
    assert isinstance(replica.state, LeaderState)
    assert replica.take_outgoing() == []
    assert quorum.listener(1).events == [("leader", 1)]
    assert replica.append([b"one", b"two"], START) == OffsetAndEpoch(2, 1)
    assert quorum.listener(1).values == [b"one", b"two"]
    assert quorum.listener(1).offsets == [0, 1, 2]
    assert control_kinds(quorum.members[1].log) == [LEADER_CHANGE]


def test_three_voters_elect_one_and_it_commits_what_two_have() -> None:
    quorum, leader = elected()
    quorum.run(2000)
    assert [quorum[id].leader_id for id in (1, 2, 3)] == [leader.key.id] * 3
    assert {quorum[id].epoch for id in (1, 2, 3)} == {1}
    quorum.write(b"one")
    assert [quorum.listener(id).values for id in (1, 2, 3)] == [[b"one"]] * 3
    assert [quorum[id].log.end for id in (1, 2, 3)] == [OffsetAndEpoch(2, 1)] * 3


def test_only_the_leader_appends() -> None:
    quorum = Quorum()
    quorum.elect()
    for follower in quorum.followers():
        with pytest.raises(NotLeader):
            follower.append([b"no"], quorum.now)


def test_another_leads_when_the_leader_is_lost_and_nothing_committed_is_lost() -> None:
    quorum = Quorum()
    first = quorum.elect()
    quorum.write(b"one")
    quorum.kill(first.key.id)
    second = quorum.elect()
    assert second is not first
    assert second.epoch > first.epoch
    quorum.write(b"two")
    quorum.restart(first.key.id)
    quorum.run(5000)
    assert [quorum.listener(id).values for id in (1, 2, 3)] == [[b"one", b"two"]] * 3
