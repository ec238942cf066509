"""The rate by which replicas are throttled: Apache Kafka's figures, and properties that hold for
any traffic (KIP-73)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.replica.replication.replication_quotas import ALL_PARTITIONS, throttled_partitions
from kafkadouble.server.replica.replication.sampled_rate import SampledRate

COUNT, LENGTH = 11, 1000
TRAFFIC = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 10**9)), max_size=60)
"""Pauses (ms), and the bytes after them."""


def test_the_figures_of_apache_kafka() -> None:
    """The steps of Apache Kafka's own test, at 100 bytes a second."""
    rate = SampledRate(10, 1000)
    assert rate.measure(0) == 0
    rate.record(1, 1500)
    rate.record(149, 1500)
    assert rate.measure(1500) == 100
    rate.record(1, 1500)
    assert rate.measure(1500) == pytest.approx(151 / 1.5)
    assert rate.measure(2000) == pytest.approx(151 / 2)
    rate.record(99, 2500)
    assert rate.measure(2500) == 100
    rate.record(1, 2500)
    assert rate.measure(2500) == pytest.approx(251 / 2.5)
    assert rate.measure(4500) == pytest.approx(251 / 4.5)


def test_replication_rate_of_the_first_second_counts_a_whole_one() -> None:
    rate = SampledRate(COUNT, LENGTH)
    rate.record(1000, 7)
    assert rate.measure(7) == rate.measure(500) == rate.measure(1007) == 1000
    assert rate.measure(2007) == 500


def test_old_replication_samples_are_dropped() -> None:
    rate = SampledRate(COUNT, LENGTH)
    rate.record(10**9, 0)
    assert rate.measure(COUNT * LENGTH - 1) > 0
    assert rate.measure(COUNT * LENGTH) == 0
    rate.record(500, COUNT * LENGTH + 5000)
    assert rate.measure(COUNT * LENGTH + 5000) == 100, "the window begins where the last look was"


@given(TRAFFIC)
def test_replication_rate_stays_within_its_bounds(traffic: Any) -> None:
    rate, now, total = SampledRate(COUNT, LENGTH), 0, 0
    for pause, size in traffic:
        now, total = now + pause, total + size
        rate.record(size, now)
        assert 0 <= rate.measure(now) <= total * 1000 / LENGTH
        assert len(rate.samples) <= COUNT + 1


@given(TRAFFIC)
def test_replicated_bytes_within_the_windows_are_counted(traffic: Any) -> None:
    """The rate always covers the last ten seconds, and at most fourteen: eleven windows, of which
    the oldest began at a check or at a record."""
    rate, now, sent = SampledRate(COUNT, LENGTH), 0, []
    for pause, size in traffic:
        now += pause
        rate.record(size, now)
        sent.append((now, size))
        recent = sum(size for at, size in sent if now - at < (COUNT - 1) * LENGTH)
        oldest = min(window.start for window in rate.samples)
        assert rate.measure(now) * max(LENGTH, now - oldest) / 1000 >= recent * 0.999999


@given(st.integers(1, 10**6), st.integers(1, 900), st.integers(200, 400))
def test_an_even_stream_has_its_rate(size: int, every: int, times: int) -> None:
    rate = SampledRate(COUNT, LENGTH)
    rate.measure(0)
    for number in range(1, times + 1):
        rate.record(size, number * every)
    assert rate.measure(times * every) == pytest.approx(size * 1000 / every, rel=0.15) or times * every < LENGTH


LISTS = {
    "0:1": {0},
    "0:1,2:1,3:2": {0, 2},
    " 0:1 , 1:1 ": {0, 1},
    "0:2": set(),
    "": set(),
    "x,1,1:,:1,1:1:1,-1:1": set(),
    "0:11": set(),
}


@pytest.mark.parametrize(("text", "partitions"), LISTS.items())
def test_a_list_names_partitions_of_this_broker(text: str, partitions: set[int]) -> None:
    found = throttled_partitions(text, 1)
    assert found is not None
    assert set(found) == partitions


def test_a_star_is_every_partition() -> None:
    assert throttled_partitions(" * ", 1) is ALL_PARTITIONS


def test_parsed_throttled_replicas_are_kept_up_to_a_bound() -> None:
    from kafkadouble.server.configs.settings import Settings
    from kafkadouble.server.replica.replication.replication_quotas import (
        LEADER,
        MAX_PARSED_LISTS,
        ReplicationQuotaManager,
    )

    texts: dict[tuple[int, str], dict[str, str]] = {}
    image = SimpleNamespace(config_overrides=lambda kind, name: texts.get((kind, name), {}))
    node: Any = SimpleNamespace(settings=Settings(), image=image, id=1, now=0)
    throttle = ReplicationQuotaManager(node, LEADER)
    for number in range(2 * MAX_PARSED_LISTS):
        texts[2, "t"] = {LEADER[1]: f"{number}:1"}
        assert throttle.is_throttled("t", number)
        assert not throttle.is_throttled("t", number + 1)
    assert len(throttle._parsed) <= MAX_PARSED_LISTS
    assert not throttle.is_throttled("other", 0)
