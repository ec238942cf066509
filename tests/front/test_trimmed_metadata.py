"""A data directory whose metadata log was trimmed starts again, after every stop (KIP-630)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.dump.checking import check
from kafkadouble.server.log.formats import offset_checkpoint

GOLDEN = Path(__file__).parents[1] / "golden" / "trimmed_metadata"
KAFKAS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
"""Data directories that Apache Kafka trimmed and closed."""

SMALL = {
    "metadata.log.max.record.bytes.between.snapshots": 1000,
    "metadata.max.retention.bytes": 2500,
    "internal.metadata.log.segment.bytes": 4000,
}
MOST_TOPICS = 400


def fill(kafka: KafkaDouble, folder: Path) -> None:
    """Creates topics until a snapshot was deleted, and with it the beginning of a log. Snapshots
    are flushed in the background, which takes a while."""
    for number in range(MOST_TOPICS):
        kafka.create_topic(f"t0-{number}")
        kafka.advance(3)
        if any(folder.glob("**/__cluster_metadata-0/*.checkpoint.deleted")):
            return
    raise AssertionError(f"no snapshot was deleted while {MOST_TOPICS} topics were created")


@pytest.mark.parametrize("brokers", [1, 3])
def test_node_with_trimmed_metadata_starts_after_a_clean_stop(tmp_path: Path, brokers: int) -> None:
    """Two more starts without new topics: each start leaves what the next one needs."""
    for life in range(3):
        with KafkaDouble(brokers=brokers, stepped=True, data_dir=tmp_path, config=SMALL) as kafka:
            if life == 0:
                fill(kafka, tmp_path)
            assert len(kafka.records("t0-0")) == life
            kafka.produce("t0-0", "a")
        trimmed = []
        for path in sorted(tmp_path.glob("**/log-start-offset-checkpoint")):
            starts = offset_checkpoint.read(path.read_bytes())
            if starts.get(("__cluster_metadata", 0), 0) > 0:
                trimmed.append(path.parent)
        assert trimmed
        assert [check(folder).word for folder in trimmed] == ["good"] * len(trimmed)


@pytest.mark.parametrize("name", KAFKAS)
def test_node_starts_on_metadata_that_real_kafka_trimmed(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(GOLDEN / name, folder)
    assert check(folder).word == "good"
    for life in range(3):
        with KafkaDouble(stepped=True, data_dir=folder) as kafka:
            (topic,) = (
                topic.name
                for topic in kafka._double_host.serving().broker.image.topics.values()
                if topic.name.startswith("kafka")
            )
            if life == 0:
                before = len(kafka.records(topic))
            assert len(kafka.records(topic)) == before + life > life
            kafka.produce(topic, "a")
        assert check(folder).word == "good"


def test_the_directories_of_apache_kafka_are_there() -> None:
    assert KAFKAS == ["behind_deleted_segments", "inside_a_segment"]
