"""Members that are fenced, because a time-out is over: of the session, of the rebalance, and for
classic members of JoinGroup and SyncGroup (KIP-848)."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.server.groups.consumer import timers
from tests.server.groups.bench import GROUP, Member, subscription
from tests.server.groups.consumer.bench import REBALANCE_TIMEOUT_MS, Consumer, ConsumerBench, settle

SESSION_MS = 45_000


@pytest.fixture
def bench() -> ConsumerBench:
    bench = ConsumerBench()
    bench.create_topic("t", 2)
    return bench


def classic(bench: ConsumerBench, *, session: int = SESSION_MS, rebalance: int = 20_000) -> Member:
    return Member(bench, protocols=[("range", subscription("t"))], session=session, rebalance=rebalance)


def test_a_session_lasts_for_its_timeout_after_each_heartbeat(bench: ConsumerBench) -> None:
    a = Consumer(bench, "a", "t")
    settle(a)
    for _ in range(3):
        bench.advance(SESSION_MS - 1)
        a.beat()
    bench.advance(SESSION_MS)
    assert a.code() == codes.UNKNOWN_MEMBER_ID
    assert bench.described().group_state == "Empty"


def test_a_group_has_its_own_session_timeout() -> None:
    bench = ConsumerBench(group_consumer_session_timeout_ms=50_000)
    bench.create_topic("t")
    a = Consumer(bench, "a", "t")
    settle(a)
    bench.advance(49_999)
    assert a.code() == codes.NONE
    bench.advance(50_000)
    assert a.code() == codes.UNKNOWN_MEMBER_ID


def test_partitions_of_a_fenced_member_go_to_others(bench: ConsumerBench) -> None:
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t")
    settle(a, b)
    bench.advance(SESSION_MS - 1)
    a.beat()
    bench.advance(1)
    settle(a)
    assert sum(map(len, a.owned.values())) == 2


def test_a_member_that_does_not_revoke_in_time_is_fenced(bench: ConsumerBench) -> None:
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t")
    settle(a)
    b.beat()
    owned = a.owned
    a.beat()
    a.owned = owned
    for _ in range(2):
        bench.advance(REBALANCE_TIMEOUT_MS // 2 - 1)
        assert a.code() == codes.NONE
        b.beat()
    bench.advance(2)
    assert a.code() == codes.UNKNOWN_MEMBER_ID
    settle(b)
    assert sum(map(len, b.owned.values())) == 2


def test_a_member_that_revokes_in_time_is_not_fenced(bench: ConsumerBench) -> None:
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t")
    settle(a)
    b.beat()
    a.beat()
    assert bench.shard().timers.is_scheduled((timers.REBALANCE, GROUP, "a"))
    a.beat()
    assert not bench.shard().timers.is_scheduled((timers.REBALANCE, GROUP, "a"))


def test_a_classic_member_that_does_not_sync_is_fenced(bench: ConsumerBench) -> None:
    settle(Consumer(bench, "a", "t"))
    member = classic(bench)
    member.joined(member.join())
    bench.advance(19_999)
    assert member.beat() in (codes.NONE, codes.REBALANCE_IN_PROGRESS)
    bench.advance(1)
    assert member.beat() == codes.UNKNOWN_MEMBER_ID


def test_a_classic_member_that_does_not_join_again_is_fenced(bench: ConsumerBench) -> None:
    a = Consumer(bench, "a", "t")
    settle(a)
    member = classic(bench)
    member.joined(member.join())
    member.sync()
    settle(a)
    assert member.beat() == codes.REBALANCE_IN_PROGRESS
    bench.advance(10_000)
    # The time runs from the first refusal.
    assert member.beat() == codes.REBALANCE_IN_PROGRESS
    bench.advance(9_999)
    assert member.beat() == codes.REBALANCE_IN_PROGRESS
    bench.advance(1)
    assert member.beat() == codes.UNKNOWN_MEMBER_ID


def test_a_classic_member_keeps_its_own_session_timeout(bench: ConsumerBench) -> None:
    settle(Consumer(bench, "a", "t"))
    member = classic(bench, session=6_000, rebalance=300_000)
    member.joined(member.join())
    member.sync()
    bench.advance(5_999)
    assert member.beat() != codes.UNKNOWN_MEMBER_ID
    bench.advance(6_000)
    assert member.beat() == codes.UNKNOWN_MEMBER_ID


def test_timers_start_again_when_a_group_is_loaded(bench: ConsumerBench) -> None:
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t")
    settle(a)
    b.beat()
    a.beat()
    bench.advance(SESSION_MS - 1)
    bench.fail_over()
    assert bench.shard().timers.is_scheduled((timers.REBALANCE, GROUP, "a"))
    bench.advance(SESSION_MS - 1)
    assert b.code() == codes.NONE
    bench.advance(1)
    assert set(bench.consumer_group().members) == {"b"}


def test_no_timer_is_left_when_the_members_have_left(bench: ConsumerBench) -> None:
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t", instance="i")
    member = classic(bench)
    settle(a, b)
    member.joined(member.join())
    a.leave()
    b.leave()
    member.leave()
    assert len(bench.shard().timers) == 0


def test_a_group_that_cannot_become_classic_keeps_its_member(bench: ConsumerBench) -> None:
    """The protocol that the classic members choose has metadata that cannot be read."""
    bad = Member(bench, "bad", protocols=[("bad", b"\0"), ("range", subscription("t"))], session=300_000)
    good = Member(bench, "good", protocols=[("range", subscription("t"))], session=300_000)
    first = bad.join()
    bad.joined(first)
    second = good.send_join(3)
    bad.joined(bad.join())
    good.joined(second)
    a = Consumer(bench, "a", "t")
    a.beat()
    good.leave()
    assert a.code(member_epoch=-1, topic_partitions=None) == codes.GROUP_ID_NOT_FOUND
    bench.advance(SESSION_MS)
    assert "a" in bench.consumer_group().members
    assert len(bench.shard().timers) == 1, "it does not try again and again"
