"""Subscriptions by regular expression (KIP-848): when they are resolved, and how often."""

from __future__ import annotations

from kafkadouble.messages import error_codes as codes
from tests.server.groups.bench import GROUP
from tests.server.groups.consumer.bench import Consumer, ConsumerBench, settle

PAUSE_MS = 10_000


def test_subscription_regex_must_match_the_whole_topic_name(bench: ConsumerBench) -> None:
    for name in ("t", "tt", "at"):
        bench.create_topic(name)
    Consumer(bench, "a", regex="t").beat()
    assert bench.consumer_group().topics_of_regex("t") == {"t"}


def test_a_second_member_with_a_resolved_one_gets_its_share_at_once(bench: ConsumerBench) -> None:
    bench.create_topic("t1", 2)
    a, b = Consumer(bench, "a", regex="t.*"), Consumer(bench, "b", regex="t.*")
    settle(a)
    assert b.beat().member_epoch == 3
    settle(a, b)
    assert sum(len(each) for each in (*a.owned.values(), *b.owned.values())) == 2
    assert bench.consumer_group().is_homogeneous


def test_regex_is_resolved_again_after_the_refresh_interval() -> None:
    bench = ConsumerBench(group_consumer_regex_refresh_interval_ms=30_000)
    bench.create_topic("t1")
    a = Consumer(bench, "a", regex="t.*")
    settle(a)
    begun = bench.now
    bench.advance(30_000)
    a.beat()
    assert bench.consumer_group().resolved_regular_expressions["t.*"].timestamp == begun
    bench.advance(1)
    a.beat()
    assert bench.consumer_group().resolved_regular_expressions["t.*"].timestamp == bench.now


def test_deleted_topics_do_not_match_any_more(bench: ConsumerBench) -> None:
    t1 = bench.create_topic("t1")
    bench.create_topic("t2")
    a = Consumer(bench, "a", regex="t.*")
    settle(a)
    assert a.partitions(t1) == [0]
    bench.delete_topic(t1)
    settle(a)
    assert a.partitions(t1) == []


def test_unused_regex_is_removed(bench: ConsumerBench) -> None:
    bench.create_topic("t")
    u = bench.create_topic("u")
    a, b = Consumer(bench, "a", regex="t.*"), Consumer(bench, "b", regex="t.*")
    settle(a, b)
    a.beat(subscribed_topic_regex="u")
    assert set(bench.consumer_group().resolved_regular_expressions) == {"t.*"}, "resolved ten seconds later"
    bench.advance(PAUSE_MS + 1)
    settle(a, b)
    assert set(bench.consumer_group().resolved_regular_expressions) == {"t.*", "u"}
    b.leave()
    assert set(bench.consumer_group().resolved_regular_expressions) == {"u"}
    settle(a)
    assert a.partitions(u) == [0]
    a.beat(subscribed_topic_regex="", subscribed_topic_names=["t"])
    assert bench.consumer_group().resolved_regular_expressions == {}
    assert set(bench.consumer_group().subscribed_topic_names) == {"t"}


def test_subscribed_topics_and_regex_add_up(bench: ConsumerBench) -> None:
    t, u = bench.create_topic("t"), bench.create_topic("u")
    a = Consumer(bench, "a", "u", regex="t.*")
    settle(a)
    assert (a.partitions(t), a.partitions(u)) == ([0], [0])
    assert not bench.consumer_group().is_homogeneous


def test_invalid_subscription_regex_is_refused(bench: ConsumerBench) -> None:
    bench.create_topic("t")
    a = Consumer(bench, "a", regex="(")
    answer = a.send()
    assert answer.error_code == codes.INVALID_REGULAR_EXPRESSION
    assert answer.error_message.startswith("SubscribedTopicRegex `(` is not a valid regular expression: ")
    assert GROUP not in bench.shard().groups
    # With a longer name a classic group would be converted; it stays as it was.
    a.regex = "t"
    settle(a)
    assert a.code(subscribed_topic_regex="[") == codes.INVALID_REGULAR_EXPRESSION
    assert bench.consumer_group().members["a"].subscribed_topic_regex == "t"


def test_regex_with_exponential_backtracking_is_resolved_in_linear_time(bench: ConsumerBench) -> None:
    bench.create_topic("a" * 200)
    settle(Consumer(bench, "a", regex="(a|aa)+$b"))
    assert bench.consumer_group().topics_of_regex("(a|aa)+$b") == frozenset()
