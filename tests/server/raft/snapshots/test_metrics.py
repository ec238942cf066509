"""The metrics of snapshots, by name."""

from __future__ import annotations

from pathlib import Path

from kafkadouble.server.raft.snapshots.metrics import METRICS, LatencyStats, MetadataState, SnapshotMetrics, readings

from .making import NOW

NAMES = [metric.name.rpartition("=")[2] for metric in METRICS]
STATE = MetadataState(NOW, latest_end=0, latest_bytes=0, high_watermark=12, metadata_version=33, leader_id=-1)


def values_of(metrics: SnapshotMetrics, state: MetadataState = STATE) -> dict[str, object]:
    return {name.rpartition("=")[2]: value for name, value in readings(metrics, state).items()}


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
        "CurrentControllerId",
    ]
    assert all(metric.about for metric in METRICS)


def test_the_page_lists_all() -> None:
    page = (Path(__file__).parents[4] / "docs" / "snapshots.md").read_text()
    rows = [f"| `{metric.name}` | {metric.about} |" for metric in METRICS]
    assert "\n".join(rows) in page


def test_before_the_first_snapshot() -> None:
    values = values_of(SnapshotMetrics(NOW - 70))
    assert values.pop("LoadSnapshotLatencyMs") == values.pop("GenSnapshotLatencyMs") == LatencyStats()
    assert values == {
        "SnapshotSizeBytes": 0,
        "SnapshotLag": 12,
        "LatestSnapshotGeneratedBytes": 0,
        "LatestSnapshotGeneratedAgeMs": 70,
        "HandleLoadSnapshotCount": 0,
        "CurrentMetadataVersion": 33,
        "CurrentControllerId": -1,
    }


def test_snapshot_metrics_show_the_last_snapshot() -> None:
    metrics = SnapshotMetrics(NOW - 70)
    metrics.wrote(5000, 30, NOW)
    metrics.wrote(6000, 10, NOW + 50)
    values = values_of(metrics, STATE._replace(now=NOW + 60, latest_end=200, latest_bytes=6001, high_watermark=260))
    assert (values["SnapshotLag"], values["SnapshotSizeBytes"]) == (60, 6001)
    assert (values["LatestSnapshotGeneratedBytes"], values["LatestSnapshotGeneratedAgeMs"]) == (6000, 10)
    assert values["GenSnapshotLatencyMs"] == LatencyStats(count=2, sum=40, largest=30, last=10)


def test_fetched_snapshot_is_the_newest_and_not_generated_here() -> None:
    metrics = SnapshotMetrics(NOW)
    metrics.wrote(5000, 30, NOW)
    metrics.load(4)
    values = values_of(metrics, STATE._replace(latest_end=300, latest_bytes=7000, high_watermark=290))
    assert (values["SnapshotSizeBytes"], values["LatestSnapshotGeneratedBytes"]) == (7000, 5000)
    assert (values["HandleLoadSnapshotCount"], values["SnapshotLag"]) == (1, 0)
    assert values["LoadSnapshotLatencyMs"] == LatencyStats(count=1, sum=4, largest=4, last=4)


def test_snapshot_metrics_read_before_do_not_change() -> None:
    metrics = SnapshotMetrics(NOW)
    before = values_of(metrics)["LoadSnapshotLatencyMs"]
    metrics.load(4)
    assert before == LatencyStats()
