"""LeaveGroup: one member, many, static ones by instance id, and ids that are no members."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest
from tests.server.groups.bench import DELAY, GROUP, Bench, Member, stabilise

Leaving = LeaveGroupRequest.MemberIdentity


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_others_rebalance_at_once(bench: Bench) -> None:
    first, second = Member(bench, "a"), Member(bench, "b")
    stabilise(first, second)
    answer = first.leave()
    assert [(each.member_id, each.error_code) for each in answer.members] == [(first.id, 0)]
    assert second.beat() == codes.REBALANCE_IN_PROGRESS
    call = second.join()
    second.joined(call)
    assert (second.generation, second.leader) == (2, second.id)


def test_the_last_one_leaves_an_empty_generation(bench: Bench) -> None:
    member = Member(bench)
    stabilise(member)
    member.leave()
    assert (bench.group().state_name, bench.group().generation_id, bench.group().leader_id) == ("Empty", 2, None)


def test_many_go_with_an_answer_each(bench: Bench) -> None:
    first, second, static = Member(bench, "a"), Member(bench, "b"), Member(bench, "s", instance="i")
    stabilise(first, second, static)
    members = [
        Leaving(member_id=first.id, reason="done"),
        Leaving(member_id="", group_instance_id="i"),
        Leaving(member_id="stranger"),
        Leaving(member_id="", group_instance_id="unknown"),
        Leaving(member_id=""),
    ]
    answer = bench.ask(LeaveGroupRequest(group_id=GROUP, members=members))
    unknown = codes.UNKNOWN_MEMBER_ID
    assert answer.error_code == 0
    assert [(each.member_id, each.group_instance_id, each.error_code) for each in answer.members] == [
        (first.id, None, 0),
        ("", "i", 0),
        ("stranger", None, unknown),
        ("", "unknown", unknown),
        ("", None, unknown),
    ]
    assert list(bench.group().members) == [second.id]


def test_a_static_member_must_hold_the_instance_id_that_it_names(bench: Bench) -> None:
    static, other = Member(bench, "s", instance="i"), Member(bench, "b")
    stabilise(static, other)
    members = [Leaving(member_id=other.id, group_instance_id="i")]
    (answer,) = bench.ask(LeaveGroupRequest(group_id=GROUP, members=members)).members
    assert answer.error_code == codes.FENCED_INSTANCE_ID
    assert len(bench.group().members) == 2


def test_a_member_that_left_does_not_expire_later(bench: Bench) -> None:
    first, second = Member(bench, "a", session=60_000), Member(bench, "b", session=10_000)
    stabilise(first, second)
    second.leave()
    stabilise(first)
    bench.advance(20_000)
    assert bench.group().state_name == "Stable"
    assert first.generation == 2


def test_an_id_that_was_handed_out_can_be_given_back(bench: Bench) -> None:
    member, pending = Member(bench, "a"), Member(bench, "b")
    stabilise(member)
    pending.id = pending.send_join().answer.member_id
    (answer,) = pending.leave().members
    assert answer.error_code == 0
    assert not bench.group().pending_join_members


def test_an_id_that_is_given_back_starts_nothing_in_an_empty_group(bench: Bench) -> None:
    pending = Member(bench)
    pending.id = pending.send_join().answer.member_id
    pending.leave()
    assert bench.group().state_name == "Empty"
    assert bench.group().generation_id == 0


def test_a_rebalance_does_not_wait_for_members_that_left(bench: Bench) -> None:
    first, second = Member(bench, "a"), Member(bench, "b")
    stabilise(first, second)
    call = first.join()
    assert not call.done
    second.leave()
    first.joined(call)


def test_a_member_removed_during_a_rebalance_gets_unknown_member_id(bench: Bench) -> None:
    first, second = Member(bench, "a"), Member(bench, "b")
    calls = [first.join(), second.join()]
    first.leave()
    assert calls[0].code == codes.UNKNOWN_MEMBER_ID
    bench.advance(10 * DELAY)
    assert calls[1].answer.leader == second.id


def test_an_unknown_group_has_no_members(bench: Bench) -> None:
    answer = bench.ask(LeaveGroupRequest(group_id="unknown", members=[Leaving(member_id="m", group_instance_id="i")]))
    assert answer.error_code == 0
    assert [(each.member_id, each.group_instance_id, each.error_code) for each in answer.members] == [
        ("m", "i", codes.UNKNOWN_MEMBER_ID)
    ]


def test_a_group_needs_a_name(bench: Bench) -> None:
    assert bench.ask(LeaveGroupRequest(group_id="", members=[])).error_code == codes.INVALID_GROUP_ID


@pytest.mark.parametrize("version", range(6))
def test_every_version_is_answered(bench: Bench, version: int) -> None:
    member = Member(bench)
    stabilise(member)
    if version < 3:
        stranger, body = (LeaveGroupRequest(group_id=GROUP, member_id=m) for m in ("stranger", member.id))
        assert bench.ask(stranger, version).error_code == codes.UNKNOWN_MEMBER_ID
    else:
        body = LeaveGroupRequest(group_id=GROUP, members=[Leaving(member_id=member.id)])
    answer = bench.ask(body, version)
    assert answer.error_code == 0
    assert bench.group().is_empty
