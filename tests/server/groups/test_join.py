"""JoinGroup: which client may join, how long the join phase takes, and each response."""

from __future__ import annotations

from kafkadouble.messages import error_codes as codes
from tests.server.groups.bench import DELAY, Bench, Member, gather, gathered, stabilise, subscription


def test_version_0_takes_the_session_timeout_for_the_rebalance_timeout(bench: Bench) -> None:
    member = Member(bench, session=20_000)
    member.send_join(0)
    (joined,) = bench.group().members.values()
    assert joined.rebalance_timeout_ms == 20_000


def test_an_unused_member_id_expires_after_the_session_timeout(bench: Bench) -> None:
    member = Member(bench, "app", session=10_000)
    member.id = member.send_join().answer.member_id
    assert member.id.startswith("app-")
    assert len(member.id) == len("app-") + 36
    bench.advance(9_999)
    assert list(bench.group().pending_join_members) == [member.id]
    bench.advance(1)
    assert not bench.group().pending_join_members
    assert member.send_join().code == codes.UNKNOWN_MEMBER_ID


def test_a_pending_id_holds_a_rebalance_up_until_it_is_given_up(bench: Bench) -> None:
    first, second = Member(bench, "a", session=30_000), Member(bench, "b", session=8_000)
    stabilise(first)
    second.id = second.send_join().answer.member_id
    call = first.join()  # the leader rejoins
    assert not call.done
    bench.advance(7_999)
    assert not call.done
    bench.advance(1)
    first.joined(call)
    assert first.generation == 2


def test_the_delay_is_prolonged_while_members_come_up_to_the_rebalance_timeout() -> None:
    bench = Bench()
    calls = [Member(bench, "0", rebalance=10_000).join()]
    for second in range(1, 12):  # a member joins every second
        bench.advance(1000)
        if bench.now - 1_700_000_000_000 < 10_000:
            calls.append(Member(bench, str(second), rebalance=10_000).join())
        done = [call.done for call in calls]
        if second < 10:
            assert not any(done), f"after {second} s"
    assert all(call.done for call in calls)
    assert len(calls[0].answer.members) == 10


def test_a_member_that_does_not_rejoin_within_the_rebalance_timeout_is_removed(bench: Bench) -> None:
    first, second = Member(bench, "a", session=30_000, rebalance=20_000), Member(bench, "b", session=30_000)
    stabilise(first, second)
    second.rebalance = 20_000
    call = second.join()
    assert call.done, "a follower whose metadata is the same starts no rebalance"
    third = Member(bench, "c", rebalance=20_000)
    newcomer = third.join()
    rejoined = second.join()
    bench.advance(15_000)
    assert first.beat() == codes.REBALANCE_IN_PROGRESS, "it lives, but does not rejoin"
    assert not rejoined.done
    bench.advance(45_000)
    second.joined(rejoined)
    third.joined(newcomer)
    assert second.leader == second.id, "the leader is out, another one leads"
    assert first.beat() == codes.UNKNOWN_MEMBER_ID


def test_a_new_member_that_waits_too_long_has_to_join_again(bench: Bench) -> None:
    first = Member(bench, "a", session=1_000_000, rebalance=600_000)
    stabilise(first)
    second = Member(bench, "b", session=10_000)
    call = second.join()
    bench.advance(299_999)
    assert not call.done
    bench.advance(1)
    assert call.code == codes.UNKNOWN_MEMBER_ID
    assert call.answer.member_id == ""
    assert second.id not in bench.group().members


def test_a_member_that_missed_its_answer_gets_it_again_before_the_assignment(bench: Bench) -> None:
    leader, follower = gathered(bench)
    again = leader.join()
    assert again.answer.generation_id == 1
    assert len(again.answer.members) == 2
    assert follower.join().answer.members == []
    follower.protocols = [("range", b"other")]
    waiting = leader.sync({})
    assert waiting.code == 0


