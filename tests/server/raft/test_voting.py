"""Votes: KIP-595's rules, KIP-853's keys, KIP-996's trial."""

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.vote import VoteResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.candidate_state import CandidateState
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.messages import TOPIC
from kafkadouble.server.raft.prospective_state import ProspectiveState
from kafkadouble.server.raft.quorum_state import LAST_EPOCH, ElectionState, MemoryQuorumStateStore
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.resigned_state import ResignedState
from kafkadouble.server.raft.unattached_state import UnattachedState
from tests.server.raft.asking import ask, begin, code, key, member, part, shown, sole, vote
from tests.server.raft.followed import Followed, response
from tests.server.raft.quorum import START, Member, Quorum, directory, elected


def written(records: int = 5, epoch: int = 3) -> Member:
    """A voter with a log."""
    found = member(store=MemoryQuorumStateStore(ElectionState(epoch)))
    for number in range(records):
        found.replica.log.append_values([b"%d" % number], epoch, START)
    return found


def test_40_a_single_voter_boots_to_leader() -> None:
    alone = member(voters=(1,))
    alone.replica.tick(START)
    assert isinstance(alone.replica.state, LeaderState)
    assert alone.store.load() == ElectionState(1, 1)


def test_41_a_leader_that_restarts_has_resigned_and_gives_no_vote_in_that_epoch() -> None:
    quorum, leader = elected()
    id, epoch = leader.key.id, leader.epoch
    again = quorum.restart(id)
    assert isinstance(again.state, ResignedState)
    assert (again.epoch, again.leader_id) == (epoch, id)
    requested = sole(
        ask(quorum.members[id], vote(epoch, 1 if id != 1 else 2, (9, epoch - 1), voter=id), now=quorum.now)
    )
    assert not requested.vote_granted
    assert requested.error_code == 0
    quorum.elect()
    assert all(quorum[other].epoch > epoch for other in (1, 2, 3))


def test_41_a_sole_voter_that_restarts_leads_in_the_next_epoch() -> None:
    alone = member(voters=(1,))
    alone.replica.tick(START)
    alone.start(START + 5).tick(START + 5)
    assert isinstance(alone.replica.state, LeaderState)
    assert alone.replica.epoch == 2


def test_42_a_vote_is_given_once_per_epoch_and_remembered_over_a_restart() -> None:
    voter = member()
    assert sole(ask(voter, vote(1, 2))).vote_granted
    assert sole(ask(voter, vote(1, 2))).vote_granted
    assert not sole(ask(voter, vote(1, 3))).vote_granted
    voter.start(START)
    assert voter.replica.state.voted == ReplicaKey(2)  # static voters: the file has no directory
    assert not sole(ask(voter, vote(1, 3))).vote_granted
    assert sole(ask(voter, vote(1, 2))).vote_granted
    assert sole(ask(voter, vote(2, 3))).vote_granted
    assert voter.store.load() == ElectionState(2, None, ReplicaKey(3))


def test_42_a_vote_is_in_the_store_before_it_is_given() -> None:
    voter = member()
    assert sole(ask(voter, vote(7, 2))).vote_granted
    assert voter.store.load() == ElectionState(7, None, ReplicaKey(2))


@pytest.mark.parametrize(
    ("last", "granted"),
    [((5, 3), True), ((6, 3), True), ((4, 3), False), ((1, 4), True), ((99, 2), False), ((0, 0), False)],
)
def test_43_the_later_epoch_wins_then_the_longer_log_and_equality_grants(last: tuple[int, int], granted: bool) -> None:
    assert sole(ask(written(), vote(9, 2, last))).vote_granted is granted
    assert sole(ask(written(), vote(9, 2, last, pre=True))).vote_granted is granted


def test_44_a_candidate_with_an_older_log_never_wins() -> None:
    quorum, leader = elected()
    behind = next(id for id in (1, 2, 3) if id != leader.key.id)
    quorum.isolate(behind)
    quorum.write(b"one")
    quorum.kill(leader.key.id)
    quorum.heal()
    other = next(id for id in (1, 2, 3) if id not in (behind, leader.key.id))
    assert quorum.elect().key.id == other
    quorum.run(3000)
    assert quorum.listener(behind).values == [b"one"]


def test_44_no_later_epoch_elects_an_older_log() -> None:
    full, empty = written(), (0, 0)
    for epoch in range(4, 12):
        assert not sole(ask(full, vote(epoch, 2, empty))).vote_granted
        assert full.replica.epoch == epoch


def test_45_observers_and_strangers_may_ask_and_are_answered() -> None:
    voter = member()
    assert sole(ask(voter, vote(1, 77))).vote_granted
    observer = member(id=9, voters=(1, 2, 3))
    assert sole(ask(observer, vote(1, 2, voter=9))).vote_granted


