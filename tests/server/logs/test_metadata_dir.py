"""Partitions leave a directory that is for the metadata log alone, also if an earlier move was
interrupted."""

from __future__ import annotations

import shutil
from pathlib import Path

from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats import names, offset_checkpoint
from kafkadouble.server.logs.formatting import opened
from kafkadouble.server.logs.log_dir import LogDir
from kafkadouble.server.logs.metadata_dir import move_partitions_out
from tests.server.logs.folders import formatted


def log_dirs(folder: Path) -> list[LogDir]:
    return opened({str(folder / name): RealDisk(str(folder / name)) for name in ("meta", "a", "b")}, 1)


def written(folder: Path, name: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / name).iterdir())}


def make_partition(folder: Path, name: str) -> dict[str, bytes]:
    (folder / name).mkdir()
    (folder / name / "00000000000000000000.log").write_bytes(bytes(range(256)) * 9000)
    (folder / name / "partition.metadata").write_text("version: 0\n")
    return written(folder, name)


def test_partitions_are_moved_whole_and_the_metadata_log_stays(tmp_path: Path) -> None:
    formatted(*(tmp_path / name for name in ("meta", "a", "b")))
    contents = {name: make_partition(tmp_path / "meta", name) for name in ("t-0", "t-1", "__cluster_metadata-0")}
    meta, *others = log_dirs(tmp_path)
    move_partitions_out(meta, others)
    assert written(tmp_path / "a", "t-0") == contents["t-0"]
    assert written(tmp_path / "b", "t-1") == contents["t-1"]
    assert [path.name for path in (tmp_path / "meta").iterdir() if path.is_dir()] == ["__cluster_metadata-0"]


def test_interrupted_copy_of_a_partition_is_made_again(tmp_path: Path) -> None:
    formatted(*(tmp_path / name for name in ("meta", "a", "b")))
    contents = make_partition(tmp_path / "meta", "t-0")
    unfinished = names.deleted_folder("t", 0, "0" * 32)
    make_partition(tmp_path / "a", unfinished)
    (tmp_path / "a" / unfinished / "more").write_bytes(b"x")
    meta, *others = log_dirs(tmp_path)
    move_partitions_out(meta, others)
    assert written(tmp_path / "a", "t-0") == contents
    assert [*tmp_path.glob(f"*/*-{names.DELETE}")] == []


def test_complete_copy_of_a_partition_is_kept(tmp_path: Path) -> None:
    formatted(*(tmp_path / name for name in ("meta", "a", "b")))
    contents = make_partition(tmp_path / "meta", "t-0")
    shutil.copytree(tmp_path / "meta" / "t-0", tmp_path / "b" / "t-0")
    (tmp_path / "meta" / names.LOG_START).write_bytes(offset_checkpoint.write({("t", 0): 7}))
    meta, *others = log_dirs(tmp_path)
    move_partitions_out(meta, others)
    assert others[1].offset(names.LOG_START, ("t", 0)) == 7
    assert written(tmp_path / "b", "t-0") == contents
    assert not (tmp_path / "meta" / "t-0").exists()
