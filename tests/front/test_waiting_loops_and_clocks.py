"""Waits beside an event loop, and with a clock that stands still."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from confluent_kafka import Producer

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.verbs.registry import VERBS


def test_time_out_says_that_a_stepped_clock_stands_still() -> None:
    with KafkaDouble(stepped=True) as kafka:
        with pytest.raises(
            TimeoutError, match=r"There is: .*The clock of the double stands still, .*advance of this wait$"
        ):
            kafka.wait_for_topic("orders", timeout=0)
        with pytest.raises(TimeoutError, match=r"and no other one$"):
            kafka.wait_for_topic("orders", timeout=0, advance=True)


@pytest.mark.parametrize("is_coroutine", [False, True])
def test_wait_that_advances_the_clock_reaches_what_takes_time(is_coroutine: bool) -> None:
    with KafkaDouble(stepped=True) as kafka:
        kafka.delay("Metadata", 5)
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
        producer.produce("orders", "two pears")
        producer.poll(0)
        before = kafka.describe_cluster().now_ms
        wait: Any = kafka.aio.wait_for_records if is_coroutine else kafka.wait_for_records
        records = wait("orders", timeout=30, advance=True)
        (record,) = asyncio.run(records) if is_coroutine else records
        assert record.value == b"two pears"
        assert kafka.describe_cluster().now_ms >= before + 5000
        producer.flush()


def test_clock_that_runs_is_not_advanced(kafka: KafkaDouble) -> None:
    with pytest.raises(UsageError, match="only a stepped clock can be advanced"):
        kafka.wait_for_records("orders", advance=True)
    with pytest.raises(UsageError, match="only a stepped clock can be advanced"):
        asyncio.run(kafka.aio.wait_for_records("orders", advance=True))


async def test_wait_in_the_thread_of_an_event_loop_is_refused_at_once(kafka: KafkaDouble) -> None:
    kafka.produce("orders", "pear")
    rule = kafka.fail("Fetch", 3)

    for wait in (lambda: kafka.wait_for_records("orders"), rule.wait):
        with pytest.raises(UsageError, match=r"would block the event loop that runs in this thread, .*kafka.aio"):
            wait()
    assert len(await asyncio.to_thread(kafka.wait_for_records, "orders")) == 1


async def test_a_wait_in_a_callback_of_an_event_loop_is_refused_at_once(kafka: KafkaDouble) -> None:
    refused: list[UsageError] = []

    def callback() -> None:
        with pytest.raises(UsageError) as found:
            kafka.wait_for_topic("orders")
        refused.append(found.value)

    asyncio.get_running_loop().call_soon(callback)
    while not refused:
        await asyncio.sleep(0)


def test_a_wait_beside_a_loop_that_runs_in_another_greenlet_is_made(kafka: KafkaDouble) -> None:
    """As Playwright's synchronous API has it: the loop runs, and has not made the call."""
    kafka.create_topic("orders")
    loop = asyncio.new_event_loop()
    asyncio._set_running_loop(loop)
    try:
        kafka.wait_for_topic("orders")
    finally:
        asyncio._set_running_loop(None)
        loop.close()


async def test_each_other_verb_is_a_coroutine_that_runs_in_another_thread(kafka: KafkaDouble) -> None:
    await kafka.aio.create_topic("orders", partitions=2)
    waiting = asyncio.ensure_future(kafka.aio.wait_for_records("orders"))
    await kafka.aio.produce("orders", "pear", partition=1)
    await kafka.aio.reset_offsets("shop", "orders", "latest")
    assert [record.value for record in await waiting] == [b"pear"]
    with pytest.raises(AttributeError, match="aio has no 'start': it has the verbs that are methods of KafkaDouble"):
        getattr(kafka.aio, "start")  # noqa: B009
    methods = [name for name in VERBS if callable(getattr(KafkaDouble, name, None))]
    assert len(methods) > 80
    assert all(callable(getattr(kafka.aio, name)) for name in methods)
