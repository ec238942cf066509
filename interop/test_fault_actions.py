"""Every action of a fault rule, as clients notice it: a producer meets it at Produce or Metadata
and comes through, and each record is there once; a consumer meets damaged records.

The double runs in this process, so that a test can arm rules.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from interop.clients import Client
from interop.clients.shape import Partition, Record
from interop.support import short_timeout
from kafkadouble import KafkaDouble, RuleHandle
from kafkadouble.actions import Delay

pytestmark = pytest.mark.needs("faults")


ACTIONS: dict[str, Callable[[KafkaDouble], RuleHandle]] = {
    "fail": lambda double: double.fail("Produce", "NOT_LEADER_OR_FOLLOWER"),
    "delay": lambda double: double.delay("Produce", 0.1),
    "disconnect": lambda double: double.disconnect("Produce", after=True, times=2),
    "disconnect before": lambda double: double.disconnect("Produce", times=2),
    "ignore": lambda double: double.ignore("Produce"),
    "drop answer": lambda double: double.drop_answer("Produce"),
    "throttle": lambda double: double.throttle("Produce", 0.1),
    "respond": lambda double: double.respond("Metadata", {}),
    "exact bytes": lambda double: double.respond("Metadata", b"\xff" * 40),
    "dialogue": lambda double: double.fail("Produce", ["NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS"]),
    "change field": lambda double: double.change_field("Produce", "responses[*].partitionResponses[*].errorCode", 6),
    "stale metadata": lambda double: double.stale_metadata(),
    "wrong correlation id": lambda double: double.wrong_correlation_id("Produce"),
    "cut frame": lambda double: double.cut_frame("Produce", 6),
    "short frame": lambda double: double.short_frame("Produce", 6),
    "oversized frame": lambda double: double.oversized_frame("Produce", 2**31 - 1),
    "slow frame": lambda double: double.slow_frame("Produce", 500),
    "call": lambda double: double.on("Produce", lambda request: Delay(0.1)),
}


REPORTED = {
    ("confluent-kafka", "short frame"),
    ("confluent-kafka", "oversized frame"),
    ("kafka-python", "oversized frame"),
}
"""The damage that a client reports to the application, which may send the record again."""


@pytest.mark.parametrize("action", ACTIONS)
def test_a_producer_comes_through(double: KafkaDouble, client: Client, action: str) -> None:
    with ACTIONS[action](double) as rule:
        with client.producer(double.bootstrap_servers, enable_idempotence=True, **short_timeout(client)) as producer:
            if (client.name, action) in REPORTED:
                with pytest.raises(Exception, match=r"(?i)underflow|bad message|frame length"):
                    producer.send("t", [Record(b"0")])
            else:
                assert producer.send("t", [Record(b"0")]) == [0]
        assert rule.spent
    assert [record.value for record in double.records("t")] == [b"0"]


def test_a_pause_holds_a_producer(double: KafkaDouble, client: Client) -> None:
    with client.producer(double.bootstrap_servers) as producer, ThreadPoolExecutor(1) as pool:
        rule = double.pause("Produce")
        sent = pool.submit(producer.send, "t", [Record(b"0")])
        rule.wait()
        assert double.records("t") == []
        rule.release()
        assert sent.result(30) == [0]


@pytest.mark.parametrize("how", ["crc", "bit"])
def test_a_consumer_does_not_take_damaged_records(double: KafkaDouble, client: Client, how: str) -> None:
    double.produce("t", b"0")
    checks = {"check_crcs": True}
    with (
        double.corrupt_records(how=how, topic="t") as rule,
        client.consumer(double.bootstrap_servers, partitions=[Partition("t", 0)], **checks) as consumer,
    ):
        try:
            seen = consumer.read(1)
        except Exception:  # each client has its own error for it
            seen = []
        assert rule.hits == 1
        assert [one.value for one in seen] in ([], [b"0"])
