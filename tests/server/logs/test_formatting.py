"""Log directories are made once, and belong to one node of one cluster."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.logs.formatting import BootstrapMetadata
from kafkadouble.server.logs.log_dir import METADATA_FOLDER
from kafkadouble.server.raft.initial_voters import standalone
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.wire.errors import UsageError
from tests.server.harness import NOW

from .folders import formatted, logs_in, new_id

NEW = BootstrapMetadata(format_records())

FEATURES = 6
"""The features of a new cluster."""


def test_formatted_directory_is_opened(tmp_path: Path) -> None:
    formatted(tmp_path / "a", tmp_path / "b", beginning=NEW)
    logs = logs_in(tmp_path / "a", tmp_path / "b")
    assert logs.cluster_id == "a-cluster"
    assert len(set(logs.directories)) == 2
    assert [type(record).__name__ for record in logs.bootstrap] == ["FeatureLevelRecord"] * FEATURES


def test_format_refuses_a_directory_with_files(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(UsageError, match="not empty"):
        formatted(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_a_directory_is_formatted_once(tmp_path: Path) -> None:
    formatted(tmp_path)
    with pytest.raises(UsageError, match="not empty"):
        formatted(tmp_path)


def test_unformatted_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not formatted"):
        logs_in(tmp_path)


def test_another_nodes_directory_is_refused(tmp_path: Path) -> None:
    formatted(tmp_path, node=7)
    with pytest.raises(UsageError, match="belongs to node 7, and this is node 1"):
        logs_in(tmp_path)


def test_directories_of_two_clusters_do_not_go_together(tmp_path: Path) -> None:
    formatted(tmp_path / "a")
    formatted(tmp_path / "b", cluster="another")
    with pytest.raises(UsageError, match="belongs to cluster another"):
        logs_in(tmp_path / "a", tmp_path / "b")


def test_a_copy_of_a_directory_is_refused(tmp_path: Path) -> None:
    formatted(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with pytest.raises(UsageError, match="copy of"):
        logs_in(tmp_path / "a", tmp_path / "b")


SNAPSHOT = f"{METADATA_FOLDER}/00000000000000000000-0000000000.checkpoint"
"""What a cluster begins with."""


@pytest.mark.parametrize("name", ["meta.properties", SNAPSHOT])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    formatted(tmp_path, beginning=NEW)
    (tmp_path / name).write_bytes(b"version=1\n" * 20)
    with pytest.raises(BadFile, match=name):
        _ = logs_in(tmp_path).bootstrap


def test_the_records_of_an_older_kafka_are_found(tmp_path: Path) -> None:
    """It kept them in a file of their own, and the snapshot said who votes, if there was one."""
    formatted(tmp_path, beginning=NEW)
    (tmp_path / SNAPSHOT).rename(tmp_path / "bootstrap.checkpoint")
    assert len(logs_in(tmp_path).bootstrap) == FEATURES
    part = FileSnapshotStore(RealDisk(str(tmp_path)), METADATA_FOLDER).create(OffsetAndEpoch(0, 0))
    assert part is not None
    write_at_once(part, SnapshotHeader(NOW, 1, standalone(1, new_id(), "CONTROLLER", "h", 9093)), (), NOW)
    assert len(logs_in(tmp_path).bootstrap) == FEATURES
