"""Sessions and heartbeats: which members stay, which expire, and what becomes of the group."""

from __future__ import annotations

from kafkadouble.messages import error_codes as codes
from tests.server.groups.bench import Bench, Member, gather, stabilise


def test_the_others_rebalance_without_it(bench: Bench) -> None:
    silent, alive = Member(bench, "a", session=10_000), Member(bench, "b", session=60_000)
    stabilise(silent, alive)
    bench.advance(10_000)
    assert alive.beat() == codes.REBALANCE_IN_PROGRESS
    call = alive.join()
    alive.joined(call)
    assert (alive.generation, alive.leader) == (2, alive.id)


def test_sync_group_response_renews_the_session(bench: Bench) -> None:
    leader, follower = Member(bench, "a", session=30_000), Member(bench, "b", session=10_000)
    gather(leader, follower)
    follower.sync()
    bench.advance(20_000)
    assert len(bench.group().members) == 2, "a member that waits for us owes no heartbeat"
    leader.sync({})
    bench.advance(9_999)
    assert len(bench.group().members) == 2
    bench.advance(1)
    assert [member.client_id for member in bench.group().members.values()] == ["a"]


def test_a_member_that_waits_in_a_rebalance_owes_no_heartbeat(bench: Bench) -> None:
    slow, quick = Member(bench, "a", session=50_000), Member(bench, "b", session=10_000)
    stabilise(slow, quick)
    quick.protocols = [("range", b"other")]
    call = quick.join()
    bench.advance(40_000)
    assert not call.done
    assert quick.id in bench.group().members


def test_heartbeats_are_good_before_the_assignment(bench: Bench) -> None:
    leader, follower = Member(bench, "a", session=10_000), Member(bench, "b", session=10_000)
    gather(leader, follower)
    for _ in range(5):
        bench.advance(9_000)
        assert leader.beat() == 0
        assert follower.beat() == 0


def test_a_member_with_a_refused_sync_has_a_session_again(bench: Bench) -> None:
    leader, follower = Member(bench, "a", session=60_000), Member(bench, "b", session=10_000)
    gather(leader, follower)
    waiting = follower.sync()
    bench.advance(20_000)
    leader.leave()
    assert waiting.code == codes.REBALANCE_IN_PROGRESS
    bench.advance(9_999)
    assert follower.id in bench.group().members
    bench.advance(1)
    assert bench.group().is_empty


def test_a_group_of_silent_static_members_goes_on_gathering(bench: Bench) -> None:
    statics = [Member(bench, f"s{n}", instance=f"i{n}", session=300_000, rebalance=20_000) for n in range(2)]
    stabilise(*statics)
    newcomer = Member(bench, "c", rebalance=20_000)
    newcomer.join()
    newcomer.leave()
    bench.advance(50_000)
    assert bench.group().state_name == "PreparingRebalance", "no member is there to lead"
    assert bench.group().generation_id == 1
    call = statics[1].join()
    bench.advance(20_000)
    statics[1].joined(call)
    assert statics[1].leader == statics[1].id
    assert len(call.answer.members) == 2
