"""Voters and the history of their sets."""

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.epoch_election import EpochElection
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.voter_history import VoterHistory
from kafkadouble.server.raft.voters import Voter, VoterEndpoint, VoterSet
from kafkadouble.wire.errors import UsageError
from tests.server.raft.asking import key
from tests.server.raft.quorum import LISTENER, directory, dynamic_voters, endpoint, static_voters


def voter(id: int, life: int = 0) -> Voter:
    return Voter(key(id, life), {LISTENER: endpoint(id), "OTHER": VoterEndpoint("x", 1)}, (0, 1))


def test_static_voters_are_written_as_the_setting_has_them() -> None:
    voters = VoterSet.from_static(" 1@one:9093, 2@[::1]:9094,")
    assert voters.ids == (1, 2)
    assert voters.endpoint(2, LISTENER) == VoterEndpoint("::1", 9094)
    assert voters.endpoint(2, "OTHER") is None
    assert voters.endpoint(3, LISTENER) is None
    assert [each.key.directory_id for each in voters] == [Uuid.ZERO, Uuid.ZERO]


@pytest.mark.parametrize(
    "text", ["1", "1@", "@host:1", "x@host:1", "1@host", "1@:9", "1@host:x", "1@host:65536", "-1@h:1"]
)
def test_invalid_voter_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        VoterSet.from_static(text)


@pytest.mark.parametrize(("count", "majority"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (7, 4)])
def test_majority_of_voters_is_counted(count: int, majority: int) -> None:
    assert static_voters(range(count)).majority == majority


def test_a_voter_is_this_very_replica_where_directories_are_known() -> None:
    assert dynamic_voters([1, 2]).contains(key(1))
    assert not dynamic_voters([1, 2]).contains(key(1, 1))
    assert not dynamic_voters([1, 2]).contains(ReplicaKey(1))
    assert static_voters([1]).contains(key(1, 7))
    assert static_voters([1]).is_only(key(1))
    assert not static_voters([1, 2]).is_only(key(1))
    assert not static_voters([1]).contains(key(2))


def test_voter_is_added_removed_and_updated() -> None:
    voters = dynamic_voters([1, 2])
    more = voters.with_(voter(3))
    assert more is not None
    assert more.ids == (1, 2, 3)
    assert voters.with_(voter(2, 1)) is None
    assert more.without(key(3)) == voters
    assert voters.without(key(3)) is None
    assert voters.without(key(2, 1)) is None
    assert dynamic_voters([1]).without(key(1)) is None
    changed = voters.updated(voter(2))
    assert changed is not None
    assert set(changed.endpoints_of(2)) == {LISTENER, "OTHER"}
    assert voters.updated(voter(2, 1)) is None
    assert voters.updated(voter(3)) is None
    assert voters.ids == (1, 2)
    assert voters.overlaps(more)
    assert not static_voters([1, 2]).overlaps(static_voters([3, 4]))


def test_voter_set_survives_a_record_round_trip() -> None:
    voters = VoterSet([voter(1), voter(2, 1)])
    assert VoterSet.from_record(voters.to_record()) == voters
    assert voters.to_record().voters[1].voter_directory_id == directory(2, 1)
    assert voters != dynamic_voters([1, 2])


def test_the_history_goes_back_when_the_log_is_cut() -> None:
    history = VoterHistory(static_voters([1]))
    history.set_kraft_version(4, 1)
    history.set_voters(5, dynamic_voters([1]))
    history.set_voters(9, dynamic_voters([1, 2]))
    assert (history.voters.ids, history.voters_offset, history.kraft_version) == ((1, 2), 9, 1)
    assert [history.voters_at(end).ids for end in (5, 9, 10)] == [(1,), (1,), (1, 2)]
    assert [history.kraft_version_at(end) for end in (0, 4, 5, 99)] == [0, 0, 1, 1]
    history.truncate(10)
    assert history.voters.ids == (1, 2)
    history.truncate(9)
    assert (history.voters, history.voters_offset) == (dynamic_voters([1]), 5)
    history.truncate(5)
    assert (history.voters, history.voters_offset, history.kraft_version) == (static_voters([1]), -1, 1)
    history.truncate(0)
    assert (history.voters_offset, history.kraft_version) == (-1, 0)


def test_the_history_forgets_voters_below_the_given_offset() -> None:
    history = VoterHistory(static_voters([1]))
    for offset in (5, 9, 12):
        history.set_voters(offset, dynamic_voters([1, offset]))
    history.forget_before(10)
    assert history.voters_at(10).ids == (1, 9)
    assert history.voters_at(13).ids == (1, 12)
    history.restart(20, dynamic_voters([4]), 1)
    assert (history.voters.ids, history.voters_offset, history.kraft_version) == ((4,), 19, 1)
    history.restart(20, None, 0)
    assert (history.voters.ids, history.kraft_version) == ((1,), 0)


def test_a_ballot_counts_voters_alone_and_each_once() -> None:
    epoch_election = EpochElection(static_voters([1, 2, 3, 4]))
    for id in (1, 1, 9, 8, 7):
        epoch_election.record(id, True)
    assert not epoch_election.is_won
    epoch_election.record(2, True)
    epoch_election.record(2, False)
    assert not epoch_election.is_won
    epoch_election.record(3, False)
    assert not epoch_election.is_lost
    assert [each.id for each in epoch_election.unasked] == [4]
    epoch_election.record(4, True)
    assert [each.id for each in epoch_election.granting] == [1, 2, 4]
    assert repr(epoch_election) == "3 of 4 votes, 3 needed"
    ballots = [epoch_election]
    assert ballots[0].is_won
    lost = EpochElection(static_voters([1, 2, 3, 4]))
    lost.record(1, False)
    assert not lost.is_lost
    lost.record(2, False)
    assert lost.is_lost


def test_the_settings_have_kafkas_names_and_defaults() -> None:
    assert QuorumSettings.of({}) == QuorumSettings()
    found = QuorumSettings.of({"controller.quorum.fetch.timeout.ms": 5, "controller.quorum.fetch.max.bytes": 7, "x": 1})
    assert (found.fetch_timeout_ms, found.fetch_max_bytes, found.election_timeout_ms) == (5, 7, 1000)


def test_a_replica_key_may_leave_its_directory_open() -> None:
    assert key(1).fits(ReplicaKey(1))
    assert ReplicaKey(1).fits(key(1))
    assert not key(1).fits(key(1, 1))
    assert not key(1).fits(key(2))
