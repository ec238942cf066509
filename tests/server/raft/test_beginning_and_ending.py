"""BeginQuorumEpoch and EndQuorumEpoch: which replica leads, and which one resigns."""

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.generated.begin_quorum_epoch import BeginQuorumEpochRequest
from kafkadouble.messages.generated.end_quorum_epoch import EndQuorumEpochRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.follower_actions import election_backoff_ms
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.prospective_state import ProspectiveState
from kafkadouble.server.raft.quorum_state import ElectionState, MemoryQuorumStateStore
from kafkadouble.server.raft.resigned_state import ResignedState
from kafkadouble.server.raft.unattached_state import UnattachedState
from tests.server.raft.asking import ask, begin, code, end, key, member, part, shown, sole, vote
from tests.server.raft.followed import Followed, response
from tests.server.raft.quorum import START, Quorum, directory, elected, endpoint


@pytest.mark.parametrize("version", [0, 1])
def test_a_leader_that_begins_is_followed(version: int) -> None:
    voter = member()
    answer = ask(voter, begin(2, 4), version)
    assert (sole(answer).error_code, sole(answer).leader_id, sole(answer).leader_epoch) == (0, 2, 4)
    assert isinstance(voter.replica.state, FollowerState)
    assert voter.store.load() == ElectionState(4, 2)
    fetches = voter.replica.take_outgoing()
    assert [send.to.endpoint for send in fetches] == [endpoint(2)]


def test_47_begin_of_another_leader_in_the_same_epoch_is_refused() -> None:
    voter = member()
    ask(voter, begin(2, 4))
    before = shown(voter.replica)
    answer = ask(voter, begin(3, 4))
    assert code(answer) == e.INVALID_REQUEST
    assert (sole(answer).leader_id, sole(answer).leader_epoch) == (2, 4)
    assert shown(voter.replica) == before


def test_47_begin_in_an_older_epoch_is_fenced() -> None:
    voter = member()
    ask(voter, begin(2, 4))
    before = shown(voter.replica)
    assert code(ask(voter, begin(3, 3))) == e.FENCED_LEADER_EPOCH
    assert shown(voter.replica) == before


def test_47_begin_with_more_endpoints_than_were_known_is_taken() -> None:
    voter = member()
    ask(voter, begin(2, 4))
    ask(voter, begin(2, 4, listeners=("CONTROLLER", "OTHER")))
    assert set(voter.replica.state.leader_endpoints) == {"CONTROLLER", "OTHER"}
    state = voter.replica.state
    ask(voter, begin(2, 4))
    assert voter.replica.state is state, "fewer are no news"


@pytest.mark.parametrize("leader", [-1, 1])
def test_begin_without_a_leader_or_of_this_replica_itself_is_refused(leader: int) -> None:
    voter = member()
    before = shown(voter.replica)
    assert code(ask(voter, begin(leader, 4))) == e.INVALID_REQUEST
    assert shown(voter.replica) == before


@pytest.mark.parametrize(("voter", "voter_directory"), [(2, Uuid.ZERO), (1, directory(1, 1)), (3, directory(1))])
def test_46_begin_that_is_meant_for_another_voter(voter: int, voter_directory: Uuid) -> None:
    requested = member()
    before = shown(requested.replica)
    assert code(ask(requested, begin(2, 4, voter=voter, voter_directory=voter_directory))) == e.INVALID_VOTER_KEY
    assert shown(requested.replica) == before


@pytest.mark.parametrize("of", [begin, end])
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"cluster": "other"}, e.INCONSISTENT_CLUSTER_ID),
        ({"cluster": ""}, e.INCONSISTENT_CLUSTER_ID),
        ({"topic": "other"}, e.INVALID_REQUEST),
        ({"partition": 1}, e.INVALID_REQUEST),
        ({"leader": -1}, e.INVALID_REQUEST),
        ({"epoch": 2}, e.FENCED_LEADER_EPOCH),
        ({"epoch": 2**31 - 1}, e.INVALID_REQUEST),
    ],
)
# of anything
def test_refused_begin_or_end_quorum_epoch_changes_nothing(of: object, version: int, how: dict, expected: int) -> None:  # type: ignore[type-arg]
    voter = member(store=MemoryQuorumStateStore(ElectionState(3)))
    before = shown(voter.replica)
    body = of(**{"epoch": 5, **how})  # type: ignore[operator]  # begin or end
    assert code(ask(voter, body, version)) == expected
    assert shown(voter.replica) == before


def test_a_later_epoch_without_an_address_is_believed_and_no_leader_is_followed() -> None:
    voter = member()
    ask(voter, begin(9, 4, listeners=()))  # 9 is no voter: its endpoint is not known
    assert isinstance(voter.replica.state, UnattachedState)
    assert (voter.replica.epoch, voter.replica.leader_id) == (4, 9)
    assert code(ask(voter, begin(3, 4))) == e.INVALID_REQUEST


