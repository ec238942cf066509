"""Snapshots of the metadata, as a user of a double sees them: when one is written, and the metrics of it (KIP-630)."""

from __future__ import annotations

from kafkadouble import KafkaDouble

CONTROLLER = "kafka.controller:type=KafkaController,name="
SMALL = {"metadata.log.max.record.bytes.between.snapshots": 500}


def written(kafka: KafkaDouble) -> int:
    """How many snapshots were written."""
    count: int = kafka.metrics[CONTROLLER + "GenSnapshotLatencyMs"].count
    return count


def test_topics_that_are_created_and_deleted_make_a_snapshot_due() -> None:
    """A record that was added and then deleted counts against the ratio."""
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
