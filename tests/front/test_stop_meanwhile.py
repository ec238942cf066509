"""A stop of the double ends what another thread waits for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkadouble import KafkaDouble, UsageError

HOURS = {"replica.lag.time.max.ms": 600_000, "broker.session.timeout.ms": 600_000}


@pytest.mark.parametrize("verb", ["produce", "produce_all"])
def test_a_stop_ends_a_produce_that_waits_for_a_follower(verb: str) -> None:
    with ThreadPoolExecutor() as pool:
        kafka = KafkaDouble(brokers=2, config=HOURS).start()
        kafka.create_topic("orders", replication_factor=2)
        leader = kafka.wait_for_leader("orders", 0)
        kafka.brokers[3 - leader].isolate()
        produced = pool.submit(getattr(kafka, verb), "orders", "x" if verb == "produce" else ["x"])
        while kafka.partition("orders", 0).end_offset == 0:
            kafka.wait_for_topic("orders")
        kafka.stop()
        with pytest.raises(UsageError, match="the double was stopped meanwhile"):
            produced.result(10)