@pytest.mark.parametrize(
    ("voter", "voter_directory", "expected"),
    [
        (1, Uuid.ZERO, e.NONE),
        (1, directory(1), e.NONE),
        (-1, Uuid.ZERO, e.NONE),
        (2, Uuid.ZERO, e.INVALID_VOTER_KEY),
        (1, directory(1, 1), e.INVALID_VOTER_KEY),
        (2, directory(1), e.INVALID_VOTER_KEY),
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_46_a_vote_that_is_requested_from_another_voter(
    voter: int, voter_directory: Uuid, expected: int, version: int
) -> None:
    requested = member()
    before = shown(requested.replica)
    answer = ask(requested, vote(5, 2, voter=voter, voter_directory=voter_directory), version)
    assert code(answer) == expected
    assert (shown(requested.replica) == before) is (expected != e.NONE)


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (vote(topic="other"), e.INVALID_REQUEST),
        (vote(partition=1), e.INVALID_REQUEST),
        (vote(cluster="other"), e.INCONSISTENT_CLUSTER_ID),
        (vote(cluster=""), e.INCONSISTENT_CLUSTER_ID),
        (vote(4, last=(-1, 0)), e.INVALID_REQUEST),
        (vote(4, last=(0, -1)), e.INVALID_REQUEST),
        (vote(4, last=(0, 4)), e.INVALID_REQUEST),
        (vote(4, last=(0, 5)), e.INVALID_REQUEST),
        (vote(4, candidate=-1), e.INVALID_REQUEST),
        (vote(2, last=(0, 1)), e.FENCED_LEADER_EPOCH),
        (vote(2**31 - 1), e.INVALID_REQUEST),
    ],
)
def test_the_errors_of_vote_and_nothing_changes(version: int, body: object, expected: int) -> None:
    voter = member(store=MemoryQuorumStateStore(ElectionState(3)))
    before = shown(voter.replica)
    answer = ask(voter, body, version)
    assert code(answer) == expected
    assert shown(voter.replica) == before
    if not answer.error_code:
        assert (sole(answer).leader_id, sole(answer).leader_epoch, sole(answer).vote_granted) == (-1, 3, False)


@pytest.mark.parametrize("cluster", [None, "lkc-Jx0x7dTBSuGFgh9n_EoNow"])
def test_no_cluster_id_is_any_cluster_id(cluster: str | None) -> None:
    assert sole(ask(member(), vote(cluster=cluster))).vote_granted


@pytest.mark.parametrize("topics", [0, 2])
def test_a_vote_is_about_one_partition(topics: int) -> None:
    body = vote()
    body.topics = list(body.topics) * topics
    assert code(ask(member(), body)) == e.INVALID_REQUEST


@pytest.mark.parametrize("version", [1, 2])
def test_an_answer_has_the_leader_and_its_endpoint(version: int) -> None:
    voter = member()
    ask(voter, begin(2, 4))
    answer = ask(voter, vote(4, 3), version)
    assert not sole(answer).vote_granted
    assert (sole(answer).leader_id, sole(answer).leader_epoch) == (2, 4)
    assert [(at.node_id, at.host, at.port) for at in answer.node_endpoints] == [(2, "host-2", 9002)]


def test_53_a_pre_vote_is_refused_by_a_follower_that_has_fetched_and_nothing_changes() -> None:
    quorum, leader = elected()
    quorum.run(100)
    follower = quorum.followers()[0]
    asker = quorum.followers()[1].key.id
    before, saves = shown(follower), quorum.members[follower.key.id].store.saves
    body = vote(leader.epoch, asker, (99, leader.epoch), pre=True, voter=follower.key.id)
    assert not sole(ask(quorum.members[follower.key.id], body, now=quorum.now)).vote_granted
    assert shown(follower) == before
    assert quorum.members[follower.key.id].store.saves == saves


def test_53_a_pre_vote_is_granted_by_a_follower_that_has_never_fetched() -> None:
    voter = member()
    ask(voter, begin(2, 4))
    assert isinstance(voter.replica.state, FollowerState)
    before, saves = shown(voter.replica), voter.store.saves
    assert sole(ask(voter, vote(4, 3, pre=True))).vote_granted
    assert sole(ask(voter, vote(4, 2, pre=True))).vote_granted
    assert shown(voter.replica) == before
    assert voter.store.saves == saves


def test_53_a_remote_without_version_2_gets_a_real_vote_request() -> None:
    quorum = Quorum()
    quorum.versions[ApiKeys.VOTE] = 1
    leader = quorum.elect()
    assert leader.epoch >= 1
    quorum.run(3000)
    assert {quorum[id].leader_id for id in (1, 2, 3)} == {leader.key.id}


def test_53_version_0_of_everything_still_elects() -> None:
    quorum = Quorum()
    quorum.versions.update({52: 0, 53: 0, 54: 0, 1: 13})
    quorum.elect()
    quorum.write(b"one")
    quorum.run(3000)
    assert [quorum.listener(id).values for id in (1, 2, 3)] == [[b"one"]] * 3


