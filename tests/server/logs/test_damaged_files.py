"""A start after a file was damaged: a damaged file is not taken for an absent one, and nothing
damaged is replaced by something empty."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.formats.names import RECOVERY_POINT
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory
from kafkadouble.wire.batch import decode_all
from kafkadouble.wire.errors import UsageError, WireError
from tests.server.controllers import ControllersOnDisks
from tests.server.harness import NOW, SEED, contents
from tests.server.log.batches import marker, transactional
from tests.server.log.files.lossy_disk import LossyDisk
from tests.support.damaged_files import ROWS, Outcome, Row

from .folders import new_id
from .two_directories import LARGE, Node

DAMAGED, KEPT = "lost", "kept"


class Started(Node):
    """A node on directories that are there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._ids = folder, Random(SEED)
        self.start()


class Served(NamedTuple):
    """What a client finds in a partition; no offsets when it is offline."""

    offsets: list[int] | None
    aborted: list[int]


def served(node: Node, topic: str) -> Served:
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 26)
    request = FetchRequest(
        max_bytes=1 << 26, isolation_level=1, topics=[FetchRequest.FetchTopic(topic=topic, partitions=[partition])]
    )
    offsets: list[int] = []
    aborted: set[int] = set()
    offset = 0
    while True:
        partition.fetch_offset = offset
        found = node.submit(request, 11).responses[0].partitions[0]
        if found.error_code == error_codes.OFFSET_OUT_OF_RANGE:
            offset += 1
            continue
        if found.error_code:
            return Served(None, [])
        aborted |= {each.first_offset for each in found.aborted_transactions or ()}
        records = [*decode_all(contents(found.records or b""))]
        if not records:
            return Served(offsets, sorted(aborted))
        offsets += [record.offset for record in records if record.offset >= offset]
        offset = records[-1].offset + 1


WHOLE = Served([*range(7)], [0])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directories of a node that stopped: two partitions of several segments, each with an
    aborted transaction."""
    folder = tmp_path_factory.mktemp("written")
    node = Node(folder)
    for topic in (DAMAGED, KEPT):
        node.create(topic)
        partition = node.node.partitions.get(topic, 0)
        assert partition is not None
        partition.log.append_as_leader(transactional(0), 0, NOW)
        partition.log.append_own(marker(commit=False), leader_epoch=0, now=NOW)
        for _ in range(5):
            assert node.produce(topic, LARGE) == 0
    assert [path.parent.name for path in folder.glob(f"*/{DAMAGED}-0")] == ["b"]
    node.stop()
    return folder


def outcome(folder: Path) -> Outcome:
    """What a start makes of the directories in this folder."""
    try:
        node = Started(folder)
    except (UsageError, WireError, DiskFailure):
        return Outcome.NO_START
    assert node.node.halted is None
    assert served(node, KEPT) == WHOLE
    if len(node.node.logs.directories) < 2:
        return Outcome.DIRECTORY
    found = served(node, DAMAGED)
    if found.offsets is None:
        return Outcome.PARTITION
    if not found.offsets:
        return Outcome.STRAY
    return Outcome.WHOLE if found == WHOLE else Outcome.LESS


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_damaged_file_has_the_outcome_of_its_row(written: Path, tmp_path: Path, row: Row) -> None:
    for name in "ab":
        shutil.copytree(written / name, tmp_path / name)
    row.do(tmp_path, DAMAGED)
    before = files_of(tmp_path)
    assert outcome(tmp_path) == row.here
    if row.here in (Outcome.PARTITION, Outcome.DIRECTORY, Outcome.NO_START):
        assert files_of(tmp_path) == before


@pytest.mark.parametrize("file", ["partition/partition.metadata", "directory/log-start-offset-checkpoint"])
def test_partition_is_served_again_with_its_restored_file(written: Path, tmp_path: Path, file: str) -> None:
    for name in "ab":
        shutil.copytree(written / name, tmp_path / name)
    (row,) = (each for each in ROWS if (each.file, each.damage) == (file, "garbage"))
    row.do(tmp_path, DAMAGED)
    node = Started(tmp_path)
    assert served(node, DAMAGED).offsets is None
    assert node.produce(DAMAGED) == error_codes.KAFKA_STORAGE_ERROR
    node.stop()
    [damaged] = tmp_path.glob(f"b/**/{Path(file).name}")
    shutil.copy(written / damaged.relative_to(tmp_path), damaged)
    assert outcome(tmp_path) == Outcome.WHOLE


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of the damaged partition that cannot be rebuilt."""
    found = folder.glob(f"b/{DAMAGED}-0/*")
    return {path.name: path.read_bytes() for path in found if path.suffix in (".log", ".metadata")}


def test_a_controller_alone_does_not_look_at_partitions() -> None:
    """It has none, so that neither a folder nor a checkpoint that is theirs stops it."""
    disk = LossyDisk()
    format_directory(disk, "disk1", "a-cluster", 1, new_id(), NOW, BootstrapMetadata(format_records()))
    disk.make_folder("my-backup")
    disk.write_whole(RECOVERY_POINT, b"garbage\n")
    controllers = ControllersOnDisks({1: disk})
    assert controllers.elect().halted is None
    assert disk.failed is None
