"""A verb that waits for a broker ends with an error when another thread kills, resets or restores
that broker. One that is shut down in order answers before."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkadouble import KafkaDouble, KafkaError

HOURS = {"replica.lag.time.max.ms": 600_000, "broker.session.timeout.ms": 600_000}

End = Callable[[KafkaDouble, int], None]

ENDS: dict[str, End] = {
    "kill": lambda kafka, leader: kafka.brokers[leader].kill(),
    "reset": lambda kafka, leader: kafka.reset(),
    "restore": lambda kafka, leader: kafka.restore(kafka.snapshot()),
}


@pytest.mark.parametrize("end", [*ENDS.values()], ids=[*ENDS])
def test_the_leader_of_a_produce_that_waits_for_a_follower_ends(end: End) -> None:
    with ThreadPoolExecutor() as pool, KafkaDouble(brokers=2, config=HOURS) as kafka:
        kafka.create_topic("orders", replication_factor=2)
        leader = kafka.wait_for_leader("orders", 0)
        kafka.brokers[3 - leader].isolate()
        produced = pool.submit(kafka.produce, "orders", "x")
        while kafka.partition("orders", 0).end_offset == 0:
            kafka.wait_for_topic("orders")
        end(kafka, leader)
        with pytest.raises(KafkaError, match=r"BROKER_NOT_AVAILABLE.*before it answered"):
            produced.result(20)
