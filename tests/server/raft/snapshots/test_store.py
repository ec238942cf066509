"""Both stores keep snapshots complete; the file store also over restarts, power losses and open
readers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_reader import verify
from kafkadouble.server.raft.snapshots.snapshot_writer import write, write_at_once
from kafkadouble.server.raft.snapshots.store import DELETE_DELAY_MS, SnapshotStore
from tests.server.log.files.lossy_disk import LossyDisk

from .making import HEAD, ID, NOW, VOTERS, data, part_of, values

FOLDER = "__cluster_metadata-0"
OLDER, NEWER = OffsetAndEpoch(50, 4), OffsetAndEpoch(200, 3)
NAME = "00000000000000000100-0000000003.checkpoint"


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SnapshotStore:
    return MemorySnapshotStore() if request.param == "memory" else in_files(tmp_path)


def in_files(path: Path) -> FileSnapshotStore:
    disk = RealDisk(str(path))
    disk.make_folder(FOLDER)
    return FileSnapshotStore(disk, FOLDER)


def put(store: SnapshotStore, id: OffsetAndEpoch = ID, count: int = 3) -> bytes:
    part = part_of(store, id)
    write_at_once(part, HEAD, values(count), NOW)
    return data(values(count), id)


def names(path: Path) -> list[str]:
    return sorted(each.name for each in (path / FOLDER).iterdir())


def test_a_snapshot_is_there_once_it_is_frozen(store: SnapshotStore) -> None:
    part = part_of(store)
    part.append(data()[:20])
    assert (part.id, part.size, part.read(5, 10)) == (ID, 20, data()[5:15])
    assert (list(store.ids()), store.open(ID), store.size(ID), store.timestamp(ID)) == ([], None, 0, None)
    assert store.voters_of(ID) == (None, 0)
    part.append(data()[20:])
    part.freeze()
    assert (list(store.ids()), store.size(ID), store.timestamp(ID)) == ([ID], len(data()), HEAD.timestamp)
    assert store.voters_of(ID) == (VOTERS, 1)
    reader = store.open(ID)
    assert reader is not None
    with reader:
        assert reader.read(0, 1 << 20) == data()
        assert reader.read(10, 5) == data()[10:15]


def test_snapshots_are_ordered_by_epoch_and_offset(store: SnapshotStore) -> None:
    for id in (NEWER, OLDER, ID):
        put(store, id)
    assert list(store.ids()) == [ID, NEWER, OLDER]


def test_snapshot_id_is_stored_once(store: SnapshotStore) -> None:
    put(store)
    assert store.create(ID) is None


def test_abandoned_snapshot_leaves_no_file(store: SnapshotStore) -> None:
    part = part_of(store)
    part.append(b"x")
    part.abandon()
    part.abandon()
    assert list(store.ids()) == []
    assert store.create(ID) is not None


def test_a_reader_goes_on_though_the_snapshot_is_deleted(store: SnapshotStore) -> None:
    whole = put(store, count=50)
    reader = store.open(ID)
    assert reader is not None
    some = reader.values()
    store.delete(ID, NOW)
    store.delete(ID, NOW)
    assert (list(store.ids()), store.open(ID)) == ([], None)
    store.tick(NOW + 10 * DELETE_DELAY_MS)
    assert [value for values in some for value in values] == values(50)
    assert reader.read(0, 1 << 20) == whole
    reader.close()
    reader.close()


def test_unknown_snapshot_has_no_timestamp_and_no_voters(store: SnapshotStore) -> None:
    part = part_of(store)
    part.append(b"nothing of the kind")
    part.freeze()
    assert store.timestamp(ID) is None
    with pytest.raises(BadFile):
        store.voters_of(ID)


def test_files_have_kafkas_names(tmp_path: Path) -> None:
    store = in_files(tmp_path)
    part = part_of(store)
    (name,) = names(tmp_path)
    assert name == "00000000000000000100-0000000003-1.checkpoint.part"
    write_at_once(part, HEAD, values(3), NOW)
    assert names(tmp_path) == [NAME]
    assert (tmp_path / FOLDER / NAME).read_bytes() == data(values(3))
    store.delete(ID, NOW)
    assert names(tmp_path) == [NAME + ".deleted"]


def test_two_parts_of_one_id_do_not_mix(tmp_path: Path) -> None:
    store = in_files(tmp_path)
    first, second = store.create(ID), store.create(ID)
    assert first is not None
    assert second is not None
    first.append(b"rubbish")
    write_at_once(second, HEAD, values(3), NOW)
    first.abandon()
    assert (tmp_path / FOLDER / NAME).read_bytes() == data(values(3))


def test_the_file_of_a_deleted_one_stays_for_a_while_and_as_long_as_it_is_read(tmp_path: Path) -> None:
    store = in_files(tmp_path)
    put(store)
    reader = store.open(ID)
    assert reader is not None
    store.delete(ID, NOW)
    store.tick(NOW + DELETE_DELAY_MS - 1)
    assert names(tmp_path) == [NAME + ".deleted"]
    store.tick(NOW + DELETE_DELAY_MS)
    assert names(tmp_path) == [NAME + ".deleted"]
    reader.close()
    store.tick(NOW + DELETE_DELAY_MS)
    assert names(tmp_path) == []


def test_a_writer_that_fails_or_is_closed_leaves_no_file(tmp_path: Path) -> None:
    def failing() -> Iterator[bytes]:
        yield from values(3)
        raise RuntimeError("no more")

    store = in_files(tmp_path)
    part = part_of(store)
    with pytest.raises(RuntimeError):
        write_at_once(part, HEAD, failing(), NOW)
    part = part_of(store)
    steps = write(part, HEAD, iter(values(10)), NOW, records=2)
    next(steps)
    assert len(names(tmp_path)) == 1
    steps.close()
    assert names(tmp_path) == []


def test_the_file_of_a_deleted_snapshot_stays_for_a_while(tmp_path: Path) -> None:
    store = in_files(tmp_path)
    put(store)
    store.delete(ID, NOW)
    store.tick(NOW + DELETE_DELAY_MS - 1)
    assert names(tmp_path) == [NAME + ".deleted"]
    store.tick(NOW + DELETE_DELAY_MS)
    assert names(tmp_path) == []


def test_unused_snapshot_is_deleted(tmp_path: Path) -> None:
    put(in_files(tmp_path))
    store = in_files(tmp_path)
    store.delete(ID, NOW)
    store.tick(NOW + DELETE_DELAY_MS)
    assert names(tmp_path) == []


def test_after_a_restart_snapshots_are_there_and_leftovers_are_not(tmp_path: Path) -> None:
    store = in_files(tmp_path)
    put(store)
    put(store, OLDER)
    store.delete(OLDER, NOW)
    part = store.create(NEWER)
    assert part is not None
    part.append(b"half")
    for name in ("00000000000000000007-0000000001-8472983.checkpoint.part", "00000000000000000000.log", "other.part"):
        (tmp_path / FOLDER / name).write_bytes(b"")
    store = in_files(tmp_path)
    assert store.ids() == [ID]
    assert store.voters_of(ID) == (VOTERS, 1)
    assert names(tmp_path) == ["00000000000000000000.log", NAME, "other.part"]


class ReadOnly(RealDisk):
    """A log directory with read-only files."""

    def open(self, path: str) -> NoReturn:
        raise DiskFailure(self.root, f"permission denied: {path}")


def test_a_snapshot_that_may_only_be_read_is_read(tmp_path: Path) -> None:
    put(in_files(tmp_path))
    store = FileSnapshotStore(ReadOnly(str(tmp_path)), FOLDER)
    reader = store.open(ID)
    assert reader is not None
    with reader:
        verify(ID, reader)
    store.delete(ID, NOW)
    store.tick(NOW + DELETE_DELAY_MS)
    assert names(tmp_path) == []


def lossy() -> LossyDisk:
    disk = LossyDisk()
    disk.make_folder(FOLDER)
    disk.flush_folder("")
    return disk


def test_whenever_the_power_fails_a_snapshot_is_there_as_a_whole_or_not_at_all() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(200):
        disk = lossy()
        store = FileSnapshotStore(disk, FOLDER)
        put(store, OLDER)
        part = part_of(store)
        steps = write(part, HEAD, iter(values(40)), NOW, most=300, records=4)
        done = any(next(steps, steps) is steps for _ in range(chance.randrange(14)))
        if done and chance.random() < 0.5:
            store.delete(OLDER, NOW)
        found = FileSnapshotStore(disk.power_lost(chance), FOLDER)
        assert set(found.ids()) >= ({ID} if done else {OLDER})
        for id in found.ids():
            reader = found.open(id)
            assert reader is not None
            verify(id, reader)


def test_a_disk_that_fails_leaves_nothing() -> None:
    disk = lossy()
    store = FileSnapshotStore(disk, FOLDER)
    part = part_of(store)
    steps = write(part, HEAD, iter(values(100)), NOW, most=300, records=10)
    next(steps)
    disk.failing = True
    with pytest.raises(DiskFailure):
        list(steps)
    assert store.ids() == []
