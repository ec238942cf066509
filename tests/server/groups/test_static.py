"""Static members (KIP-345, KIP-814): a restart causes no rebalance, and fences the old member."""

from __future__ import annotations

from kafkadouble.messages import error_codes as codes
from tests.server.groups.bench import DELAY, Bench, Member, gather, stabilise


def restarted(member: Member) -> Member:
    """The same static member without its member id."""
    return Member(
        member.bench, member.client, instance=member.instance, protocols=member.protocols, session=member.session
    )


def test_static_member_joins_at_once_with_id_of_its_instance(bench: Bench) -> None:
    member = Member(bench, "client", instance="box-1")
    call = member.send_join()
    bench.advance(DELAY)
    member.joined(call)
    assert member.id.startswith("box-1-")


def test_a_follower_that_restarts_causes_no_rebalance(bench: Bench) -> None:
    leader, follower = Member(bench, "a", instance="1"), Member(bench, "b", instance="2")
    stabilise(leader, follower)
    again = restarted(follower)
    call = again.send_join()
    again.joined(call)
    assert again.generation == 1
    assert again.id != follower.id
    assert call.answer.leader == leader.id
    assert call.answer.members == []
    assert not call.answer.skip_assignment
    assert again.sync().answer.assignment == b"b", "the old assignment"
    assert leader.beat() == 0
    assert follower.beat() == codes.FENCED_INSTANCE_ID


def test_a_follower_that_restarts_before_it_synced_syncs_under_its_new_id(bench: Bench) -> None:
    leader, follower = (Member(bench, n, instance=n, session=200_000, rebalance=20_000) for n in "ab")
    gather(leader, follower)
    leader.sync({follower.id: b"old id"})
    again = restarted(follower)
    again.joined(again.send_join())
    assert again.sync().code == 0
    bench.advance(30_000)
    assert bench.group().state_name == "Stable"


def test_a_restart_that_changes_the_protocol_is_a_rebalance(bench: Bench) -> None:
    leader = Member(bench, "a", instance="1", protocols=[("range", b""), ("sticky", b"")])
    follower = Member(bench, "b", instance="2", protocols=[("range", b""), ("sticky", b"")])
    stabilise(leader, follower)
    assert leader.protocol == "range"
    again = restarted(follower)
    again.protocols = [("sticky", b"")]
    call = again.send_join()
    assert not call.done
    assert leader.beat() == codes.REBALANCE_IN_PROGRESS
    rejoined = leader.join()
    assert call.answer.protocol_name == rejoined.answer.protocol_name == "sticky"


def test_the_waiting_request_of_the_older_one_is_fenced(bench: Bench) -> None:
    older, other = Member(bench, "a", instance="1"), Member(bench, "b")
    older_call, other_call = older.send_join(), other.join()
    newer = restarted(older)
    newer_call = newer.send_join()
    assert older_call.code == codes.FENCED_INSTANCE_ID
    bench.advance(2 * DELAY)
    newer.joined(newer_call)
    other.joined(other_call)
    assert len(bench.group().members) == 2


def test_before_the_assignment_a_restart_makes_every_member_rejoin(bench: Bench) -> None:
    leader, follower = Member(bench, "a", instance="1"), Member(bench, "b", instance="2")
    gather(leader, follower)
    waiting, again = follower.sync(), restarted(follower)
    call = again.send_join()
    assert waiting.code == codes.FENCED_INSTANCE_ID
    assert not call.done
    assert leader.sync({}).code == codes.REBALANCE_IN_PROGRESS
    rejoined = leader.join()
    again.joined(call)
    leader.joined(rejoined)
    assert leader.generation == 2


def test_a_static_member_that_does_not_rejoin_stays_until_its_session_ends(bench: Bench) -> None:
    leader, static = Member(bench, "a", session=10_000), Member(bench, "s", instance="i", session=120_000)
    stabilise(leader, static)
    newcomer = Member(bench, "c")
    call = newcomer.join()
    leader_call = leader.join()
    bench.advance(60_000)
    newcomer.joined(call)
    leader.joined(leader_call)
    assert static.id in bench.group().members
    assert len(leader_call.answer.members) == 3
    leader.sync({static.id: b"kept"})
    newcomer.sync()
    static.generation = leader.generation
    assert static.sync().answer.assignment == b"kept"


def test_a_static_leader_that_does_not_rejoin_leads_no_longer(bench: Bench) -> None:
    static, other = Member(bench, "s", instance="i", session=200_000), Member(bench, "b")
    stabilise(static, other)
    call = other.join()
    other.protocols = [("range", b"changed")]
    call = other.join()
    bench.advance(60_000)
    other.joined(call)
    assert other.leader == other.id
    assert static.id in bench.group().members


def test_with_its_member_id_it_rejoins_like_any_other(bench: Bench) -> None:
    static = Member(bench, "s", instance="i")
    stabilise(static)
    before = static.id
    call = static.join()
    static.joined(call)
    assert static.id == before
    assert static.generation == 2


def test_session_of_a_static_member_continues_under_its_new_id(bench: Bench) -> None:
    static = Member(bench, "s", instance="i", session=10_000)
    stabilise(static)
    bench.advance(9_000)
    again = restarted(static)
    again.joined(again.send_join())
    bench.advance(9_000)
    assert again.beat() == 0
    bench.advance(10_000)
    assert bench.group().is_empty
