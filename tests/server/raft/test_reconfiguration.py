"""Changes of the voters: removed, updated and joining voters; and `kraft.version` (KIP-853,
KIP-1186).
"""

from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.update_raft_voter import UpdateRaftVoterRequest
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.reconfiguration import VoterChangeRefused
from kafkadouble.server.raft.voters import VoterSet
from tests.server.raft.asking import ask, elected, key, member, part
from tests.server.raft.changing import Changing, add, known, remove, update
from tests.server.raft.quorum import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LISTENER,
    START,
    Quorum,
    control_kinds,
    directory,
    endpoint,
)


def test_57_a_voter_is_removed() -> None:
    changing = Changing()
    gone = changing.others[0]
    assert changing.done(remove(gone)).error_code == 0
    changing.quorum.run(2000)
    assert gone not in changing.leader.voters
    assert isinstance(changing.quorum[gone].state, FollowerState)
    assert not changing.quorum[gone].is_voter
    changing.quorum.kill(gone)
    changing.quorum.write(b"two of two")
    assert changing.quorum.listener(changing.id).values == [b"two of two"]


def test_57_a_leader_that_is_removed_leads_until_that_is_committed() -> None:
    changing = Changing()
    quorum, old = changing.quorum, changing.leader
    response = changing.ask(remove(changing.id))
    assert part(old) is LeaderState
    quorum.run(3000, until=lambda: bool(response))
    assert response[0].error_code == 0
    assert part(old) is not LeaderState
    new = quorum.elect()
    assert new is not old
    assert len(new.voters) == 2
    quorum.write(b"without it")
    quorum.run(5000)
    assert part(old) is FollowerState
    assert quorum.listener(changing.id).values == [b"without it"], "it goes on as an observer"


def test_57_the_last_voter_stays() -> None:
    changing = Changing((1,))
    assert changing.now(remove(1)).error_code == e.VOTER_NOT_FOUND
    assert isinstance(changing.leader.state, LeaderState)


def test_57_from_one_voter_to_three_and_back() -> None:
    changing = Changing((1,))
    for id in (2, 3):
        changing.observer(id)
        assert changing.done(add(id)).error_code == 0
    changing.quorum.write(b"three")
    assert [changing.quorum.listener(id).values for id in (1, 2, 3)] == [[b"three"]] * 3
    for id in (2, 3):
        assert changing.done(remove(id)).error_code == 0
        changing.quorum.kill(id)
    changing.quorum.write(b"one")
    assert changing.quorum.listener(1).values == [b"three", b"one"]
    changing.quorum.run(20_000)
    assert isinstance(changing.leader.state, LeaderState)


def test_a_voter_can_be_added_without_waiting_for_the_commit() -> None:
    changing = Changing((1,))
    changing.observer(2)
    response = changing.ask(add(2, committed=False))
    changing.quorum.isolate(1)
    for send in changing.leader.take_outgoing():
        if isinstance(send.body, ApiVersionsRequest):
            changing.leader.answered(send.token, known(0, 1), changing.quorum.now)
    changing.quorum.members[1].driver.run(changing.quorum.now)
    assert [each.error_code for each in response] == [0]
    assert changing.leader.log.high_watermark < changing.leader.log.end_offset
    assert changing.now(remove(2)).error_code == e.REQUEST_TIMED_OUT, "the change is still under way"


