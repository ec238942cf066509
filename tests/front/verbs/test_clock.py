"""A clock that is frozen, unfrozen and scaled, under brokers and clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, KafkaError, UsageError
from tests.front.verbs.members import join

SESSION_S = 6
"""Of members."""

FACTOR = 20
"""The session of a broker, 9 s, is 450 ms of the machine's clock then: enough for heartbeats."""


@pytest.fixture(params=[1, 3])
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    config = {"group.initial.rebalance.delay.ms": 0}
    with KafkaDouble(brokers=request.param, config=config) as kafka:
        kafka.create_topic("t", replication_factor=request.param)
        yield kafka


def timestamps(kafka: KafkaDouble) -> list[int]:
    return [record.timestamp for record in kafka.records("t")]


def test_a_frozen_clock_stands_still(kafka: KafkaDouble) -> None:
    kafka.freeze()
    kafka.freeze()
    kafka.produce("t", "a")
    kafka.produce("t", "b")
    first, second = timestamps(kafka)
    assert first == second
    kafka.advance(60)
    kafka.produce("t", "c")
    assert timestamps(kafka)[2] == first + 60_000
    kafka.unfreeze()
    kafka.unfreeze()
    while kafka.produce("t", "d") and timestamps(kafka)[-1] <= first + 60_000:
        pass


def test_a_frozen_clock_is_advanced_as_a_stepped_one(kafka: KafkaDouble) -> None:
    join(kafka, "g", SESSION_S * 1000)
    kafka.freeze()
    kafka.advance(SESSION_S - 1)
    assert len(kafka.groups()["g"].members) == 1
    kafka.advance(2)
    assert kafka.groups()["g"].members == ()


def test_timers_fire_as_a_faster_clock_says(kafka: KafkaDouble) -> None:
    join(kafka, "g", SESSION_S * 1000)
    kafka.scale(FACTOR)
    while kafka.groups()["g"].members:
        pass
    kafka.scale(1)


def test_timers_fire_after_the_clock_goes_on(kafka: KafkaDouble) -> None:
    join(kafka, "g", SESSION_S * 1000)
    kafka.freeze()
    kafka.scale(FACTOR)
    assert len(kafka.groups()["g"].members) == 1
    kafka.unfreeze()
    while kafka.groups()["g"].members:
        pass
    kafka.scale(1)


def test_the_sessions_of_brokers_end_as_the_clock_says() -> None:
    with KafkaDouble(brokers=3) as kafka:
        kafka.create_topic("t", replication_factor=3)
        leader = kafka.wait_for_leader("t", 0)
        kafka.freeze()
        kafka.brokers[leader].kill()
        kafka.advance(8)
        assert kafka.leader("t", 0) == leader
        kafka.advance(2)
        assert kafka.leader("t", 0) not in (leader, None)
        kafka.scale(FACTOR)
        kafka.brokers[leader].start()
        kafka.unfreeze()
        while len(kafka.isr("t", 0)) < 3:  # a live broker sends its heartbeats, and stays
            pass


def test_a_frozen_cluster_says_what_takes_time() -> None:
    with KafkaDouble(brokers=3) as kafka:
        kafka.create_topic("t", replication_factor=3)
        kafka.freeze()
        follower = next(id for id in kafka.isr("t", 0) if id != kafka.leader("t", 0))
        kafka.brokers[follower].isolate()
        with pytest.raises(KafkaError, match="REQUEST_TIMED_OUT: this takes time, and the clock is stopped"):
            kafka.produce("t", "a")
        kafka.advance(35)
        assert follower not in kafka.isr("t", 0)


def test_a_frozen_double_stops_and_starts(tmp_path: Path) -> None:
    for brokers in (1, 3):
        kafka = KafkaDouble(brokers=brokers, data_dir=tmp_path / str(brokers))
        with kafka:
            kafka.produce("t", "a")
            kafka.freeze()
            kafka.flush("t", 0)
        with kafka:
            assert [record.value for record in kafka.records("t")] == [b"a"]
            kafka.produce("t", "b")
            kafka.unfreeze()


def test_a_reset_lets_the_clock_run() -> None:
    for brokers in (1, 3):
        with KafkaDouble(brokers=brokers) as kafka:
            kafka.freeze()
            kafka.reset()
            with pytest.raises(UsageError, match="only a stepped clock can be advanced"):
                kafka.advance(1)


def test_only_a_running_clock_is_changed() -> None:
    with KafkaDouble(stepped=True) as kafka:
        kafka.freeze()  # it stands still
        for call in (kafka.unfreeze, lambda: kafka.scale(2)):
            with pytest.raises(UsageError, match=r"a stepped clock is not \w+: only the machine's clock is"):
                call()
    with KafkaDouble() as kafka:
        for wrong in (0, -1, float("nan"), 10**7, "2", None):
            with pytest.raises(UsageError, match=r"factor is a number from 0\.000001 to 1000000, not"):
                kafka.scale(wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="only a stepped clock can be advanced: give stepped=True, or freeze"):
            kafka.advance(1)
