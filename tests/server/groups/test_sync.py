"""SyncGroup: every member gets the leader's assignment, or none does."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from tests.server.groups.bench import Bench, Member, gather, stabilise


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_followers_wait_for_the_leader_and_late_ones_are_answered_at_once(bench: Bench) -> None:
    leader, early, late = (Member(bench, name) for name in "abc")
    gather(leader, early, late)
    waiting = early.sync()
    assert not waiting.done
    assert leader.sync({leader.id: b"1", early.id: b"2", late.id: b"3"}).answer.assignment == b"1"
    assert waiting.answer.assignment == b"2"
    assert late.sync().answer.assignment == b"3"
    assert waiting.answer.protocol_type == "consumer"
    assert waiting.answer.protocol_name == "range"
    assert bench.group().state_name == "Stable"


def test_members_without_an_assignment_get_nothing_and_strangers_are_ignored(bench: Bench) -> None:
    leader, follower = Member(bench, "a"), Member(bench, "b")
    gather(leader, follower)
    waiting = follower.sync()
    leader.sync({leader.id: b"1", "stranger": b"2"})
    assert waiting.code == 0
    assert waiting.answer.assignment == b""


def test_only_the_leaders_assignment_counts(bench: Bench) -> None:
    leader, follower = Member(bench, "a"), Member(bench, "b")
    gather(leader, follower)
    waiting = follower.sync({follower.id: b"mine"})
    assert not waiting.done
    leader.sync({follower.id: b"yours"})
    assert waiting.answer.assignment == b"yours"


def test_both_sync_requests_of_a_member_are_answered(bench: Bench) -> None:
    leader, follower = Member(bench, "a"), Member(bench, "b")
    gather(leader, follower)
    calls = [follower.sync(), follower.sync()]
    leader.sync({follower.id: b"2"})
    assert [call.answer.assignment for call in calls] == [b"2", b"2"]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"member_id": "stranger"}, codes.UNKNOWN_MEMBER_ID),
        ({"group_id": "unknown"}, codes.UNKNOWN_MEMBER_ID),
        ({"group_id": ""}, codes.INVALID_GROUP_ID),
        ({"generation_id": 0}, codes.ILLEGAL_GENERATION),
        ({"generation_id": 2}, codes.ILLEGAL_GENERATION),
        ({"protocol_type": "connect"}, codes.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "sticky"}, codes.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": None}, codes.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": None}, codes.INCONSISTENT_GROUP_PROTOCOL),
        ({"group_instance_id": "i"}, codes.UNKNOWN_MEMBER_ID),
    ],
)
def test_invalid_sync_group_is_refused(bench: Bench, message: dict[str, Any], code: int) -> None:
    member = Member(bench)
    gather(member)
    assert member.sync(**message).code == code


def test_before_version_5_the_protocol_need_not_be_named(bench: Bench) -> None:
    member = Member(bench)
    gather(member)
    assert member.sync(version=4).code == 0


def test_during_a_rebalance_there_is_nothing_to_sync(bench: Bench) -> None:
    leader, follower = Member(bench, "a"), Member(bench, "b")
    stabilise(leader, follower)
    leader.join()
    assert follower.sync().code == codes.REBALANCE_IN_PROGRESS


def test_a_member_that_leaves_while_it_waits_is_answered(bench: Bench) -> None:
    leader, follower = Member(bench, "a"), Member(bench, "b")
    gather(leader, follower)
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


@pytest.mark.parametrize("version", range(6))
def test_every_version_is_answered(bench: Bench, version: int) -> None:
    member = Member(bench)
    gather(member)
    assert member.sync({member.id: b"x"}, version).answer.assignment == b"x"
    assert member.sync(version=version, generation_id=9).code == codes.ILLEGAL_GENERATION
