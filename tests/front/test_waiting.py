"""KafkaDouble.wait_for_*: each state with a client that brings it about, late answers, and ends."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.verbs.async_waits import AsyncWaits
from kafkadouble.verbs.content import waiting

WAITS = [name for name in vars(waiting) if name.startswith("wait_")]


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def begun(
    kafka: KafkaDouble, pool: ThreadPoolExecutor, wait: Callable[..., Any], *args: Any, **more: Any
) -> Future[Any]:
    """A wait in another thread, of which the broker knows."""
    waits = kafka._double_host.serving().broker.watches.checks
    before = len(waits)
    future = pool.submit(wait, *args, **{"timeout": 30, **more})
    while len(waits) == before and not future.done():
        pass
    return future


def test_wait_for_records_returns_as_soon_as_they_exist(kafka: KafkaDouble, pool: ThreadPoolExecutor) -> None:
    waiting = begun(kafka, pool, kafka.wait_for_records, "orders", 3)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for value in ("one", "two"):
        producer.produce("orders", value)
        producer.flush()
    assert not waiting.done()
    producer.produce("orders", "three")
    producer.flush()
    assert [record.value for record in waiting.result(30)] == [b"one", b"two", b"three"]


def test_records_that_are_there_are_returned_at_once(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders", 2)
    for partition in (1, 0, 1):
        kafka.produce("orders", f"in {partition}", partition=partition)
    assert kafka.wait_for_records("orders", 2) == kafka.records("orders")
    (only,) = kafka.wait_for_records("orders", 1, partition=0)
    assert only.value == b"in 0"


def test_only_accepted_records_count(kafka: KafkaDouble, pool: ThreadPoolExecutor) -> None:
    looked_at = []

    def is_even(record: Any) -> bool:
        looked_at.append(record.offset)
        return int(record.value) % 2 == 0

    kafka.produce("numbers", "1")
    waiting = begun(kafka, pool, kafka.wait_for_records, "numbers", 2, where=is_even)
    for number in range(2, 5):
        assert not waiting.done()
        kafka.produce("numbers", str(number))
    assert [record.value for record in waiting.result(30)] == [b"2", b"4"]
    assert looked_at == [0, 1, 2, 3]  # each record once


def test_read_committed_waits_for_the_commit(kafka: KafkaDouble, pool: ThreadPoolExecutor) -> None:
    kafka.create_topic("orders")
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "shop"})
    producer.init_transactions(30)
    for end in (producer.abort_transaction, producer.commit_transaction):
        producer.begin_transaction()
        producer.produce("orders", end.__name__)
        producer.flush()
        kafka.wait_for_transaction("shop", "Ongoing")
        waiting = begun(kafka, pool, kafka.wait_for_records, "orders", isolation="read_committed")
        assert not waiting.done()
        end(30)
        if end == producer.abort_transaction:
            assert kafka.wait_for_transaction("shop", "CompleteAbort").partitions == ()
    assert [record.value for record in waiting.result(30)] == [b"commit_transaction"]


def test_a_log_that_is_truncated_is_read_again(kafka: KafkaDouble, pool: ThreadPoolExecutor) -> None:
    kafka.create_topic("orders")
    for value in ("lost", "lost too"):
        kafka.produce("orders", value)
    waiting = begun(kafka, pool, kafka.wait_for_records, "orders", 3)
    kafka.truncate("orders", 0, 0)
    for value in ("one", "two", "three"):
        assert not waiting.done()
        kafka.produce("orders", value)
    assert [record.value for record in waiting.result(30)] == [b"one", b"two", b"three"]


def test_a_group_from_its_first_member_to_its_end(kafka: KafkaDouble, pool: ThreadPoolExecutor) -> None:
    kafka.create_topic("orders")
    for number in range(3):
        kafka.produce("orders", str(number))
    settings = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "shop", "auto.offset.reset": "earliest"}
    consumer = Consumer(settings)
    consumer.subscribe(["orders"])
    stable = begun(kafka, pool, kafka.wait_for_group, "shop", "Stable", members=1)
    # On a busy machine librdkafka 2.16 may ask for its offsets 30 s after it got its partition.
    caught_up = begun(kafka, pool, kafka.wait_for_group, "shop", lag=0, timeout=90)
    for _ in range(3):
        assert consumer.poll(60) is not None
    assert not caught_up.done()
    consumer.commit(asynchronous=False)
    (member,) = stable.result(30).members
    assert member.assignment == (("orders", 0),)
    assert caught_up.result(30).offsets["orders", 0].offset == 3
    consumer.close()
    assert kafka.wait_for_group("shop", "Empty", members=0).state == "Empty"


def test_a_topic_a_request_and_a_rule(kafka: KafkaDouble, pool: ThreadPoolExecutor) -> None:
    rule = kafka.fail("Metadata", "LEADER_NOT_AVAILABLE", times=2)
    topic = begun(kafka, pool, kafka.wait_for_topic, "orders", 1)
    seen = begun(kafka, pool, kafka.wait_for_request, "Produce", client_id="shop")
    hit = begun(kafka, pool, kafka.wait_for_rule, rule, 2)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "client.id": "shop", "retry.backoff.ms": 1})
    producer.produce("orders", "two pears")
    producer.flush()
    assert topic.result(30) is None
    assert hit.result(30) is None
    assert seen.result(30).client_id == "shop"


def test_leaders_and_replicas_of_a_cluster(pool: ThreadPoolExecutor) -> None:
    with KafkaDouble(
        brokers=3, config={"broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 200}
    ) as kafka:
        kafka.create_topic("orders", replication_factor=3)
        first = kafka.wait_for_leader("orders", 0)
        kafka.wait_for_isr("orders", 0, [3, 2, 1])
        kafka.brokers[first].kill()
        others = {1, 2, 3} - {first}
        kafka.wait_for_isr("orders", 0, others)
        second = kafka.wait_for_leader("orders", 0, epoch=1)
        assert second in others
        kafka.brokers[first].start()
        kafka.wait_for_broker(first)
        kafka.wait_for_isr("orders", 0, {1, 2, 3})
        waiting = begun(kafka, pool, kafka.wait_for_leader, "orders", 0, first)
        kafka.move_leader("orders", 0, first)
        assert waiting.result(30) == first


def test_wait_with_a_stepped_clock_lets_other_threads_advance_it(pool: ThreadPoolExecutor) -> None:
    with KafkaDouble(stepped=True) as kafka:
        rule = kafka.delay("Metadata", 5)
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
        producer.produce("orders", "two pears")
        producer.poll(0)
        waiting = begun(kafka, pool, kafka.wait_for_records, "orders")
        kafka.wait_for_rule(rule)
        assert not waiting.done()
        kafka.advance(5)
        assert [record.value for record in waiting.result(30)] == [b"two pears"]
        producer.flush()


def wait_beside_another_group(kafka: KafkaDouble) -> object:
    kafka.commit_offsets("shops", {("orders", 0): 0})
    return kafka.wait_for_group("shop", timeout=0)


LATE: list[tuple[Callable[[KafkaDouble], object], str]] = [
    (
        lambda kafka: kafka.wait_for_records("orders", 3, timeout=0),
        "3 records of orders: .* 1 record,.*orders-0@0 'pear'",
    ),
    (lambda kafka: kafka.wait_for_records("none", timeout=0), "1 record of none: .*there is no none"),
    (
        lambda kafka: kafka.wait_for_topic("order", timeout=0),
        "the topic order: not within 0 s. There is: .*there is no topic 'order'; did you mean 'orders'. There is orders$",
    ),
    (lambda kafka: kafka.wait_for_topic("none", timeout=0), "there is no topic 'none'; there is orders$"),
    (lambda kafka: kafka.wait_for_records("order", timeout=0), "there is no order; did you mean 'orders'"),
    (lambda kafka: kafka.wait_for_isr("orders", 1, [1], timeout=0), "there is no orders-1: orders has 1 partition$"),
    (lambda kafka: kafka.wait_for_topic("orders", 4, timeout=0), "the topic orders with 4 partitions: .*1 partition$"),
    (
        lambda kafka: kafka.wait_for_leader("orders", 0, 7, timeout=0),
        "broker 7 as leader of orders-0: .*broker 1 as leader, leader epoch 0",
    ),
    (lambda kafka: kafka.wait_for_leader("orders", 0, epoch=5, timeout=0), "in the leader epoch 5 or later"),
    (lambda kafka: kafka.wait_for_isr("orders", 0, [1, 2], timeout=0), r"replicas \[1, 2\] .*in-sync replicas \[1\]"),
    (lambda kafka: kafka.wait_for_broker(4, timeout=0), r"broker 4 in the cluster: .*the brokers \[1\]"),
    (
        lambda kafka: kafka.wait_for_group("shop", "Stable", timeout=0),
        "the group shop in the state Stable: .*There is: there is no group 'shop', and no other one$",
    ),
    (lambda kafka: kafka.wait_for_group("shop", lag=0, timeout=0), "a lag of at most 0: .*there is no group 'shop'"),
    (
        wait_beside_another_group,
        "the group shop: .*there is no group 'shop'; did you mean 'shops'. There is shops$",
    ),
    (
        lambda kafka: kafka.wait_for_transaction("shop", "Ongoing", timeout=0),
        "no transactional id 'shop', and no other",
    ),
    (lambda kafka: kafka.wait_for_request("Fetch", timeout=0), "1 request of Fetch: .*0 requests"),
    (
        lambda kafka: kafka.wait_for_rule(kafka.fail("Fetch", 3), timeout=0),
        "applied 1 times: .*applied 0 times, 0 requests matched",
    ),
]


class Aio:
    """A double whose waits are coroutines."""

    def __init__(self, kafka: KafkaDouble) -> None:
        self._kafka = kafka

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kafka.aio if name in WAITS else self._kafka, name)


@pytest.mark.parametrize(("wait", "message"), LATE, ids=[message[:30] for _, message in LATE])
def test_a_timeout_says_what_is_there_instead(kafka: KafkaDouble, wait: Callable[[Any], Any], message: str) -> None:
    kafka.produce("orders", "pear")
    with pytest.raises(TimeoutError, match=message):
        wait(kafka)
    with pytest.raises(TimeoutError, match=message):
        asyncio.run(wait(Aio(kafka)))
    kafka.produce("orders", "another")  # the waits have gone from the broker
    assert kafka._double_host.serving().broker.watches.checks == []


HOLDS: dict[str, tuple[Any, ...]] = {
    "wait_for_records": ("orders",),
    "wait_for_topic": ("orders",),
    "wait_for_leader": ("orders", 0),
    "wait_for_isr": ("orders", 0, [1]),
    "wait_for_broker": (1,),
    "wait_for_group": ("shop", "Dead"),
    "wait_for_request": ("Metadata",),
}
"""Waits for what is there; the other ones have tests of their own."""


@pytest.mark.parametrize("name", HOLDS)
def test_a_coroutine_returns_the_same(kafka: KafkaDouble, name: str) -> None:
    kafka.produce("orders", "pear")
    Producer({"bootstrap.servers": kafka.bootstrap_servers}).list_topics(timeout=30)
    result = asyncio.run(getattr(kafka.aio, name)(*HOLDS[name]))
    assert result == getattr(kafka, name)(*HOLDS[name])


WRONG: list[tuple[Callable[[KafkaDouble], object], str]] = [
    (lambda kafka: kafka.wait_for_records("orders", 0), "count is a count from 1, not 0"),
    (lambda kafka: kafka.wait_for_records("orders", isolation="all"), "isolation is"),  # type: ignore[arg-type]
    (lambda kafka: kafka.wait_for_records("orders", partition=-1), "partition is an index from 0, not -1"),
    (lambda kafka: kafka.wait_for_group("shop", "stable"), "a group has no state 'stable': .*Stable"),  # type: ignore[arg-type]
    (lambda kafka: kafka.wait_for_group("shop", lag=-1), "lag is a number of records from 0, not -1"),
    (lambda kafka: kafka.wait_for_transaction("shop", "Open"), "a transaction has no state 'Open': .*Ongoing"),  # type: ignore[arg-type]
    (lambda kafka: kafka.wait_for_request("Fetched"), "Fetch"),
    (lambda kafka: kafka.wait_for_isr("orders", 0, "12"), "isr is ids of brokers"),  # type: ignore[arg-type]
    (lambda kafka: kafka.wait_for_topic("orders", timeout="soon"), "timeout is a number of seconds, not 'soon'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("wait", "message"), WRONG, ids=[message[:30] for _, message in WRONG])
def test_wait_with_impossible_arguments_is_refused(
    kafka: KafkaDouble, wait: Callable[[KafkaDouble], object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        wait(kafka)
    assert kafka._double_host.serving().broker.watches.checks == []


def test_stop_ends_a_wait_for_records(pool: ThreadPoolExecutor) -> None:
    kafka = KafkaDouble().start()
    waiting = begun(kafka, pool, kafka.wait_for_records, "orders")
    kafka.stop()
    with pytest.raises(UsageError, match="stopped"):
        waiting.result(30)
    with pytest.raises(UsageError, match="stopped"):
        kafka.wait_for_records("orders")


def test_wait_for_records_outlives_a_reset(kafka: KafkaDouble, pool: ThreadPoolExecutor) -> None:
    kafka.produce("orders", "before")
    waiting = begun(kafka, pool, kafka.wait_for_records, "orders", 2)
    kafka.reset()
    kafka.produce("orders", "after")
    assert not waiting.done()
    kafka.produce("orders", "after too")
    assert [record.value for record in waiting.result(30)] == [b"after", b"after too"]


def test_a_function_of_a_rule_cannot_wait(kafka: KafkaDouble) -> None:
    problems: list[str] = []

    def wait(_: object) -> None:
        try:
            kafka.wait_for_records("orders")
        except UsageError as problem:
            problems.append(str(problem))

    kafka.on("Metadata", wait)
    Producer({"bootstrap.servers": kafka.bootstrap_servers}).list_topics(timeout=30)
    assert problems == ["a function that runs on the broker's thread cannot wait for the broker"]


def test_a_problem_of_the_caller_s_function_is_the_caller_s(kafka: KafkaDouble) -> None:
    kafka.produce("orders", "pear")
    with pytest.raises(ValueError, match="pear"):
        kafka.wait_for_records("orders", where=lambda record: int(record.value or b"") > 0)
    kafka.produce("orders", "the broker goes on")


def test_each_wait_verb_has_a_coroutine() -> None:
    names = [name for name in vars(AsyncWaits) if name.startswith("wait_")]
    assert names == WAITS
    for name in names:
        assert inspect.getdoc(getattr(AsyncWaits, name)) == inspect.getdoc(getattr(waiting, name))


async def test_an_event_loop_goes_on_while_it_waits(kafka: KafkaDouble) -> None:
    waiting = asyncio.ensure_future(kafka.aio.wait_for_records("orders", 2))
    kafka.produce("orders", "one")
    await asyncio.sleep(0)
    assert not waiting.done()
    kafka.produce("orders", "two")
    assert [record.value for record in await waiting] == [b"one", b"two"]
    with pytest.raises(TimeoutError, match=r"9 records of orders: .*2 records"):
        await kafka.aio.wait_for_records("orders", 9, timeout=0.01)


async def test_cancelled_wait_leaves_no_check_at_the_broker(kafka: KafkaDouble) -> None:
    waiting = asyncio.ensure_future(kafka.aio.wait_for_group("shop"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    kafka.produce("orders", "one")
    assert kafka._double_host.serving().broker.watches.checks == []


def test_the_last_records_are_shown_in_no_language(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders")
    for value in ("two pears", b"\xff", None):
        kafka.produce("orders", value)
    shown = r"3 records, the last orders-0@0 'two pears', orders-0@1 '\xff', orders-0@2 without a value"
    with pytest.raises(TimeoutError, match=re.escape(shown)):
        kafka.wait_for_records("orders", 4, timeout=0)
