"""Snapshots of the metadata, as a user of a double sees them: when one is written, and their
metrics (KIP-630)."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.server.raft.snapshots.metrics import METRICS
from tests.support.serving import serving

CONTROLLER = "kafka.controller:type=KafkaController,name="
SMALL = {"metadata.log.max.record.bytes.between.snapshots": 500}


def written(kafka: KafkaDouble) -> int:
    """How many snapshots the node wrote."""
    count: int = kafka.metrics[CONTROLLER + "GenSnapshotLatencyMs"].count
    return count


def test_topics_that_are_created_and_deleted_make_a_snapshot_due() -> None:
    """A record that was added and then deleted counts for the ratio at which a snapshot is
    written."""
    adopted = {**SMALL, "metadata.snapshot.min.changed_records.ratio": "0.5"}
    with KafkaDouble(config=adopted, stepped=True) as kafka:
        for number in range(20):
            kafka.create_topic(f"kept-{number}")
        kafka.advance(1)
        before = written(kafka)
        for number in range(40):
            kafka.create_topic(f"new-{number}")
        kafka.advance(1)
        assert written(kafka) == before, "new records alone do not count"
        for number in range(40):
            kafka.delete_topic(f"new-{number}")
        kafka.advance(1)
        assert written(kafka) > before


EMITTER, LOADER = "kafka.server:type=SnapshotEmitter,name=", "kafka.server:type=MetadataLoader,name="
SIZE, LAG = CONTROLLER + "SnapshotSizeBytes", CONTROLLER + "SnapshotLag"
WRITTEN_BYTES, WRITTEN_AGE = EMITTER + "LatestSnapshotGeneratedBytes", EMITTER + "LatestSnapshotGeneratedAgeMs"
LOADED, LOAD_TIME = LOADER + "HandleLoadSnapshotCount", CONTROLLER + "LoadSnapshotLatencyMs"


SNAPSHOTS = "**/__cluster_metadata-0/*.checkpoint"


def newest(data: Path) -> Path:
    """The file of the newest snapshot."""
    return max(data.glob(SNAPSHOTS), key=lambda file: file.name)


def test_metrics_go_on_after_a_restart(tmp_path: Path) -> None:
    """Metrics of the current state are there after a restart, too; counters begin at the start, as
    in Kafka."""
    with KafkaDouble(config=SMALL, stepped=True, data_dir=tmp_path) as kafka:
        for number in range(20):
            kafka.create_topic(f"t{number}")
        kafka.advance(1)
        # The file of a snapshot is flushed in the background.
        deadline = time.monotonic() + 30
        while not any(tmp_path.glob(SNAPSHOTS)):
            assert time.monotonic() < deadline
            kafka.produce("t0", "a value")
        file = newest(tmp_path)
        found = kafka.metrics
        assert found[SIZE] == found[WRITTEN_BYTES] == file.stat().st_size
        assert found[LOADED] == found[LOAD_TIME].count == 0
        kafka.stop()
        kafka.start()
        file = newest(tmp_path)
        found = kafka.metrics
        assert found[SIZE] == file.stat().st_size
        node = kafka._double_host.serving().broker.node
        assert found[LAG] == node.quorum.replica.log.high_watermark - int(file.name.partition("-")[0])
        assert node.stopwatch() == node.now > 0, "loads are timed by the clock of the double"
        assert found[LOADED] == found[LOAD_TIME].count == 1
        if not written(kafka):
            assert found[WRITTEN_BYTES] == 0
        kafka.advance(1)  # writes the snapshot that was due at the start
        before = kafka.metrics[WRITTEN_AGE]
        kafka.advance(0.25)
        assert kafka.metrics[WRITTEN_AGE] - before == 250


def test_every_broker_has_metrics_and_one_that_fetched_a_snapshot_reports_it() -> None:
    small = {**SMALL, "metadata.max.retention.bytes": 2000, "internal.metadata.log.segment.bytes": 1000}
    with KafkaDouble(brokers=3, config=small, stepped=True) as kafka:
        kafka.brokers[3].kill()
        with pytest.raises(UsageError, match="broker 3 does not run"):
            _ = kafka.brokers[3].metrics
        for number in range(30):
            kafka.create_topic(f"t{number}")
        kafka.advance(130)
        kafka.brokers[3].start()
        kafka.advance(10)
        leader = kafka.metrics[LOADER + "CurrentControllerId"]
        for broker in kafka.brokers.values():
            metrics = broker.metrics
            assert metrics[SIZE] > 500
            assert metrics[LAG] < 60
            assert metrics[LOADER + "CurrentControllerId"] == leader
            assert metrics[LOADED] == metrics[LOAD_TIME].count == (1 if broker.id == 3 else 0)


def test_metrics_of_every_node_are_served_on_request() -> None:
    with serving("-q", "--brokers", "2") as served:
        served.process.send_signal(signal.SIGUSR1)
        lines = [served.next_line() for _ in range(3 * len(METRICS))]
        for node in (1, 2):
            assert any(f"node {node}, metric {LAG}: " in line for line in lines)
        assert served.end()[0] == 0
