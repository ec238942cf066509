"""What can be told of snapshots, by name."""

from __future__ import annotations

from kafkadouble.server.raft.snapshots.metrics import METRICS, Latencies, SnapshotMetrics, readings

from .making import NOW

NAMES = [metric.name.rpartition("=")[2] for metric in METRICS]


def told(metrics: SnapshotMetrics, now: int = NOW) -> dict[str, object]:
    return {name.rpartition("=")[2]: value for name, value in readings(metrics, now).items()}


def test_the_names_are_those_of_the_kip_and_those_that_kafka_ships() -> None:
    assert NAMES == [
        "GenSnapshotLatencyMs",
        "LoadSnapshotLatencyMs",
        "SnapshotSizeBytes",
        "SnapshotLag",
        "LatestSnapshotGeneratedBytes",
        "LatestSnapshotGeneratedAgeMs",
        "HandleLoadSnapshotCount",
        "CurrentMetadataVersion",
    ]
    assert all(metric.about for metric in METRICS)


def test_before_the_first_snapshot() -> None:
    metrics = SnapshotMetrics(33)
    metrics.high_watermark = 12
    found = told(metrics)
    assert (found["SnapshotLag"], found["LatestSnapshotGeneratedAgeMs"], found["CurrentMetadataVersion"]) == (
        12,
        -1,
        33,
    )
    assert (found["SnapshotSizeBytes"], found["HandleLoadSnapshotCount"]) == (0, 0)


def test_after_some() -> None:
    metrics = SnapshotMetrics()
    metrics.wrote(100, 5000, 30, NOW)
    metrics.wrote(200, 6000, 10, NOW + 50)
    metrics.high_watermark = 260
    found = told(metrics, NOW + 60)
    assert (found["SnapshotLag"], found["SnapshotSizeBytes"]) == (60, 6000)
    assert (found["LatestSnapshotGeneratedBytes"], found["LatestSnapshotGeneratedAgeMs"]) == (6000, 10)
    latencies = found["GenSnapshotLatencyMs"]
    assert isinstance(latencies, Latencies)
    assert (latencies.count, latencies.sum, latencies.largest, latencies.last) == (2, 40, 30, 10)


def test_one_that_was_fetched_is_the_newest_and_was_not_written_here() -> None:
    metrics = SnapshotMetrics()
    metrics.wrote(100, 5000, 30, NOW)
    metrics.read(300, 7000, 4)
    found = told(metrics)
    assert (found["SnapshotSizeBytes"], found["LatestSnapshotGeneratedBytes"]) == (7000, 5000)
    assert (found["HandleLoadSnapshotCount"], found["SnapshotLag"]) == (1, 0)
