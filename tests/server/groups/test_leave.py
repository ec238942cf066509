"""LeaveGroup: one member, many, static ones by instance id, and ids that are no members."""

from __future__ import annotations

from kafkadouble.messages import error_codes as codes
from tests.server.groups.bench import DELAY, Bench, Member, stabilise


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
