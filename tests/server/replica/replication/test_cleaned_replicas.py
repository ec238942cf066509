"""Cleaning and retention of replicas over elections, and what waits at a follower meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.node import Node
from kafkadouble.server.replica import log_cleaner, scheduled_tasks
from kafkadouble.server.replica.partition_replicas import find_replica
from kafkadouble.wire.batch import Record, decode_all, encode_batch
from tests.server.controllers import Controllers, OnDisks
from tests.server.topic_requests import appending, fetching

IDS = (11, 12)
OFTEN = {"log.cleaner.backoff.ms": 100, "broker.session.timeout.ms": 9000}


@pytest.fixture(params=[Controllers, OnDisks])
def cluster(request: pytest.FixtureRequest) -> Controllers:
    controllers: Controllers = request.param(1, OFTEN)
    controllers.add_brokers(IDS)
    return controllers


def create(cluster: Controllers, **configs: str) -> None:
    given = {name.replace("_", "."): value for name, value in configs.items()}
    cluster.create("t", brokers=IDS, configs=given)
    cluster.until(lambda: all(find_replica(cluster.nodes[id], "t", 0) is not None for id in IDS))


def fill(cluster: Controllers, count: int, acks: int = -1) -> None:
    for at in range(count):
        batch = encode_batch([Record(0, cluster.now, b"k%d" % (at % 10), b"%d" % at * 5000)])
        request = appending("t", batch, acks=acks)
        assert cluster.ask(cluster.nodes[11], request, 9).responses[0].partition_responses[0].error_code == 0


def log_of(node: Node) -> PartitionLog:
    replica = find_replica(node, "t", 0)
    assert replica is not None
    return replica.log


def values(log: PartitionLog) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for batch in log.batches(0) for record in decode_all(bytes(batch))}


def led_by(cluster: Controllers, id: int) -> bool:
    return cluster.nodes[id].partitions.get("t", 0) is not None


def cleaning_begins_on(cluster: Controllers, id: int, monkeypatch: pytest.MonkeyPatch) -> PartitionLog:
    """A broker begins to clean a log of 60 records and 10 keys; its next step comes 30 s later."""
    create(cluster, cleanup_policy="compact", internal_segment_bytes="60000")
    fill(cluster, 60)
    log = log_of(cluster.nodes[id])
    monkeypatch.setattr(log_cleaner, "STEP_DELAY_MS", 30_000)
    cluster.until(lambda: log.high_watermark == 60 and is_cleaning(cluster, id))
    return log


def is_cleaning(cluster: Controllers, id: int) -> bool:
    return "t-0" in repr(cluster.nodes[id].cleaner)


def test_a_cleaning_goes_on_when_its_follower_begins_to_lead(
    cluster: Controllers, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = cleaning_begins_on(cluster, 12, monkeypatch)
    before, size = values(log), log.size
    cluster.kill(11)
    cluster.until(lambda: led_by(cluster, 12))
    assert is_cleaning(cluster, 12)
    assert log.cleaned_to == 0
    monkeypatch.setattr(log_cleaner, "STEP_DELAY_MS", 1)
    cluster.until(lambda: not is_cleaning(cluster, 12), 60_000)
    assert log_of(cluster.nodes[12]) is log
    assert log.cleaned_to > 0
    assert log.size < size // 2
    assert values(log) == before


@pytest.mark.parametrize("diverges", [False, True])
def test_a_cleaning_goes_on_when_its_leader_begins_to_follow_unless_it_is_truncated(
    cluster: Controllers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, diverges: bool
) -> None:
    caplog.set_level("INFO", "kafkadouble.server")
    log = cleaning_begins_on(cluster, 11, monkeypatch)
    before, size = values(log), log.size
    cluster.cut.add(11)
    if diverges:
        fill(cluster, 3, acks=1)
    cluster.until(lambda: led_by(cluster, 12))
    cluster.cut.clear()
    cluster.until(lambda: not led_by(cluster, 11) and log.log_end_offset == 60)
    assert is_cleaning(cluster, 11)
    assert log.cleaned_to == 0
    monkeypatch.setattr(log_cleaner, "STEP_DELAY_MS", 1)
    cluster.until(lambda: not is_cleaning(cluster, 11), 60_000)
    assert log_of(cluster.nodes[11]) is log
    assert ("is dropped: its end was truncated" in caplog.text) == diverges == (log.cleaned_to == 0)
    cluster.until(lambda: log.size < size // 2)
    assert values(log) == before == values(log_of(cluster.nodes[12]))


def test_a_consumer_that_waits_at_a_follower_learns_that_its_offset_is_out_of_range(cluster: Controllers) -> None:
    create(cluster, retention_ms="60000")
    fill(cluster, 3)
    cluster.until(lambda: log_of(cluster.nodes[12]).high_watermark == 3)
    answers: list[Any] = []
    request = fetching("t", 2, max_wait_ms=600_000, min_bytes=1 << 20)
    cluster.submit(cluster.nodes[12], request, 12, answers.append)
    cluster.step(100)
    assert not answers
    scheduled_tasks.apply_retention(cluster.nodes[12], cluster.now + 120_000)
    cluster.step(100)
    [answer] = answers[0].responses[0].partitions
    assert answer.error_code == error_codes.OFFSET_OUT_OF_RANGE
    assert log_of(cluster.nodes[12]).log_start_offset == 3