def test_57_a_voter_reports_its_new_endpoint() -> None:
    changing = Changing()
    mover = changing.others[0]
    assert changing.now(update(mover, changing.leader.epoch)).error_code == 0
    voter = changing.leader.voters.get(mover)
    assert voter is not None
    assert voter.endpoints[LISTENER].host == "moved"


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"cluster": "other"}, e.INCONSISTENT_CLUSTER_ID),
        ({"life": 3}, e.VOTER_NOT_FOUND),
        ({"life": -1}, e.INVALID_REQUEST),
        ({"listener": "OTHER"}, e.INVALID_REQUEST),
        ({"kraft": (0, 0)}, e.INVALID_REQUEST),
        ({"kraft": (2, 1)}, e.INVALID_REQUEST),
        ({"kraft": (-1, 1)}, e.INVALID_REQUEST),
        ({"epoch": 0}, e.FENCED_LEADER_EPOCH),
        ({"epoch": 99}, e.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_57_update_of_a_voter_without_a_change_is_refused(how: dict[str, Any], code: int) -> None:
    changing = Changing()
    before = changing.leader.voters
    answer = changing.now(update(changing.others[0], **{"epoch": changing.leader.epoch, **how}))
    assert answer.error_code == code
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (changing.id, changing.leader.epoch)
    assert changing.leader.voters is before


def test_57_an_update_under_kraft_version_0_is_only_kept_in_mind() -> None:
    changing = Changing(dynamic=False)
    end = changing.leader.log.end
    mover = changing.others[0]
    assert changing.now(update(mover, changing.leader.epoch)).error_code == 0
    assert changing.now(update(9, changing.leader.epoch)).error_code == e.VOTER_NOT_FOUND
    assert changing.leader.log.end == end
    assert changing.state.reported_voters[mover].endpoints[LISTENER].host == "moved"


def test_a_leader_that_has_committed_nothing_in_its_epoch_changes_no_voter() -> None:
    """Not even under kraft.version 0: it may not know of what an earlier leader has begun."""
    leader = elected(member())
    assert leader.replica.state.high_watermark is None  # type: ignore[union-attr]
    assert ask(leader, update(2, leader.replica.epoch), 0).error_code == e.REQUEST_TIMED_OUT


def test_a_follower_that_moved_updates_its_leader_after_a_fetch_timeout() -> None:
    changing = Changing()
    mover = changing.others[0]
    changing.quorum[mover].endpoints["EXTRA"] = endpoint(77)
    changing.quorum.run(2600)
    voter = changing.leader.voters.get(mover)
    assert voter is not None
    assert set(voter.endpoints) == {LISTENER, "EXTRA"}
    changing.quorum.sent.clear()
    changing.quorum.run(20_000)
    assert not [body for _, _, body in changing.quorum.sent if isinstance(body, UpdateRaftVoterRequest)]


def test_a_leader_that_moved_writes_its_endpoint_when_it_is_elected() -> None:
    changing = Changing()
    kinds = control_kinds(changing.leader.log.log)
    for each in changing.quorum.members.values():
        each.replica.endpoints["EXTRA"] = endpoint(77)
    changing.leader.resign(changing.quorum.now)
    changing.quorum.run(20, until=lambda: changing.quorum.leader not in (None, changing.leader))
    successor = changing.quorum.elect()
    voter = successor.voters.get(successor.key.id)
    assert voter is not None
    assert set(voter.endpoints) == {LISTENER, "EXTRA"}
    assert control_kinds(successor.log.log) == [*kinds, 2, KRAFT_VERSION, KRAFT_VOTERS]


def test_a_leader_with_its_endpoint_in_the_log_does_not_write_the_voters_again() -> None:
    changing = Changing()
    kinds = control_kinds(changing.leader.log.log)
    changing.leader.resign(changing.quorum.now)
    changing.quorum.run(3000)
    assert control_kinds(changing.quorum.elect().log.log) == [*kinds, 2]


def test_under_kraft_version_0_each_leader_is_updated_once() -> None:
    quorum = Quorum()
    quorum.elect()
    quorum.run(20_000)
    updated = [one for one, _, body in quorum.sent if isinstance(body, UpdateRaftVoterRequest)]
    assert sorted(updated) == sorted(follower.key.id for follower in quorum.followers())


def test_kraft_version_is_raised_when_every_voter_has_reported_support_for_it() -> None:
    changing = Changing(dynamic=False)
    with pytest.raises(VoterChangeRefused):
        changing.leader.raise_kraft_version(1, changing.quorum.now)
    changing.quorum.run(7000)
    assert changing.leader.raise_kraft_version(1, changing.quorum.now)
    assert not changing.leader.raise_kraft_version(1, changing.quorum.now)
    changing.quorum.run(1000)
    for id in (1, 2, 3):
        assert changing.quorum[id].kraft_version == 1
        assert [voter.key for voter in changing.quorum[id].voters] == [key(1), key(2), key(3)]
    with pytest.raises(VoterChangeRefused):
        changing.leader.raise_kraft_version(2, changing.quorum.now)
    with pytest.raises(VoterChangeRefused):
        changing.leader.raise_kraft_version(0, changing.quorum.now)
    changing.observer(4)
    assert changing.done(add()).error_code == 0


def test_58_a_controller_joins_of_its_own_accord() -> None:
    changing = Changing(auto_join=True)
    changing.observer(4)
    broker = changing.observer(5, can_vote=False)
    changing.quorum.run(20_000)
    assert set(changing.leader.voters.ids) == {1, 2, 3, 4}
    assert not broker.replica.is_voter


def test_58_a_controller_that_lost_its_disk_takes_its_own_place() -> None:
    changing = Changing(auto_join=True)
    lost = changing.others[0]
    changing.quorum.kill(lost)
    changing.quorum.run(1000)
    del changing.quorum.members[lost]
    changing.quorum.dead.discard(lost)
    changing.observer(lost, directory_id=directory(lost, 1))
    assert not changing.quorum[lost].is_voter
    changing.quorum.run(30_000)
    assert changing.quorum[lost].is_voter
    voter = changing.leader.voters.get(lost)
    assert voter is not None
    assert voter.key == key(lost, 1)


def test_58_without_the_setting_no_observer_joins() -> None:
    changing = Changing()
    changing.observer(4)
    changing.quorum.run(20_000)
    assert set(changing.leader.voters.ids) == {1, 2, 3}


def test_a_change_that_was_cut_off_brings_the_old_voters_back() -> None:
    changing = Changing()
    quorum, old = changing.quorum, changing.leader
    quorum.isolate(changing.id)
    changing.ask(remove(changing.others[0]))
    assert len(old.voters) == 2
    quorum.run(10_000)
    new = quorum.leader
    assert new is not None
    assert new is not old
    quorum.heal()
    quorum.run(10_000)
    assert len(old.voters) == 3
    assert old.log.end == new.log.end


def test_a_new_replica_of_an_empty_voter_set_waits_for_a_leader() -> None:
    alone = member(voters=())
    assert alone.replica.voters == VoterSet()
    alone.replica.tick(START + 100_000)
    assert alone.replica.epoch == 0
