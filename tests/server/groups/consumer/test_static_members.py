"""Static members of consumer groups (KIP-345, KIP-848): they leave for a while, and come back."""

from __future__ import annotations

from kafkadouble.messages import error_codes as codes
from tests.server.groups.consumer.bench import LEAVE, LEAVE_FOR_A_WHILE, Consumer, ConsumerBench, settle


def test_partitions_wait_for_a_static_member_that_left() -> None:
    bench = ConsumerBench()
    t = bench.create_topic("t", 4)
    s, other = Consumer(bench, "s1", "t", instance="i"), Consumer(bench, "o", "t")
    settle(s, other)
    kept, group_epoch = s.partitions(t), bench.consumer_group().group_epoch
    left = s.leave(LEAVE_FOR_A_WHILE)
    assert (left.error_code, left.member_id, left.member_epoch) == (codes.NONE, "s1", LEAVE_FOR_A_WHILE)
    other.beat()
    assert len(other.partitions(t)) == 2

    again = Consumer(bench, "s2", "t", instance="i")
    again.beat()
    assert again.partitions(t) == kept
    assert bench.consumer_group().group_epoch == group_epoch, "nothing changed for the others"
    assert list(bench.consumer_group().members) == ["o", "s2"]


def test_static_member_returns_with_the_same_member_id() -> None:
    bench = ConsumerBench()
    t = bench.create_topic("t", 2)
    s = Consumer(bench, "s", "t", instance="i")
    settle(s)
    s.leave(LEAVE_FOR_A_WHILE)
    s.beat()
    assert s.partitions(t) == [0, 1]
    bench.advance(44_000)
    s.beat()
    bench.advance(44_000)
    s.beat()


def test_absent_static_member_is_fenced_when_its_session_ends() -> None:
    bench = ConsumerBench()
    t = bench.create_topic("t", 2)
    s, other = Consumer(bench, "s", "t", instance="i"), Consumer(bench, "o", "t")
    settle(s, other)
    s.leave(LEAVE_FOR_A_WHILE)
    bench.advance(44_000)
    other.beat()
    bench.advance(2_000)
    other.beat()
    assert other.partitions(t) == [0, 1]
    assert "i" not in bench.consumer_group().static_members


def test_an_instance_id_is_released_only_by_its_member() -> None:
    bench = ConsumerBench()
    bench.create_topic("t")
    settle(Consumer(bench, "s1", "t", instance="i"))
    second = Consumer(bench, "s2", "t", instance="i")
    assert second.code() == codes.UNRELEASED_INSTANCE_ID
    for epoch in (LEAVE, LEAVE_FOR_A_WHILE, 2):
        second.epoch = epoch
        assert second.code() == codes.FENCED_INSTANCE_ID
        assert second.code(instance_id="j") == codes.UNKNOWN_MEMBER_ID


def test_static_member_that_leaves_for_good_frees_its_partitions() -> None:
    bench = ConsumerBench()
    t = bench.create_topic("t", 2)
    s, other = Consumer(bench, "s", "t", instance="i"), Consumer(bench, "o", "t")
    settle(s, other)
    s.leave()
    other.beat()
    assert other.partitions(t) == [0, 1]


def test_a_returning_member_that_subscribes_to_more_changes_the_assignment() -> None:
    bench = ConsumerBench()
    bench.create_topic("t")
    u = bench.create_topic("u")
    s = Consumer(bench, "s1", "t", instance="i")
    settle(s)
    s.leave(LEAVE_FOR_A_WHILE)
    again = Consumer(bench, "s2", "t", "u", instance="i")
    again.beat()
    assert again.partitions(u) == [0]


def test_a_full_group_takes_its_static_members_back() -> None:
    bench = ConsumerBench(group_consumer_max_size=1)
    bench.create_topic("t")
    s = Consumer(bench, "s1", "t", instance="i")
    settle(s)
    assert Consumer(bench, "x", "t").code() == codes.GROUP_MAX_SIZE_REACHED
    assert Consumer(bench, "x", "t", instance="j").code() == codes.GROUP_MAX_SIZE_REACHED
    s.leave(LEAVE_FOR_A_WHILE)
    Consumer(bench, "s2", "t", instance="i").beat()


def test_static_member_that_left_while_revoking_gets_its_target() -> None:
    bench = ConsumerBench()
    t = bench.create_topic("t", 2)
    s, other = Consumer(bench, "s1", "t", instance="i"), Consumer(bench, "o", "t")
    settle(s)
    other.beat()
    s.beat()
    s.leave(LEAVE_FOR_A_WHILE)
    other.beat()
    again = Consumer(bench, "s2", "t", instance="i")
    again.beat()
    settle(again, other)
    assert sorted(again.partitions(t) + other.partitions(t)) == [0, 1]
