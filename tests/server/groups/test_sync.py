"""SyncGroup: every member gets the leader's assignment, or none does."""

from __future__ import annotations

from kafkadouble.messages import error_codes as codes
from tests.server.groups.bench import Bench, Member, gather, gathered


def test_members_without_an_assignment_get_nothing_and_strangers_are_ignored(bench: Bench) -> None:
    leader, follower = gathered(bench)
    waiting = follower.sync()
    leader.sync({leader.id: b"1", "stranger": b"2"})
    assert waiting.code == 0
    assert waiting.answer.assignment == b""


def test_only_the_leaders_assignment_counts(bench: Bench) -> None:
    leader, follower = gathered(bench)
    waiting = follower.sync({follower.id: b"mine"})
    assert not waiting.done
    leader.sync({follower.id: b"yours"})
    assert waiting.answer.assignment == b"yours"


def test_both_sync_requests_of_a_member_are_answered(bench: Bench) -> None:
    leader, follower = gathered(bench)
    calls = [follower.sync(), follower.sync()]
    leader.sync({follower.id: b"2"})
    assert [call.answer.assignment for call in calls] == [b"2", b"2"]


def test_a_member_that_leaves_while_it_waits_is_answered(bench: Bench) -> None:
    _, follower = gathered(bench)
    waiting = follower.sync()
    follower.leave()
    assert waiting.code == codes.UNKNOWN_MEMBER_ID


def test_a_member_that_does_not_sync_within_the_rebalance_timeout_is_removed(bench: Bench) -> None:
    leader, follower = (Member(bench, name, session=120_000, rebalance=20_000) for name in "ab")
    gather(leader, follower)
    leader.sync({})
    bench.advance(19_999)
    assert bench.group().state_name == "Stable"
    bench.advance(1)
    assert bench.group().state_name == "PreparingRebalance"
    assert follower.beat() == codes.UNKNOWN_MEMBER_ID
    assert leader.beat() == codes.REBALANCE_IN_PROGRESS


def test_a_rebalance_forgets_which_members_had_not_synced(bench: Bench) -> None:
    leader, follower = (Member(bench, name, session=120_000, rebalance=20_000) for name in "ab")
    gather(leader, follower)
    leader.sync({})
    bench.advance(10_000)
    call = leader.join()
    bench.advance(19_999)
    assert follower.id in bench.group().members, "it has the whole of the new rebalance timeout"
    bench.advance(1)
    leader.joined(call)
    assert follower.id not in bench.group().members


def test_a_leader_that_does_not_sync_is_out_and_the_others_start_over(bench: Bench) -> None:
    leader, follower = (Member(bench, name, session=120_000, rebalance=20_000) for name in "ab")
    gather(leader, follower)
    waiting = follower.sync()
    bench.advance(20_000)
    assert waiting.code == codes.REBALANCE_IN_PROGRESS
    call = follower.join()
    follower.joined(call)
    assert follower.leader == follower.id
    assert leader.beat() == codes.UNKNOWN_MEMBER_ID
