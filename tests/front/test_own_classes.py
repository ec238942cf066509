"""Classes of a program that are derived from KafkaDouble, and programs that keep a part of a
double."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from kafkadouble import KafkaDouble, Rule, RuleHandle, SteppedClock


class OwnDouble(KafkaDouble):
    """It notes which of its verbs are called."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._host = "a name of the program's own"
        self.called: list[str] = []

    def bootstrap(self, listener: str) -> str:
        self.called.append("bootstrap")
        return "gateway:9092"

    def arm(self, rule: Rule | RuleHandle) -> RuleHandle:
        self.called.append("arm")
        return super().arm(rule)

    def advance(self, seconds: float) -> None:
        self.called.append("advance")
        super().advance(seconds)


def test_client_config_has_the_addresses_of_a_derived_class() -> None:
    with OwnDouble() as kafka:
        assert kafka.client_config()["bootstrap.servers"] == "gateway:9092"


def test_each_verb_of_a_rule_arms_by_a_derived_class() -> None:
    kafka = OwnDouble()
    with kafka:
        kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
        kafka.latency(0.1)
        assert kafka.called == ["arm", "arm"]
        assert [rule.rule.plane for rule in kafka.rules] == ["request", "connection"]


def test_a_wait_advances_by_a_derived_class() -> None:
    kafka = OwnDouble(clock=SteppedClock(0))
    with kafka:
        with pytest.raises(TimeoutError):
            kafka.wait_for_topic("orders", timeout=0.05, advance=True)
        assert {*kafka.called} == {"advance"}


@pytest.mark.parametrize(
    "keep",
    [
        lambda kafka: kafka.brokers[1],
        lambda kafka: kafka.brokers,
        lambda kafka: kafka.requests,
        lambda kafka: kafka.peer_requests,
        lambda kafka: kafka.aio,
        lambda kafka: kafka.produce,
    ],
    ids=["a broker", "brokers", "requests", "peer requests", "aio", "a verb"],
)
def test_a_part_that_a_program_keeps_keeps_the_double(keep: Any) -> None:
    kafka = KafkaDouble(brokers=2, peer_requests=True).start()
    running = kafka._double_host.known()
    kept = keep(kafka)
    del kafka
    gc.collect()
    assert running.thread.running, kept
    del kept
    gc.collect()
    assert not running.thread.running