def test_other_metadata_before_the_assignment_makes_every_member_rejoin(bench: Bench) -> None:
    leader, follower, third = (Member(bench, name) for name in "abc")
    gather(leader, follower, third)
    waiting = third.sync()
    follower.protocols = [("range", b"other")]
    assert not follower.join().done
    assert waiting.code == codes.REBALANCE_IN_PROGRESS


def test_both_join_requests_of_a_member_are_answered(bench: Bench) -> None:
    member = Member(bench)
    member.id = member.send_join().answer.member_id
    calls = [member.send_join(), member.send_join()]
    bench.advance(10 * DELAY)
    assert [call.answer.generation_id for call in calls] == [1, 1]


def test_a_closed_connection_does_not_take_the_member_out(bench: Bench) -> None:
    first, second = Member(bench, "a"), Member(bench, "b")
    calls = [first.join(), second.join()]
    calls[0].close()
    bench.advance(2 * DELAY)
    assert not calls[0].done
    assert len(bench.group().members) == 2
    assert calls[1].answer.generation_id == 1


def test_members_vote_for_the_protocol_that_all_of_them_support(bench: Bench) -> None:
    first = Member(bench, "a", protocols=[("range", b"1"), ("sticky", b"2"), ("only-a", b"3")])
    second = Member(bench, "b", protocols=[("sticky", b"4"), ("range", b"5")])
    third = Member(bench, "c", protocols=[("sticky", b"6"), ("range", b"7")])
    calls = [member.join() for member in (first, second, third)]
    bench.advance(20 * DELAY)
    assert {call.answer.protocol_name for call in calls} == {"sticky"}
    assert [member.metadata for member in calls[0].answer.members] == [b"2", b"4", b"6"]


def test_a_gathering_that_lost_all_its_members_takes_any_protocol_of_its_type(bench: Bench) -> None:
    member, pending, next_one = Member(bench, "a"), Member(bench, "b"), Member(bench, "c")
    stabilise(member)
    pending.id = pending.send_join().answer.member_id
    assert not member.join().done
    member.leave()
    assert bench.group().state_name == "PreparingRebalance", "it still waits for the id that was handed out"
    assert not bench.group().members
    next_one.protocols, next_one.protocol_type = [("other", b"")], "connect"
    assert next_one.send_join().code == codes.INCONSISTENT_GROUP_PROTOCOL
    next_one.protocol_type = "consumer"
    assert next_one.send_join().code == codes.MEMBER_ID_REQUIRED
    next_one.protocols = []
    assert next_one.send_join().code == codes.INCONSISTENT_GROUP_PROTOCOL


def test_an_id_is_worth_nothing_once_the_group_was_full() -> None:
    bench = Bench(group_max_size=1)
    late, first = Member(bench, "b"), Member(bench, "a")
    late.id = late.send_join().answer.member_id
    stabilise(first)
    assert late.send_join().code == codes.GROUP_MAX_SIZE_REACHED
    assert late.id not in bench.group().pending_join_members
    first.leave()
    assert late.send_join().code == codes.UNKNOWN_MEMBER_ID


def test_during_a_rebalance_joined_members_are_counted() -> None:
    bench = Bench(group_max_size=2)
    first, second, third, fourth = (Member(bench, name) for name in "abcd")
    stabilise(first)
    third.id = third.send_join().answer.member_id
    second.join()
    third_call = third.send_join()
    assert not third_call.done
    assert first.join().code == codes.GROUP_MAX_SIZE_REACHED, "the last to rejoin is turned away"
    assert fourth.send_join().code == codes.GROUP_MAX_SIZE_REACHED


def test_the_topics_of_consumers_are_known_when_their_metadata_can_be_read(bench: Bench) -> None:
    gather(Member(bench, "a", protocols=[("range", subscription("t1", "t2"))]))
    assert set(bench.group().subscribed_topics or ()) == {"t1", "t2"}
    other = Bench()
    gather(Member(other, "a", protocols=[("range", b"\0\0\xff")]))
    assert other.group().subscribed_topics is None
    assert other.group().is_subscribed_to_topic("anything"), "it may be"
