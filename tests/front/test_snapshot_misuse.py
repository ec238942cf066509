"""What cannot be saved or restored is refused by name, and nothing is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, KafkaError, Snapshot, UsageError
from kafkadouble.messages import error_codes


def test_restore_of_something_else_than_a_snapshot_is_refused() -> None:
    with KafkaDouble() as kafka:
        with pytest.raises(UsageError, match="snapshot is a snapshot of snapshot\\(\\), or the name of one, not 5"):
            kafka.restore(5)  # type: ignore[arg-type]
        assert isinstance(kafka.snapshot(), Snapshot)


def test_another_number_of_brokers_is_refused_and_changes_nothing() -> None:
    with KafkaDouble() as one, KafkaDouble(brokers=2) as two, KafkaDouble(brokers=3) as three:
        given, snapshots = (one, two, three), [each.snapshot() for each in (one, two, three)]
        for kafka in given:
            kafka.create_topic("stays")
        for kafka, own in zip(given, snapshots, strict=True):
            for snapshot in snapshots:
                if snapshot is not own:
                    with pytest.raises(UsageError, match=r"snapshot is one of broker.*, not of broker"):
                        kafka.restore(snapshot)
            assert [*kafka.topics()] == ["stays"]


def test_files_do_not_fit_into_memory(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path / "a") as files, KafkaDouble() as memory:
        with pytest.raises(UsageError, match="snapshot is one of broker 1 in memory, as this double has, not of"):
            memory.restore(files.snapshot())
        with pytest.raises(UsageError, match="not of broker 1 in memory"):
            files.restore(memory.snapshot())


def test_a_double_that_does_not_run() -> None:
    kafka = KafkaDouble()
    with pytest.raises(UsageError, match="the double was not started"):
        kafka.snapshot()


def test_a_directory_that_fails(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path) as kafka:
        kafka.create_topic("orders")
        kafka.disk_full()
        with pytest.raises(KafkaError):
            kafka.produce("orders", "a")
        with pytest.raises(KafkaError) as refused:
            kafka.snapshot()
        assert refused.value.code == error_codes.KAFKA_STORAGE_ERROR
