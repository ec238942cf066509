"""The checkpoints of a data directory: each has its own interval and is written only if it changed.
A failed write reveals that the directory was removed."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, UsageError
from tests.support.serving import serving

HIGH_WATERMARKS, RECOVERY_POINTS = "replication-offset-checkpoint", "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
FILES = (HIGH_WATERMARKS, RECOVERY_POINTS, LOG_STARTS)


def remove(folder: Path) -> None:
    """Renames `folder` before it is removed: `rmtree` fails if a broker creates files in it at the
    same time."""
    shutil.rmtree(folder.rename(folder.with_suffix(".removed")))


def offset(folder: Path, file: str) -> str | None:
    """The offset of t-0 in a checkpoint."""
    lines = (folder / file).read_text().splitlines()
    return next((line.split()[2] for line in lines if line.startswith("t 0 ")), None)


def test_high_watermarks_are_written_more_often_than_recovery_points(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path, stepped=True, seed=1) as kafka:
        kafka.create_topic("t")
        kafka.advance(60)
        assert offset(tmp_path, HIGH_WATERMARKS) == "0"
        kafka.produce("t", "x")
        kafka.advance(5)
        assert offset(tmp_path, HIGH_WATERMARKS) == "1"
        assert offset(tmp_path, RECOVERY_POINTS) == "0"
        kafka.stop()
        assert offset(tmp_path, RECOVERY_POINTS) == "1"


def test_unchanged_checkpoint_is_not_written_again(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path, stepped=True, seed=1) as kafka:
        kafka.create_topic("t")
        kafka.produce("t", "x")
        kafka.advance(120)
        before = {name: ((tmp_path / name).stat().st_ino, (tmp_path / name).read_text()) for name in FILES}
        kafka.advance(25 * 3600)
        assert {name: ((tmp_path / name).stat().st_ino, (tmp_path / name).read_text()) for name in FILES} == before
        (tmp_path / HIGH_WATERMARKS).unlink()
        kafka.advance(5)
        assert (tmp_path / HIGH_WATERMARKS).read_text() == before[HIGH_WATERMARKS][1]


def test_serve_ends_with_code_3_when_its_data_dir_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with serving("--data-dir", str(folder), "-c", "replica.high.watermark.checkpoint.interval.ms=20") as broker:
        remove(folder)
        code, output = broker.ended()
    assert code == 3
    assert f"{folder}, which has the cluster's metadata, cannot be used any more" in output


def test_serve_ends_with_code_3_if_the_last_checkpoint_fails(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with serving("--data-dir", str(folder)) as broker:
        remove(folder)
        code, output = broker.end()
    assert code == 3
    assert f"{folder} could not be written to at the stop" in output


@pytest.mark.parametrize("brokers", [1, 2])
def test_stop_raises_and_closes_the_port_if_the_data_dir_was_removed(brokers: int, tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(brokers)]
    kafka = KafkaDouble(data_dir=folders, brokers=brokers).start()
    kafka.create_topic("t")
    kafka.produce("t", "x")
    address = "127.0.0.1", kafka.port
    remove(folders[-1])
    with pytest.raises(UsageError, match=f"{folders[-1]} was removed while the double used it"):
        kafka.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    kafka.stop()  # a second stop does nothing
