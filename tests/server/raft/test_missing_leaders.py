"""Followers of a leader that stopped get another one soon, though they lose it at the same time;
the longest log leads first.
"""

from kafkadouble.server.raft.candidate_state import CandidateState
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.prospective_state import ProspectiveState
from kafkadouble.server.raft.unattached_state import UnattachedState
from tests.server.raft.followed import Followed
from tests.server.raft.quorum import Quorum, elected


def bereft(quorum: Quorum) -> list[KafkaRaftClient]:
    """Two followers whose leader was killed."""
    leader = quorum.elect()
    quorum.run(100)
    quorum.kill(leader.key.id)
    return quorum.followers()


def runs_out(replica: KafkaRaftClient, at: int) -> None:
    """The follower's patience is over then."""
    assert isinstance(replica.state, FollowerState)
    replica.state.deadline = at


def test_the_patience_of_followers_differs_by_an_eighth_of_the_fetch_timeout_and_is_never_shorter() -> None:
    timeouts = {Followed(id=id).fetch_timeout for id in (1, 4, 5, 6, 7, 8, 9)}
    assert all(2000 <= timeout < 2250 for timeout in timeouts), timeouts
    assert len(timeouts) > 4, timeouts
    assert Followed(settings=Quorum(fetch_timeout_ms=3).settings).fetch_timeout == 3


def test_a_follower_restarts_its_timeout_for_another_leader() -> None:
    quorum = Quorum()
    leaders = [quorum.elect()]
    found = set()
    for _ in range(4):
        quorum.run(100)
        found |= {each.state.fetch_timeout for each in quorum.followers() if isinstance(each.state, FollowerState)}
        leaders[-1].resign(quorum.now)
        leaders.append(quorum.elect())
    assert len(found) > 4, found


def test_simultaneous_candidates_part_within_a_quarter_of_the_election_backoff() -> None:
    """Apache Kafka's candidates would wait for their election timeouts, one to two seconds."""
    for fetch_timeout in range(1000, 1020):  # each draws other numbers
        quorum = Quorum(fetch_timeout_ms=fetch_timeout)
        followers = bereft(quorum)
        at = quorum.now + 500
        for follower in followers:
            runs_out(follower, at)
        # called at once
        assert quorum.run(501, until=lambda: all(isinstance(follower.state, CandidateState) for follower in followers))  # noqa: B023
        assert quorum.now == at
        # called at once
        assert quorum.run(2000, until=lambda: quorum.leader is not None)  # noqa: B023
        assert quorum.now <= at + 2 * 250, "the second time they may draw the same, too"


def test_the_longer_log_that_misses_the_leader_first_leads_when_the_other_misses_it_too() -> None:
    quorum, leader = elected()
    quorum.run(100)
    longer, shorter = quorum.followers()
    quorum.isolate(shorter.key.id)
    leader.append([b"only he has it"], quorum.now)
    quorum.run(50)
    quorum.kill(leader.key.id)
    quorum.heal()
    assert longer.log.end_offset > shorter.log.end_offset
    now = quorum.now
    runs_out(longer, now + 100)
    runs_out(shorter, now + 300)
    quorum.run(200)
    assert isinstance(longer.state, ProspectiveState), "the other still follows, and refuses"
    assert quorum.run(1000, until=lambda: quorum.leader is longer)
    assert quorum.now == now + 300, "it does not wait until an election timeout is over"


def test_a_voter_that_has_refused_for_good_is_not_queried_again_and_again() -> None:
    """Only a voter that asks itself is queried again."""
    quorum = Quorum()
    first, second = bereft(quorum)
    runs_out(first, quorum.now + 100)
    quorum.run(900)
    assert isinstance(first.state, ProspectiveState)
    requested = [
        to for asker, to, body in quorum.sent if asker == first.key.id and type(body).__name__ == "VoteRequest"
    ]
    assert requested.count(second.key.id) == 1
    assert not isinstance(second.state, UnattachedState)