@pytest.mark.parametrize("version", [0, 1])
def test_48_the_first_successor_asks_for_votes_at_once(version: int) -> None:
    voter = member()
    ask(voter, begin(2, 4))
    assert code(ask(voter, end(2, 4, (1, 3)), version)) == e.NONE
    assert isinstance(voter.replica.state, ProspectiveState)


@pytest.mark.parametrize("version", [0, 1])
def test_48_other_voters_wait_before_their_election(version: int) -> None:
    voter = member()
    ask(voter, begin(2, 4))
    ask(voter, end(2, 4, (3, 1)), version)
    assert part(voter.replica) is FollowerState
    voter.replica.tick(START + 499)
    assert part(voter.replica) is FollowerState
    voter.replica.tick(START + 500)
    assert part(voter.replica) is ProspectiveState


def test_48_a_late_answer_of_the_old_leader_does_not_bring_it_back() -> None:
    followed = Followed()
    ask(followed.member, end(2, 4, successors=(3, 1)))
    followed.answer(response())
    assert sole(ask(followed.member, vote(4, candidate=3, pre=True))).vote_granted
    followed.tick(1000)
    assert isinstance(followed.replica.state, ProspectiveState), "in its turn"


def test_48_election_backoff_doubles_with_each_successor() -> None:
    keys = [key(id) for id in (2, 3, 4, 5)]
    waits = [election_backoff_ms(member().replica, [*keys[:at], key(1), *keys[at:]]) for at in range(5)]
    assert waits == [0, 62, 124, 248, 496]
    assert election_backoff_ms(member().replica, keys) == 1000
    assert election_backoff_ms(member().replica, [key(1, life=3), *keys]) == 1000, (
        "another directory is another replica"
    )
    assert election_backoff_ms(member().replica, []) == 0


def test_48_an_end_of_an_older_epoch_or_of_another_replica_is_refused() -> None:
    voter = member()
    ask(voter, begin(2, 4))
    state = voter.replica.state
    deadline = voter.replica.next_deadline()
    assert code(ask(voter, end(2, 3))) == e.FENCED_LEADER_EPOCH
    assert code(ask(voter, end(3, 4))) == e.INVALID_REQUEST
    assert voter.replica.state is state
    assert voter.replica.next_deadline() == deadline


def test_a_leader_that_stops_notifies_the_others_and_the_best_of_them_leads_soon() -> None:
    quorum, leader = elected()
    quorum.write(b"one")
    behind = quorum.followers()[0]
    quorum.isolate(behind.key.id)
    quorum.write(b"two")
    quorum.heal()
    best = next(other for other in quorum.followers() if other is not behind)
    began = quorum.now
    leader.shutdown(quorum.now)
    ends = [body for _, _, body in quorum.sent if isinstance(body, EndQuorumEpochRequest)]
    assert quorum.run(2000, until=lambda: quorum.leader is not None and quorum.leader is not leader)
    assert quorum.leader is best
    assert quorum.now - began < 100
    assert leader.is_stopped
    assert ends == []
    sent = [body for _, _, body in quorum.sent if isinstance(body, EndQuorumEpochRequest)]
    assert {tuple(body.topics[0].partitions[0].preferred_successors) for body in sent} == {(best.key.id, behind.key.id)}


def test_a_leader_that_resigns_comes_back_as_a_follower() -> None:
    quorum, leader = elected()
    epoch = leader.epoch
    leader.resign(quorum.now)
    assert isinstance(leader.state, ResignedState)
    assert quorum.listener(leader.key.id).events == [("leader", epoch), ("lost", epoch)]
    quorum.elect()
    quorum.run(3000)
    assert leader.epoch > epoch
    assert len({quorum[id].leader_id for id in (1, 2, 3)}) == 1


def test_an_isolated_leader_that_resigns_moves_on_by_itself() -> None:
    quorum, leader = elected()
    epoch = leader.epoch
    quorum.isolate(leader.key.id)
    leader.resign(quorum.now)
    quorum.run(2100)
    assert not isinstance(leader.state, ResignedState)
    assert leader.epoch == epoch + 1


def test_begin_is_sent_only_to_voters_that_do_not_fetch() -> None:
    quorum, leader = elected()
    quorum.run(10_000)
    silent = quorum.followers()[0].key.id
    quorum.sent.clear()
    quorum.run(10_000)
    assert not [body for _, _, body in quorum.sent if isinstance(body, BeginQuorumEpochRequest)]
    quorum.kill(silent)
    quorum.run(5000)
    notified = [(one, other) for one, other, body in quorum.sent if isinstance(body, BeginQuorumEpochRequest)]
    assert 4 <= len(notified) <= 6
    assert set(notified) == {(leader.key.id, silent)}


def test_begin_has_the_listeners_of_the_leader_and_the_voter_that_it_means() -> None:
    quorum = Quorum()
    quorum.elect()
    quorum.run(10)
    sent = [(to, body) for _, to, body in quorum.sent if isinstance(body, BeginQuorumEpochRequest)]
    assert sent
    for to, body in sent:
        assert body.voter_id == to
        assert [endpoint.name for endpoint in body.leader_endpoints] == ["CONTROLLER"]