def test_53_a_voter_that_is_cut_off_asks_around_and_its_epoch_stays() -> None:
    quorum, leader = elected()
    quorum.run(100)
    epoch = leader.epoch
    lonely = quorum.followers()[0]
    quorum.isolate(lonely.key.id)
    seen = set()
    for _ in range(200):
        quorum.run(100)
        seen.add(type(lonely.state))
        assert lonely.epoch == epoch
    assert ProspectiveState in seen
    assert CandidateState not in seen
    quorum.heal()
    quorum.run(5000)
    assert leader is quorum.leader
    assert leader.epoch == epoch, "coming back it causes no election"
    assert lonely.leader_id == leader.key.id


def test_a_prospective_gives_its_real_vote() -> None:
    voter = member()
    voter.replica.tick(START)
    voter.replica.tick(START + 2000)
    assert isinstance(voter.replica.state, ProspectiveState)
    assert sole(ask(voter, vote(0, 2, pre=True), now=START + 2000)).vote_granted
    assert sole(ask(voter, vote(1, 2), now=START + 2000)).vote_granted
    assert voter.replica.epoch == 1
    assert voter.store.load().voted == ReplicaKey(2)


def missing_its_leader() -> Followed:
    """A voter whose leader was silent for too long, and that asks whether it would be elected."""
    followed = Followed()
    followed.answer(response())
    followed.replica.take_outgoing()
    followed.tick(followed.fetch_timeout)
    assert isinstance(followed.replica.state, ProspectiveState)
    assert followed.replica.leader_id == 2
    return followed


def test_a_prospective_stays_so_when_its_own_leader_begins_the_epoch_again() -> None:
    """As in Kafka 4.4, where only a change makes a follower of a replica that remembers its leader
    (`maybeTransition`).
    """
    voter = missing_its_leader()
    before = voter.replica.state
    assert code(ask(voter.member, begin(2, 4), now=voter.now)) == e.NONE, "the leader takes it for notified"
    assert voter.replica.state is before
    for send in voter.replica.take_outgoing():
        voter.replica.answered(send.token, denied(by=2, epoch=4), voter.now)
    assert part(voter.replica) is FollowerState, (
        "a majority that follows the leader brings it back at once, not after its timeout"
    )
    assert (voter.replica.epoch, voter.replica.leader_id) == (4, 2)


def denied(by: int, epoch: int) -> VoteResponse:
    partition = VoteResponse.PartitionData(leader_id=by, leader_epoch=epoch, vote_granted=False)
    return VoteResponse(topics=[VoteResponse.TopicData(topic_name=TOPIC, partitions=[partition])])


def test_a_prospective_follows_a_leader_with_something_new() -> None:
    moved = missing_its_leader()
    ask(moved.member, begin(2, 4, listeners=("CONTROLLER", "OTHER")), now=moved.now)
    assert part(moved.replica) is FollowerState, "the leader has more listeners than was known"
    later = missing_its_leader()
    ask(later.member, begin(3, 5), now=later.now)
    assert (part(later.replica), later.replica.leader_id, later.replica.epoch) == (FollowerState, 3, 5)
    unled = member()
    unled.replica.tick(START)
    unled.replica.tick(START + 2000)
    ask(unled, begin(2, 0), now=START + 2000)
    assert (part(unled.replica), unled.replica.leader_id) == (FollowerState, 2), (
        "the leader of its own epoch, which it did not know"
    )


def test_a_leader_a_former_leader_and_a_candidate_give_no_vote() -> None:
    quorum, leader = elected()
    body = vote(leader.epoch, 7, (99, leader.epoch - 1), voter=leader.key.id)
    assert not sole(ask(quorum.members[leader.key.id], body, now=quorum.now)).vote_granted
    candidate = member(store=MemoryQuorumStateStore(ElectionState(4, None, key(1))))
    assert isinstance(candidate.replica.state, CandidateState)
    assert not sole(ask(candidate, vote(4, 2))).vote_granted
    assert sole(ask(candidate, vote(4, 2, pre=True))).vote_granted


def test_a_replica_that_restarts_after_voting_for_itself_is_still_a_candidate() -> None:
    voter = member(store=MemoryQuorumStateStore(ElectionState(4, None, key(1))))
    voter.replica.tick(START)
    requested = [send.body for send in voter.replica.take_outgoing()]
    # votes
    assert [body.topics[0].partitions[0].replica_epoch for body in requested] == [4, 4]  # type: ignore[attr-defined]
    assert isinstance(voter.replica.state, CandidateState)


def test_the_state_of_a_new_replica_is_unattached_in_epoch_0() -> None:
    assert isinstance(member().replica.state, UnattachedState)
    assert member().replica.epoch == 0


@pytest.mark.parametrize("dynamic", [False, True])
def test_in_the_last_epoch_no_replica_is_a_candidate_and_nothing_breaks(dynamic: bool) -> None:
    quorum = Quorum(dynamic=dynamic)
    for id in (1, 2, 3):
        assert sole(ask(quorum.members[id], vote(LAST_EPOCH, 9, voter=id), now=quorum.now)).vote_granted
    quorum.run(3000)
    assert [quorum[id].epoch for id in (1, 2, 3)] == [LAST_EPOCH] * 3
    assert not quorum[1].failure
